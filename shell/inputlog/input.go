package inputlog

import (
	"github.com/go-faster/jx"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

func (e *encoder) configValidated(input core.ConfigValidated) {
	e.json.ObjStart()
	e.json.FieldStart("agent_port")
	e.json.Int(input.AgentPort)
	e.textField("pod_selector", input.PodSelector)
	e.json.ObjEnd()
}

func (d *decoder) configValidated(json *jx.Decoder) (input core.ConfigValidated, err error) {
	err = decodeObject(json, 2, func(field []byte) (err error) {
		switch string(field) {
		case "agent_port":
			input.AgentPort, err = json.Int()
		case "pod_selector":
			input.PodSelector, err = decodeText(json)
		default:
			err = errUnknownField
		}
		return err
	})
	return input, err
}

func (e *encoder) credentialsUpdated(input core.CredentialsUpdated) {
	e.json.ObjStart()
	e.json.FieldStart("credentials")
	e.credentials(input.Credentials)
	e.json.ObjEnd()
}

func (d *decoder) credentialsUpdated(json *jx.Decoder) (input core.CredentialsUpdated, err error) {
	err = decodeObject(json, 1, func(field []byte) (err error) {
		switch string(field) {
		case "credentials":
			input.Credentials, err = d.credentials(json)
		default:
			err = errUnknownField
		}
		return err
	})
	return input, err
}

func (e *encoder) podStoreSet(input core.PodStoreSet) {
	e.json.ObjStart()
	e.levelRead(input.Pods)
	e.json.FieldStart("synced")
	e.json.UInt8(uint8(input.Synced))
	e.json.ObjEnd()
}

func (d *decoder) podStoreSet(json *jx.Decoder) (input core.PodStoreSet, err error) {
	err = decodeObject(json, 2, func(field []byte) (err error) {
		switch string(field) {
		case "pods":
			input.Pods, err = d.levelRead(json)
		case "synced":
			input.Synced, err = numberAs[core.Sync](json.UInt8())
		default:
			err = errUnknownField
		}
		return err
	})
	return input, err
}

func (e *encoder) indexUpdated(input core.ResourceIndexUpdated) {
	e.json.ObjStart()
	e.textField("resource", input.Resource)
	e.json.FieldStart("upserted")
	encodeList(e, input.Upserted, (*encoder).pod)
	e.json.FieldStart("deleted")
	encodeList(e, input.Deleted, (*encoder).ref)
	e.json.ObjEnd()
	e.known.learn(input)
}

func (d *decoder) indexUpdated(json *jx.Decoder) (input core.ResourceIndexUpdated, err error) {
	err = decodeObject(json, 3, func(field []byte) (err error) {
		switch string(field) {
		case "resource":
			input.Resource, err = d.texts.decode(json)
		case "upserted":
			input.Upserted, err = decodeList(json, d.pod)
		case "deleted":
			input.Deleted, err = decodeList(json, d.ref)
		default:
			err = errUnknownField
		}
		return err
	})
	d.known.learn(input)
	return input, err
}

func (e *encoder) syncComplete(input core.ResourceSyncComplete) {
	e.json.ObjStart()
	e.textField("resource", input.Resource)
	e.levelRead(input.Pods)
	e.json.ObjEnd()
}

func (d *decoder) syncComplete(json *jx.Decoder) (input core.ResourceSyncComplete, err error) {
	err = decodeObject(json, 2, func(field []byte) (err error) {
		switch string(field) {
		case "resource":
			input.Resource, err = d.texts.decode(json)
		case "pods":
			input.Pods, err = d.levelRead(json)
		default:
			err = errUnknownField
		}
		return err
	})
	return input, err
}

func (e *encoder) becameLeader(core.BecameLeader) { e.json.ObjEmpty() }

func (d *decoder) becameLeader(json *jx.Decoder) (input core.BecameLeader, err error) {
	return input, decodeObject(json, 0, func([]byte) error { return errUnknownField })
}

func (e *encoder) driftTriggered(input core.DriftPreventionTriggered) {
	e.json.ObjStart()
	e.levelRead(input.Pods)
	e.json.ObjEnd()
}

func (d *decoder) driftTriggered(
	json *jx.Decoder,
) (input core.DriftPreventionTriggered, err error) {
	err = decodeObject(json, 1, func(field []byte) (err error) {
		switch string(field) {
		case "pods":
			input.Pods, err = d.levelRead(json)
		default:
			err = errUnknownField
		}
		return err
	})
	return input, err
}

func (e *encoder) timerFired(input core.TimerFired) {
	e.json.ObjStart()
	e.json.FieldStart("timer")
	e.json.UInt64(uint64(input.Timer))
	e.json.ObjEnd()
}

func (d *decoder) timerFired(json *jx.Decoder) (input core.TimerFired, err error) {
	err = decodeObject(json, 1, func(field []byte) (err error) {
		switch string(field) {
		case "timer":
			input.Timer, err = numberAs[core.TimerID](json.UInt64())
		default:
			err = errUnknownField
		}
		return err
	})
	return input, err
}
