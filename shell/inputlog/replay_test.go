package inputlog

import (
	"path/filepath"
	"runtime"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// R28: a read that removes 5 pods and adds 20 replays to the digests that were recorded,
// however many processors there are.
func TestReplayIsTheSameEveryTime(t *testing.T) {
	pods := podsOf(40)
	inputs := []core.Input{
		core.ConfigValidated{AgentPort: 5555},
		core.CredentialsUpdated{Credentials: credentialsOf(t, "admin", "password")},
		core.PodStoreSet{Pods: pods[:20], Synced: core.SyncDone},
	}
	for probe := range 16 {
		inputs = append(inputs, core.ProbeFinished{
			Probe: core.ProbeID(probe + 1), Outcome: core.Answer{Version: "3.4.3"},
		})
	}
	inputs = append(inputs, core.TimerFired{Timer: 1}, core.TimerFired{Timer: 2},
		core.DriftPreventionTriggered{Pods: pods[5:]}, core.BecameLeader{})
	path := filepath.Join(t.TempDir(), "log")
	recordSteps(t, path, inputs)
	log := contents(t, path)

	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for i := range 50 {
		runtime.GOMAXPROCS([]int{1, 16}[i%2])
		state, published := core.New(core.Config{}), 0
		digester := NewDigester()
		for _, step := range stepsOf(t, log) {
			var effects []core.Effect
			state, effects = core.Reduce(state, step.Input)
			if digester.Sum(effects) != step.Digest {
				t.Fatalf("replay %d: the effects of seq %d differ", i, step.Seq)
			}
			for _, effect := range effects {
				if publish, is := effect.(core.Publish); is {
					if _, is := publish.Event.(core.HAProxyPodsDiscovered); is {
						published++
					}
				}
			}
		}
		if published == 0 {
			t.Fatal("the history publishes nothing, so it shows nothing")
		}
	}
}
