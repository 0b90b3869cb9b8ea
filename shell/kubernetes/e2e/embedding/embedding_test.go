package embedding_test

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell/kubernetes"
	"github.com/haproxy-discovery/haproxy-discovery/shell/kubernetes/e2e/embedding"
	"github.com/haproxy-discovery/haproxy-discovery/shell/kubernetes/e2e/internal/testbed"
)

// Two replicas discover, the leader writes. Pods go before, and after, the other replica takes
// over; their agents go on running, and would take what they are sent.
func TestLeaderChange(t *testing.T) {
	f := newFixture(t)
	pods := []*testbed.Pod{f.launch("haproxy-0"), f.launch("haproxy-1"), f.launch("haproxy-2")}

	first := f.start("first")
	f.rollOut()
	f.awaitNewest("first", pods...)
	second := f.start("second")
	second.await("the fleet, though it does not lead", discovered(pods...))

	check(t, pods[2].Delete(t.Context(), time.Minute))
	first.await("a termination", terminated(pods[2]))
	second.await("a termination", terminated(pods[2]))
	f.rollOut()
	f.awaitNewest("first", pods[:2]...)

	first.stop()
	second.await("the replay of a new leader", func(event any) bool {
		e, is := event.(core.HAProxyPodsDiscovered)
		return is && e.Replay && consists(e.Fleet, pods[:2])
	})
	f.awaitNewest("second", pods[:2]...)

	check(t, pods[0].Delete(t.Context(), 0))
	successor := f.launch("haproxy-0")
	second.await("a termination", terminated(pods[0]))
	second.await("the successor", discovered(successor, pods[1]))
	f.awaitNewest("second", successor, pods[1])

	check(t, pods[1].Delete(t.Context(), time.Minute))
	second.await("a termination", terminated(pods[1]))
	second.await("the last fleet", discovered(successor))
	f.rollOut()
	f.awaitNewest("second", successor)

	second.stop()
	for _, pod := range append(pods, successor) {
		f.expectHandover(pod, first, second)
		f.expectNothingAfterTermination(pod, first, second)
	}
}

// fixture rolls out configurations that are numbers, each one higher than that before.
type fixture struct {
	*world
	t *testing.T

	mu      sync.Mutex
	newest  int
	running []*replica
}

// newFixture expects that in the end no goroutine is left.
func newFixture(t *testing.T) *fixture {
	t.Helper()
	w, err := newWorld(t.Context())
	check(t, err)
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		w.close()
		goleak.VerifyNone(t, before)
	})
	return &fixture{world: w, t: t}
}

func (f *fixture) launch(name string) *testbed.Pod {
	f.t.Helper()
	pod, err := f.kubelet.Launch(f.t.Context(), testbed.Wish{Name: name})
	check(f.t, err)
	return pod
}

// rollOut sends the next configuration to all replicas.
func (f *fixture) rollOut() { f.rollOutAfter(func(int) {}) }

// rollOutAfter first tells the configuration before.
func (f *fixture) rollOutAfter(tell func(before int)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	tell(f.newest)
	f.newest++
	for _, r := range f.running {
		r.bus.Send(configuration(f.newest))
	}
}

func configuration(number int) embedding.Configuration {
	return embedding.Configuration(strconv.Itoa(number))
}

// awaitNewest waits until this replica has written the newest configuration to all these pods.
func (f *fixture) awaitNewest(replica string, pods ...*testbed.Pod) {
	f.t.Helper()
	for _, pod := range pods {
		testbed.Eventually(f.t, replica+" writes to "+pod.Name, func() bool {
			f.mu.Lock()
			defer f.mu.Unlock()
			want := testbed.Configuration{Text: strconv.Itoa(f.newest), By: replica}
			return slices.Contains(pod.Agent.Configurations(), want)
		})
	}
}

// replica is a controller that runs.
type replica struct {
	t       *testing.T
	name    string
	fixture *fixture
	bus     *embedding.Bus
	cluster *kubernetes.Cluster
	cancel  context.CancelFunc
	// ended is closed when err is set.
	ended chan struct{}
	err   error

	mu     sync.Mutex
	events []any
	// last is, by UID, the newest configuration when the controller had handled a termination.
	last map[string]int
}

