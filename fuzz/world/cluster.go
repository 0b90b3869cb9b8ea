package world

import (
	"net/netip"
	"slices"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// cluster is the truth: the pods as the API server has them. Each slot is a name that a pod may
// bear.
type cluster struct {
	slots []slot
	// uids and runtimes count the pods and the containers that ever were.
	uids, runtimes int
	// free are the addresses that nobody has; the last one is the one given back last.
	free []int
}

type slot struct {
	pod *core.Pod
	// held is what the store has of it: late, and for a while perhaps nothing at all.
	held   *core.Pod
	hidden bool
	// told reports that the intake was given a reason to read what the store holds.
	told  bool
	agent agent
	// past are the UIDs that have borne the name.
	past []string
	// before is the pod before it fell ill.
	before *core.Pod
}

func (c *cluster) restart(slots int) {
	c.uids, c.runtimes = 0, 0
	c.slots = slices.Grow(c.slots[:0], slots)[:slots]
	for i := range c.slots {
		c.slots[i] = slot{past: c.slots[i].past[:0]}
	}
	c.free = c.free[:0]
	for i := range slices.Backward(addresses[:]) {
		c.free = append(c.free, i)
	}
}

// change gives a slot another pod, nil for none; the store hears of it later.
func (w *World) change(at int, pod *core.Pod) {
	w.cluster.slots[at].pod = pod
	w.clock.after(w.watchLag, happening{kind: storeHears, slot: at, pod: pod})
}

// create brings a pod up under a free name: at once, or slowly and in stages.
func (w *World) create(at int) {
	s := &w.cluster.slots[at]
	if s.pod != nil {
		return
	}
	w.cluster.uids++
	uid := numbered(w.cluster.uids)
	s.past = append(s.past, uid)
	s.agent = w.newAgent()
	w.come(at, &core.Pod{Key: slotKeys[at], UID: uid, Labels: labelSets[0], Phase: "Pending"})
}

// come lets a pod that is pending go its way.
func (w *World) come(at int, pod *core.Pod) {
	s := &w.cluster.slots[at]
	s.pod = pod
	if !w.has(slowStarts) {
		w.change(at, w.running(pod))
		return
	}
	w.change(at, pod)
	w.moveOnLater(at)
}

func (w *World) moveOnLater(at int) {
	w.clock.after(w.while(400*time.Millisecond), happening{
		kind: podMovesOn, slot: at, uid: w.cluster.slots[at].pod.UID,
	})
}

// while is a time around the one given; exactly that without noise.
func (w *World) while(typical time.Duration) time.Duration {
	switch w.noise.below(4) {
	case 0:
		return typical
	case 1:
		return typical / 8
	case 2:
		return typical / 2
	default:
		return typical * time.Duration(1+w.noise.below(5))
	}
}

// running is the pod with an address and a fresh set of running containers.
func (w *World) running(pod *core.Pod) *core.Pod {
	up := *pod
	up.Phase = core.PhaseRunning
	if !up.IP.IsValid() {
		up.IP = w.takeAddress()
	}
	up.Agent, up.RuntimeID = core.AgentRunning, w.newRuntime()
	return &up
}

func (w *World) newRuntime() core.RuntimeID {
	w.cluster.runtimes++
	return core.RuntimeID(numbered(w.cluster.runtimes))
}

// moveOn is the next stage of a pod that comes up, or of a container that comes back.
func (w *World) moveOn(h happening) {
	pod := w.incarnation(h)
	switch {
	case pod == nil || pod.Terminating || pod.Malformed != "":
	case pod.Phase == "Pending":
		next := *pod
		next.Phase = core.PhaseRunning
		next.Agent, next.RuntimeID = core.AgentWaiting, w.newRuntime()
		if w.noise.below(2) == 0 {
			next.IP = w.takeAddress()
		}
		w.change(h.slot, &next)
		w.moveOnLater(h.slot)
	case pod.Phase == core.PhaseRunning && pod.Agent != core.AgentRunning:
		w.cluster.slots[h.slot].agent.listensFrom = w.clock.now + w.while(50*time.Millisecond)
		w.change(h.slot, w.running(pod))
	}
}

// incarnation is the pod that a happening was planned for, nil if it is gone by now.
func (w *World) incarnation(h happening) *core.Pod {
	pod := w.cluster.slots[h.slot].pod
	if pod == nil || pod.UID != h.uid {
		return nil
	}
	return pod
}

// remove takes a pod away, and its address back.
func (w *World) remove(at int) {
	pod := w.cluster.slots[at].pod
	if pod == nil {
		return
	}
	w.giveBack(pod.IP)
	w.change(at, nil)
}

// terminate has a pod terminate with grace, and go in the end.
func (w *World) terminate(at int) {
	pod := w.cluster.slots[at].pod
	if pod == nil || pod.Terminating {
		return
	}
	if !w.has(gracePeriods) {
		w.remove(at)
		return
	}
	ending := *pod
	ending.Terminating = true
	w.change(at, &ending)
	w.clock.after(w.while(4*time.Second), happening{kind: podGoes, slot: at, uid: pod.UID})
}

// takeAddress gives out the address that was free for longest, or the newest one where addresses
// are reused at once, or one that another pod has, too.
func (w *World) takeAddress() netip.Addr {
	c := &w.cluster
	if w.has(sharedAddresses) && w.noise.below(4) == 0 {
		if pod := c.slots[w.noise.below(len(c.slots))].pod; pod != nil && pod.IP.IsValid() {
			return pod.IP
		}
	}
	if len(c.free) == 0 {
		return addresses[0]
	}
	at := 0
	if w.has(addressReuse) {
		at = len(c.free) - 1
	}
	address := c.free[at]
	c.free = slices.Delete(c.free, at, at+1)
	return addresses[address]
}

func (w *World) giveBack(ip netip.Addr) {
	at := slices.Index(addresses[:], ip)
	if at >= 0 && !slices.Contains(w.cluster.free, at) {
		w.cluster.free = append(w.cluster.free, at)
	}
}

// whoHas is the slot of a running pod with an address, -1 if there is none.
func (w *World) whoHas(ip netip.Addr) int {
	return slices.IndexFunc(w.cluster.slots, func(s slot) bool {
		return s.pod != nil && s.pod.IP == ip && s.pod.Phase == core.PhaseRunning &&
			s.pod.Agent == core.AgentRunning
	})
}
