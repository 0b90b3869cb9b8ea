package core

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"slices"
	"testing"
	"unsafe"

	"k8s.io/apimachinery/pkg/labels"
)

// R35: in an unruly run, each state and the one restored from its snapshot agree in every field,
// exported or not, down to the last number. A field that the run never sets fails the test, too: what
// is new in a State has to be in the run, and in the snapshot.
func TestSnapshotHoldsTheWholeState(t *testing.T) {
	compare := comparison{set: map[string]bool{}}
	run := unrulyRun{random: rand.New(rand.NewPCG(7, 7)), state: New(Config{MaxProbes: 3, MaxRetries: 2})}
	for step := range 4000 {
		state := run.state
		restored, err := Restore(state.Snapshot())
		if err != nil {
			t.Fatalf("step %d: %v", step, err)
		}
		compare.values("State", reflect.ValueOf(&state).Elem(), reflect.ValueOf(&restored).Elem())
		if compare.difference != "" {
			t.Fatalf("step %d: %s", step, compare.difference)
		}
		run.next()
	}
	for _, field := range compare.fields {
		if !compare.set[field] {
			t.Errorf("no state of the run has a %s", field)
		}
	}
	if len(compare.fields) < 50 {
		t.Errorf("only these fields were compared: %v", compare.fields)
	}
}

// unrulyRun makes one random input after the other, of the kinds that change most.
type unrulyRun struct {
	random *rand.Rand
	state  State
	steps  int
}

func (r *unrulyRun) next() {
	r.steps++
	if r.steps%200 == 0 {
		r.state = New(r.state.config)
	}
	r.state, _ = Reduce(r.state, r.input())
}

func (r *unrulyRun) input() Input {
	credentials := func(username string) Credentials {
		valid, _ := NewCredentials(username, "password of "+username)
		return valid
	}
	switch r.random.IntN(16) {
	case 0:
		return ConfigValidated{AgentPort: 5555 + r.random.IntN(2), PodSelector: "app=lb"}
	case 1:
		return CredentialsUpdated{credentials([]string{"admin", "other"}[r.random.IntN(2)])}
	case 2:
		return PodStoreSet{r.pods(), Sync(r.random.IntN(3))}
	case 3:
		return ResourceSyncComplete{HAProxyPods, r.pods()}
	case 4:
		return DriftPreventionTriggered{r.pods()}
	case 5, 6, 7:
		timers := append(r.state.Timers(), 0)
		return TimerFired{timers[r.random.IntN(len(timers))]}
	case 8, 9:
		return ResourceIndexUpdated{Resource: HAProxyPods, Upserted: r.pods()[:1]}
	default:
		probes := append(r.state.Probes(), OutstandingProbe{})
		outcomes := []Outcome{
			Answer{}, Answer{Version: "3.4.3"}, Answer{Version: "3.3.5"}, Failure{Cause: CauseRefused},
		}
		return ProbeFinished{
			probes[r.random.IntN(len(probes))].Probe, outcomes[r.random.IntN(len(outcomes))],
		}
	}
}

func (r *unrulyRun) pods() []*Pod {
	var pods []*Pod
	for i := range 8 {
		if i == 0 || r.random.IntN(4) > 0 {
			pods = append(pods, &Pod{
				Key: PodKey{Namespace: "lb", Name: fmt.Sprintf("hap-%d", i)},
				UID: fmt.Sprintf("u%d", r.random.IntN(2)), Labels: map[string]string{"app": "lb"},
				IP: netip.AddrFrom4([4]byte{10, 1, 0, byte(i)}), Phase: PhaseRunning,
				Agent:     []AgentState{AgentRunning, AgentRunning, AgentRunning, AgentWaiting}[r.random.IntN(4)],
				RuntimeID: "r1",
			})
		}
	}
	return pods
}

// comparison looks into everything but pods, which a snapshot shares. It notes which fields of our
// structs there are, and which of them were not zero in a first value at least once.
type comparison struct {
	fields     []string
	set        map[string]bool
	difference string
}

func (c *comparison) values(path string, a, b reflect.Value) {
	if c.difference != "" {
		return
	}
	switch {
	case a.Type() == reflect.TypeFor[Secret](), a.Type() == reflect.TypeFor[*Pod]():
		c.equal(path, a.Interface() == b.Interface())
	case a.Type() == reflect.TypeFor[labels.Selector]():
		c.equal(path, a.Interface().(labels.Selector).String() == b.Interface().(labels.Selector).String())
	case a.MethodByName("Set").IsValid(): // an immutable map of ours
		as, bs := elementsOf(a), elementsOf(b)
		if c.equal(path+" length", len(as) == len(bs)); len(as) == len(bs) {
			for i := range as {
				c.values(fmt.Sprintf("%s[%d]", path, i), as[i], bs[i])
			}
		}
	case a.Kind() == reflect.Pointer:
		if c.equal(path+" nil", a.IsNil() == b.IsNil()); !a.IsNil() && !b.IsNil() {
			c.values(path, a.Elem(), b.Elem())
		}
	case a.Kind() == reflect.Slice:
		if c.equal(path+" length", a.Len() == b.Len()); a.Len() == b.Len() {
			for i := range a.Len() {
				c.values(fmt.Sprintf("%s[%d]", path, i), a.Index(i), b.Index(i))
			}
		}
	case a.Kind() == reflect.Struct:
		c.structs(path, a, b)
	default:
		c.equal(path, a.Interface() == b.Interface())
	}
}

func (c *comparison) structs(path string, a, b reflect.Value) {
	for i := range a.NumField() {
		name := a.Type().Field(i).Name
		field := a.Type().Name() + "." + name
		if !slices.Contains(c.fields, field) {
			c.fields = append(c.fields, field)
		}
		inA, inB := accessible(a.Field(i)), accessible(b.Field(i))
		isMap := inA.MethodByName("Set").IsValid()
		if isMap && len(elementsOf(inA)) > 0 || !isMap && !inA.IsZero() {
			c.set[field] = true
		}
		c.values(path+"."+name, inA, inB)
	}
}

func (c *comparison) equal(path string, equal bool) {
	if !equal {
		c.difference = path + " is not restored"
	}
}

// accessible lifts the ban on unexported fields.
func accessible(field reflect.Value) reflect.Value {
	if !field.CanAddr() {
		return field
	}
	return reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem()
}

// elementsOf lists keys and values of a map in its order.
func elementsOf(m reflect.Value) []reflect.Value {
	var elements []reflect.Value
	all := m.MethodByName("All").Call(nil)[0]
	if all.Type().CanSeq2() {
		for key, value := range all.Seq2() {
			elements = append(elements, key, value)
		}
		return elements
	}
	for value := range all.Seq() {
		elements = append(elements, value)
	}
	return elements
}
