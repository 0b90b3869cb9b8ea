package inputlog

import (
	"reflect"

	"github.com/go-faster/jx"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// kind is one row of the table that joins the types of inputs with their names in the log.
type kind struct {
	name   string
	input  reflect.Type
	encode func(*encoder, core.Input)
	decode func(*decoder, *jx.Decoder) (core.Input, error)
}

// kinds is the table, and the only place that knows the names.
var kinds = []kind{
	kindOf("config_validated", (*encoder).configValidated, (*decoder).configValidated),
	kindOf("credentials_updated", (*encoder).credentialsUpdated, (*decoder).credentialsUpdated),
	kindOf("pod_store_set", (*encoder).podStoreSet, (*decoder).podStoreSet),
	kindOf("resource_index_updated", (*encoder).indexUpdated, (*decoder).indexUpdated),
	kindOf("resource_sync_complete", (*encoder).syncComplete, (*decoder).syncComplete),
	kindOf("became_leader", (*encoder).becameLeader, (*decoder).becameLeader),
	kindOf("drift_prevention_triggered", (*encoder).driftTriggered, (*decoder).driftTriggered),
	kindOf("probe_finished", (*encoder).probeFinished, (*decoder).probeFinished),
	kindOf("timer_fired", (*encoder).timerFired, (*decoder).timerFired),
}

// noInput is what no row of the table fits: nil, or something that the reducer refuses as well.
var noInput = &kind{
	name:   "none",
	encode: func(e *encoder, _ core.Input) { e.json.Null() },
	decode: func(_ *decoder, json *jx.Decoder) (core.Input, error) { return nil, json.Null() },
}

func kindOf[T core.Input](
	name string, encode func(*encoder, T), decode func(*decoder, *jx.Decoder) (T, error),
) kind {
	return kind{
		name:   name,
		input:  reflect.TypeFor[T](),
		encode: func(e *encoder, input core.Input) { encode(e, input.(T)) },
		decode: func(d *decoder, json *jx.Decoder) (core.Input, error) { return decode(d, json) },
	}
}

var kindByName, kindByType = indexKinds()

func indexKinds() (map[string]*kind, map[reflect.Type]*kind) {
	byName := map[string]*kind{noInput.name: noInput}
	byType := make(map[reflect.Type]*kind)
	for i := range kinds {
		byName[kinds[i].name] = &kinds[i]
		byType[kinds[i].input] = &kinds[i]
	}
	return byName, byType
}

func findKind(input core.Input) *kind {
	if k, found := kindByType[reflect.TypeOf(input)]; found {
		return k
	}
	return noInput
}

// KindName is the name of the input's kind in the log: snake_case, "none" for a nil input.
func KindName(input core.Input) string { return findKind(input).name }
