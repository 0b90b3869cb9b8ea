package inputlog

import (
	"github.com/go-faster/jx"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

func (e *encoder) configValidated(input core.ConfigValidated) {
	e.json.ObjStart()
	e.json.FieldStart("agent_port")
	e.integer(input.AgentPort)
	e.textField("pod_selector", input.PodSelector)
	e.json.ObjEnd()
}

var configValidatedFields = []string{"agent_port", "pod_selector"}

func (d *decoder) configValidated(json *jx.Decoder) (input core.ConfigValidated, err error) {
	err = decodeObject(json, configValidatedFields, func(field string) (err error) {
		switch field {
		case "agent_port":
			input.AgentPort, err = decodeInteger(json)
		case "pod_selector":
			input.PodSelector, err = decodeText(json)
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

var credentialsUpdatedFields = []string{"credentials"}

func (d *decoder) credentialsUpdated(json *jx.Decoder) (input core.CredentialsUpdated, err error) {
	err = decodeObject(json, credentialsUpdatedFields, func(field string) (err error) {
		switch field {
		case "credentials":
			input.Credentials, err = d.credentials(json)
		}
		return err
	})
	return input, err
}

func (e *encoder) podStoreSet(input core.PodStoreSet) {
	e.json.ObjStart()
	e.levelRead(input.Pods)
	e.json.FieldStart("synced")
	e.json.UInt8(uint8(min(input.Synced, core.SyncPending))) // any other is not yet synced
	e.json.ObjEnd()
}

var podStoreSetFields = []string{"pods", "synced"}

func (d *decoder) podStoreSet(json *jx.Decoder) (input core.PodStoreSet, err error) {
	err = decodeObject(json, podStoreSetFields, func(field string) (err error) {
		switch field {
		case "pods":
			input.Pods, err = d.levelRead(json)
		case "synced":
			input.Synced, err = decodeUpTo(json, core.SyncPending)
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

var indexUpdatedFields = []string{"resource", "upserted", "deleted"}

func (d *decoder) indexUpdated(json *jx.Decoder) (input core.ResourceIndexUpdated, err error) {
	err = decodeObject(json, indexUpdatedFields, func(field string) (err error) {
		switch field {
		case "resource":
			input.Resource, err = d.texts.decode(json)
		case "upserted":
			input.Upserted, err = decodeList(json, d.pod)
		case "deleted":
			input.Deleted, err = decodeList(json, d.ref)
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

var syncCompleteFields = []string{"resource", "pods"}

func (d *decoder) syncComplete(json *jx.Decoder) (input core.ResourceSyncComplete, err error) {
	err = decodeObject(json, syncCompleteFields, func(field string) (err error) {
		switch field {
		case "resource":
			input.Resource, err = d.texts.decode(json)
		case "pods":
			input.Pods, err = d.levelRead(json)
		}
		return err
	})
	return input, err
}

func (e *encoder) becameLeader(core.BecameLeader) { e.json.ObjEmpty() }

func (d *decoder) becameLeader(json *jx.Decoder) (input core.BecameLeader, err error) {
	return input, decodeObject(json, nil, nil)
}

func (e *encoder) driftTriggered(input core.DriftPreventionTriggered) {
	e.json.ObjStart()
	e.levelRead(input.Pods)
	e.json.ObjEnd()
}

var driftTriggeredFields = []string{"pods"}

func (d *decoder) driftTriggered(
	json *jx.Decoder,
) (input core.DriftPreventionTriggered, err error) {
	err = decodeObject(json, driftTriggeredFields, func(field string) (err error) {
		switch field {
		case "pods":
			input.Pods, err = d.levelRead(json)
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

var timerFiredFields = []string{"timer"}

func (d *decoder) timerFired(json *jx.Decoder) (input core.TimerFired, err error) {
	err = decodeObject(json, timerFiredFields, func(field string) (err error) {
		switch field {
		case "timer":
			input.Timer, err = numberAs[core.TimerID](json.UInt64())
		}
		return err
	})
	return input, err
}
