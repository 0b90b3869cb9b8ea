package metrics_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
	"github.com/haproxy-discovery/haproxy-discovery/shell/internal/loopback"
	"github.com/haproxy-discovery/haproxy-discovery/shell/metrics"
	"github.com/haproxy-discovery/haproxy-discovery/shell/timeline"
)

const patience = 20 * time.Second

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scraped is a running component whose metrics are read over HTTP.
type scraped struct {
	*shell.Component
	t        *testing.T
	counted  *metrics.Metrics
	registry *prometheus.Registry
	url      string
}

type fakeLog struct{ stopped error }

func (fakeLog) Bytes() int64 { return 4711 }
func (f fakeLog) Err() error { return f.stopped }

type fakeChecks struct{}

func (fakeChecks) Unchecked() uint64 { return 3 }

func start(t *testing.T, port int, store shell.PodStore, log metrics.InputLog) *scraped {
	t.Helper()
	counted := metrics.New()
	component := shell.New(nil, nil, shell.WithDriftInterval(0),
		shell.WithConfig(core.Config{RetryDelay: 20 * time.Second, MaxRetryDelay: 30 * time.Second}),
		shell.WithObserver(counted))
	counted.FollowInputLog(log)
	counted.FollowChecks(fakeChecks{})
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(counted)
	server := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	t.Cleanup(server.Close)

	component.HandleEvent(core.ConfigValidated{AgentPort: port, PodSelector: "app=haproxy"})
	component.HandleEvent(core.CredentialsUpdated{Credentials: loopback.Credentials()})
	component.SetPodStore(store)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- component.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return &scraped{component, t, counted, registry, server.URL}
}

