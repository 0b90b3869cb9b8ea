package inputlog

import (
	"errors"
	"maps"
	"net/netip"
	"slices"

	"github.com/go-faster/jx"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

func (e *encoder) pod(pod *core.Pod) {
	if pod == nil {
		e.json.Null()
		return
	}
	e.json.ObjStart()
	e.textField("namespace", pod.Key.Namespace)
	e.textField("name", pod.Key.Name)
	e.textField("uid", pod.UID)
	e.json.FieldStart("labels")
	e.labels(pod.Labels)
	ip := ""
	if pod.IP.IsValid() {
		ip = pod.IP.String()
	}
	e.textField("ip", ip)
	e.textField("phase", pod.Phase)
	e.json.FieldStart("terminating")
	e.json.Bool(pod.Terminating)
	e.textField("agent", string(pod.Agent))
	e.textField("runtime_id", string(pod.RuntimeID))
	e.textField("malformed", pod.Malformed)
	e.json.FieldStart("unreadable")
	e.json.UInt8(uint8(pod.Unreadable & allFacts))
	if pod.NoAgent != "" { // rare, and older logs are without it
		e.textField("no_agent", pod.NoAgent)
	}
	e.json.ObjEnd()
}

// labels are sorted, so that the same inputs give the same log.
func (e *encoder) labels(labels map[string]string) {
	e.names = slices.AppendSeq(e.names[:0], maps.Keys(labels))
	slices.Sort(e.names)
	e.json.ObjStart()
	for _, name := range e.names {
		e.textField(escape(name), labels[name])
	}
	e.json.ObjEnd()
}

const allFacts = core.FactPhase | core.FactLabels | core.FactIP

var podFields = []string{
	"namespace", "name", "uid", "labels", "ip", "phase", "terminating", "agent",
	"runtime_id", "malformed", "unreadable", "no_agent",
}

func (d *decoder) pod(json *jx.Decoder) (*core.Pod, error) {
	if json.Next() == jx.Null {
		return nil, json.Null()
	}
	pod := new(core.Pod)
	seen, err := decodeFields(json, podFields, func(field string) (err error) {
		switch field {
		case "namespace":
			pod.Key.Namespace, err = d.texts.decode(json)
		case "name":
			pod.Key.Name, err = decodeText(json)
		case "uid":
			pod.UID, err = decodeText(json)
		case "labels":
			pod.Labels, err = d.labels(json)
		case "ip":
			pod.IP, err = decodeIP(json)
		case "phase":
			pod.Phase, err = d.texts.decode(json)
		case "terminating":
			pod.Terminating, err = json.Bool()
		case "agent":
			pod.Agent, err = textAs[core.AgentState](d.texts.decode(json))
		case "runtime_id":
			pod.RuntimeID, err = textAs[core.RuntimeID](decodeText(json))
		case "no_agent":
			pod.NoAgent, err = decodeText(json)
		case "malformed":
			pod.Malformed, err = decodeText(json)
		case "unreadable":
			pod.Unreadable, err = decodeUpTo(json, allFacts)
		}
		return err
	})
	if err == nil {
		err = seen.missing(podFields, 1<<(len(podFields)-1)-1) // all but no_agent
	}
	return pod, err
}

func (d *decoder) labels(json *jx.Decoder) (map[string]string, error) {
	fields, err := json.ObjIter()
	if err != nil {
		return nil, err
	}
	var labels map[string]string
	for fields.Next() {
		name, err := d.texts.share(fields.Key())
		if err != nil {
			return nil, err
		}
		value, err := d.texts.decode(json)
		if err != nil {
			return nil, err
		}
		if labels == nil {
			labels = make(map[string]string)
		}
		if _, twice := labels[name]; twice {
			return nil, errors.New("a label is given twice")
		}
		labels[name] = value
	}
	return labels, fields.Err()
}

func decodeIP(json *jx.Decoder) (netip.Addr, error) {
	text, err := decodeText(json)
	if err != nil || text == "" {
		return netip.Addr{}, err
	}
	return netip.ParseAddr(text)
}

func (e *encoder) key(key core.PodKey) {
	e.json.ObjStart()
	e.textField("namespace", key.Namespace)
	e.textField("name", key.Name)
	e.json.ObjEnd()
}

var keyFields = []string{"namespace", "name"}

func (d *decoder) key(json *jx.Decoder) (key core.PodKey, err error) {
	err = decodeObject(json, keyFields, func(field string) (err error) {
		switch field {
		case "namespace":
			key.Namespace, err = d.texts.decode(json)
		case "name":
			key.Name, err = decodeText(json)
		}
		return err
	})
	return key, err
}

func (e *encoder) ref(ref core.PodRef) {
	e.json.ObjStart()
	e.textField("namespace", ref.Key.Namespace)
	e.textField("name", ref.Key.Name)
	e.textField("uid", ref.UID)
	e.json.ObjEnd()
}

var refFields = []string{"namespace", "name", "uid"}

func (d *decoder) ref(json *jx.Decoder) (ref core.PodRef, err error) {
	err = decodeObject(json, refFields, func(field string) (err error) {
		switch field {
		case "namespace":
			ref.Key.Namespace, err = d.texts.decode(json)
		case "name":
			ref.Key.Name, err = decodeText(json)
		case "uid":
			ref.UID, err = decodeText(json)
		}
		return err
	})
	return ref, err
}

// levelRead writes a whole list as its difference from what is known, if it is a list as a store
// gives it, and in full otherwise.
func (e *encoder) levelRead(list []*core.Pod) {
	e.json.FieldStart("pods")
	e.json.ObjStart()
	if isStoreList(list) {
		e.changed, e.gone = e.known.difference(list, e.changed[:0], e.gone[:0])
		e.json.FieldStart("changed")
		encodeList(e, e.changed, (*encoder).pod)
		e.json.FieldStart("gone")
		encodeList(e, e.gone, (*encoder).key)
		e.known.replace(list)
		clear(e.changed)
	} else {
		e.json.FieldStart("list")
		encodeList(e, list, (*encoder).pod)
	}
	e.json.ObjEnd()
}

var levelReadFields = []string{"changed", "gone", "list"}

func (d *decoder) levelRead(json *jx.Decoder) ([]*core.Pod, error) {
	const asDifference, inFull = 0b011, 0b100
	var (
		changed, list []*core.Pod
		gone          []core.PodKey
	)
	seen, err := decodeFields(json, levelReadFields, func(field string) (err error) {
		switch field {
		case "changed":
			changed, err = decodeList(json, d.pod)
		case "gone":
			gone, err = decodeList(json, d.key)
		case "list":
			list, err = decodeList(json, d.pod)
		}
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case seen == inFull:
		return list, nil
	case seen != asDifference:
		return nil, errors.New("it has neither a list nor what changed and is gone")
	}
	return d.known.apply(changed, gone)
}
