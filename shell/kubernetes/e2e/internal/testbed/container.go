package testbed

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"

	"k8s.io/client-go/rest"
)

// Container is what a kubelet puts around the program: the files of its service account, the
// variables that tell where the API server is, a user who is not root, a root file system that
// cannot be written to, and nothing else of this machine but its network.
type Container struct {
	serviceAccount string
	environment    []string
}

// NewContainer is for a pod in the namespace, with the service account's files in the directory.
// They lack a token until there is one: see SetToken. The control plane has been started before.
func (c *ControlPlane) NewContainer(directory, namespace string) (*Container, error) {
	config, err := c.config()
	if err != nil {
		return nil, err
	}
	if err := rest.LoadTLSFiles(config); err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(c.address)
	if err != nil {
		return nil, err
	}
	container := &Container{serviceAccount: directory, environment: []string{
		"PATH=" + os.Getenv("PATH"),
		"KUBERNETES_SERVICE_HOST=" + host, "KUBERNETES_SERVICE_PORT=" + port,
	}}
	for name, content := range map[string][]byte{
		"ca.crt": config.CAData, "namespace": []byte(namespace),
	} {
		if err := container.write(name, content); err != nil {
			return nil, err
		}
	}
	return container, nil
}

// SetToken replaces the token, as a kubelet does long before the old one expires.
func (c *Container) SetToken(token string) error { return c.write("token", []byte(token)) }

// write never leaves a file half written.
func (c *Container) write(name string, content []byte) error {
	path := filepath.Join(c.serviceAccount, name)
	if err := os.WriteFile(path+".new", content, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// enter is run by a shell that may mount. The program takes its place, so that it gets the signals,
// and loses the user's powers. It dies with the tests, which has to be asked for once more: who
// changes user is forgotten.
const enter = `
set -e
mount -t tmpfs tmpfs /run
mkdir -p /run/secrets/kubernetes.io/serviceaccount
mount --bind "$1" /run/secrets/kubernetes.io/serviceaccount
mount -o remount,bind,ro /run
mount -o remount,bind,ro /
shift
exec unshare --user --map-user=65532 --map-group=65532 setpriv --pdeathsig KILL "$@"
`

func (c *Container) command(program string, arguments ...string) *exec.Cmd {
	process := exec.Command("unshare", append([]string{
		"--user", "--map-root-user", "--mount", "sh", "-c", enter, "sh", c.serviceAccount, program,
	}, arguments...)...)
	process.Env = c.environment
	return process
}
