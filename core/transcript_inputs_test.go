package core_test

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// The language of the transcripts.
//
//	new probes=2 retries=1                  a fresh state, with other caps than 16 and 12
//	given                                   a fresh state in which the pods listed are the fleet
//	config port=5555 selector=app=lb        ConfigValidated
//	credentials user=admin password=a       CredentialsUpdated; without arguments: none
//	store synced=yes|no|unknown             PodStoreSet, with the pods listed
//	sync                                    ResourceSyncComplete, with the pods listed
//	drift                                   DriftPreventionTriggered, with the pods listed
//	index                                   ResourceIndexUpdated
//	+ lb/hap-0 u1 10.1.0.10                 ... upserted
//	- lb/hap-0 u1                           ... deleted
//	leader                                  BecameLeader
//	answer probe=1 version=3.4.3 full=3.4.3-1   ProbeFinished with an answer
//	fail probe=1 cause=timeout              ProbeFinished with a failure
//	finish probe=1                          ProbeFinished with no outcome at all
//	timer id=2                              TimerFired
//	nil                                     no input at all
//	state pods queues probes timers published   prints the state, or only what is named
//
// `same` in place of a list of pods is the list that the state knows, read anew. `resource=x` makes
// an index or sync input one of another resource; `times=3` gives an input three times, probe=1-3
// finishes three probes.
//
// A pod is its key, UID and IP (- for none), and what differs from a running pod with a running
// agent: phase=Pending agent=waiting|terminated|missing runtime=r2 label=app=lb terminating
// noagent=(why) malformed=(why) unreadable=phase|labels|ip.
func readInputs(t *testing.T, command *datadriven.TestData, state core.State) []core.Input {
	t.Helper()
	if probes := text(command, "probe"); probes != "" {
		return readProbesFinished(t, command, probes)
	}
	times := 1
	command.MaybeScanArgs(t, "times", &times)
	return slices.Repeat([]core.Input{readInput(t, command, state)}, times)
}

func readInput(t *testing.T, command *datadriven.TestData, state core.State) core.Input {
	t.Helper()
	resource := core.HAProxyPods
	command.MaybeScanArgs(t, "resource", &resource)
	switch command.Cmd {
	case "config":
		return readSettings(t, command)
	case "credentials":
		return core.CredentialsUpdated{Credentials: readCredentials(t, command)}
	case "store":
		return core.PodStoreSet{Pods: listOfPods(t, command, state), Synced: readSync(t, command)}
	case "sync":
		return core.ResourceSyncComplete{Resource: resource, Pods: listOfPods(t, command, state)}
	case "drift":
		return core.DriftPreventionTriggered{Pods: listOfPods(t, command, state)}
	case "index":
		return readIndex(t, command, resource)
	case "leader":
		return core.BecameLeader{}
	case "timer":
		var id uint64
		command.ScanArgs(t, "id", &id)
		return core.TimerFired{Timer: core.TimerID(id)}
	case "nil":
		return nil
	}
	t.Fatalf("%s: unknown command %s", command.Pos, command.Cmd)
	return nil
}

func readConfig(t *testing.T, command *datadriven.TestData) core.Config {
	t.Helper()
	var config core.Config
	command.MaybeScanArgs(t, "probes", &config.MaxProbes)
	command.MaybeScanArgs(t, "retries", &config.MaxRetries)
	command.MaybeScanArgs(t, "scheme", &config.AgentScheme)
	return config
}

func readSettings(t *testing.T, command *datadriven.TestData) core.ConfigValidated {
	t.Helper()
	var settings core.ConfigValidated
	command.ScanArgs(t, "port", &settings.AgentPort)
	settings.PodSelector = text(command, "selector")
	return settings
}

func readCredentials(t *testing.T, command *datadriven.TestData) core.Credentials {
	t.Helper()
	if len(command.CmdArgs) == 0 {
		return core.Credentials{}
	}
	return credentials(t, text(command, "user"), text(command, "password"))
}

func readSync(t *testing.T, command *datadriven.TestData) core.Sync {
	t.Helper()
	says := text(command, "synced")
	sync, known := map[string]core.Sync{
		"yes": core.SyncDone, "no": core.SyncPending, "unknown": core.SyncUnknown,
	}[says]
	if !known {
		t.Fatalf("%s: synced=%s", command.Pos, says)
	}
	return sync
}

