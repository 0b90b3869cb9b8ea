package timeline

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
)

// reduced takes one more input in.
func reduced(t *Timeline, at time.Time, input core.Input) {
	before := t.Now().State
	after, effects := core.Reduce(before, input)
	step := core.Step{Before: before, Input: input, After: after, Effects: effects}
	t.Reduced(shell.Step{Seq: t.Now().Seq + 1, Time: at, Step: step})
}

// The age of the view counts from the beginning while nothing was seen. A source that knows better
// is asked instead.
func TestAgeOfTheView(t *testing.T) {
	times := New()
	if moment := times.Now(); moment.ViewAge(moment.Began.Add(time.Hour)) != time.Hour {
		t.Error("the view's age does not count from the beginning")
	}
	now := time.Now()
	reduced(times, now, core.PodStoreSet{Synced: core.SyncDone})
	if age := times.Now().ViewAge(now.Add(time.Minute)); age != time.Minute {
		t.Errorf("the view is %v old", age)
	}
	times.FollowStore(func() time.Time { return now.Add(-time.Hour) })
	if age := times.Now().ViewAge(now); age != time.Hour {
		t.Errorf("the source says an hour, not %v", age)
	}
}

func TestProblemsAreKeptByKind(t *testing.T) {
	times := New()
	for i := range 3 {
		times.Problem(shell.Problem{Kind: shell.StoreUnreadable, Err: fmt.Errorf("failure %d", i)})
	}
	times.Problem(shell.Problem{Kind: shell.NotAPod, Err: errors.New(strings.Repeat("ö", 1000))})
	before := times.Now().Problems
	times.Problem(shell.Problem{Kind: shell.NotAPod})
	if len(before) != 2 || before[0].Text != "failure 2" || before[0].Count != 3 || before[1].Count != 1 {
		t.Errorf("the problems are %+v", before)
	}
	if long := before[1].Text; len(long) > maxProblemText+10 || !strings.HasSuffix(long, "ö…") {
		t.Errorf("%d bytes of text are kept: %q", len(long), long[len(long)-10:])
	}
	if newest := times.Now().Problems[1]; newest.Kind != shell.NotAPod || newest.Count != 2 {
		t.Errorf("the newest is %+v", newest)
	}
}

// A follower hears of each step and problem, and misses no pod that was touched between two looks.
func TestFollowerMissesNothing(t *testing.T) {
	times := New()
	follower := times.Follow()
	told := func() bool {
		select {
		case <-follower.Changed():
			return true
		default:
			return false
		}
	}
	if told() {
		t.Fatal("told before anything has happened")
	}
	times.Problem(shell.Problem{Kind: shell.NotAPod})
	if !told() {
		t.Error("not told of a problem")
	}
	for i := range 3 {
		reduced(times, time.Now(), core.ResourceIndexUpdated{Resource: core.HAProxyPods, Upserted: []*core.Pod{
			{Key: core.PodKey{Namespace: "lb", Name: fmt.Sprint(i)}, UID: "u"},
		}})
	}
	times.Problem(shell.Problem{Kind: shell.NotAPod})
	moment, touched := follower.Next()
	if len(touched) != 3 || moment.Seq != 3 || len(moment.Problems) != 1 || told() {
		t.Errorf("told of %v at step %d", touched, moment.Seq)
	}
	if _, again := follower.Next(); len(again) != 0 {
		t.Errorf("told again of %v", again)
	}
}
