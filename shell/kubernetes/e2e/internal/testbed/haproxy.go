package testbed

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// HAProxy is a real one, as it is installed on this machine.
type HAProxy struct {
	path, dir string
	process   *exec.Cmd
}

// NewHAProxy finds the program; Start starts it. Close it when done.
func NewHAProxy() (*HAProxy, error) {
	path, err := exec.LookPath("haproxy")
	if errors.Is(err, exec.ErrNotFound) {
		return nil, fmt.Errorf("haproxy is missing: apt-get install --no-install-recommends haproxy")
	}
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "e2e") // for the length of the socket's path
	if err != nil {
		return nil, err
	}
	return &HAProxy{path: path, dir: dir}, nil
}

// Version is what the program says of itself.
func (h *HAProxy) Version() (string, error) {
	out, err := exec.Command(h.path, "-v").Output()
	if err != nil {
		return "", err
	}
	// HAProxy version 2.6.12-1 2023/12/16 - https://haproxy.org/
	words := strings.Fields(string(out))
	if len(words) < 3 || words[1] != "version" {
		return "", fmt.Errorf("haproxy -v prints %q", out)
	}
	return words[2], nil
}

// Start returns once its runtime socket answers.
func (h *HAProxy) Start() error {
	config := filepath.Join(h.dir, "haproxy.cfg")
	text := fmt.Sprintf(`global
    stats socket %s mode 600 level admin
defaults
    mode http
    timeout connect 5s
    timeout client 5s
    timeout server 5s
frontend web
    bind %s
    http-request return status 200
`, h.socket(), net.JoinHostPort(NewAddress(), "8080"))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return err
	}
	h.process = exec.Command(h.path, "-db", "-f", config)
	h.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := h.process.Start(); err != nil {
		return err
	}
	deadline := time.Now().Add(Patience)
	for {
		_, err := h.info()
		if err == nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (h *HAProxy) socket() string { return filepath.Join(h.dir, "s") }

// Close ends it.
func (h *HAProxy) Close() error {
	if h.process != nil {
		_ = h.process.Process.Kill()
		_ = h.process.Wait()
	}
	return os.RemoveAll(h.dir)
}

// info asks the runtime socket.
func (h *HAProxy) info() (map[string]string, error) {
	connection, err := net.Dial("unix", h.socket())
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(Patience)); err != nil {
		return nil, err
	}
	if _, err := io.WriteString(connection, "show info\n"); err != nil {
		return nil, err
	}
	info := map[string]string{}
	lines := bufio.NewScanner(connection)
	for lines.Scan() {
		if name, value, found := strings.Cut(lines.Text(), ": "); found {
			info[name] = value
		}
	}
	return info, lines.Err()
}

// Answer is that of an agent beside this HAProxy: it knows what the runtime socket tells, and
// nothing while there is none.
func (h *HAProxy) Answer(w http.ResponseWriter, r *http.Request) {
	info, err := h.info()
	if err != nil {
		info = nil
	}
	Running(info["Version"])(w, r)
}
