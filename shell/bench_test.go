package shell

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/intake"
	"github.com/haproxy-discovery/haproxy-discovery/shell/internal/loopback"
)

// BenchmarkDriftPass is one drift tick over an unchanged store of 10,000 pods: the store is listed,
// its facts looked up, the pass reduced. To be under 10 ms.
func BenchmarkDriftPass(b *testing.B) { benchmarkDriftPass(b, slices.Clone[PodSlice]) }

// BenchmarkDriftPassTyped is the same over typed pods; to be at most 1.5 times as long.
func BenchmarkDriftPassTyped(b *testing.B) {
	benchmarkDriftPass(b, func(pods PodSlice) listOf { return typed(b, pods) })
}

func typed(t testing.TB, pods PodSlice) listOf {
	t.Helper()
	objects := make(listOf, 0, len(pods))
	for _, pod := range pods {
		object := new(corev1.Pod)
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(pod.Object, object); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, object)
	}
	return objects
}

func benchmarkDriftPass[S PodStore](b *testing.B, storeOf func(PodSlice) S) {
	const pods = 10_000
	slice := make(PodSlice, 0, pods)
	for i := range pods {
		slice = append(slice, loopback.Pod(fmt.Sprintf("hap-%05d", i), fmt.Sprintf("u%d", i), "10.1.0.10"))
	}
	c := New(nil, nil)
	c.turn.mu.Lock() // as the loop's goroutine does
	l := newLoop(c)
	defer func() { <-l.probes.Close() }()
	credentials, _ := core.NewCredentials("admin", "pass-word-1")
	l.state = admitAll(b, l, slice, credentials)
	c.inbox.putStore(storeOf(slice))
	if err := l.lookAtStore(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		c.inbox.ask(intake.DriftTick{})
		if err := l.lookAtStore(); err != nil {
			b.Fatal(err)
		}
	}
	if got := l.state.Admitted().Len(); got != pods {
		b.Fatalf("%d pods admitted", got)
	}
}

// admitAll is the state in which every pod has answered.
func admitAll(b *testing.B, l *loop, slice PodSlice, credentials core.Credentials) core.State {
	b.Helper()
	state := l.state
	pods, err := l.reader.list(slice)
	if err != nil {
		b.Fatal(err)
	}
	waiting := []core.Input{
		core.ConfigValidated{AgentPort: 5555}, core.CredentialsUpdated{Credentials: credentials},
		core.PodStoreSet{Pods: pods, Synced: core.SyncDone},
	}
	for len(waiting) > 0 {
		next, effects := core.Reduce(state, waiting[0])
		state, waiting = next, waiting[1:]
		for _, effect := range effects {
			if start, is := effect.(core.StartProbe); is {
				waiting = append(waiting,
					core.ProbeFinished{Probe: start.Probe, Outcome: core.Answer{Version: "3.4.3"}})
			}
		}
	}
	return state
}

// BenchmarkTermination is the way from a change of the store to Terminated at a subscriber, while
// 64 agents hang. Its 99th percentile is to be under 2 ms.
func BenchmarkTermination(b *testing.B) {
	agents := loopback.NewAgents(b)
	agents.Start("127.77.0.1", loopback.Healthy("3.4.3"))
	agents.Start("127.77.0.2", loopback.Hung)
	store := newTestStore()
	for i := range 64 {
		store.Set(loopback.Pod(fmt.Sprintf("hung-%02d", i), fmt.Sprintf("h%d", i), "127.77.0.2"))
	}
	component := New(nil, nil)
	subscription := component.Subscribe("bench")
	configure(component, agents.Port)
	component.SetPodStore(store)
	ctx, cancel := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Go(func() { _ = component.Start(ctx) })
	defer ended.Wait()
	defer cancel()

	// await receives until an event fits.
	await := func(fits func(core.Event) bool) {
		for {
			delivery, err := subscription.Next(ctx)
			if err != nil {
				b.Fatal(err)
			}
			if fits(delivery.Event) {
				return
			}
		}
	}
	for component.State().FirstAttemptsPending() || !component.State().GateOpen() {
		time.Sleep(10 * time.Millisecond) // until every loopback.Hung agent has failed once
	}
	var took []time.Duration
	for n := 0; b.Loop(); n++ {
		uid := fmt.Sprintf("u%d", n)
		key := store.Set(loopback.Pod("hap", uid, "127.77.0.1"))
		component.HandleEvent(ResourceIndexUpdated{Resource: core.HAProxyPods, Keys: []core.PodKey{key}})
		await(func(event core.Event) bool {
			discovered, is := event.(core.HAProxyPodsDiscovered)
			return is && discovered.Fleet.Len() == 1
		})
		begun := time.Now()
		store.Remove("hap")
		component.HandleEvent(ResourceIndexUpdated{Resource: core.HAProxyPods, Keys: []core.PodKey{key}})
		await(func(event core.Event) bool {
			terminated, is := event.(core.HAProxyPodTerminated)
			return is && terminated.UID == uid
		})
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "median-µs")
}

// BenchmarkColdStart is discovery of 1,000 healthy agents, against a bare loop of 16 workers that
// make the same requests in the same run. The ratio is to be under 1.3.
func BenchmarkColdStart(b *testing.B) {
	const pods = 1_000
	agents := loopback.NewAgents(b)
	agents.Start("127.77.0.1", loopback.Healthy("3.4.3"))
	slice := PodSlice{}
	for i := range pods {
		slice = append(slice, loopback.Pod(fmt.Sprintf("hap-%04d", i), fmt.Sprintf("u%d", i), "127.77.0.1"))
	}
	var discovery, bare []time.Duration
	for b.Loop() {
		begun := time.Now()
		bareLoop(b, agents.Port, pods)
		bare = append(bare, time.Since(begun))
		begun = time.Now()
		coldStart(b, agents.Port, slice)
		discovery = append(discovery, time.Since(begun))
	}
	slices.Sort(discovery)
	slices.Sort(bare)
	middle := len(bare) / 2
	b.ReportMetric(float64(discovery[middle])/float64(bare[middle]), "ratio")
	b.ReportMetric(float64(discovery[middle].Milliseconds()), "discovery-ms")
	b.ReportMetric(float64(bare[middle].Milliseconds()), "bare-ms")
}

func bareLoop(b *testing.B, port, requests int) {
	b.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	var group errgroup.Group
	group.SetLimit(16)
	for range requests {
		group.Go(func() error {
			request, err := http.NewRequest(http.MethodGet, fmt.Sprintf("http://127.77.0.1:%d/v1/state", port), nil)
			if err != nil {
				return err
			}
			request.SetBasicAuth("admin", "pass-word-1")
			response, err := client.Do(request)
			if err != nil {
				return err
			}
			return response.Body.Close()
		})
	}
	if err := group.Wait(); err != nil {
		b.Fatal(err)
	}
}

func coldStart(b *testing.B, port int, slice PodSlice) {
	b.Helper()
	component := New(nil, nil)
	subscription := component.Subscribe("bench")
	configure(component, port)
	component.SetPodStore(slice)
	ctx, cancel := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Go(func() { _ = component.Start(ctx) })
	for {
		delivery, err := subscription.Next(ctx)
		if err != nil {
			b.Fatal(err)
		}
		if discovered, is := delivery.Event.(core.HAProxyPodsDiscovered); is && discovered.Fleet.Len() == len(slice) {
			break
		}
	}
	cancel()
	ended.Wait()
}