// await waits until all that was put in is taken up and the state satisfies the condition.
func (s *scraped) await(what string, condition func(core.State) bool) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for s.Ping(ctx) != nil || !condition(s.counted.Now().State) {
		if ctx.Err() != nil {
			s.t.Fatalf("waited in vain for %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

func (s *scraped) changed(keys ...core.PodKey) {
	s.HandleEvent(shell.ResourceIndexUpdated{Resource: core.HAProxyPods, Keys: keys})
}

// scrape gives the samples by their names with labels, as Prometheus writes them.
func (s *scraped) scrape() map[string]float64 {
	s.t.Helper()
	response, err := http.Get(s.url)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(response.Body)
		s.t.Fatalf("status %d: %s", response.StatusCode, text)
	}
	samples := map[string]float64{}
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		at := strings.LastIndexByte(lines.Text(), ' ')
		value, err := strconv.ParseFloat(lines.Text()[at+1:], 64)
		if err != nil {
			s.t.Fatal(err)
		}
		samples[lines.Text()[:at]] = value
	}
	return samples
}

// want compares samples; the others of the same families, if not named, have to be 0.
func (s *scraped) want(got map[string]float64, want map[string]float64) {
	s.t.Helper()
	families := map[string]bool{}
	for sample, value := range want {
		families[family(sample)] = true
		if was, found := got[sample]; !found || was != value {
			s.t.Errorf("%s is %v (there: %v), want %v", sample, was, found, value)
		}
	}
	for sample, value := range got {
		if _, named := want[sample]; families[family(sample)] && !named && value != 0 {
			s.t.Errorf("%s is %v, want 0", sample, value)
		}
	}
}

func family(sample string) string { return strings.SplitN(sample, "{", 2)[0] }

func newPods() []*unstructured.Unstructured {
	waiting := loopback.Pod("hap-2", "u2", "127.77.0.1")
	_ = unstructured.SetNestedSlice(waiting.Object, []any{map[string]any{
		"name": "agent", "state": map[string]any{"waiting": map[string]any{}},
	}}, "status", "containerStatuses")
	terminating := loopback.Pod("hap-3", "u3", "127.77.0.1")
	_ = unstructured.SetNestedField(terminating.Object, "2026-01-01T00:00:00Z", "metadata", "deletionTimestamp")
	malformed := loopback.Pod("hap-4", "u4", "no address")
	return []*unstructured.Unstructured{
		loopback.Pod("hap-0", "u0", "127.77.0.1"), loopback.Pod("hap-1", "u1", "127.77.0.9"),
		waiting, terminating, malformed,
	}
}

// A story with real probes, and what Prometheus reads of it.
func TestScrapeOfALiveComponent(t *testing.T) {
	agents := loopback.NewAgents(t)
	agents.Start("127.77.0.1", loopback.Healthy("3.4.3"))
	store := loopback.NewStore(newPods()...)
	log := &fakeLog{}
	s := start(t, agents.Port, store, log)
	slow := s.Subscribe("slow")
	s.await("the first publication", func(state core.State) bool {
		return generationOf(state) == 1 && state.RetryTimersLen() == 1
	})

	s.counted.FollowSources(func() []timeline.Source {
		return []timeline.Source{
			{Kind: timeline.PodSource, Name: "pods", Audit: timeline.Audit{
				Began: time.Now().Add(-time.Hour), Verified: time.Now().Add(-time.Minute), LostViews: 2,
			}},
			{Kind: timeline.CredentialSource, Name: "Secret lb/hap", Error: "it does not exist"},
			{Kind: timeline.CredentialSource, Name: "another Secret"},
			{Kind: "\xff", Name: "one whose kind is no text"},
		}
	})

	samples := s.scrape()
	s.want(samples, map[string]float64{
		`haptic_discovery_source_up{source="pods"}`:                                            1,
		`haptic_discovery_source_up{source="credentials"}`:                                     0,
		`haptic_discovery_source_up{source="?"}`:                                               1,
		"haptic_discovery_lost_views_total":                                                    2,
		"haptic_discovery_fleet_size":                                                          1,
		`haptic_discovery_pods{status="admitted"}`:                                             1,
		`haptic_discovery_pods{status="ignored"}`:                                              1,
		`haptic_discovery_pods{status="rejected"}`:                                             3,
		`haptic_discovery_rejected_pods{cause="refused",reason="agent_unreachable"}`:           1,
		`haptic_discovery_rejected_pods{cause="waiting",reason="agent_container_not_running"}`: 1,
		`haptic_discovery_rejected_pods{cause="malformed",reason="malformed_pod"}`:             1,
		"haptic_discovery_gate_open":                                                           1,
		"haptic_discovery_generation":                                                          1,
		"haptic_discovery_probes_in_flight":                                                    0,
		`haptic_discovery_probes_queued{attempt="first"}`:                                      0,
		`haptic_discovery_probes_queued{attempt="retry"}`:                                      0,
		`haptic_discovery_probes_total{result="answered"}`:                                     1,
		`haptic_discovery_probes_total{result="refused"}`:                                      1,
		"haptic_discovery_probe_duration_seconds_count":                                        2,
		`haptic_haproxy_pods_rejected_total{reason="agent_unreachable"}`:                       1,
		`haptic_haproxy_pods_rejected_total{reason="malformed_pod"}`:                           1,
		`haptic_haproxy_pods_rejected_total{reason="agent_container_not_running"}`:             1,
		`haptic_discovery_passes_total{trigger="pod_store_set"}`:                               1,
		`haptic_discovery_problems_total{kind="input_refused"}`:                                0,
		`haptic_discovery_terminations_total{cause="replaced"}`:                                0,
		`haptic_discovery_subscriber_lag{subscriber="slow"}`:                                   float64(slow.Lag()),
		"haptic_discovery_input_log_bytes_total":                                               4711,
		"haptic_discovery_input_log_stopped":                                                   0,
		"haptic_discovery_invariant_unchecked_steps_total":                                     3,
	})
	if age := samples["haptic_discovery_store_view_age_seconds"]; age <= 0 || age > patience.Seconds() {
		t.Errorf("the view is %v s old", age)
	}
	age := samples["haptic_discovery_verified_view_age_seconds"]
	if age < 60 || age > 60+patience.Seconds() {
		t.Errorf("the last confirmed view is %v s old", age)
	}
	if age := samples["haptic_discovery_oldest_unadmitted_candidate_seconds"]; age <= 0 || age > patience.Seconds() {
		t.Errorf("the oldest candidate has waited for %v s", age)
	}
	if took := samples["haptic_discovery_probe_duration_seconds_sum"]; took <= 0 || took > patience.Seconds() {
		t.Errorf("the probes have taken %v s", took)
	}
	if steps := samples["haptic_discovery_reduce_duration_seconds_count"]; steps < 5 {
		t.Errorf("%v steps", steps)
	}

	s.replaceAndTrouble(store)
	log.stopped = errors.New("the disk is full")
	s.want(s.scrape(), map[string]float64{
		`haptic_discovery_terminations_total{cause="replaced"}`:               1,
		`haptic_discovery_passes_total{trigger="pod_store_set"}`:              1,
		`haptic_discovery_passes_total{trigger="drift_prevention_triggered"}`: 1,
		"haptic_discovery_store_errors_total":                                 1,
		`haptic_discovery_problems_total{kind="unknown_event"}`:               1,
		`haptic_discovery_problems_total{kind="input_refused"}`:               1,
		`haptic_discovery_problems_total{kind="in? Latin-1"}`:                 1,
		`haptic_discovery_problems_total{kind="of_an_adapter"}`:               1,
		`haptic_discovery_invariant_violations_total{invariant="I4"}`:         2,
		"haptic_discovery_input_log_stopped":                                  1,
		"haptic_discovery_fleet_size":                                         1,
	})
	if replays := s.scrape()[`haptic_discovery_publications_total{trigger="became_leader"}`]; replays != 1 {
		t.Errorf("%v replays", replays)
	}
}

func (s *scraped) replaceAndTrouble(store *loopback.Store) {
	s.t.Helper()
	s.changed(store.Set(loopback.Pod("hap-0", "u0b", "127.77.0.1")))
	s.await("the successor", func(state core.State) bool {
		fleet, _, _ := state.Published()
		endpoint, _ := fleet.Get(core.PodKey{Namespace: "lb", Name: "hap-0"})
		return endpoint.UID == "u0b"
	})
	s.HandleEvent(core.BecameLeader{})
	s.HandleEvent(shell.DriftPreventionTriggered{})
	s.HandleEvent(core.ConfigValidated{AgentPort: -1})
	s.HandleEvent("unheard of")
	s.Report(shell.Problem{Kind: "of_an_adapter"})
	s.Report(shell.Problem{Kind: "in\xff Latin-1"})
	s.counted.InvariantViolated("I4")
	s.counted.InvariantViolated("I4")
	s.await("the loop", func(core.State) bool { return true })
	store.Fail(errors.New("the store is down"))
	s.HandleEvent(shell.DriftPreventionTriggered{})
	s.await("the retry, and the loop", func(state core.State) bool { return len(state.Probes()) == 0 })
}

func generationOf(state core.State) uint64 {
	_, generation, _ := state.Published()
	return generation
}

// Probes that hang are in flight, those beyond the places are queued, and who is gone is cancelled.
func TestScrapeWhileAgentsHang(t *testing.T) {
	agents := loopback.NewAgents(t)
	agents.Start("127.77.0.2", loopback.Hung)
	store := loopback.NewStore()
	for i := range 20 {
		store.Set(loopback.Pod("hap-"+strconv.Itoa(i), "u"+strconv.Itoa(i), "127.77.0.2"))
	}
	s := start(t, agents.Port, store, nil)
	s.await("16 probes in flight", func(state core.State) bool { return len(state.Probes()) == 16 })
	s.want(s.scrape(), map[string]float64{
		"haptic_discovery_probes_in_flight":               16,
		`haptic_discovery_probes_queued{attempt="first"}`: 4,
		"haptic_discovery_fleet_size":                     0,
		"haptic_discovery_generation":                     0,
	})
	var keys []core.PodKey
	for i := range 20 {
		keys = append(keys, store.Remove("hap-"+strconv.Itoa(i)))
	}
	s.changed(keys...)
	s.await("the end of the probes", func(state core.State) bool { return state.Len() == 0 && len(state.Probes()) == 0 })
	s.want(s.scrape(), map[string]float64{
		`haptic_discovery_probes_total{result="cancelled"}`:    16,
		"haptic_discovery_probe_duration_seconds_count":        0,
		"haptic_discovery_oldest_unadmitted_candidate_seconds": 0,
		"haptic_discovery_probes_in_flight":                    0,
	})
}

// Who forgets to let the metrics observe a component gets an error, not a green light of zeros.
func TestMetricsThatObserveNothingFailTheScrape(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(metrics.New())
	if _, err := registry.Gather(); err == nil || !strings.Contains(err.Error(), "observe no component") {
		t.Errorf("the scrape says %v", err)
	}
}

// The names that dashboards and alerts rely on, and no other; as Prometheus wants them, and there
// from the beginning.
func TestNamesAndLint(t *testing.T) {
	s := start(t, 5555, loopback.NewStore(), fakeLog{})
	s.Subscribe("\xff a name that is no text")
	audited := timeline.Source{Kind: timeline.PodSource, Audit: timeline.Audit{Began: time.Now()}}
	s.counted.FollowSources(func() []timeline.Source { return []timeline.Source{audited} })
	want := []string{
		"haptic_discovery_fleet_size",
		"haptic_discovery_gate_open",
		"haptic_discovery_generation",
		"haptic_discovery_input_log_bytes_total",
		"haptic_discovery_input_log_stopped",
		"haptic_discovery_invariant_unchecked_steps_total",
		"haptic_discovery_invariant_violations_total",
		"haptic_discovery_lost_views_total",
		"haptic_discovery_oldest_unadmitted_candidate_seconds",
		"haptic_discovery_passes_total",
		"haptic_discovery_pods",
		"haptic_discovery_probe_duration_seconds",
		"haptic_discovery_probes_in_flight",
		"haptic_discovery_probes_queued",
		"haptic_discovery_probes_total",
		"haptic_discovery_problems_total",
		"haptic_discovery_publications_total",
		"haptic_discovery_reduce_duration_seconds",
		"haptic_discovery_rejected_pods",
		"haptic_discovery_source_up",
		"haptic_discovery_store_errors_total",
		"haptic_discovery_store_view_age_seconds",
		"haptic_discovery_subscriber_lag",
		"haptic_discovery_terminations_total",
		"haptic_discovery_verified_view_age_seconds",
		"haptic_haproxy_pods_rejected_total",
	}
	families, err := s.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, family := range families {
		got[family.GetName()] = true
	}
	if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, want) {
		t.Errorf("got  %q\nwant %q", names, want)
	}
	complaints, err := testutil.GatherAndLint(s.registry)
	if err != nil || len(complaints) > 0 {
		t.Errorf("lint: %v %v", complaints, err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	told := toldOf(string(readme))
	if names := slices.Sorted(maps.Keys(told)); !slices.Equal(names, want) {
		t.Errorf("the README tells of %q", names)
	}
}

// toldOf are the names in the README: in full, or in the table of those that share the prefix.
func toldOf(readme string) map[string]bool {
	told := map[string]bool{}
	for _, name := range regexp.MustCompile(`\bhaptic_[a-z_]+[a-z]\b`).FindAllString(readme, -1) {
		told[name] = true
	}
	_, table, _ := strings.Cut(readme, "and under `haptic_discovery_`")
	table, _, _ = strings.Cut(table, "haproxy-discovery manifests")
	for _, name := range regexp.MustCompile("`([a-z_]+)(\\{[a-z,]+\\})?`").FindAllStringSubmatch(table, -1) {
		told["haptic_discovery_"+name[1]] = true
	}
	return told
}