func (f *fixture) start(name string) *replica {
	f.t.Helper()
	cluster, err := f.connect()
	check(f.t, err)
	bus := embedding.NewBus()
	logger := slog.New(slog.NewTextHandler(f.t.Output(), nil)).With("replica", name)
	controller, err := embedding.New(bus, cluster, podSelector, f.terms(name), logger)
	check(f.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	r := &replica{
		t: f.t, name: name, fixture: f, bus: bus, cluster: cluster, cancel: cancel,
		ended: make(chan struct{}), last: map[string]int{},
	}
	bus.Subscribe(r.handle)
	go func() {
		defer close(r.ended)
		r.err = controller.Run(ctx)
	}()
	f.t.Cleanup(r.stop)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running = append(f.running, r)
	bus.Send(core.ConfigValidated{AgentPort: f.agents.Port(), PodSelector: podSelector})
	bus.Send(core.CredentialsUpdated{Credentials: f.credentials})
	bus.Send(configuration(f.newest))
	return r
}

// handle gets each event after the deployer. With each termination it rolls out at once, before
// discovery tells the fleet that remains.
func (r *replica) handle(event any) {
	r.mu.Lock()
	r.events = append(r.events, event)
	r.mu.Unlock()
	if e, is := event.(core.HAProxyPodTerminated); is {
		r.fixture.rollOutAfter(func(before int) { r.last[e.UID] = before })
	}
}

func (r *replica) await(what string, matches func(event any) bool) {
	r.t.Helper()
	testbed.Eventually(r.t, r.name+" tells "+what, func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return slices.ContainsFunc(r.events, matches)
	})
}

// stop ends the controller, as a signal would end its program; once more does no harm.
func (r *replica) stop() {
	r.t.Helper()
	r.cancel()
	select {
	case <-r.ended:
		check(r.t, r.err)
	case <-time.After(testbed.Patience):
		r.t.Fatalf("%s has not stopped within %v", r.name, testbed.Patience)
	}
	r.cluster.Close()
}

// expectHandover finds that nobody has written to the pod after the replica behind it in the list.
func (f *fixture) expectHandover(pod *testbed.Pod, replicas ...*replica) {
	f.t.Helper()
	place := func(written testbed.Configuration) int {
		return slices.IndexFunc(replicas, func(r *replica) bool { return r.name == written.By })
	}
	written := pod.Agent.Configurations()
	if !slices.IsSortedFunc(written, func(a, b testbed.Configuration) int {
		return place(a) - place(b)
	}) {
		f.t.Errorf("%s was written to by a replica that did not lead: %v", pod.Name, written)
	}
}

// expectNothingAfterTermination finds that no replica has sent the agent a configuration that is
// newer than the end it told.
func (f *fixture) expectNothingAfterTermination(pod *testbed.Pod, replicas ...*replica) {
	f.t.Helper()
	for _, r := range replicas {
		last, told := r.last[pod.UID]
		if !told {
			continue
		}
		for _, number := range f.numbersOf(pod, r) {
			if number > last {
				f.t.Errorf("%s has written %d to %s, which it knew to be gone since %d",
					r.name, number, pod.Name, last)
			}
		}
	}
}

// numbersOf are the configurations that a replica has written to a pod.
func (f *fixture) numbersOf(pod *testbed.Pod, r *replica) []int {
	f.t.Helper()
	var numbers []int
	for _, written := range pod.Agent.Configurations() {
		if written.By == r.name {
			number, err := strconv.Atoi(written.Text)
			check(f.t, err)
			numbers = append(numbers, number)
		}
	}
	return numbers
}

func terminated(pod *testbed.Pod) func(event any) bool {
	return func(event any) bool {
		e, is := event.(core.HAProxyPodTerminated)
		return is && e.UID == pod.UID
	}
}

func discovered(pods ...*testbed.Pod) func(event any) bool {
	return func(event any) bool {
		e, is := event.(core.HAProxyPodsDiscovered)
		return is && consists(e.Fleet, pods)
	}
}

func consists(fleet core.Fleet, pods []*testbed.Pod) bool {
	return fleet.Len() == len(pods) && !slices.ContainsFunc(pods, func(pod *testbed.Pod) bool {
		for endpoint := range fleet.All() {
			if endpoint.UID == pod.UID {
				return false
			}
		}
		return true
	})
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
