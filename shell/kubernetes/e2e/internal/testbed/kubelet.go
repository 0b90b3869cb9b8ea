package testbed

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes"
	client "k8s.io/client-go/kubernetes/typed/core/v1"
)

// Label marks the pods that discovery looks for by default.
const (
	LabelKey   = "app.kubernetes.io/component"
	LabelValue = "loadbalancer"
)

// Kubelet plays the scheduler and all kubelets of one namespace. Safe for concurrent use, as long
// as each pod is in one goroutine's hands.
type Kubelet struct {
	Agents *Agents
	pods   client.PodInterface
}

// NewKubelet runs agents in the pods of a namespace.
func NewKubelet(client kubernetes.Interface, namespace string, agents *Agents) *Kubelet {
	return &Kubelet{Agents: agents, pods: client.CoreV1().Pods(namespace)}
}

// Pod is a running pod.
type Pod struct {
	Name, UID, IP string
	// Agent is the server in its agent container.
	Agent *Agent

	kubelet    *Kubelet
	containers []corev1.ContainerStatus
}

// Wish says what a pod is to be like.
type Wish struct {
	Name string
	// IP is the pod's address; empty for a new one.
	IP string
	// Answer is what its agent answers; nil for that of a HAProxy of some version.
	Answer     http.HandlerFunc
	Finalizers []string
}

// Launch creates a pod, binds it to a node, starts its agent and reports it as running.
func (k *Kubelet) Launch(ctx context.Context, wish Wish) (*Pod, error) {
	if wish.IP == "" {
		wish.IP = NewAddress()
	}
	if wish.Answer == nil {
		wish.Answer = Running("3.4.3")
	}
	created, err := k.pods.Create(ctx, newPod(wish), metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("creating pod %s: %w", wish.Name, err)
	}
	if err := k.pods.Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: wish.Name},
		Target:     corev1.ObjectReference{Kind: "Node", Name: "node-1"},
	}, metav1.CreateOptions{}); err != nil {
		return nil, fmt.Errorf("binding pod %s: %w", wish.Name, err)
	}
	agent, err := k.Agents.Start(wish.IP, wish.Answer)
	if err != nil {
		return nil, err
	}
	pod := &Pod{
		Name: wish.Name, UID: string(created.UID), IP: wish.IP, Agent: agent, kubelet: k,
		containers: []corev1.ContainerStatus{started("agent"), started("haproxy")},
	}
	return pod, pod.report(ctx)
}

func newPod(wish Wish) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: wish.Name, Labels: map[string]string{LabelKey: LabelValue},
			Finalizers: wish.Finalizers,
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{
			{Name: "agent", Image: "registry.test/agent:1"},
			{Name: "haproxy", Image: "registry.test/haproxy:1"},
		}},
	}
}

func started(container string) corev1.ContainerStatus {
	return corev1.ContainerStatus{
		Name:        container,
		Image:       "registry.test/" + container + ":1",
		ImageID:     "registry.test/" + container + "@sha256:1",
		ContainerID: "containerd://" + string(uuid.NewUUID()),
		State: corev1.ContainerState{
			Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()},
		},
	}
}

// report tells the API server the state of the pod.
func (p *Pod) report(ctx context.Context) error {
	return p.patch(ctx, map[string]any{"status": map[string]any{
		"phase": corev1.PodRunning, "podIP": p.IP, "podIPs": []corev1.PodIP{{IP: p.IP}},
		"containerStatuses": p.containers,
	}}, "status")
}

func (p *Pod) patch(ctx context.Context, change any, subresources ...string) error {
	body, err := json.Marshal(change)
	if err != nil {
		return err
	}
	_, err = p.kubelet.pods.Patch(
		ctx, p.Name, types.MergePatchType, body, metav1.PatchOptions{}, subresources...)
	if err != nil {
		return fmt.Errorf("changing pod %s: %w", p.Name, err)
	}
	return nil
}

// RestartContainer reports that the HAProxy container was started anew.
func (p *Pod) RestartContainer(ctx context.Context) error {
	p.containers[1] = started("haproxy")
	return p.report(ctx)
}

// Heartbeat reports what discovery does not care for: a readiness that comes and goes.
func (p *Pod) Heartbeat(ctx context.Context, ready bool) error {
	for i := range p.containers {
		p.containers[i].Ready = ready
	}
	return p.report(ctx)
}

// Delete asks the API server to delete the pod, as kubectl delete does. With a grace period the pod
// goes on until Remove; without, it is gone at once, unless a finalizer holds it.
func (p *Pod) Delete(ctx context.Context, grace time.Duration) error {
	options := metav1.NewDeleteOptions(int64(grace.Seconds()))
	uid := types.UID(p.UID)
	options.Preconditions = &metav1.Preconditions{UID: &uid}
	if err := p.kubelet.pods.Delete(ctx, p.Name, *options); err != nil {
		return fmt.Errorf("deleting pod %s: %w", p.Name, err)
	}
	return nil
}

// Remove does what a kubelet does once a grace period is over: the containers are stopped, then the
// pod is deleted for good.
func (p *Pod) Remove(ctx context.Context) error {
	if err := p.Agent.Stop(); err != nil {
		return err
	}
	return p.Delete(ctx, 0)
}

// RemoveFinalizers lets a deleted pod go.
func (p *Pod) RemoveFinalizers(ctx context.Context) error {
	return p.patch(ctx, map[string]any{"metadata": map[string]any{"finalizers": nil}})
}
