package testbed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// readyLimit bounds the start of an API server, which takes three seconds of a machine at leisure.
const readyLimit = 2 * time.Minute

// ControlPlane is a real kube-apiserver on top of etcd, in a process that dies with ours. Not safe
// for concurrent use, but for Client and Kubeconfig.
type ControlPlane struct {
	dir, address string
	flags        []string
	process      *exec.Cmd
	lifeline     io.Closer
	exited       chan struct{}
}

// NewControlPlane gives it an address and a directory; Start starts it. The flags are those of
// kube-apiserver. Close it when done.
func NewControlPlane(flags ...string) (*ControlPlane, error) {
	// Not in a test's own directory, whose name may be too long for etcd's socket.
	dir, err := os.MkdirTemp("", "e2e")
	if err != nil {
		return nil, err
	}
	return &ControlPlane{dir: dir, address: net.JoinHostPort(NewAddress(), "6443"), flags: flags}, nil
}

// Start returns once the server is ready. After Kill it goes on with the data that it had.
func (c *ControlPlane) Start(ctx context.Context) error {
	path, err := binary("controlplane")
	if err != nil {
		return err
	}
	log, err := os.OpenFile(c.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	c.process = exec.Command(path, append([]string{
		"--dir", c.dir, "--address", c.address, "--until-stdin-closes", "--",
	}, c.flags...)...)
	c.process.Stdout, c.process.Stderr = log, log
	if c.lifeline, err = c.process.StdinPipe(); err != nil {
		return err
	}
	if err := c.process.Start(); err != nil {
		return err
	}
	exited := make(chan struct{})
	c.exited = exited
	go func() {
		_ = c.process.Wait()
		close(exited)
	}()
	return c.awaitReady(ctx)
}

func (c *ControlPlane) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	for {
		err := c.askReady(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-c.exited:
			return fmt.Errorf("the control plane has exited: %s", c.lastWords())
		case <-ctx.Done():
			return fmt.Errorf("the control plane is not ready: %w: %s", err, c.lastWords())
		}
	}
}

func (c *ControlPlane) askReady(ctx context.Context) error {
	config, err := c.config()
	if err != nil {
		return err
	}
	config.Timeout = 10 * time.Second
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	return client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
}

// lastWords are the end of the server's log.
func (c *ControlPlane) lastWords() string {
	log, err := os.ReadFile(c.logFile())
	if err != nil {
		return err.Error()
	}
	return string(log[max(0, len(log)-2000):])
}

func (c *ControlPlane) logFile() string { return filepath.Join(c.dir, "log") }

// Kill ends the process in the middle of whatever it does, and returns once it is gone.
func (c *ControlPlane) Kill() {
	if c.process != nil {
		_ = c.process.Process.Kill()
		<-c.exited
		_ = c.lifeline.Close()
	}
}

// Backup copies etcd's data aside, and Restore puts the copy back in place of what is there then. The
// control plane is not running meanwhile.
func (c *ControlPlane) Backup() error { return os.CopyFS(c.backup(), os.DirFS(c.data())) }

// Restore puts the backup back.
func (c *ControlPlane) Restore() error {
	if err := os.RemoveAll(c.data()); err != nil {
		return err
	}
	return os.CopyFS(c.data(), os.DirFS(c.backup()))
}

func (c *ControlPlane) data() string { return filepath.Join(c.dir, "etcd") }

func (c *ControlPlane) backup() string { return filepath.Join(c.dir, "etcd.backup") }

// Freeze stops the process where it is; its connections stay open. Thaw lets it go on.
func (c *ControlPlane) Freeze() error { return c.process.Process.Signal(syscall.SIGSTOP) }

// Thaw ends what Freeze has begun.
func (c *ControlPlane) Thaw() error { return c.process.Process.Signal(syscall.SIGCONT) }

// Close ends the process and removes its data.
func (c *ControlPlane) Close() error {
	c.Kill()
	return os.RemoveAll(c.dir)
}

// Address is host and port of the API server, running or not.
func (c *ControlPlane) Address() string { return c.address }

// EtcdSocket is the path of the socket that etcd listens on.
func (c *ControlPlane) EtcdSocket() string { return filepath.Join(c.dir, "s") }

// Client is an administrator's, and without a limit of its own.
func (c *ControlPlane) Client() (*kubernetes.Clientset, error) {
	config, err := c.config()
	if err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(config)
}

func (c *ControlPlane) config() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(c.dir, "kubeconfig"))
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	return config, nil
}

// Access is what a kubeconfig says, beside the certificates.
type Access struct {
	// Server is host and port to connect to, or http:// and that for a server without TLS; empty for
	// the API server's own.
	Server string
	// Token is a service account's; empty for the administrator's.
	Token string
	// Namespace is the context's.
	Namespace string
}

// WriteKubeconfig writes a kubeconfig file. The control plane has been started before.
func (c *ControlPlane) WriteKubeconfig(path string, access Access) error {
	config, err := clientcmd.LoadFromFile(filepath.Join(c.dir, "kubeconfig"))
	if err != nil {
		return err
	}
	current := config.Contexts[config.CurrentContext]
	if current == nil {
		return errors.New("kubeconfig without a context")
	}
	current.Namespace = access.Namespace
	switch {
	case strings.HasPrefix(access.Server, "http://"):
		config.Clusters[current.Cluster].Server = access.Server
	case access.Server != "":
		cluster := config.Clusters[current.Cluster]
		cluster.Server, cluster.TLSServerName = "https://"+access.Server, "kubernetes"
	}
	if access.Token != "" {
		config.AuthInfos[current.AuthInfo] = &api.AuthInfo{Token: access.Token}
	}
	return clientcmd.WriteToFile(*config, path)
}
