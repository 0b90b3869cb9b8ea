package effects

import (
	"fmt"
	"slices"
	"testing"

	"github.com/samber/lo"
	"pgregory.net/rapid"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// However slowly one reads, what one receives is a consistent history (I1): see slowReader. The
// history is random and keeps the reducer's rules; pods come back under their old identity too.
func TestSlowSubscriberReceivesAConsistentHistory(t *testing.T) {
	known := []core.Credentials{testCredentials(t, "one"), testCredentials(t, "two")}
	rapid.Check(t, func(t *rapid.T) {
		p := NewPublisher()
		slow := &slowReader{subscription: p.Subscribe("slow")}
		h := &history{
			publisher: p, unhurried: p.Subscribe("unhurried"),
			fleet: map[string]core.Endpoint{}, known: known, credentials: known[0],
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			h.step(t)
			for range rapid.IntRange(0, 3).Draw(t, "reads") {
				slow.readOne(t, h)
			}
		}
		for slow.subscription.Lag() > 0 {
			slow.readOne(t, h)
		}
		slow.knowsAll(t, h)
	})
}

// history publishes what a reducer could. An unhurried subscriber receives all of it as told.
type history struct {
	publisher   *Publisher
	unhurried   *Subscription
	fleet       map[string]core.Endpoint // by pod
	known       []core.Credentials
	credentials core.Credentials
	rejections  int

	// told is everything in order.
	told []core.Event
	// published holds the publications that are no replay; generation g is at g-1.
	published []publication
}

type publication struct {
	event core.HAProxyPodsDiscovered
	// terminations counts those told before.
	terminations int
}

func (h *history) tell(t *rapid.T, event core.Event) {
	h.told = append(h.told, event)
	h.publisher.Publish(noon, event)
	if got := receive(t, h.unhurried); !same(got, event) {
		t.Fatalf("told was %s, the unhurried got %s", brief(event), brief(got))
	}
}

func (h *history) terminations() []core.HAProxyPodTerminated {
	return only[core.HAProxyPodTerminated](h.told)
}

func (h *history) step(t *rapid.T) {
	for range rapid.IntRange(0, 2).Draw(t, "rejections") {
		h.rejections++
		h.tell(t, rejected(rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "rejected"), h.rejections))
	}
	switch rapid.SampledFrom([]string{"change", "change", "rotate", "replay"}).Draw(t, "step") {
	case "change":
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			h.change(t)
		}
	case "rotate":
		h.credentials = rapid.SampledFrom(h.known).Draw(t, "credentials")
	case "replay":
		if len(h.published) > 0 {
			last := h.published[len(h.published)-1].event
			h.tell(t, replayed(last))
		}
		return
	}
	h.publish(t)
}

// change lets a pod go, come, come back, be replaced or have another version.
func (h *history) change(t *rapid.T) {
	pod := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "pod")
	uid := rapid.SampledFrom([]string{"", pod + "1", pod + "2"}).Draw(t, "uid")
	if uid == "" {
		delete(h.fleet, pod)
		return
	}
	version := rapid.SampledFrom([]string{"", "3.3.1", "3.4.3"}).Draw(t, "version")
	h.fleet[pod] = core.Endpoint{Identity: identity(uid), Version: core.ParseVersion(version)}
}

func (h *history) publish(t *rapid.T) {
	var was core.HAProxyPodsDiscovered
	if len(h.published) > 0 {
		was = h.published[len(h.published)-1].event
	}
	fleet := core.NewFleet(h.credentials, lo.Values(h.fleet)...)
	event := following(was, fleet)
	for _, key := range event.Removed {
		gone, _ := was.Fleet.Get(key)
		h.tell(t, core.HAProxyPodTerminated{Identity: gone.Identity, Cause: core.CauseReplaced})
	}
	h.published = append(h.published, publication{event, len(h.terminations())})
	h.tell(t, event)
}

// slowReader checks every event against all that it has received before.
type slowReader struct {
	subscription *Subscription
	received     []core.Event
	last         core.HAProxyPodsDiscovered
	// terminated since last.
	terminated []core.Identity
}

func (r *slowReader) readOne(t *rapid.T, h *history) {
	if r.subscription.Lag() == 0 {
		return
	}
	event := receive(t, r.subscription)
	r.received = append(r.received, event)
	terminations := only[core.HAProxyPodTerminated](r.received)
	switch e := event.(type) {
	case core.HAProxyPodTerminated:
		// None is lost, none is told twice, none overtakes another.
		if told := h.terminations()[len(terminations)-1]; told != e {
			t.Fatalf("received the termination of %s instead of %s", e.UID, told.UID)
		}
		r.terminated = append(r.terminated, e.Identity)
	case core.HAProxyPodRejected:
		r.checkRejected(t, h, e)
	case core.HAProxyPodsDiscovered:
		told := h.published[e.Generation-1]
		if len(terminations) != told.terminations {
			t.Fatalf("%s after %d terminations instead of %d",
				brief(e), len(terminations), told.terminations)
		}
		if !slices.Equal(e.Fleet.Endpoints(), told.event.Fleet.Endpoints()) {
			t.Fatalf("received %s, told was %s", brief(e), brief(told.event))
		}
		r.checkLists(t, e)
		r.checkFlags(t, h, e)
		r.last, r.terminated = e, nil
	}
}

