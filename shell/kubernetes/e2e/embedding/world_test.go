package embedding_test

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell/kubernetes"
	"github.com/haproxy-discovery/haproxy-discovery/shell/kubernetes/e2e/internal/testbed"
)

var sharedControlPlane *testbed.ControlPlane

func TestMain(m *testing.M) {
	os.Exit(testbed.RunTests(m, func(shared *testbed.ControlPlane) { sharedControlPlane = shared }))
}

const podSelector = testbed.LabelKey + "=" + testbed.LabelValue

// world is a namespace of the control plane, with its agents.
type world struct {
	dir         string
	namespace   string
	agents      *testbed.Agents
	kubelet     *testbed.Kubelet
	credentials core.Credentials
}

// newWorld has no pods yet. Close it when done.
func newWorld(ctx context.Context) (*world, error) {
	client, err := sharedControlPlane.Client()
	if err != nil {
		return nil, err
	}
	namespace, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "lb-"},
	}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	credentials, err := core.NewCredentials("admin", rand.Text())
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "embedding")
	if err != nil {
		return nil, err
	}
	agents, err := testbed.NewAgents(nil)
	if err != nil {
		return nil, err
	}
	agents.Accept(credentials.Username(), credentials.Password().Reveal())
	return &world{
		dir: dir, namespace: namespace.Name, agents: agents, credentials: credentials,
		kubelet: testbed.NewKubelet(client, namespace.Name, agents),
	}, nil
}

func (w *world) close() {
	w.agents.Close()
	_ = os.RemoveAll(w.dir)
}

// connect is how a program finds the cluster.
func (w *world) connect() (*kubernetes.Cluster, error) {
	kubeconfig := filepath.Join(w.dir, "kubeconfig")
	access := testbed.Access{Namespace: w.namespace}
	if err := sharedControlPlane.WriteKubeconfig(kubeconfig, access); err != nil {
		return nil, err
	}
	return kubernetes.Connect(kubernetes.Access{Kubeconfig: kubeconfig}, "embedding")
}

// terms are short, so that a test need not wait long.
func (w *world) terms(identity string) kubernetes.Election {
	return kubernetes.Election{
		Lease:    types.NamespacedName{Namespace: w.namespace, Name: "controller"},
		Identity: identity, LeaseDuration: 6 * time.Second,
		RenewDeadline: 5 * time.Second, RetryPeriod: 300 * time.Millisecond,
	}
}
