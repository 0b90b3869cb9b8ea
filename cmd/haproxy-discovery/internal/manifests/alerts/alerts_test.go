// Package alerts tests the alert rules with Prometheus' own parser, engine and templates.
package alerts

import (
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"

	"github.com/haproxy-discovery/haproxy-discovery/cmd/haproxy-discovery/internal/manifests"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
	"github.com/haproxy-discovery/haproxy-discovery/shell/metrics"
	"github.com/haproxy-discovery/haproxy-discovery/shell/timeline"
)

var promQL = parser.NewParser(parser.Options{})

// parsed are the rules as Prometheus reads them: names, labels, durations and templates are checked.
func parsed(t *testing.T, namespace string) []rulefmt.Rule {
	t.Helper()
	file, problems := rulefmt.Parse([]byte(manifests.AlertRules(namespace)), false, model.UTF8Validation, promQL,
		slog.New(slog.DiscardHandler))
	for _, problem := range problems {
		t.Error(problem)
	}
	if t.Failed() {
		t.FailNow()
	}
	var all []rulefmt.Rule
	for _, group := range file.Groups {
		all = append(all, group.Rules...)
	}
	return all
}

func parseExpr(t *testing.T, rule rulefmt.Rule) parser.Expr {
	t.Helper()
	expr, err := promQL.ParseExpr(rule.Expr)
	if err != nil {
		t.Fatalf("%s: %v", rule.Alert, err)
	}
	return expr
}

// Each rule asks for metrics that the program exposes, and groups by labels that they have.
func TestRulesAskForWhatIsExposed(t *testing.T) {
	exposed := exposedLabels(t)
	for _, rule := range parsed(t, "") {
		var selected []string
		expr := parseExpr(t, rule)
		parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
			if selector, is := node.(*parser.VectorSelector); is {
				selected = append(selected, selector.Name)
			}
			return nil
		})
		if len(selected) == 0 {
			t.Errorf("%s asks for nothing", rule.Alert)
		}
		for _, name := range selected {
			if _, found := exposed[name]; !found {
				t.Errorf("%s asks for %q, which is not exposed", rule.Alert, name)
			}
		}
		parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
			aggregation, is := node.(*parser.AggregateExpr)
			if !is {
				return nil
			}
			for _, label := range aggregation.Grouping {
				// The namespace comes with the target.
				if label != "namespace" && !slices.Contains(exposed[selected[0]], label) {
					t.Errorf("%s groups by %q, which %s lacks", rule.Alert, label, selected[0])
				}
			}
			return nil
		})
	}
}

// exposedLabels gives the labels of each metric.
func exposedLabels(t *testing.T) map[string][]string {
	t.Helper()
	counted := metrics.New()
	shell.New(nil, nil, shell.WithObserver(counted))
	pods := timeline.Source{Kind: timeline.PodSource, Audit: timeline.Audit{Began: time.Now()}}
	counted.FollowSources(func() []timeline.Source { return []timeline.Source{pods} })
	registry := prometheus.NewRegistry()
	registry.MustRegister(counted)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	exposed := map[string][]string{}
	for _, family := range families {
		names := []string{}
		for _, label := range family.GetMetric()[0].GetLabel() {
			names = append(names, label.GetName())
		}
		exposed[family.GetName()] = names
	}
	return exposed
}

// samples are the values of series, one a minute, in the notation of Prometheus' own tests: 5x9 is
// 5 ten times, _ is none.
type samples map[string]string

const (
	fleetOfA = `haptic_discovery_fleet_size{namespace="lb",pod="a"}`
	fleetOfB = `haptic_discovery_fleet_size{namespace="lb",pod="b"}`
	ageOfA   = `haptic_discovery_store_view_age_seconds{namespace="lb",pod="a"}`
	ageOfB   = `haptic_discovery_store_view_age_seconds{namespace="lb",pod="b"}`
	lostOfA  = `haptic_discovery_lost_views_total{namespace="lb",pod="a"}`
	auditOfA = `haptic_discovery_verified_view_age_seconds{namespace="lb",pod="a"}`
	auditOfB = `haptic_discovery_verified_view_age_seconds{namespace="lb",pod="b"}`
	timeOuts = `haptic_discovery_rejected_pods` +
		`{namespace="lb",pod="b",reason="agent_unreachable",cause="timeout"}`
	waitOfA = `haptic_discovery_oldest_unadmitted_candidate_seconds{namespace="lb",pod="a"}`
	waitOfB = `haptic_discovery_oldest_unadmitted_candidate_seconds{namespace="lb",pod="b"}`
	secretA = `haptic_discovery_source_up{namespace="lb",pod="a",source="credentials"}`
	secretB = `haptic_discovery_source_up{namespace="lb",pod="b",source="credentials"}`
)

// healthy is an hour of two replicas a and b that have nothing to complain of.
var healthy = samples{
	fleetOfA: "10x60", fleetOfB: "10x60", ageOfA: "1x60", ageOfB: "1x60", timeOuts: "0x60",
	waitOfA: "0x60", waitOfB: "0x60", secretA: "1x60", secretB: "1x60",
	lostOfA: "0x60", auditOfA: "9x60", auditOfB: "9x60",
}

