package effects

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// firings notes which timer fired when.
type firings struct {
	begun time.Time
	mu    sync.Mutex
	list  []string
}

func (f *firings) note(id core.TimerID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, fmt.Sprintf("%d@%v", id, time.Since(f.begun)))
}

func (f *firings) expect(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.Equal(f.list, want) {
		t.Errorf("fired %v instead of %v", f.list, want)
	}
}

func TestTimersFireOnceInTimeUnlessStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fired := &firings{begun: time.Now()}
		timers := NewTimers(fired.note)
		timers.Start(1, 3*time.Second)
		timers.Start(2, time.Second)
		timers.Start(3, 2*time.Second)
		timers.Start(4, 0)
		timers.Stop(3)
		timers.Stop(99)
		time.Sleep(time.Minute)
		timers.Stop(1)
		fired.expect(t, "4@0s", "2@1s", "1@3s")
		if left := len(timers.armed); left != 0 {
			t.Errorf("%d timers are remembered though none waits", left)
		}
		timers.Close()
	})
}

func TestTimerStartedAgainFiresAtTheNewTimeOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fired := &firings{begun: time.Now()}
		timers := NewTimers(fired.note)
		timers.Start(1, time.Second)
		timers.Start(1, 2*time.Second)
		time.Sleep(time.Minute)
		fired.expect(t, "1@2s")
		timers.Close()
	})
}

func TestNothingFiresAfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fired := &firings{begun: time.Now()}
		timers := NewTimers(fired.note)
		timers.Start(1, time.Second)
		timers.Start(2, time.Hour)
		timers.Close()
		timers.Start(3, time.Second)
		time.Sleep(2 * time.Hour)
		fired.expect(t)
		timers.Close()
	})
}

func TestCloseWaitsForAFiringUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		returned := false
		timers := NewTimers(func(core.TimerID) {
			time.Sleep(time.Minute)
			returned = true
		})
		timers.Start(1, time.Second)
		time.Sleep(2 * time.Second)
		timers.Close()
		if !returned {
			t.Error("Close returned while fire was still running")
		}
	})
}

// The loop arms and stops timers while others fire, and must not wait for them (R30).
func TestFiringHoldsUpNoOtherTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fired := &firings{begun: time.Now()}
		var timers *Timers
		timers = NewTimers(func(id core.TimerID) {
			if id == 1 {
				timers.Start(2, time.Second)
				time.Sleep(time.Hour)
			}
			fired.note(id)
		})
		timers.Start(1, time.Second)
		time.Sleep(time.Second)
		synctest.Wait()
		begun := time.Now()
		timers.Start(3, 2*time.Second)
		timers.Start(4, time.Second)
		timers.Stop(4)
		if waited := time.Since(begun); waited != 0 {
			t.Errorf("waited %v for a timer that fires", waited)
		}
		time.Sleep(time.Minute)
		fired.expect(t, "2@2s", "3@3s")
		timers.Close()
	})
}

// For the race detector, with real time: whatever meets in the same moment.
func TestTimersAreSafeForConcurrentUse(t *testing.T) {
	var mu sync.Mutex
	closed, late := false, 0
	timers := NewTimers(func(core.TimerID) {
		mu.Lock()
		defer mu.Unlock()
		if closed {
			late++
		}
	})
	var users sync.WaitGroup
	halfway := make(chan struct{}, 4)
	for user := range 4 {
		users.Go(func() {
			for i := range 500 {
				id := core.TimerID(user*500 + i)
				timers.Start(id, time.Duration(i%5)*time.Microsecond)
				timers.Stop(id - 1)
				if i == 250 {
					halfway <- struct{}{}
				}
			}
		})
	}
	<-halfway
	timers.Close()
	mu.Lock()
	closed = true
	mu.Unlock()
	users.Wait()
	if late > 0 {
		t.Errorf("%d timers fired after Close", late)
	}
}
