package status

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/projection"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
	"github.com/haproxy-discovery/haproxy-discovery/shell/timeline"
)

// The document of /debug/fleet. The stream sends its parts. Times are in UTC with milliseconds, or
// empty for never.

type document struct {
	summary
	Pods []row `json:"pods"`
}

type summary struct {
	// Time is the server's, so that the page can tell ages by the server's clock.
	Time     string   `json:"time"`
	GateOpen bool     `json:"gate_open"`
	Missing  []string `json:"missing"`
	// Generation is that of the last publication, 0 before the first.
	Generation uint64 `json:"generation"`
	// The pods by status; the fleet's are the admitted ones.
	FleetSize  int `json:"fleet_size"`
	Candidates int `json:"candidates"`
	Rejected   int `json:"rejected"`
	Ignored    int `json:"ignored"`
	Undecided  int `json:"undecided"`
	// ViewTime is when the pods were last known to be up to date, ViewAge how long ago that was;
	// while they never were, how long they are waited for.
	ViewTime   string  `json:"view_time"`
	ViewAge    float64 `json:"view_age_seconds"`
	StaleAfter float64 `json:"stale_after_seconds"`
	// Audit is null for a store that nobody audits.
	Audit    *audit    `json:"audit"`
	Sources  []source  `json:"sources"`
	Problems []problem `json:"problems"`
	Build    string    `json:"build"`
}

// source is where inputs come from; its error is empty while nothing is wrong with it.
type source struct {
	Kind  timeline.SourceKind `json:"kind"`
	Name  string              `json:"name"`
	State string              `json:"state"`
	Error string              `json:"error"`
}

// audit tells when the last view of the pods that an audit has confirmed was taken, and how long ago
// that was; while none has, since when audits are made.
type audit struct {
	VerifiedTime string  `json:"verified_time"`
	VerifiedAge  float64 `json:"verified_age_seconds"`
	LostViews    uint64  `json:"lost_views"`
}

// problem is the newest of its kind.
type problem struct {
	Kind  shell.ProblemKind `json:"kind"`
	Text  string            `json:"text"`
	Count uint64            `json:"count"`
	Time  string            `json:"time"`
}

// row is one pod.
type row struct {
	Namespace string            `json:"namespace"`
	Name      string            `json:"name"`
	UID       string            `json:"uid"`
	Verdict   projection.Status `json:"verdict"`
	Reason    core.Reason       `json:"reason"`
	Cause     core.Cause        `json:"cause"`
	Detail    string            `json:"detail"`
	Attempts  int               `json:"attempts"`
	// Probe is queued or in_flight while it is; NextRetry is set while a retry is planned.
	Probe     string         `json:"probe"`
	NextRetry string         `json:"next_retry"`
	Version   string         `json:"version"`
	RuntimeID core.RuntimeID `json:"runtime_id"`
	URL       string         `json:"url"`
	Since     string         `json:"since"`
}

func (p *Page) debugFleet(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	now := time.Now() // before the contact that the moment may tell of: in contact, the age is 0
	moment := p.Now()
	// Fails only if nobody reads any more.
	_ = encoder.Encode(document{p.summary(moment, now), rowsOf(moment)})
}

func (p *Page) summary(moment timeline.Moment, now time.Time) summary {
	state := moment.State
	_, generation, _ := state.Published()
	return summary{
		Time: timeText(now), GateOpen: state.GateOpen(),
		Missing:    append([]string{}, projection.GateLacks(state)...),
		Generation: generation, FleetSize: moment.Count(projection.Admitted),
		Candidates: moment.Count(projection.Candidate), Rejected: moment.Count(projection.Rejected),
		Ignored: moment.Count(projection.Ignored), Undecided: moment.Count(projection.Undecided),
		ViewTime: timeText(moment.StoreSeen), ViewAge: moment.ViewAge(now).Seconds(),
		StaleAfter: p.options.StaleAfter.Seconds(), Audit: auditOf(moment.Audit(), now),
		Sources:  sourcesOf(moment.Sources),
		Problems: problemsOf(moment.Problems), Build: p.options.Build,
	}
}

func rowsOf(moment timeline.Moment) []row {
	rows := make([]row, 0, moment.State.Len())
	for standing, pod := range moment.Pods() {
		rows = append(rows, rowOf(standing, pod))
	}
	return rows
}

func rowOf(standing core.Standing, pod projection.Pod) row {
	r := row{
		Namespace: standing.Pod.Key.Namespace, Name: standing.Pod.Key.Name, UID: standing.Pod.UID,
		Verdict: pod.Status, Reason: pod.Reason, Cause: pod.Cause, Detail: pod.Detail,
		Attempts: standing.Attempts, NextRetry: timeText(pod.RetryAt),
		Version: standing.Version.Text, RuntimeID: standing.Pod.RuntimeID, URL: standing.Identity.URL,
		Since: timeText(pod.Since),
	}
	switch {
	case standing.Queued:
		r.Probe = "queued"
	case standing.Probe != 0:
		r.Probe = "in_flight"
	}
	return r
}

func sourcesOf(known []timeline.Source) []source {
	sources := make([]source, 0, len(known))
	for _, s := range known {
		sources = append(sources, source{s.Kind, s.Name, s.State, s.Error})
	}
	return sources
}

func auditOf(known timeline.Audit, now time.Time) *audit {
	if known.Began.IsZero() {
		return nil
	}
	return &audit{timeText(known.Verified), known.Age(now).Seconds(), known.LostViews}
}

func problemsOf(known timeline.Problems) []problem {
	problems := make([]problem, 0, len(known))
	for _, p := range known {
		problems = append(problems, problem{p.Kind, p.Text, p.Count, timeText(p.At)})
	}
	return problems
}

func timeText(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format("2006-01-02T15:04:05.000Z")
}