// What an operator reads at the end of an hour that was healthy but for the samples given.
func TestAlertsFireForWhatIsFeared(t *testing.T) {
	gone := samples{}
	for series := range healthy {
		gone[series] = "1x50 stale"
	}
	const (
		stale     = "No replica in lb has seen the cluster for 10m 0s."
		collapsed = "The HAProxy fleet of lb is down to 4 endpoints."
		rejected  = "2 HAProxy pods of lb are rejected: agent_unreachable, timeout."
		lost      = "A replica in lb had lost its view of the pods."
		unaudited = "No replica in lb has verified its view of the pods for 25m 0s."
		spoiled   = "A replica in lb has trouble with its credentials."
		waiting   = "An HAProxy pod of lb waits for admission since 11m 40s."
	)
	for story, test := range map[string]struct {
		but  samples
		want []string
	}{
		"nothing happens":       {samples{}, nil},
		"no replica is scraped": {gone, []string{"Nobody discovers HAProxy pods."}},
		"one replica is gone":   {samples{fleetOfB: "10x50 stale", ageOfB: "1x50 stale"}, nil},
		"no replica sees the pods": {
			samples{ageOfA: "1x50 600x9", ageOfB: "1x50 900x9"}, []string{stale},
		},
		"one replica sees no pods":                  {samples{ageOfA: "1x50 600x9"}, nil},
		"a view is lost and made anew":              {samples{lostOfA: "0x50 1x9"}, []string{lost}},
		"a replica starts after a loss":             {samples{lostOfA: "1x10 stale _x30 0x9"}, nil},
		"no replica can audit its view":             {samples{auditOfA: "9x50 1500x9", auditOfB: "9x50 1800x9"}, []string{unaudited}},
		"one replica cannot audit its view":         {samples{auditOfA: "9x50 1500x9"}, nil},
		"some audits fail":                          {samples{auditOfA: "900x60", auditOfB: "900x60"}, nil},
		"a drift interval passes":                   {samples{ageOfA: "60x60", ageOfB: "60x60"}, nil},
		"one replica finds no credentials":          {samples{secretA: "1x40 0x19"}, []string{spoiled}},
		"one replica finds no credentials, briefly": {samples{secretA: "1x55 0x4"}, nil},
		"the fleet collapses": {
			samples{fleetOfA: "10x50 4x9", fleetOfB: "10x50 4x9"}, []string{collapsed},
		},
		"the fleet shrinks":          {samples{fleetOfA: "10x50 6x9", fleetOfB: "10x50 6x9"}, nil},
		"one replica starts again":   {samples{fleetOfB: "10x50 0x9"}, nil},
		"all replicas start again":   {samples{fleetOfA: "10x58 0x1", fleetOfB: "10x58 0x1"}, nil},
		"pods are rejected":          {samples{timeOuts: "0x40 2x19"}, []string{rejected}},
		"pods were rejected":         {samples{timeOuts: "0x40 2x17 0"}, nil},
		"pods are rejected, briefly": {samples{timeOuts: "0x55 2x4"}, nil},
		"a pod waits": {
			samples{waitOfA: "0x50 700x9", waitOfB: "0x50 900x9"}, []string{waiting},
		},
		"a pod waits for a replica": {samples{waitOfB: "0x50 900x9"}, nil},
		"a pod starts slowly":       {samples{waitOfA: "0x50 300x9", waitOfB: "0x50 300x9"}, nil},
	} {
		t.Run(story, func(t *testing.T) {
			hour := maps.Clone(healthy)
			maps.Copy(hour, test.but)
			for _, namespace := range []string{"", "lb"} {
				if got := firing(t, hour, namespace); !slices.Equal(got, test.want) {
					t.Errorf("firing for %q: %q, want %q", namespace, got, test.want)
				}
			}
		})
	}
}

// firing gives the summaries of the alerts that are firing at the end of an hour.
func firing(t *testing.T, hour samples, namespace string) []string {
	t.Helper()
	load := "load 1m\n"
	for series, values := range hour {
		load += "  " + series + " " + values + "\n"
	}
	storage := promqltest.LoadedStorage(t, load)
	engine := promqltest.NewTestEngine(t, false, 5*time.Minute, 10_000)
	query := rules.EngineQueryFunc(engine, storage)
	var summaries []string
	for _, rule := range parsed(t, namespace) {
		alerting := rules.NewAlertingRule(rule.Alert, parseExpr(t, rule),
			time.Duration(rule.For), time.Duration(rule.KeepFiringFor),
			labels.FromMap(rule.Labels), labels.FromMap(rule.Annotations), labels.EmptyLabels(), "", true, slog.New(slog.DiscardHandler))
		for minute := range 61 {
			at := time.Unix(0, 0).Add(time.Duration(minute) * time.Minute)
			if _, err := alerting.Eval(t.Context(), 0, at, query, &url.URL{}, 0); err != nil {
				t.Fatal(err)
			}
		}
		for _, alert := range alerting.ActiveAlerts() {
			if alert.State == rules.StateFiring {
				summaries = append(summaries, alert.Annotations.Get("summary"))
			}
		}
	}
	return summaries
}

// The rules for a namespace are silent about others, and miss it if only others are left.
func TestRulesForANamespace(t *testing.T) {
	hour := maps.Clone(healthy)
	hour[ageOfA], hour[ageOfB] = "600x60", "600x60"
	got := firing(t, hour, "other")
	if want := []string{"Nobody discovers HAProxy pods."}; !slices.Equal(got, want) {
		t.Errorf("firing: %q, want %q", got, want)
	}
}
