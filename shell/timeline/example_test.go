package timeline_test

import (
	"fmt"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
	"github.com/haproxy-discovery/haproxy-discovery/shell/timeline"
)

// A Timeline is told the steps by the component that it observes; here by hand.
func Example() {
	times := timeline.New()
	before := core.New(core.Config{})
	input := core.PodStoreSet{Pods: []*core.Pod{
		{Key: core.PodKey{Namespace: "lb", Name: "hap-0"}, UID: "u0"},
	}}
	after, effects := core.Reduce(before, input)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	step := core.Step{Before: before, Input: input, After: after, Effects: effects}
	times.Reduced(shell.Step{Seq: 1, Time: at, Step: step})

	for standing, pod := range times.Now().Pods() {
		fmt.Println(standing.Pod.Key, pod.Status, "since", pod.Since.Format(time.TimeOnly))
	}
	// Output: lb/hap-0 undecided since 12:00:00
}
