package shell

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/effects"
)

// storeRetryDelay is the wait before a store that could not be read is tried again, where the
// reading must not be left to the next drift tick.
const storeRetryDelay = time.Second

// loop is the heart of the component: take an input up, record it, reduce it, hand the effects out
// in order. Everything in it belongs to one goroutine.
type loop struct {
	component *Component
	state     core.State
	seq       uint64

	observers *observers
	probes    *probeRunner
	timers    *effects.Timers

	reader *podReader
	store  PodStore
	// What could not be read yet is made up for, since nobody will tell it again: a store swap, a
	// sync, named pods. One retry at a time is under way.
	owedStore, owedSync bool
	owedKeys            []core.PodKey
	retrying            bool
}

func newLoop(c *Component) *loop {
	l := &loop{component: c, state: c.State()}
	l.observers = &observers{
		list:   append([]Observer{logging{c.logger}}, c.options.observers...),
		logger: c.logger,
	}
	l.reader = newPodReader(l.state.Config().AgentContainer, l.observers.problem)
	l.probes = newProbeRunner(c.prober, l.state.Config().MaxProbes,
		func(finished core.ProbeFinished) { c.inbox.putInput(finished) })
	l.timers = effects.NewTimers(
		func(timer core.TimerID) { c.inbox.putInput(core.TimerFired{Timer: timer}) })
	return l
}

func (l *loop) run(ctx context.Context) error {
	drift, stop := ticks(l.component.driftInterval)
	defer stop()
	inbox := l.component.inbox
	for ctx.Err() == nil {
		if next := inbox.take(); next != nil {
			if err := l.handle(next); err != nil {
				return err
			}
			// A flood of inputs must not starve the drift ticks.
			select {
			case <-drift:
				inbox.putList(driftTick)
			default:
			}
			continue
		}
		select {
		case <-ctx.Done():
		case <-drift:
			inbox.putList(driftTick)
		case <-inbox.wake:
		}
	}
	return nil
}

func ticks(interval time.Duration) (ticks <-chan time.Time, stop func()) {
	if interval <= 0 {
		return nil, func() {}
	}
	ticker := time.NewTicker(interval)
	return ticker.C, ticker.Stop
}

func (l *loop) handle(next any) error {
	switch request := next.(type) {
	case core.Input:
		if finished, isProbe := request.(core.ProbeFinished); isProbe {
			l.probes.Forget(finished.Probe)
		}
		return l.step(request)
	case swapStore:
		// A sync that the store before owes vouches for a store that cannot say, for no other.
		l.owedSync = l.owedSync && syncOf(request.store) == core.SyncUnknown
		l.store, l.owedStore = request.store, true
		return l.readList()
	case readNamed:
		return l.readNamed(request.keys)
	case readList:
		l.owedSync = l.owedSync || request.why == syncComplete
		return l.readList()
	case Problem:
		l.observers.problem(request)
	case ping:
		close(request.answered)
	case retryStore:
		l.retrying = false
		if l.owedStore || l.owedSync {
			return l.readList()
		}
		return l.readNamed(nil)
	}
	return nil
}

func (l *loop) readNamed(keys []core.PodKey) error {
	if l.store == nil || l.owedStore {
		return nil // the list that a new store owes holds them too
	}
	keys = append(keys, l.owedKeys...)
	slices.SortFunc(keys, core.PodKey.Compare)
	input, unread := l.reader.changes(l.store, slices.Compact(keys))
	if l.owedKeys = unread; len(unread) > 0 {
		l.retryLater()
	}
	if len(input.Upserted)+len(input.Deleted) == 0 {
		return nil
	}
	return l.step(input)
}

func (l *loop) retryLater() {
	if !l.retrying {
		l.retrying = true
		time.AfterFunc(storeRetryDelay, l.component.inbox.putRetry)
	}
}

// readList reads the whole store and tells the reducer what for. A store that cannot be read
// changes nothing (R20).
func (l *loop) readList() error {
	if l.store == nil {
		if l.owedSync {
			l.owedSync = false
			return l.step(core.ResourceSyncComplete{Resource: core.HAProxyPods})
		}
		return nil
	}
	synced := syncOf(l.store) // asked before the list is read: it must not promise too much
	pods, err := l.reader.list(l.store)
	if err != nil {
		l.observers.problem(Problem{StoreUnreadable, err})
		if l.owedStore || l.owedSync {
			l.retryLater()
		}
		return nil
	}
	owedStore, owedSync := l.owedStore, l.owedSync
	l.owedStore, l.owedSync, l.owedKeys = false, false, nil
	if owedStore {
		err = l.step(core.PodStoreSet{Pods: pods, Synced: synced})
	}
	switch {
	case err != nil:
		return err
	case owedSync:
		err = l.step(core.ResourceSyncComplete{Resource: core.HAProxyPods, Pods: pods})
	case !owedStore:
		err = l.step(core.DriftPreventionTriggered{Pods: pods})
	}
	if l.state.StoreSynced() {
		l.reader.forgetAbsent(pods)
	}
	return err
}

func syncOf(store PodStore) core.Sync {
	switch s, canSay := store.(syncer); {
	case !canSay:
		return core.SyncUnknown
	case s.HasSynced():
		return core.SyncDone
	default:
		return core.SyncPending
	}
}

// step takes one input up.
func (l *loop) step(input core.Input) error {
	at := time.Now()
	l.seq++
	l.observers.taken(at, input)
	before, begun := l.state, time.Now()
	var produced []core.Effect
	err := guarded(func() { l.state, produced = l.component.reduce(before, input) })
	if err != nil {
		l.component.logger.Error("the reducer panicked", "seq", l.seq, "error", err)
		return fmt.Errorf("%w at input %d (%T): %w", ErrReducerPanicked, l.seq, input, err)
	}
	after, took := l.state, time.Since(begun)
	l.component.state.Store(&after)
	l.observers.reduced(Step{
		Seq: l.seq, Time: at, Input: input,
		Before: before, After: after, Effects: produced, Took: took,
	})
	for _, effect := range produced {
		l.perform(at, effect)
	}
	return nil
}

func (l *loop) perform(at time.Time, effect core.Effect) {
	switch e := effect.(type) {
	case core.StartProbe:
		l.probes.Start(e)
	case core.CancelProbe:
		l.probes.Cancel(e.Probe)
	case core.StartTimer:
		l.timers.Start(e.Timer, e.After)
	case core.StopTimer:
		l.timers.Stop(e.Timer)
	case core.Publish:
		l.component.publisher.Publish(at, e.Event)
	case core.Refuse:
		l.observers.problem(Problem{InputRefused, fmt.Errorf("seq %d: %s", l.seq, e.Reason)})
	}
}
