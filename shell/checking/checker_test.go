package checking

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/invariant"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
)

const password = "pass-word-1"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// An honest history of a fleet that changes is checked to its end, and nothing is found.
func TestHonestStepsPass(t *testing.T) {
	checker, log := newChecker(nil)
	h := newHistory(5)
	for range 500 {
		checker.Reduced(h.step())
	}
	closed(t, checker)
	if checker.Checked() != 500 || checker.Unchecked() != 0 || total(checker) != 0 {
		t.Errorf("checked %d, unchecked %d, violations %v",
			checker.Checked(), checker.Unchecked(), checker.Violations())
	}
	if got := log.String(); !strings.Contains(got, "steps=500 violations=0 unchecked=0") {
		t.Errorf("the log says %s", got)
	}
}

// What a wrong reducer does is counted and logged by the name of the invariant, with no secret;
// what is honest after it is no violation again.
func TestDoctoredStepsAreCountedAndLogged(t *testing.T) {
	var mu sync.Mutex
	told := map[string]int{}
	checker, log := newChecker(func(invariant string) {
		mu.Lock()
		defer mu.Unlock()
		told[invariant]++
	})
	h := newHistory(5)
	doctored := 0
	for range 300 {
		step := h.step()
		if i := slices.IndexFunc(step.Effects, isTermination); i >= 0 && doctored < 3 {
			step.Effects = slices.Delete(slices.Clone(step.Effects), i, i+1)
			doctored++
		}
		checker.Reduced(step)
	}
	closed(t, checker)
	if got := checker.Violations()["I1"]; doctored != 3 || got < 3 || total(checker) > 3*3 {
		t.Errorf("%d steps doctored: violations %v", doctored, checker.Violations())
	}
	for name, count := range checker.Violations() {
		if told[name] != int(count) {
			t.Errorf("%s: %d violations, told %d times", name, count, told[name])
		}
	}
	if names := slices.Sorted(maps.Keys(checker.Violations())); !slices.Equal(
		names, slices.Sorted(slices.Values(invariant.Names()))) {
		t.Errorf("counted are %v", names)
	}
	for _, want := range []string{"level=ERROR", "invariant=I1", "gone without Terminated", "seq="} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no %q in the log:\n%s", want, log)
		}
	}
	if strings.Contains(log.String(), password) {
		t.Errorf("R26: the log holds the password:\n%s", log)
	}
}

// A bug that shows in every step is counted each time, but does not flood the log.
func TestAFloodOfViolationsIsLoggedInPart(t *testing.T) {
	checker, log := newChecker(nil)
	h := newHistory(5)
	for range 4 {
		checker.Reduced(h.step())
	}
	step := h.step()
	step.After = step.Before // the step that never comes to an end
	for range 50 {
		checker.Reduced(step)
	}
	later := step
	later.Time = later.Time.Add(quotaPeriod)
	checker.Reduced(later)
	closed(t, checker)
	for name, count := range checker.Violations() {
		logged := strings.Count(log.String(), "invariant="+name+" ")
		if want := min(int(count), logsPerMinute+1); logged != want {
			t.Errorf("%s: %d of %d logged instead of %d", name, logged, count, want)
		}
	}
	if total(checker) < 51 {
		t.Errorf("violations %v", checker.Violations())
	}
}

// Checks that fall behind hold nobody up: steps are left out, counted, told once, and the history
// is taken up again behind the gap.
func TestFallingBehind(t *testing.T) {
	const limit = 64
	stuck, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	checker, log := newChecker(func(string) {
		once.Do(func() {
			close(stuck)
			<-release
		})
	})
	checker.backlog.limit = limit
	h := newHistory(5)
	wrong := h.step()
	wrong.After = wrong.Before
	checker.Reduced(wrong)
	<-stuck
	for range 3 * limit {
		checker.Reduced(h.step())
	}
	if got := checker.Unchecked(); got != 2*limit {
		t.Errorf("%d steps left out of %d with %d places", got, 3*limit, limit)
	}
	close(release)
	for deadline := time.Now().Add(10 * time.Second); checker.Checked() < 1+limit; {
		if time.Now().After(deadline) {
			t.Fatalf("only %d checked", checker.Checked())
		}
		time.Sleep(time.Millisecond)
	}
	for range limit / 2 {
		checker.Reduced(h.step())
	}
	violations := total(checker)
	closed(t, checker)
	if checker.Checked() != 1+limit+limit/2 || total(checker) != violations {
		t.Errorf("behind the gap: checked %d, violations %v", checker.Checked(), checker.Violations())
	}
	want := fmt.Sprintf("fallen behind\" steps=%d", 2*limit)
	if strings.Count(log.String(), "fallen behind") != 1 || !strings.Contains(log.String(), want) {
		t.Errorf("no %q in the log, or not once:\n%s", want, log)
	}
}

// R31: closing does not wait for checks that take too long.
func TestCloseGivesUpOnWhatTakesTooLong(t *testing.T) {
	slow := make(chan struct{}, 1)
	checker, _ := newChecker(func(string) {
		select {
		case slow <- struct{}{}:
			time.Sleep(2 * drainLimit)
		default:
		}
	})
	h := newHistory(5)
	wrong := h.step()
	wrong.After = wrong.Before
	checker.Reduced(wrong)
	for range 100 {
		checker.Reduced(h.step())
	}
	closed(t, checker)
	if checker.Checked() != 1 || checker.Unchecked() != 100 {
		t.Errorf("checked %d, unchecked %d", checker.Checked(), checker.Unchecked())
	}
}

// A bug in the checks, or in the hook, ends the checking and nothing else.
func TestAPanicEndsTheChecking(t *testing.T) {
	checker, log := newChecker(func(string) { panic("a bug") })
	h := newHistory(5)
	wrong := h.step()
	wrong.After = wrong.Before
	checker.Reduced(wrong)
	for range 10 {
		checker.Reduced(h.step())
	}
	closed(t, checker)
	if checker.Unchecked() < 10 || !strings.Contains(log.String(), "checked no more") {
		t.Errorf("unchecked %d, log:\n%s", checker.Unchecked(), log)
	}
}

func TestClosing(t *testing.T) {
	unused := New(nil, nil)
	closed(t, unused)
	checker, _ := newChecker(nil)
	h := newHistory(5)
	checker.Reduced(h.step())
	closed(t, checker)
	closed(t, checker)
	checker.Reduced(h.step())
	if checker.Checked() != 1 || checker.Unchecked() != 1 {
		t.Errorf("after Close: checked %d, unchecked %d", checker.Checked(), checker.Unchecked())
	}
}

func newChecker(violated func(string)) (*Checker, *bytes.Buffer) {
	log := &bytes.Buffer{}
	return New(slog.New(slog.NewTextHandler(log, nil)), violated), log
}

func closed(t *testing.T, checker *Checker) {
	t.Helper()
	if err := checker.Close(); err != nil {
		t.Error(err)
	}
}

func total(checker *Checker) int { return int(checker.total()) }

func isTermination(effect core.Effect) bool {
	publish, _ := effect.(core.Publish)
	_, is := publish.Event.(core.HAProxyPodTerminated)
	return is
}

var _ shell.Observer = (*Checker)(nil)
