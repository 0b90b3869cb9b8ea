package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// A log that begins with a snapshot tells of each pod where it stood there: of one that has changed
// since, and of one that has not.
func TestStoryOfAPodBeginsWithTheSnapshot(t *testing.T) {
	log := newStoryLog(t)
	log.answer = func(start core.StartProbe) core.Outcome {
		if start.Identity.Key() == ours {
			return core.Failure{Cause: core.CauseRefused}
		}
		return core.Answer{Version: "3.4.3"}
	}
	log.begin("", append(neighbours(0, 2, ""), ourPod())...)
	awaitFile := func(holds string) {
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
			if data, _ := os.ReadFile(log.path); bytes.Contains(data, []byte(holds)) {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("no %s in the log", holds)
			}
		}
	}
	awaitFile(`"failure"`)
	if err := os.Rename(log.path, log.path+".1"); err != nil {
		t.Fatal(err)
	}
	log.writer.Reopen()
	awaitFile(`"kind":"snapshot"`)
	log.step(core.ResourceIndexUpdated{
		Resource: core.HAProxyPods, Deleted: []core.PodRef{{Key: ours, UID: "u20"}},
	})
	if err := log.writer.Close(); err != nil {
		t.Fatal(err)
	}
	tell := func(pod string) (out, errOut string) {
		var o, e bytes.Buffer
		root := newRootCommand(nil, &o, &e)
		root.SetArgs([]string{"replay", log.path, "-o", "text", "--check", "--pod", pod})
		if err := root.ExecuteContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		return o.String(), e.String()
	}
	// The state keeps that the agent has failed, not how.
	out, errOut := tell("lb/hap-20")
	if want := "verdict rejected (agent_unreachable, other) -> gone"; !strings.Contains(out, want) {
		t.Errorf("no %q in\n%s", want, out)
	}
	if want := "lb/hap-20 is rejected (agent_unreachable, other) there"; !strings.Contains(errOut, want) {
		t.Errorf("no %q in\n%s", want, errOut)
	}
	if _, errOut := tell("lb/hap-01"); !strings.Contains(errOut, "lb/hap-01 is admitted there") {
		t.Errorf("not told where an untouched pod stood:\n%s", errOut)
	}
}