func readIndex(t *testing.T, command *datadriven.TestData, resource string) core.Input {
	t.Helper()
	index := core.ResourceIndexUpdated{Resource: resource}
	for _, line := range lines(command.Input) {
		switch sign, rest, _ := strings.Cut(line, " "); sign {
		case "+":
			index.Upserted = append(index.Upserted, readPod(t, command.Pos, rest))
		case "-":
			key, uid, _ := strings.Cut(rest, " ")
			ref := core.PodRef{Key: readKey(t, command.Pos, key), UID: uid}
			index.Deleted = append(index.Deleted, ref)
		default:
			t.Fatalf("%s: %q begins with neither + nor -", command.Pos, line)
		}
	}
	return index
}

func readProbesFinished(t *testing.T, command *datadriven.TestData, probes string) []core.Input {
	t.Helper()
	var outcome core.Outcome
	switch command.Cmd {
	case "answer":
		outcome = core.Answer{Version: text(command, "version"), FullVersion: text(command, "full")}
	case "fail":
		outcome = core.Failure{
			Cause: core.Cause(text(command, "cause")), Detail: text(command, "detail"),
		}
	}
	first, last, isRange := strings.Cut(probes, "-")
	if !isRange {
		last = first
	}
	var finished []core.Input
	for probe := readNumber(t, command, first); probe <= readNumber(t, command, last); probe++ {
		finished = append(finished, core.ProbeFinished{Probe: core.ProbeID(probe), Outcome: outcome})
	}
	return finished
}

func readNumber(t *testing.T, command *datadriven.TestData, text string) uint64 {
	t.Helper()
	number, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", command.Pos, err)
	}
	return number
}

func listOfPods(t *testing.T, command *datadriven.TestData, state core.State) []*core.Pod {
	t.Helper()
	if !command.HasArg("same") {
		return readPods(t, command)
	}
	var pods []*core.Pod
	for standing := range state.Standings() {
		pod := *standing.Pod
		pods = append(pods, &pod)
	}
	return pods
}

func readPods(t *testing.T, command *datadriven.TestData) []*core.Pod {
	t.Helper()
	var pods []*core.Pod
	for _, line := range lines(command.Input) {
		pods = append(pods, readPod(t, command.Pos, line))
	}
	return pods
}

func readPod(t *testing.T, pos, line string) *core.Pod {
	t.Helper()
	if line == "nil" {
		return nil
	}
	key, args, err := datadriven.ParseLine(line)
	if err != nil || len(args) < 2 {
		t.Fatalf("%s: %q is no pod: %v", pos, line, err)
	}
	pod := &core.Pod{
		Key: readKey(t, pos, key), UID: strings.Trim(args[0].Key, `"`),
		Phase: core.PhaseRunning, Agent: core.AgentRunning, RuntimeID: "r1",
	}
	if ip := args[1].Key; ip != "-" {
		pod.IP = netip.MustParseAddr(ip)
	}
	for _, arg := range args[2:] {
		readFact(t, pos, pod, arg.Key, strings.Join(arg.Vals, ", "))
	}
	return pod
}

func readFact(t *testing.T, pos string, pod *core.Pod, fact, value string) {
	t.Helper()
	switch fact {
	case "phase":
		pod.Phase = value
	case "agent":
		pod.Agent = core.AgentState(strings.TrimPrefix(value, "missing"))
	case "runtime":
		pod.RuntimeID = core.RuntimeID(value)
	case "terminating":
		pod.Terminating = true
	case "noagent":
		pod.NoAgent = value
	case "malformed":
		pod.Malformed = value
	case "label":
		name, label, _ := strings.Cut(value, "=")
		if pod.Labels == nil {
			pod.Labels = map[string]string{}
		}
		pod.Labels[name] = label
	case "unreadable":
		pod.Unreadable |= map[string]core.Facts{
			"phase": core.FactPhase, "labels": core.FactLabels, "ip": core.FactIP,
		}[value]
	default:
		t.Fatalf("%s: unknown fact %s", pos, fact)
	}
}

func readKey(t *testing.T, pos, text string) core.PodKey {
	t.Helper()
	namespace, name, found := strings.Cut(text, "/")
	if !found {
		t.Fatalf("%s: %q is no key", pos, text)
	}
	return core.PodKey{Namespace: namespace, Name: name}
}

// text is the value of an argument as written, commas included; empty if there is none.
func text(command *datadriven.TestData, name string) string {
	arg, _ := command.Arg(name)
	return strings.Join(arg.Vals, ", ")
}

func lines(input string) []string {
	if input == "" {
		return nil
	}
	return strings.Split(input, "\n")
}
