package intake

import (
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// RetryDelay is the wait before what could not be read is read again (R9).
const RetryDelay = time.Second

// Intake is what is asked of the pod store and not yet told to core. It is an immutable value: Take
// and Next return another one. The zero value is the beginning.
type Intake struct {
	// store is the number of the store that is set; 0 while there is none.
	store uint64
	// earlySync is a sync that was told before the first store.
	earlySync bool
	// asked is what to look for; owed could not be read and waits for the retry.
	asked, owed asks
	retrying    bool

	// answering is what the read that is under way, or has been done, is for.
	answering asks
	list      *ListRead
	pods      *PodsRead
	// told ends a turn.
	told bool
}

// asks is what a look at the store is for.
type asks struct {
	// Each of these takes the list: to tell core of a store, of its sync, of a drift tick, or to
	// compare it with what core knows.
	store, sync, drift, compare bool
	named                       keySet
}

func (a asks) wantList() bool { return a.store || a.sync || a.drift || a.compare }

func (a asks) none() bool { return !a.wantList() && a.named.len() == 0 }

func (a asks) and(b asks) asks {
	return asks{
		store: a.store || b.store, sync: a.sync || b.sync,
		drift: a.drift || b.drift, compare: a.compare || b.compare,
		named: a.named.and(b.named),
	}
}

// withoutNames leaves only what takes the list.
func (a asks) withoutNames() asks {
	a.named = keySet{}
	return a
}

// Take takes an ask in.
func (i Intake) Take(ask Ask) Intake {
	switch a := ask.(type) {
	case StoreSet:
		// What was asked of the store before is not asked of this one: its list says it all, and
		// only its own sync vouches for it.
		return Intake{
			store: i.store + 1, earlySync: i.earlySync, retrying: i.retrying,
			asked: asks{store: true},
		}
	case SyncComplete:
		if i.store == 0 {
			i.earlySync = true
		} else {
			i.asked.sync = true
		}
	case RetryFired:
		i.asked, i.owed, i.retrying = i.asked.and(i.owed), asks{}, false
	case DriftTick:
		i.asked.drift = i.store > 0
	case PodsNamed:
		i.asked.compare = i.asked.compare || len(a.Keys) == 0 && i.store > 0
		if i.store > 0 {
			i.asked.named = i.asked.named.with(a.Keys)
		}
	case ListRead:
		i.takeList(a)
	case PodsRead:
		i.takePods(a)
	}
	return i
}

// Due reports whether there is something to do at once.
func (i Intake) Due() bool {
	switch {
	case i.earlySync, i.list != nil, i.pods != nil, i.asked.wantList():
		return true
	case !i.owed.none() && !i.retrying:
		return true
	default: // of a new store, the list comes first
		return i.asked.named.len() > 0 && !i.owed.store
	}
}

// AtRest reports whether nothing is asked for and nothing owed: core has been told whatever there was
// a reason to read.
func (i Intake) AtRest() bool { return !i.Due() && i.asked.none() && i.owed.none() }

// Next is the next thing to do, given what core knows by now: asking again after it was done leads
// to the end of a turn, which is nil. A turn reads at most once, so that others get theirs; Due
// reports whether another one should follow.
func (i Intake) Next(known core.State) (Intake, Action) {
	switch {
	case i.earlySync:
		i.earlySync = false
		return i, Tell{core.ResourceSyncComplete{Resource: core.HAProxyPods}}
	case i.list != nil, i.pods != nil:
		if input := i.tell(known); input != nil {
			return i, Tell{input}
		}
		i.told = true
	}
	switch {
	case !i.owed.none() && !i.retrying:
		i.retrying = true
		return i, StartRetry{RetryDelay}
	case i.told:
		i.told = false
		return i, nil
	case i.asked.wantList():
		i.answering, i.asked, i.owed = i.asked.and(i.owed), asks{}, asks{}
		return i, ReadList{i.store}
	case i.asked.named.len() > 0 && !i.owed.store:
		i.answering = asks{named: i.asked.named}
		i.asked.named = keySet{}
		return i, ReadPods{i.store, i.answering.named.sorted()}
	default:
		return i, nil
	}
}
