package inputlog

import (
	"time"

	"github.com/go-faster/jx"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// snapshot writes the state after the input before, as the first record of a run (R36). It returns
// the number that this input has: seq, unless there are more passwords in the state than that, since
// a number is never smaller than that of a password (see placeholders).
func (e *encoder) snapshot(seq uint64, at time.Time, state core.State) uint64 {
	s := state.Snapshot()
	e.json.ObjStart()
	e.textField("kind", kindSnapshot)
	e.time(at)
	e.json.FieldStart("state")
	e.state(s)
	last := max(seq, e.secrets.last)
	e.number("last", last)
	e.json.ObjEnd()
	e.known.restart(s)
	return last
}

// restart makes the pods of a snapshot what is known.
func (k *knowledge) restart(s core.Snapshot) {
	pods := make([]*core.Pod, 0, len(s.Pods))
	for _, p := range s.Pods {
		pods = append(pods, p.Pod)
	}
	k.replace(pods)
}

var stateFields = []string{
	"settings", "credentials", "store_set", "store_synced", "sync_seen", "gate_open", "pods", "probes",
	"generation", "publish_timer", "first_publish_timer", "last_place", "last_probe", "last_timer",
}

// state leaves the configuration out: it is that of the run.
func (e *encoder) state(s core.Snapshot) {
	e.json.ObjStart()
	e.json.FieldStart("settings")
	if s.Settings != nil {
		e.configValidated(*s.Settings)
	} else {
		e.json.Null()
	}
	e.json.FieldStart("credentials")
	e.credentials(s.Credentials)
	e.flag("store_set", s.Store.Set)
	e.flag("store_synced", s.Store.Synced)
	e.flag("sync_seen", s.Store.SyncSeen)
	e.flag("gate_open", s.GateOpen)
	e.json.FieldStart("pods")
	encodeList(e, s.Pods, (*encoder).podSnapshot)
	e.json.FieldStart("probes")
	encodeList(e, s.Probes, (*encoder).outstanding)
	e.number("generation", s.Generation)
	e.number("publish_timer", uint64(s.PublishTimer))
	e.number("first_publish_timer", uint64(s.FirstPublishTimer))
	e.number("last_place", s.LastPlace)
	e.number("last_probe", uint64(s.LastProbe))
	e.number("last_timer", uint64(s.LastTimer))
	e.json.ObjEnd()
}

func (d *decoder) state(json *jx.Decoder) (s core.Snapshot, err error) {
	err = decodeObject(json, stateFields, func(field string) (err error) {
		switch field {
		case "settings":
			s.Settings, err = orNull(json, d.configValidated)
		case "credentials":
			s.Credentials, err = d.credentials(json)
		case "store_set":
			s.Store.Set, err = json.Bool()
		case "store_synced":
			s.Store.Synced, err = json.Bool()
		case "sync_seen":
			s.Store.SyncSeen, err = json.Bool()
		case "gate_open":
			s.GateOpen, err = json.Bool()
		case "pods":
			s.Pods, err = decodeList(json, d.podSnapshot)
		case "probes":
			s.Probes, err = decodeList(json, d.outstanding)
		case "generation":
			s.Generation, err = json.UInt64()
		case "publish_timer":
			s.PublishTimer, err = numberAs[core.TimerID](json.UInt64())
		case "first_publish_timer":
			s.FirstPublishTimer, err = numberAs[core.TimerID](json.UInt64())
		case "last_place":
			s.LastPlace, err = json.UInt64()
		case "last_probe":
			s.LastProbe, err = numberAs[core.ProbeID](json.UInt64())
		case "last_timer":
			s.LastTimer, err = numberAs[core.TimerID](json.UInt64())
		}
		return err
	})
	return s, err
}

var podSnapshotFields = []string{"pod", "candidate"}

// podSnapshot has null for what only a candidate has.
func (e *encoder) podSnapshot(p core.PodSnapshot) {
	e.json.ObjStart()
	e.json.FieldStart("pod")
	e.pod(p.Pod)
	e.json.FieldStart("candidate")
	if p == (core.PodSnapshot{Pod: p.Pod}) {
		e.json.Null()
	} else {
		e.candidate(p)
	}
	e.json.ObjEnd()
}

func (d *decoder) podSnapshot(json *jx.Decoder) (p core.PodSnapshot, err error) {
	var (
		pod       *core.Pod
		candidate *core.PodSnapshot
	)
	err = decodeObject(json, podSnapshotFields, func(field string) (err error) {
		switch field {
		case "pod":
			pod, err = d.pod(json)
		case "candidate":
			candidate, err = orNull(json, d.candidate)
		}
		return err
	})
	if candidate != nil {
		p = *candidate
	}
	p.Pod = pod
	return p, err
}

var candidateFields = []string{
	"admitted", "version", "major", "minor", "published", "attempts", "retry", "place", "retry_timer",
}

func (e *encoder) candidate(p core.PodSnapshot) {
	e.json.ObjStart()
	e.flag("admitted", p.Admitted)
	e.textField("version", p.Version.Text)
	e.json.FieldStart("major")
	e.integer(p.Version.Major)
	e.json.FieldStart("minor")
	e.integer(p.Version.Minor)
	e.flag("published", p.Published)
	e.json.FieldStart("attempts")
	e.integer(p.Attempts)
	e.flag("retry", p.Retry)
	e.number("place", p.Place)
	e.number("retry_timer", uint64(p.RetryTimer))
	e.json.ObjEnd()
}

func (d *decoder) candidate(json *jx.Decoder) (p core.PodSnapshot, err error) {
	err = decodeObject(json, candidateFields, func(field string) (err error) {
		switch field {
		case "admitted":
			p.Admitted, err = json.Bool()
		case "version":
			p.Version.Text, err = d.texts.decode(json)
		case "major":
			p.Version.Major, err = decodeInteger(json)
		case "minor":
			p.Version.Minor, err = decodeInteger(json)
		case "published":
			p.Published, err = json.Bool()
		case "attempts":
			p.Attempts, err = decodeInteger(json)
		case "retry":
			p.Retry, err = json.Bool()
		case "place":
			p.Place, err = json.UInt64()
		case "retry_timer":
			p.RetryTimer, err = numberAs[core.TimerID](json.UInt64())
		}
		return err
	})
	return p, err
}

var outstandingFields = []string{
	"probe", "namespace", "name", "uid", "runtime_id", "url", "credentials", "retry", "cancelled",
}

func (e *encoder) outstanding(p core.OutstandingProbe) {
	e.json.ObjStart()
	e.number("probe", uint64(p.Probe))
	e.textField("namespace", p.Identity.Namespace)
	e.textField("name", p.Identity.Name)
	e.textField("uid", p.Identity.UID)
	e.textField("runtime_id", string(p.Identity.RuntimeID))
	e.textField("url", p.Identity.URL)
	e.json.FieldStart("credentials")
	e.credentials(p.Credentials)
	e.flag("retry", p.Retry)
	e.flag("cancelled", p.Cancelled)
	e.json.ObjEnd()
}

func (d *decoder) outstanding(json *jx.Decoder) (p core.OutstandingProbe, err error) {
	err = decodeObject(json, outstandingFields, func(field string) (err error) {
		switch field {
		case "probe":
			p.Probe, err = numberAs[core.ProbeID](json.UInt64())
		case "namespace":
			p.Identity.Namespace, err = d.texts.decode(json)
		case "name":
			p.Identity.Name, err = decodeText(json)
		case "uid":
			p.Identity.UID, err = decodeText(json)
		case "runtime_id":
			p.Identity.RuntimeID, err = textAs[core.RuntimeID](decodeText(json))
		case "url":
			p.Identity.URL, err = decodeText(json)
		case "credentials":
			p.Credentials, err = d.credentials(json)
		case "retry":
			p.Retry, err = json.Bool()
		case "cancelled":
			p.Cancelled, err = json.Bool()
		}
		return err
	})
	return p, err
}
