package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// These tests run the built binary, as its users do: pods on standard input, real agents on
// loopback addresses, events on standard output.

const (
	patience = 20 * time.Second
	password = "p@ss/w%rd:#ü-1"
)

var binary string

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "haproxy-discovery-test")
	if err != nil {
		panic(err)
	}
	// No cluster, whatever the machine is set up for.
	_ = os.Setenv("KUBECONFIG", filepath.Join(folder, "none"))
	_ = os.Unsetenv("KUBERNETES_SERVICE_HOST")
	binary = filepath.Join(folder, "haproxy-discovery")
	build := exec.Command("go", "build", "-o", binary, ".")
	if out, err := build.CombinedOutput(); err != nil {
		panic(string(out))
	}
	status := m.Run()
	_ = os.RemoveAll(folder)
	os.Exit(status)
}

// fleet is a set of agents on 127.88.0.x, all on one port.
type fleet struct {
	t        *testing.T
	port     int
	password atomic.Value
	requests atomic.Int64
}

func newFleet(t *testing.T, addresses ...string) *fleet {
	f := &fleet{t: t}
	f.password.Store(password)
	for _, address := range addresses {
		listener, err := net.Listen("tcp", fmt.Sprintf("%s:%d", address, f.port))
		if err != nil {
			t.Fatal(err)
		}
		f.port = listener.Addr().(*net.TCPAddr).Port
		server := &http.Server{Handler: http.HandlerFunc(f.serve)}
		go func() { _ = server.Serve(listener) }()
		t.Cleanup(func() { _ = server.Close() })
	}
	return f
}

func (f *fleet) serve(w http.ResponseWriter, r *http.Request) {
	f.requests.Add(1)
	if _, got, _ := r.BasicAuth(); got != f.password.Load() {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprint(w, r.Header.Get("Authorization"), got)
		return
	}
	_, _ = fmt.Fprint(w, `{"api_version":1,"agent_version":"0.3.0",
		"haproxy":{"version":"3.4.3","full_version":"3.4.3-1","worker_pid":42},"more":[1,2,3]}`)
}

func pod(name, uid, ip string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"lb","name":%q,"uid":%q,
		"resourceVersion":"1","labels":{"app":"haproxy"}},"spec":{"containers":[{"name":"haproxy"}]},
		"status":{"phase":"Running","podIP":%q,"containerStatuses":[{"name":"agent","imageID":"i",
		"containerID":"c-%s","state":{"running":{"startedAt":"2026-01-01T00:00:00Z"}}}]}}`, name, uid, ip, uid)
}

func list(pods ...string) string {
	return `{"apiVersion":"v1","kind":"List","items":[` + strings.Join(pods, ",") + `]}`
}

func watchEvent(kind, object string) string {
	return fmt.Sprintf("{\"type\":%q,\"object\":%s}\n", kind, object)
}

func credentialsDir(t *testing.T, username, password string) string {
	folder := t.TempDir()
	writeFile(t, filepath.Join(folder, "dataplane_username"), username+"\n")
	writeFile(t, filepath.Join(folder, "dataplane_password"), password+"\r\n")
	return folder
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// result is what a finished command has left.
type result struct {
	status      int
	out, errOut string
}

func command(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	return commandOf(t, binary, stdin, args...)
}

func commandOf(t *testing.T, program, stdin string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdin = strings.NewReader(stdin)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
}

func (r result) events(t *testing.T) []map[string]any {
	t.Helper()
	var events []map[string]any
	for line := range strings.Lines(r.out) {
		events = append(events, decode(t, line))
	}
	return events
}

func decode(t *testing.T, line string) map[string]any {
	t.Helper()
	var event map[string]any
	if err := json.Unmarshal([]byte(line), &event); err != nil {
		t.Fatalf("no JSON line: %q: %v", line, err)
	}
	return event
}

func noTrace(t *testing.T, where, text string) {
	t.Helper()
	for _, trace := range []string{
		"p@ss", "cEBzcy93JXJk", "OnBAc3MvdyVyZDojw7wtMQ", "YWRtaW46cEBzcy", "p%40ss", "70407373",
	} {
		if strings.Contains(text, trace) {
			t.Errorf("%s shows %q:\n%s", where, trace, text)
		}
	}
}

// started is a command that goes on.
type started struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.ReadCloser
	lines  chan map[string]any
	mu     sync.Mutex
	errOut bytes.Buffer
	seen   []map[string]any
}

func start(t *testing.T, args ...string) *started {
	t.Helper()
	s := startUnread(t, args...)
	go func() {
		defer close(s.lines)
		scanner := bufio.NewScanner(s.stdout)
		scanner.Buffer(nil, 1<<20)
		for scanner.Scan() {
			var event map[string]any
			if json.Unmarshal(scanner.Bytes(), &event) == nil {
				s.lines <- event
			}
		}
	}()
	return s
}

// startUnread starts a command whose output nobody reads.
func startUnread(t *testing.T, args ...string) *started {
	t.Helper()
	s := &started{t: t, cmd: exec.Command(binary, args...), lines: make(chan map[string]any, 1000)}
	var err error
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if s.stdout, err = s.cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	s.cmd.Stderr = writerFunc(func(p []byte) (int, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.errOut.Write(p)
	})
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	return s
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func (s *started) send(text string) {
	s.t.Helper()
	if _, err := io.WriteString(s.stdin, text); err != nil {
		s.t.Fatal(err)
	}
}

func (s *started) stderr() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.errOut.String()
}

func (s *started) awaitStderr(text string) {
	s.t.Helper()
	deadline := time.Now().Add(patience)
	for !strings.Contains(s.stderr(), text) {
		if time.Now().After(deadline) {
			s.t.Fatalf("no %q on stderr:\n%s", text, s.stderr())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// await gives the next event that fits.
func (s *started) await(what string, fits func(map[string]any) bool) map[string]any {
	s.t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case event, more := <-s.lines:
			if !more {
				s.t.Fatalf("output ended before %s; stderr:\n%s", what, s.stderr())
			}
			s.seen = append(s.seen, event)
			if fits(event) {
				return event
			}
		case <-deadline:
			last := s.seen[max(0, len(s.seen)-5):]
			s.t.Fatalf("waited in vain for %s; last seen %v; stderr:\n%s", what, last, s.stderr())
		}
	}
}

func (s *started) awaitFleet(uids ...string) map[string]any {
	s.t.Helper()
	return s.await(fmt.Sprintf("a fleet of %v", uids), func(event map[string]any) bool {
		return event["event"] == "HAProxyPodsDiscovered" && slices.Equal(uidsOf(event), uids)
	})
}

func uidsOf(event map[string]any) []string {
	var uids []string
	endpoints, _ := event["endpoints"].([]any)
	for _, endpoint := range endpoints {
		uids = append(uids, endpoint.(map[string]any)["uid"].(string))
	}
	return uids
}

// endUnread is end for a command whose output nobody has read.
func (s *started) endUnread() int {
	close(s.lines)
	return s.end()
}

// end waits for the command's end after a signal or the like, and gives its exit status.
func (s *started) end() int {
	s.t.Helper()
	ended := make(chan error, 1)
	go func() {
		for range s.lines {
		}
		ended <- s.cmd.Wait()
	}()
	select {
	case <-ended:
		return s.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		s.t.Fatalf("the command goes on; stderr:\n%s", s.stderr())
		return -1
	}
}