// checkRejected: no rejection of a pod is older than one received before.
func (r *slowReader) checkRejected(t *rapid.T, h *history, e core.HAProxyPodRejected) {
	before := r.received[:len(r.received)-1]
	for _, earlier := range only[core.HAProxyPodRejected](before) {
		if earlier.Name == e.Name && earlier.Attempt >= e.Attempt {
			t.Fatalf("%s after %s", brief(e), brief(earlier))
		}
	}
	if !slices.ContainsFunc(h.told, func(told core.Event) bool { return told == core.Event(e) }) {
		t.Fatalf("%s was never told", brief(e))
	}
}

// checkLists: who follows terminations and lists alone has the fleet; Removed is exactly what was
// held and terminated since the publication received before (I1 for this subscriber).
func (r *slowReader) checkLists(t *rapid.T, e core.HAProxyPodsDiscovered) {
	var added, updated, removed []core.PodKey
	for was := range r.last.Fleet.All() {
		if slices.Contains(r.terminated, was.Identity) {
			removed = append(removed, was.Key())
		} else if is, found := e.Fleet.Get(was.Key()); !found || is.Identity != was.Identity {
			t.Fatalf("%s: %s is gone without a termination", brief(e), was.UID)
		}
	}
	for is := range e.Fleet.All() {
		was, found := r.last.Fleet.Get(is.Key())
		switch {
		case !found, was.Identity != is.Identity, slices.Contains(r.terminated, is.Identity):
			added = append(added, is.Key())
		case was.Version != is.Version:
			updated = append(updated, is.Key())
		}
	}
	if !slices.Equal(e.Added, added) || !slices.Equal(e.Updated, updated) ||
		!slices.Equal(e.Removed, removed) {
		t.Fatalf("received %s after %s\nbut added are %v, updated %v, removed %v",
			brief(e), brief(r.last), added, updated, removed)
	}
}

// checkFlags: a replay repeats what was received before, everything else is newer; a change of the
// credentials is told if any skipped publication told one, and if there is one.
func (r *slowReader) checkFlags(t *rapid.T, h *history, e core.HAProxyPodsDiscovered) {
	if e.Generation < r.last.Generation || e.Replay != (e.Generation == r.last.Generation) {
		t.Fatalf("received %s after %s", brief(e), brief(r.last))
	}
	changed := lo.ContainsBy(h.published[r.last.Generation:e.Generation],
		func(p publication) bool { return p.event.CredentialsChanged })
	if e.CredentialsChanged != changed {
		t.Fatalf("received %s after %s: changed is %v", brief(e), brief(r.last), changed)
	}
	differ := r.last.Generation > 0 && r.last.Fleet.Credentials() != e.Fleet.Credentials()
	if differ && !e.CredentialsChanged {
		t.Fatalf("received %s: a change of the credentials was missed", brief(e))
	}
}

// knowsAll: whoever has read everything knows what all others know.
func (r *slowReader) knowsAll(t *rapid.T, h *history) {
	if r.last.Generation != uint64(len(h.published)) {
		t.Fatalf("generation %d of %d is the last received", r.last.Generation, len(h.published))
	}
	received := only[core.HAProxyPodTerminated](r.received)
	if told := h.terminations(); !slices.Equal(received, told) {
		t.Fatalf("%d of %d terminations received", len(received), len(told))
	}
	newest := func(events []core.Event) map[core.PodKey]core.HAProxyPodRejected {
		return lo.KeyBy(only[core.HAProxyPodRejected](events), core.HAProxyPodRejected.Key)
	}
	if got, want := newest(r.received), newest(h.told); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("rejections known are %v, told were %v", got, want)
	}
}

// only keeps the events of one kind.
func only[E core.Event](events []core.Event) []E {
	return lo.FilterMap(events, func(event core.Event, _ int) (E, bool) {
		of, is := event.(E)
		return of, is
	})
}

// same tells that two events are alike in everything.
func same(a, b core.Event) bool {
	if discovered, is := a.(core.HAProxyPodsDiscovered); is {
		other, is := b.(core.HAProxyPodsDiscovered)
		return is && brief(a) == brief(b) && discovered.Trigger == other.Trigger &&
			slices.Equal(discovered.Fleet.Endpoints(), other.Fleet.Endpoints())
	}
	return a == b
}
