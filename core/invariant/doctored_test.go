package invariant_test

import (
	"slices"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// doctored is an honest story whose last step is spoilt.
type doctored struct {
	invariant string
	name      string
	story     []core.Input
	doctor    func(*outcome)
	// onlyThorough: the violation is not near what the step touches.
	onlyThorough bool
}

var roomy = core.Config{MaxProbes: 3, MaxRetries: 2}

var doctoredStories = slices.Concat(terminations, answers, needs, schedules, order, levels)

var terminations = []doctored{
	{"I1", "no Terminated", published(deleted("a")), dropEvents[core.HAProxyPodTerminated], false},
	{"I1", "Terminated twice", published(deleted("a")), func(o *outcome) {
		terminate(o, identity("a", "u"))
	}, false},
	{"I1", "Terminated after the publication", published(deleted("a")), func(o *outcome) {
		slices.Reverse(o.effects)
	}, false},
	{"I1", "Terminated, never published",
		after(opened(pod("a", "u"), pod("b", "u")), answered(1), deleted("a")),
		func(o *outcome) { terminate(o, identity("a", "u")) }, false},
	{"I1", "Terminated, but still there", published(drift(pod("a", "u"), pod("b", "u"))),
		func(o *outcome) { terminate(o, identity("a", "u")) }, false},
	{"I1", "an older incarnation is terminated", published(deleted("a")), func(o *outcome) {
		changeEvents(o, func(e *core.HAProxyPodTerminated) { e.UID = "u0" })
	}, false},
	{"R14", "another cause is told", published(upserted(pod("a", "u2"))), func(o *outcome) {
		changeEvents(o, func(e *core.HAProxyPodTerminated) { e.Cause = core.CauseDeleted })
	}, false},
	{"I1", "an endpoint is missing silently", published(drift(pod("a", "u"), pod("b", "u"))),
		func(o *outcome) {
			changeEvents(o, func(e *core.HAProxyPodsDiscovered) {
				e.Fleet = core.NewFleet(first, endpoint("a", "u", "3.4.3"))
			})
		}, false},
	{"I1", "the lists tell too little", published(deleted("a")), func(o *outcome) {
		changeEvents(o, func(e *core.HAProxyPodsDiscovered) { e.Removed = nil })
	}, false},
	{"I7", "a generation is told twice", published(drift(pod("a", "u"), pod("b", "u"))),
		func(o *outcome) {
			changeEvents(o, func(e *core.HAProxyPodsDiscovered) { e.Generation-- })
		}, false},
	{"I7", "another input is named", published(deleted("a")), func(o *outcome) {
		changeEvents(o, func(e *core.HAProxyPodsDiscovered) { e.Trigger = "became_leader" })
	}, false},
	{"I7", "the state forgets the publication", published(deleted("a")), func(o *outcome) {
		o.after = o.before
	}, false},
	{"I7", "a replay of something else", published(core.BecameLeader{}), func(o *outcome) {
		changeEvents(o, func(e *core.HAProxyPodsDiscovered) {
			e.Fleet = core.NewFleet(first, endpoint("a", "u", "3.4.3"), endpoint("b", "u", "3.4.2"))
		})
	}, true},
	{"R19", "no replay", published(core.BecameLeader{}),
		dropEvents[core.HAProxyPodsDiscovered], false},
	{"R19", "a replay of nothing", after(opened(pod("a", "u")), core.BecameLeader{}),
		func(o *outcome) { o.effects = append(o.effects, replayed()) }, false},
	{"R19", "a replay with news", published(core.BecameLeader{}), func(o *outcome) {
		changeEvents(o, func(e *core.HAProxyPodsDiscovered) { e.Added = []core.PodKey{key("a")} })
	}, false},
	{"I7", "a generation is left out", published(drift(pod("a", "u"), pod("b", "u"))),
		func(o *outcome) {
			changeEvents(o, func(e *core.HAProxyPodsDiscovered) { e.Generation++ })
		}, false},
	{"I7", "the state remembers another fleet", published(drift(pod("a", "u"), pod("b", "u"))),
		func(o *outcome) {
			other := run(caps, after(opened(pod("a", "u2"), pod("b", "u")), answered(1), answered(2),
				drift(pod("a", "u2"), pod("b", "u"))))
			o.after = graft(o.after, "published", other)
		}, false},
	{"R19", "a replay to nobody", published(core.TimerFired{Timer: 1}), func(o *outcome) {
		_, o.effects = core.Reduce(o.before, core.BecameLeader{})
	}, false},
}

var answers = []doctored{
	{"I2", "published while its probe hangs",
		after(opened(pod("a", "u"), pod("b", "u")), answered(1), core.TimerFired{Timer: 2}),
		func(o *outcome) {
			changeEvents(o, func(e *core.HAProxyPodsDiscovered) {
				e.Fleet = core.NewFleet(first, endpoint("a", "u", "3.4.3"), endpoint("b", "u", ""))
				e.Added = []core.PodKey{key("a"), key("b")}
			})
		}, false},
	{"I2", "published on its predecessor's answer", published(upserted(pod("a", "u2"))),
		func(o *outcome) {
			changeEvents(o, func(e *core.HAProxyPodsDiscovered) {
				e.Fleet = core.NewFleet(first, endpoint("a", "u2", "3.4.3"), endpoint("b", "u", "3.4.3"))
				e.Added = []core.PodKey{key("a")}
			})
		}, false},
	{"I2", "admitted on the answer before it went", published(deleted("a"), upserted(pod("a", "u"))),
		func(o *outcome) { o.after = run(caps, published()) }, false},
	{"I2", "a version that nobody told", after(opened(pod("a", "u")), answered(1)),
		func(o *outcome) {
			changeEvents(o, func(e *core.HAProxyPodsDiscovered) {
				e.Fleet = core.NewFleet(first, endpoint("a", "u", "3.4.2"))
			})
		}, false},
	{"I3", "old credentials are published", published(core.CredentialsUpdated{Credentials: second}),
		func(o *outcome) {
			changeEvents(o, func(e *core.HAProxyPodsDiscovered) {
				e.Fleet = core.NewFleet(first, e.Fleet.Endpoints()...)
			})
		}, false},
	{"I3", "a probe has old credentials", opened(pod("a", "u")), func(o *outcome) {
		change(o, func(e *core.StartProbe) { e.Credentials = second })
	}, false},
	{"I3", "the state forgets the credentials", published(drift(pod("a", "u"), pod("b", "u"))),
		func(o *outcome) { o.after = graft(o.after, "credentials", core.New(caps)) }, false},
	{"I3", "the config is not taken in", published(core.ConfigValidated{AgentPort: 5556}),
		func(o *outcome) { o.after, o.effects = o.before, nil }, false},
	{"R16", "a rotation is not published", published(core.CredentialsUpdated{Credentials: second}),
		dropEvents[core.HAProxyPodsDiscovered], false},
	{"R16", "a rotation is not told as one", published(core.CredentialsUpdated{Credentials: second}),
		func(o *outcome) {
			changeEvents(o, func(e *core.HAProxyPodsDiscovered) { e.CredentialsChanged = false })
		}, false},
	{"R16", "a version is not published",
		after(opened(pod("a", "u")), answeredWithout(1), core.TimerFired{Timer: 2}, answered(2)),
		func(o *outcome) { o.effects = nil }, false},
	{"R14", "not retired in the same step", published(upserted(pod("a", "u2"))), func(o *outcome) {
		dropEvents[core.HAProxyPodTerminated](o)
		dropEvents[core.HAProxyPodsDiscovered](o)
	}, false},
}

var needs = []doctored{
	{"I4", "an admitted one is probed", published(drift(pod("a", "u"), pod("b", "u"))),
		func(o *outcome) { o.effects = append(o.effects, startProbe(3, identity("a", "u"))) }, false},
	{"I5", "a number is given twice", published(upserted(pod("c", "u"))), func(o *outcome) {
		change(o, func(e *core.StartProbe) { e.Probe = 1 })
	}, false},
	{"I4", "probed twice at the same time", opened(pod("a", "u")), func(o *outcome) {
		o.effects = append(o.effects, startProbe(2, identity("a", "u")))
	}, false},
	{"I4", "no candidate is probed", opened(pod("a", "u")), func(o *outcome) {
		o.effects = append(o.effects, startProbe(2, identity("c", "u")))
	}, false},
	{"I4", "the probe of a deleted one goes on", after(opened(pod("a", "u")), deleted("a")),
		drop[core.CancelProbe], false},
	{"I4", "cancelled, but not in flight", published(deleted("a")), func(o *outcome) {
		o.effects = slices.Insert(o.effects, 0, core.Effect(core.CancelProbe{Probe: 1}))
	}, false},
	{"I5", "three probes", opened(pod("a", "u"), pod("b", "u"), pod("c", "u")),
		func(o *outcome) {
			o.after = run(roomy, opened(pod("a", "u"), pod("b", "u"), pod("c", "u")))
			o.effects = append(o.effects, startProbe(3, identity("c", "u")))
		}, false},
	{"I5", "two retries",
		after(opened(pod("a", "u"), pod("b", "u")), failed(1), failed(2),
			drift(pod("a", "u"), pod("b", "u"))),
		func(o *outcome) { o.effects = append(o.effects, startProbe(4, identity("b", "u"))) }, false},
	{"I5", "two retries, and the state counts both",
		after(opened(pod("a", "u"), pod("b", "u")), failed(1), failed(2),
			drift(pod("a", "u"), pod("b", "u"))),
		func(o *outcome) {
			o.before = run(core.Config{MaxProbes: 2, MaxRetries: 2},
				after(opened(pod("a", "u"), pod("b", "u")), failed(1), failed(2)))
			o.after, o.effects = core.Reduce(o.before, drift(pod("a", "u"), pod("b", "u")))
		}, false},
	{"I5", "a probe does not start", opened(pod("a", "u")), drop[core.StartProbe], false},
	{"R21", "a place stays free", opened(pod("a", "u"), pod("b", "u")), func(o *outcome) {
		narrow := core.Config{MaxProbes: 1, MaxRetries: 1}
		o.after = run(narrow, opened(pod("a", "u"), pod("b", "u")))
		o.effects = o.effects[:2]
	}, false},
	{"R21", "out of turn",
		after(opened(pod("a", "u"), pod("b", "u"), pod("c", "u"), pod("d", "u")), answered(1)),
		func(o *outcome) {
			o.after = run(caps, after(opened(pod("a", "u"), pod("b", "u")),
				upserted(pod("d", "u")), upserted(pod("c", "u")), answered(1)))
			change(o, func(e *core.StartProbe) { e.Identity = identity("d", "u") })
		}, true},
	{"R21", "a retry before a first attempt",
		after(opened(pod("a", "u")), failed(1),
			upserted(pod("b", "u"), pod("c", "u"), pod("d", "u"), pod("e", "u")),
			core.TimerFired{Timer: 2}, answered(2)),
		func(o *outcome) { change(o, func(e *core.StartProbe) { e.Identity = identity("a", "u") }) },
		false},
	{"R21", "a verdict is forgotten", after(opened(pod("a", "u")), failed(1)),
		func(o *outcome) { o.after = graft(o.after, "standings", o.before) }, false},
	{"R22", "a long time limit", opened(pod("a", "u")), func(o *outcome) {
		change(o, func(e *core.StartProbe) { e.Timeout = 5 * time.Second })
	}, false},
	{"I6", "published before the gate opens", opened(pod("a", "u"))[:2], func(o *outcome) {
		o.effects = []core.Effect{core.Publish{Event: core.HAProxyPodsDiscovered{Generation: 1}}}
	}, false},
	{"I6", "probed before the gate opens", opened(pod("a", "u"))[:2], func(o *outcome) {
		o.effects = []core.Effect{startProbe(1, identity("a", "u"))}
	}, false},
	{"I6", "the gate stays shut", opened(pod("a", "u")), func(o *outcome) {
		o.after, o.effects = o.before, nil
	}, false},
	{"I6", "the gate opens before the sync", after(opened()[:2],
		core.PodStoreSet{Pods: []*core.Pod{pod("a", "u")}, Synced: core.SyncUnknown}),
		func(o *outcome) { o.after = run(caps, opened(pod("a", "u"))) }, false},
}

var schedules = []doctored{
	{"I8", "no PublishDelay timer", after(opened(pod("a", "u"), pod("b", "u")), answered(1)),
		drop[core.StartTimer], false},
	{"I8", "the PublishDelay timer is stopped too early",
		after(opened(pod("a", "u"), pod("b", "u"), pod("c", "u")), answered(1), failed(2)),
		func(o *outcome) {
			o.effects = slices.Insert(o.effects, 0, core.Effect(core.StopTimer{Timer: 2}))
		}, false},
	{"I8", "a number is given twice", after(opened(pod("a", "u")), failed(1)),
		func(o *outcome) { change(o, func(e *core.StartTimer) { e.Timer = 1 }) }, false},
	{"I8", "a timer is stopped that is not armed", published(deleted("a")), func(o *outcome) {
		o.effects = slices.Insert(o.effects, 0, core.Effect(core.StopTimer{Timer: 9}))
	}, false},
	{"R17", "a long PublishDelay", after(opened(pod("a", "u"), pod("b", "u")), answered(1)),
		func(o *outcome) { change(o, func(e *core.StartTimer) { e.After = time.Second }) }, false},
	{"R17", "the PublishDelay is put off",
		after(opened(pod("a", "u"), pod("b", "u"), pod("c", "u")), answered(1), failed(2)),
		func(o *outcome) {
			part(&o.after, "publishTimer").SetUint(9)
			o.effects = append(o.effects, core.StopTimer{Timer: 2},
				core.StartTimer{Timer: 9, After: 100 * time.Millisecond})
		}, false},
	{"I8", "no retry timer", after(opened(pod("a", "u")), failed(1)), drop[core.StartTimer], false},
	{"I8", "a retry timer goes on", after(opened(pod("a", "u")), failed(1), deleted("a")),
		drop[core.StopTimer], false},
	{"I8", "a candidate waits for a cancelled probe",
		after(opened(pod("a", "u"), pod("b", "u")), deleted("b")),
		func(o *outcome) { change(o, func(e *core.CancelProbe) { e.Probe = 1 }) }, false},
	{"R7", "a rejected pod is not reported",
		published(drift(pod("a", "u"), pod("b", "u"), waiting("c"))),
		dropEvents[core.HAProxyPodRejected], false},
	{"R7", "a failed one is not probed again",
		after(opened(pod("a", "u")), failed(1), drift(pod("a", "u"))),
		func(o *outcome) { o.after = o.before }, false},
	{"R7", "an admitted one is probed again",
		after(opened(pod("a", "u")), answeredWithout(1), drift(pod("a", "u"))),
		func(o *outcome) {
			fired, effects := core.Reduce(o.before, core.TimerFired{Timer: 2})
			o.after, _ = core.Reduce(fired, drift(pod("a", "u")))
			stop := core.Effect(core.StopTimer{Timer: 2})
			o.effects = slices.Concat([]core.Effect{stop}, o.effects, effects)
		}, false},
	{"R8", "a rejection is not reported", published(upserted(waiting("a"))),
		dropEvents[core.HAProxyPodRejected], false},
	{"R8", "a rejection is reported again", published(upserted(waiting("a")), upserted(waiting("a"))),
		func(o *outcome) {
			_, effects := core.Reduce(o.before, upserted(waiting("a"), waiting("c")))
			o.effects = effects[:1]
			changeEvents(o, func(e *core.HAProxyPodRejected) { e.Name = "a" })
		}, false},
	{"R23", "a failure under old credentials counts as a verdict",
		after(opened(pod("a", "u")), answeredWithout(1), core.TimerFired{Timer: 2},
			core.CredentialsUpdated{Credentials: second}, failed(2)),
		func(o *outcome) {
			before := run(caps, after(opened(pod("a", "u")), answeredWithout(1), core.TimerFired{Timer: 2}))
			o.after, o.effects = core.Reduce(before, failed(2))
		}, false},
	{"R23", "a failure is not reported", after(opened(pod("a", "u")), failed(1)),
		dropEvents[core.HAProxyPodRejected], false},
	{"R8", "a rejection is reported with another cause", published(upserted(waiting("a"))),
		func(o *outcome) {
			changeEvents(o, func(e *core.HAProxyPodRejected) { e.Cause = core.CauseMissing })
		}, false},
	{"R23", "an admitted one is reported as unreachable",
		after(opened(pod("a", "u")), answeredWithout(1), core.TimerFired{Timer: 2}, failed(2)),
		func(o *outcome) { o.effects = slices.Insert(o.effects, 0, unanswered()) }, false},
	{"R23", "a failure is reported that was none", published(drift(pod("a", "u"), pod("b", "u"))),
		func(o *outcome) { o.effects = slices.Insert(o.effects, 0, unanswered()) }, false},
	{"R23", "another retry time is told", after(opened(pod("a", "u")), failed(1)),
		func(o *outcome) {
			changeEvents(o, func(e *core.HAProxyPodRejected) { e.RetryIn = time.Minute })
		}, false},
	{"R23", "the retry comes too late", after(opened(pod("a", "u")), failed(1)),
		func(o *outcome) { change(o, func(e *core.StartTimer) { e.After = time.Minute }) }, false},
	{"R23", "the retry comes too late, and is told so", after(opened(pod("a", "u")), failed(1)),
		func(o *outcome) {
			change(o, func(e *core.StartTimer) { e.After = time.Minute })
			changeEvents(o, func(e *core.HAProxyPodRejected) { e.RetryIn = time.Minute })
		}, false},
}

var order = []doctored{
	{"R14", "a probe before the publication", published(upserted(pod("a", "u2"))),
		func(o *outcome) { slices.Reverse(o.effects) }, false},
	{"R14", "Terminated not by key", published(deleted("a", "b")), func(o *outcome) {
		o.effects[0], o.effects[1] = o.effects[1], o.effects[0]
	}, false},
	{"R14", "Rejected not by key", opened(waiting("a"), waiting("b")), func(o *outcome) {
		o.effects[0], o.effects[1] = o.effects[1], o.effects[0]
	}, false},
	{"R14", "something else", published(deleted("a")), func(o *outcome) {
		o.effects = append(o.effects, nil, core.Publish{})
	}, false},
	{"R14", "two publications", published(deleted("a")), func(o *outcome) {
		o.effects = append(o.effects, o.effects[len(o.effects)-1])
	}, false},
	{"R14", "a cancellation at the end",
		published(upserted(pod("c", "u")), deleted("a", "c")),
		func(o *outcome) { slices.Reverse(o.effects) }, false},
	{"R17", "a full pass is silent", published(drift(pod("a", "u"), pod("b", "u"))),
		func(o *outcome) { o.after, o.effects = o.before, nil }, false},
	{"R17", "the last of the first attempts publishes nothing",
		after(opened(pod("a", "u"), pod("b", "u")), answered(1), failed(2)),
		func(o *outcome) {
			dropEvents[core.HAProxyPodsDiscovered](o)
			drop[core.StopTimer](o)
			o.after = o.before
		}, false},
	{"R17", "published while first attempts are pending",
		after(opened(pod("a", "u"), pod("b", "u")), answered(1)), func(o *outcome) {
			o.after, o.effects = core.Reduce(o.after, core.TimerFired{Timer: 2})
			changeEvents(o, func(e *core.HAProxyPodsDiscovered) { e.Trigger = "probe_finished" })
		}, false},
	{"R17", "the timer fires for nothing",
		after(opened(pod("a", "u"), pod("b", "u")), answered(1), core.TimerFired{Timer: 2}),
		func(o *outcome) { o.after, o.effects = o.before, nil }, false},
	{"I9", "other effects", published(upserted(pod("c", "u"))), func(o *outcome) {
		change(o, func(e *core.StartProbe) { e.Probe = 17 })
	}, true},
	{"I9", "another state", published(core.BecameLeader{}), func(o *outcome) {
		o.after = run(caps, published(upserted(waiting("c"))))
	}, true},
}

// levels are doctored by grafts: the effects are honest, a part of the state is not.
var levels = []doctored{
	{"I10", "a timer fires for nothing",
		after(opened(pod("a", "u")), failed(1), core.TimerFired{Timer: 2}),
		func(o *outcome) { o.after, o.effects = o.before, nil }, false},
	{"I10", "an answer leads nowhere", after(opened(pod("a", "u")), answered(1)),
		func(o *outcome) { o.after, o.effects = o.before, nil }, false},
	{"I10", "an answer is asked for again", after(opened(pod("a", "u")), answered(1)),
		func(o *outcome) { o.after, o.effects = core.Reduce(o.before, answeredWithout(1)) }, false},
	{"I10", "at rest with a fleet that is not told", after(opened(pod("a", "u")), answered(1)),
		func(o *outcome) { o.after = graft(o.after, "published", run(caps, opened())) }, false},
	{"I10", "at rest with a candidate that is not admitted", after(opened(pod("a", "u")), answered(1)),
		func(o *outcome) { o.after = graft(o.after, "admitted", run(caps, opened())) }, false},
	{"I11", "an identity with another port", published(upserted(pod("a", "u2"))), func(o *outcome) {
		moved := run(caps, published(core.ConfigValidated{AgentPort: 5556}, upserted(pod("a", "u2"))))
		o.after = graft(o.after, "standings", moved)
	}, false},
	{"I11", "the verdict on older facts", published(upserted(waiting("a"))),
		func(o *outcome) { o.after = graft(o.after, "standings", run(caps, published(deleted("a")))) },
		true},
	{"I11", "one who has failed is not listed as unsettled", after(opened(pod("a", "u")), failed(1)),
		func(o *outcome) { o.after = graft(o.after, "unsettled", core.New(caps)) }, true},
	{"I11", "one who is gone stays in the queue",
		after(opened(pod("a", "u"), pod("b", "u"), pod("c", "u")), deleted("c")),
		func(o *outcome) { o.after = graft(o.after, "firsts", o.before) }, true},
	{"I11", "one who is gone stays in the fleet", published(deleted("a")),
		func(o *outcome) { o.after = graft(o.after, "admitted", o.before) }, true},
	{"I11", "an admission is not listed as unpublished",
		after(opened(pod("a", "u"), pod("b", "u")), answered(1)),
		func(o *outcome) { o.after = graft(o.after, "unpublished", o.before) }, true},
	{"I11", "a retry timer that nobody waits for",
		after(opened(pod("a", "u")), failed(1), deleted("a")),
		func(o *outcome) { o.after = graft(o.after, "retryTimers", o.before) }, true},
	{"I11", "a full pass leaves a retry timer that nobody waits for",
		after(opened(pod("a", "u")), failed(1), deleted("a"), drift()),
		func(o *outcome) {
			failed := run(caps, after(opened(pod("a", "u")), failed(1)))
			o.after = graft(o.after, "retryTimers", failed)
		}, false},
	{"I11", "a full pass leaves in the fleet one who is gone",
		published(deleted("a"), drift(pod("b", "u"))),
		func(o *outcome) { o.after = graft(o.after, "admitted", run(caps, published())) }, false},
}
