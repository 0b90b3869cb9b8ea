package testbed

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Patience is how long a test waits for what should happen soon. It is for slow machines; a test
// that is about time measures.
const Patience = time.Minute

// Discovery is a run of the program under test. Its methods fail the test where something does not
// come about.
type Discovery struct {
	t       testing.TB
	process *exec.Cmd
	journal *journal
	done    chan struct{}
	status  int

	mu     sync.Mutex
	stderr strings.Builder
}

// StartDiscovery starts haproxy-discovery with the arguments. When the test ends, so does the run;
// whatever contradicts the rules of any run then fails the test: see ledger. Neither output may
// hold any of the secrets.
func StartDiscovery(t testing.TB, secrets func() []string, arguments ...string) *Discovery {
	t.Helper()
	return startDiscovery(t, secrets, exec.Command, arguments)
}

// StartDiscoveryIn starts it in a container.
func StartDiscoveryIn(
	t testing.TB, container *Container, secrets func() []string, arguments ...string,
) *Discovery {
	t.Helper()
	return startDiscovery(t, secrets, container.command, arguments)
}

func startDiscovery(
	t testing.TB, secrets func() []string,
	command func(program string, arguments ...string) *exec.Cmd, arguments []string,
) *Discovery {
	t.Helper()
	path, err := binary("haproxy-discovery")
	if err != nil {
		t.Fatal(err)
	}
	d := &Discovery{
		t: t, process: command(path, arguments...), journal: newJournal(secrets),
		done: make(chan struct{}),
	}
	d.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := d.process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	logs, err := d.process.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.process.Start(); err != nil {
		t.Fatal(err)
	}
	var reading sync.WaitGroup
	reading.Go(func() { d.journal.read(out, splitLines) })
	reading.Go(func() { splitLines(logs, d.logged) })
	go func() {
		reading.Wait()
		d.status = exitStatus(d.process.Wait())
		close(d.done)
	}()
	t.Cleanup(func() { d.finish(secrets) })
	return d
}

// RunDiscovery runs haproxy-discovery to its end and gives what it has printed.
func RunDiscovery(ctx context.Context, arguments ...string) ([]byte, error) {
	path, err := binary("haproxy-discovery")
	if err != nil {
		return nil, err
	}
	var complaints strings.Builder
	process := exec.CommandContext(ctx, path, arguments...)
	process.Stderr = &complaints
	printed, err := process.Output()
	if err != nil {
		return nil, fmt.Errorf("haproxy-discovery %q: %w: %s", arguments, err, complaints.String())
	}
	return printed, nil
}

func splitLines(from io.Reader, each func([]byte)) {
	reader := bufio.NewReaderSize(from, 1<<20)
	for {
		text, err := reader.ReadBytes('\n')
		if len(text) > 0 {
			each(text)
		}
		if err != nil {
			return
		}
	}
}

// exitStatus is that of a shell: 137 for a program that was killed.
func exitStatus(err error) int {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return 0
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return exit.ExitCode()
}

func (d *Discovery) logged(text []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stderr.Write(text)
}

// finish is called at the end of the test.
func (d *Discovery) finish(secrets func() []string) {
	_ = d.process.Process.Kill()
	<-d.done
	for _, problem := range d.journal.problems {
		d.t.Errorf("standard output: %s", problem)
	}
	for _, secret := range secrets() {
		if strings.Contains(d.Log(), secret) {
			d.t.Error("the standard error holds a password")
		}
	}
	if d.t.Failed() {
		d.t.Logf("last events:\n%sstandard error:\n%s", d.journal.tail(), d.Log())
	}
}

// Log is what the program has written to its standard error so far.
func (d *Discovery) Log() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stderr.String()
}

// Interrupt asks the program to end, as a kubelet does.
func (d *Discovery) Interrupt() { _ = d.process.Process.Signal(syscall.SIGTERM) }

// Kill ends it without asking.
func (d *Discovery) Kill() { _ = d.process.Process.Kill() }

// AwaitExit gives the exit status.
func (d *Discovery) AwaitExit() int {
	d.t.Helper()
	select {
	case <-d.done:
		return d.status
	case <-time.After(Patience):
		d.t.Fatalf("the program has not ended within %v", Patience)
		return -1
	}
}

// Mark is a place in the journal: what was printed up to now stands before it.
type Mark int

// Mark is the present end of the journal.
func (d *Discovery) Mark() Mark {
	d.journal.mu.Lock()
	defer d.journal.mu.Unlock()
	return Mark(len(d.journal.events))
}

// Since are the events after the mark that match.
func (d *Discovery) Since(mark Mark, matches func(Event) bool) []Event {
	d.journal.mu.Lock()
	defer d.journal.mu.Unlock()
	var found []Event
	for _, event := range d.journal.events[mark:] {
		if matches(event) {
			found = append(found, event)
		}
	}
	return found
}

// Await waits for the first event after the mark that matches.
func (d *Discovery) Await(mark Mark, what string, matches func(Event) bool) Event {
	d.t.Helper()
	var found Event
	from := int(mark)
	err := d.journal.await(Patience, func() bool {
		i := slices.IndexFunc(d.journal.events[from:], matches)
		if i >= 0 {
			found = d.journal.events[from+i]
		} else {
			from = len(d.journal.events)
		}
		return i >= 0
	})
	if err != nil {
		d.t.Fatalf("%s: %v", what, err)
	}
	return found
}

// AwaitFleet waits for a published fleet that is as wanted.
func (d *Discovery) AwaitFleet(what string, wanted func(Fleet) bool) {
	d.t.Helper()
	err := d.journal.await(Patience, func() bool {
		return d.journal.fleet != nil && wanted(d.journal.fleet)
	})
	if err != nil {
		d.t.Fatalf("%s: %v", what, err)
	}
}

// AwaitPods waits for a fleet of exactly these pods.
func (d *Discovery) AwaitPods(pods ...*Pod) {
	d.t.Helper()
	d.AwaitFleet("a fleet of exactly the running pods", func(fleet Fleet) bool {
		return fleet.Consists(pods...)
	})
}

// AwaitTerminated waits for the termination of a pod, by UID.
func (d *Discovery) AwaitTerminated(mark Mark, pod *Pod) Event {
	d.t.Helper()
	return d.Await(mark, "termination of "+pod.Name, func(event Event) bool {
		return event.Kind == Terminated && event.UID == pod.UID
	})
}

// Returns says that a pod that was terminated comes back as it was: its deletion is undone.
func (d *Discovery) Returns(pod *Pod) {
	d.journal.mu.Lock()
	defer d.journal.mu.Unlock()
	d.journal.ledger.returns(pod.UID)
}

// AwaitLog waits for a text on the standard error.
func (d *Discovery) AwaitLog(text string) {
	d.t.Helper()
	Eventually(d.t, "a log line with "+text, func() bool { return strings.Contains(d.Log(), text) })
}
