package explore

import (
	"net/netip"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// The pods of the worlds: three or four names, incarnations that differ by UID, variants of them.

const (
	port      = 5555
	otherPort = 5556
	selector  = "app=lb"
)

func keyOf(name string) core.PodKey { return core.PodKey{Namespace: "lb", Name: name} }

// variant changes a pod that is being made.
type variant func(*core.Pod)

// pod is a running candidate, unless a variant makes something else of it. Its address depends on
// its name only: a successor gets the one of its predecessor.
func pod(name, uid string, variants ...variant) *core.Pod {
	pod := &core.Pod{
		Key:       keyOf(name),
		UID:       uid,
		Labels:    map[string]string{"app": "lb"},
		IP:        netip.AddrFrom4([4]byte{10, 1, 0, name[0]}),
		Phase:     core.PhaseRunning,
		Agent:     core.AgentRunning,
		RuntimeID: "r1",
	}
	for _, change := range variants {
		change(pod)
	}
	return pod
}

func terminating(pod *core.Pod) { pod.Terminating = true }
func pending(pod *core.Pod)     { pod.Phase = "Pending" }
func withoutIP(pod *core.Pod)   { pod.IP = netip.Addr{} }
func moved(pod *core.Pod)       { pod.IP = netip.MustParseAddr("fd00::a") }
func restarted(pod *core.Pod)   { pod.RuntimeID = "r2" }
func deselected(pod *core.Pod)  { pod.Labels = map[string]string{"app": "db"} }
func malformed(pod *core.Pod)   { pod.Malformed = "status.phase is a number instead of a string" }

func relabelled(pod *core.Pod) {
	pod.Labels = map[string]string{"app": "lb", "revision": "2"}
}

func agentIs(state core.AgentState) variant {
	return func(pod *core.Pod) { pod.Agent = state }
}

// credentials of different usernames; the passwords are made up.
func credentials(username string) core.Credentials {
	credentials, err := core.NewCredentials(username, "secret-of-"+username)
	if err != nil {
		panic(err)
	}
	return credentials
}

// opened are the inputs that open the gate on a store that holds these pods.
func opened(pods ...*core.Pod) []core.Input {
	return []core.Input{
		core.ConfigValidated{AgentPort: port, PodSelector: selector},
		core.CredentialsUpdated{Credentials: credentials("admin")},
		core.PodStoreSet{Pods: pods, Synced: core.SyncDone},
	}
}
