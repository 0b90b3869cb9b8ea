package e2e

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/haproxy-discovery/haproxy-discovery/shell/kubernetes/e2e/internal/testbed"
)

// sharedControlPlane serves all tests that leave it alive, each in a namespace of its own.
var sharedControlPlane *testbed.ControlPlane

func TestMain(m *testing.M) {
	os.Exit(testbed.RunTests(m, func(shared *testbed.ControlPlane) { sharedControlPlane = shared }))
}

// secretName is that of the Secret that discovery reads by default.
const secretName = "haproxy-credentials"

// world is a namespace of a control plane: its Secret, its pods and their agents.
type world struct {
	t            *testing.T
	ctx          context.Context
	controlPlane *testbed.ControlPlane
	client       kubernetes.Interface
	namespace    string
	agents       *testbed.Agents
	kubelet      *testbed.Kubelet

	mu        sync.Mutex
	passwords []string
}

// newWorld is a world on the shared control plane, with credentials in the Secret and no pods.
func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldOn(t, sharedControlPlane, nil)
}

// newWorldOn is a world whose agents serve https if there is a TLS configuration.
func newWorldOn(t *testing.T, controlPlane *testbed.ControlPlane, config *tls.Config) *world {
	t.Helper()
	client, err := controlPlane.Client()
	check(t, err)
	agents, err := testbed.NewAgents(config)
	check(t, err)
	t.Cleanup(agents.Close)
	w := &world{
		t: t, ctx: t.Context(), controlPlane: controlPlane, client: client, agents: agents,
	}
	namespace, err := client.CoreV1().Namespaces().Create(w.ctx, &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "lb-"},
	}, metav1.CreateOptions{})
	check(t, err)
	w.namespace = namespace.Name
	w.kubelet = testbed.NewKubelet(client, w.namespace, agents)
	w.createSecret()
	return w
}

// newPassword makes one that no output of any run may hold.
func (w *world) newPassword() string {
	password := rand.Text()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.passwords = append(w.passwords, password)
	return password
}

func (w *world) secrets() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.passwords)
}

// createSecret makes the Secret, and the agents accept what it holds.
func (w *world) createSecret() {
	w.t.Helper()
	password := w.newPassword()
	w.agents.Accept("admin", password)
	_, err := w.client.CoreV1().Secrets(w.namespace).Create(w.ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: secretName},
		StringData: map[string]string{
			"dataplane_username": "admin", "dataplane_password": password,
		},
	}, metav1.CreateOptions{})
	check(w.t, err)
}

// kubeconfig writes one for this namespace and gives its path.
func (w *world) kubeconfig(access testbed.Access) string {
	w.t.Helper()
	access.Namespace = w.namespace
	path := filepath.Join(w.t.TempDir(), "kubeconfig")
	check(w.t, w.controlPlane.WriteKubeconfig(path, access))
	return path
}

// discover starts the program as an administrator of the namespace.
func (w *world) discover(arguments ...string) *testbed.Discovery {
	w.t.Helper()
	return w.discoverAs(testbed.Access{}, arguments...)
}

// discoverAs starts the program with the access given.
func (w *world) discoverAs(access testbed.Access, arguments ...string) *testbed.Discovery {
	w.t.Helper()
	return testbed.StartDiscovery(w.t, w.secrets, append([]string{
		"run", "--kubeconfig", w.kubeconfig(access), "-o", "json", "--log-level", "debug",
		"--agent-port", w.agentPort(),
	}, arguments...)...)
}

func (w *world) agentPort() string { return strconv.Itoa(w.agents.Port()) }

// launch starts a pod.
func (w *world) launch(wish testbed.Wish) *testbed.Pod {
	w.t.Helper()
	pod, err := w.kubelet.Launch(w.ctx, wish)
	check(w.t, err)
	return pod
}

// launchMany starts n pods, some at a time.
func (w *world) launchMany(n int) []*testbed.Pod {
	w.t.Helper()
	pods := make([]*testbed.Pod, n)
	w.each(n, func(i int) (err error) {
		pods[i], err = w.kubelet.Launch(w.ctx, testbed.Wish{Name: fmt.Sprintf("haproxy-%d", i)})
		return err
	})
	return pods
}

// each does something n times, some at a time.
func (w *world) each(n int, do func(i int) error) {
	w.t.Helper()
	var group errgroup.Group
	group.SetLimit(8)
	for i := range n {
		group.Go(func() error { return do(i) })
	}
	check(w.t, group.Wait())
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// persist tries until it succeeds: an API server may be gone for a while.
func persist(ctx context.Context, try func() error) error {
	deadline := time.Now().Add(testbed.Patience)
	for {
		err := try()
		if err == nil || ctx.Err() != nil || time.Now().After(deadline) {
			return errors.Join(err, ctx.Err())
		}
		time.Sleep(20 * time.Millisecond)
	}
}
