package world

import (
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/intake"
	"github.com/haproxy-discovery/haproxy-discovery/core/invariant"
	"github.com/haproxy-discovery/haproxy-discovery/fuzz/oracle"
)

// configs are the numbers of the rules: small caps are reached quickly, the last are production's.
var configs = [...]core.Config{
	{MaxProbes: 2, MaxRetries: 1, MaxRetryDelay: 2 * time.Second},
	{MaxProbes: 3, MaxRetries: 2, AgentScheme: "https"},
	{MaxProbes: 1, MaxRetries: 1, MaxProbeTimeout: 2 * time.Second},
	{MaxProbes: 4, MaxRetries: 4, PublishDelay: 30 * time.Millisecond, FirstPublishDelay: time.Second},
	{},
}

// slots are how many names there are as a rule.
var slots = [...]int{3, 2, 5, 1, 8, 4, 6}

// Of largeOneOf fleets, one is large. It runs with production's numbers, and has whatever sends
// many probes off at once, so that those are reached.
const largeOneOf = 48

const crowding = outages | rotations | driftTicks

// restart forgets the last run.
func (w *World) restart(plan Plan) {
	shape := choice(plan.Shape)
	size := slots[shape.of(len(slots))]
	config := configs[shape.of(len(configs))]
	w.noise.seed = plan.Noise
	w.noise.begin(0)
	w.classes = classesOf(plan)
	if w.noise.below(largeOneOf) == 1 {
		config, size = core.Config{}, 20+w.noise.below(41)
		w.classes |= crowding
	}
	w.state = core.New(config)
	w.monitor = invariant.NewMonitor(w.state)
	if w.oracle == nil {
		w.oracle = oracle.New(config)
		w.oracle.Sparing = true
	}
	w.oracle.Restart(config)

	w.turns = w.turns[:0]
	for _, t := range allTurns {
		if t.class == always || w.has(t.class) {
			w.turns = append(w.turns, t)
		}
	}
	w.clock.restart()
	w.watchLag = [...]time.Duration{0, time.Millisecond, 20 * time.Millisecond}[w.noise.below(3)]
	w.calm = false
	w.cluster.restart(size)
	w.oldList = w.oldList[:0]
	w.intake, w.lookWaits = intake.Intake{}, false
	w.stores, w.storeSays, w.storeComplete, w.stale = 0, core.SyncUnknown, false, false
	w.probes, w.timers = w.probes[:0], w.timers[:0]
	w.config = core.ConfigValidated{AgentPort: ports[0], PodSelector: oracle.Selectors[0]}
	w.credentials = 0
	w.configured, w.authorized, w.storeSet = false, false, false
	w.consumer.restart()
	w.keepsake.restart(w)
	w.inputs, w.failure = 0, nil
}

// open has some pods up, and brings what the gate waits for, in any order.
func (w *World) open(shape choice) {
	shape.of(len(slots))
	shape.of(len(configs))
	for at := range w.cluster.slots {
		if w.noise.below(4) < 3 {
			w.create(at)
		}
	}
	if w.classes&crowding == crowding {
		agents := choice(w.noise.below(4))
		w.outage(&agents)
	}
	w.pass(w.watchLag)
	sync := syncs[shape.of(len(syncs))]
	bring := []func(){w.configure, w.authorize, func() { w.setStore(sync) }}
	for len(bring) > 0 {
		next := shape.of(len(bring))
		bring[next]()
		bring = append(bring[:next], bring[next+1:]...)
		w.pass(time.Duration(w.noise.below(3)) * 10 * time.Millisecond)
	}
	if w.has(driftTicks) {
		w.clock.after(tickInterval, happening{kind: tick})
	}
}
