package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A credential plugin of a kubeconfig cannot be interrupted: client-go runs it without a context.

// pluginKubeconfig is for a server over TLS, for nobody else is sent credentials. It has a user
// whose credentials come from a shell script; it finds the folder that it is given to keep things in
// as $1. What it leaves running ends with the test.
func pluginKubeconfig(t *testing.T, server, script string) (path, folder string) {
	t.Helper()
	folder = t.TempDir()
	plugin := filepath.Join(folder, "plugin")
	// It lets go of our standard error, or the tests would wait for it.
	writeFile(t, plugin, "exec 2>/dev/null\necho $$ >>\"$1/pids\"\n"+script+"\n")
	path = filepath.Join(folder, "config")
	writeFile(t, path, fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"c",
		"clusters":[{"name":"c","cluster":{"server":%q,"insecure-skip-tls-verify":true}}],
		"users":[{"name":"u","user":{"exec":{"apiVersion":"client.authentication.k8s.io/v1",
			"command":"sh","args":[%q,%q],"interactiveMode":"Never"}}}],
		"contexts":[{"name":"c","context":{"cluster":"c","user":"u","namespace":"lb"}}]}`,
		server, plugin, folder))
	t.Cleanup(func() {
		pids, _ := os.ReadFile(filepath.Join(folder, "pids"))
		for _, field := range strings.Fields(string(pids)) {
			pid, err := strconv.Atoi(field)
			if err != nil {
				continue
			}
			// The number may belong to somebody else by now.
			called, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			if strings.HasPrefix(string(called), "sleep\x0025") {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	})
	return path, folder
}

const hangs = "exec sleep 25"

// awaitPlugin waits until the plugin has been called n times.
func awaitPlugin(t *testing.T, folder string, n int) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		pids, _ := os.ReadFile(filepath.Join(folder, "pids"))
		if strings.Count(string(pids), "\n") >= n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the plugin was called as %q, not %d times", pids, n)
		}
	}
}

// endInTime ends a command by a signal and wants it gone within a second; what a busy machine needs
// comes on top.
func (s *started) endInTime() {
	s.t.Helper()
	begun := time.Now()
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	status := s.end()
	if took := time.Since(begun); status != 0 || took > 2*time.Second {
		s.t.Errorf("status %d after %v:\n%s", status, took, s.stderr())
	}
}

func TestSignalEndsTheProgramWhileACredentialPluginHangsAtTheStart(t *testing.T) {
	t.Parallel()
	config, folder := pluginKubeconfig(t, "https://127.0.0.1:1", hangs)
	s := start(t, "run", "--kubeconfig", config, "--leader-elect")
	awaitPlugin(t, folder, 1)
	s.endInTime()
	if strings.Contains(s.stderr(), "following a cluster") {
		t.Errorf("it begins after its end:\n%s", s.stderr())
	}
}

// The limit of the start holds for a plugin as well; then it counts as an API server that is out of
// reach. The plugin that hung fails at last: who asks it next, and hangs in turn, is the source of the
// pods, for nobody else needs it here.
func TestHungCredentialPluginIsWaitedFor(t *testing.T) {
	t.Parallel()
	config, folder := pluginKubeconfig(t, "https://127.0.0.1:1", `
		if [ -e "$1/called" ]; then `+hangs+`; fi
		: >"$1/called"
		for i in $(seq 500); do
			if [ -e "$1/released" ]; then exit 1; fi
			sleep 0.05
		done
		`+hangs)
	begun := time.Now()
	s := start(t, "run", "--kubeconfig", config,
		"--credentials-dir", credentialsDir(t, "admin", password))
	s.awaitStderr("trying again until it is not")
	s.awaitStderr("following a cluster")
	if took := time.Since(begun); took > startLimit+3*time.Second {
		t.Errorf("waited for %v", took)
	}
	if !strings.Contains(s.stderr(), "credential plugin") {
		t.Errorf("the plugin is not named:\n%s", s.stderr())
	}
	writeFile(t, filepath.Join(folder, "released"), "")
	awaitPlugin(t, folder, 2)
	s.endInTime()
	if !strings.Contains(s.stderr(), "left behind") || !strings.Contains(s.stderr(), "pods in") {
		t.Errorf("what hangs is not named:\n%s", s.stderr())
	}
}

func TestHungCredentialPluginEndsOnce(t *testing.T) {
	t.Parallel()
	config, _ := pluginKubeconfig(t, "https://127.0.0.1:1", hangs)
	begun := time.Now()
	got := command(t, "", "run", "--once", "--kubeconfig", config)
	if took := time.Since(begun); got.status != 1 || took > startLimit+3*time.Second ||
		strings.Count(got.errOut, "\n") != 1 || !strings.Contains(got.errOut, "credential plugin") {
		t.Errorf("status %d after %v: %q", got.status, took, got.errOut)
	}
}

// A plugin that hangs when the token is to be had anew holds up neither the end nor, with it, the
// lines that are told then.
func TestSignalEndsTheProgramWhileACredentialPluginHangsLater(t *testing.T) {
	t.Parallel()
	api := newPodAPI(t)
	const token = `{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",` +
		`"status":{"token":"t"}}`
	config, folder := pluginKubeconfig(t, api.URL, `
		if [ -e "$1/called" ]; then `+hangs+`; fi
		: >"$1/called"; echo '`+token+`'`)
	inputs := filepath.Join(folder, "inputs.jsonl")
	s := start(t, "run", "--kubeconfig", config, "--leader-elect", "--record", inputs,
		"--credentials-dir", credentialsDir(t, "admin", password))
	s.awaitFleet()
	api.answer(http.StatusUnauthorized) // after which client-go asks the plugin again
	awaitPlugin(t, folder, 2)
	s.endInTime()
	if !strings.Contains(s.stderr(), "left behind") {
		t.Errorf("what hangs is not told:\n%s", s.stderr())
	}
	checked := command(t, "", "replay", inputs, "--check", "--quiet")
	if checked.status != 0 || strings.Contains(checked.errOut, "warning") {
		t.Errorf("the recording was not closed: status %d: %s", checked.status, checked.errOut)
	}
}

// podAPI answers as much of the Kubernetes API as a namespace without pods needs, until it is told
// to answer something else.
type podAPI struct {
	*httptest.Server
	status chan int
	cut    chan struct{}
}

func newPodAPI(t *testing.T) *podAPI {
	t.Helper()
	api := &podAPI{status: make(chan int, 1), cut: make(chan struct{})}
	api.status <- http.StatusOK
	api.Server = httptest.NewUnstartedServer(api)
	api.Config.ErrorLog = log.New(io.Discard, "", 0) // it complains of clients that are gone
	api.StartTLS()
	t.Cleanup(func() {
		api.CloseClientConnections()
		api.Close()
	})
	return api
}

// answer ends all watches and answers with a status from now on, once.
func (a *podAPI) answer(status int) {
	<-a.status
	a.status <- status
	close(a.cut)
}

// ServeHTTP implements http.Handler.
func (a *podAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status := <-a.status
	a.status <- status
	query := r.URL.Query()
	w.Header().Set("Content-Type", "application/json")
	switch {
	case status != http.StatusOK:
		w.WriteHeader(status)
	case query.Get("sendInitialEvents") == "true":
		w.WriteHeader(http.StatusUnprocessableEntity) // as a server that can only list
		_, _ = fmt.Fprint(w, `{"apiVersion":"v1","kind":"Status","status":"Failure",
			"reason":"Invalid","code":422}`)
	case query.Get("watch") == "true":
		w.(http.Flusher).Flush()
		select {
		case <-a.cut:
		case <-r.Context().Done():
		}
	case strings.HasSuffix(r.URL.Path, "/pods"):
		_, _ = fmt.Fprint(w, `{"apiVersion":"v1","kind":"PodList","metadata":{"resourceVersion":"1"},
			"items":[]}`)
	default:
		w.WriteHeader(http.StatusNotFound)
		_, _ = fmt.Fprint(w, `{"apiVersion":"v1","kind":"Status","status":"Failure",
			"reason":"NotFound","code":404}`)
	}
}
