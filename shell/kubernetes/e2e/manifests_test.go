package e2e

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/haproxy-discovery/haproxy-discovery/shell/kubernetes/e2e/internal/testbed"
)

// account is the service account of the manifests.
const account = "haproxy-discovery"

// The objects that the program prints are created as they are, with nothing that the API server
// does not know. What they permit suffices to run it in a container with the arguments that they
// give, leading included.
func TestManifests(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	deployment := w.createManifests()
	w.awaitAccess(account, true)
	pods := w.launchMany(3)
	arguments := append(deployment.Spec.Template.Spec.Containers[0].Args,
		"--listen", testbed.NewAddress()+":8080", "-o", "json", "--agent-port", w.agentPort())
	d := testbed.StartDiscoveryIn(t, w.container(w.token(account)), w.secrets, arguments...)
	d.AwaitPods(pods...)
	testbed.Eventually(t, "a Lease with a holder", func() bool { return w.leaseHolder() != "" })

	mark := d.Mark()
	password := w.newPassword()
	w.agents.Accept("admin", password)
	w.updateSecret(map[string]string{
		"dataplane_username": "admin", "dataplane_password": password,
	})
	d.Await(mark, "new credentials", func(event testbed.Event) bool {
		return event.CredentialsChanged
	})
	check(t, pods[0].Remove(w.ctx))
	d.AwaitPods(pods[1:]...)
	d.Interrupt()
	if status := d.AwaitExit(); status != 0 {
		t.Errorf("exit status %d, want 0", status)
	}
	if holder := w.leaseHolder(); holder != "" {
		t.Errorf("the lease is still held by %q", holder)
	}
}

// What they permit is no more than what the program does.
func TestManifestsPermitNoMore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.createManifests()
	w.awaitAccess(account, true)
	client := w.as(account)
	permitted := []string{
		"get pods", "list pods", "watch pods",
		"get secrets " + secretName, "list secrets " + secretName, "watch secrets " + secretName,
		"create leases", "get leases " + leaseName, "update leases " + leaseName,
	}
	for _, verb := range []string{
		"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection",
	} {
		for _, object := range []struct{ group, resource, name string }{
			{"", "pods", ""}, {"", "pods/exec", ""}, {"", "pods/status", ""},
			{"", "secrets", ""}, {"", "secrets", secretName}, {"", "secrets", "another"},
			{"", "configmaps", ""}, {"", "serviceaccounts/token", account},
			{"coordination.k8s.io", "leases", ""}, {"coordination.k8s.io", "leases", leaseName},
			{"coordination.k8s.io", "leases", "another"},
			{"rbac.authorization.k8s.io", "roles", ""}, {"apps", "deployments", ""},
		} {
			request := verb + " " + object.resource
			want := slices.Contains(permitted, request) ||
				slices.Contains(permitted, request+" "+object.name)
			if may := w.may(client, verb, object.group, object.resource, object.name); may != want {
				t.Errorf("%s %q: permitted %v, want %v", request, object.name, may, want)
			}
		}
	}
	other := newWorld(t)
	_, err := client.CoreV1().Pods(other.namespace).List(w.ctx, metav1.ListOptions{})
	expectForbidden(t, "pods of another namespace", err)
	_, err = client.CoreV1().Secrets(w.namespace).List(w.ctx, metav1.ListOptions{})
	expectForbidden(t, "all Secrets", err)
	pod := w.launch(testbed.Wish{Name: "haproxy-0"})
	err = client.CoreV1().Pods(w.namespace).Delete(w.ctx, pod.Name, metav1.DeleteOptions{})
	expectForbidden(t, "deletion of a pod", err)
}

// The pods of the Deployment are admitted where only harmless pods are.
func TestManifestsMeetRestrictedPodSecurity(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	template := w.createManifests().Spec.Template
	namespace, err := w.client.CoreV1().Namespaces().Create(w.ctx, &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName: "restricted-",
			Labels:       map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
		},
	}, metav1.CreateOptions{})
	check(t, err)
	pods := w.client.CoreV1().Pods(namespace.Name)
	_, err = pods.Create(w.ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "as-printed"}, Spec: template.Spec,
	}, metav1.CreateOptions{})
	check(t, err)
	template.Spec.SecurityContext, template.Spec.Containers[0].SecurityContext = nil, nil
	_, err = pods.Create(w.ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "lax"}, Spec: template.Spec,
	}, metav1.CreateOptions{})
	expectForbidden(t, "a pod without security contexts", err)
}

func expectForbidden(t *testing.T, what string, err error) {
	t.Helper()
	if !apierrors.IsForbidden(err) {
		t.Errorf("%s: %v, want forbidden", what, err)
	}
}

// createManifests creates what the program prints, and gives the Deployment as the server has it.
func (w *world) createManifests() *appsv1.Deployment {
	w.t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", w.kubeconfig(testbed.Access{}))
	check(w.t, err)
	client, err := dynamic.NewForConfig(config)
	check(w.t, err)
	groups, err := restmapper.GetAPIGroupResources(w.client.Discovery())
	check(w.t, err)
	mapper := restmapper.NewDiscoveryRESTMapper(groups)
	for _, object := range w.printManifests() {
		kind := object.GroupVersionKind()
		mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
		check(w.t, err)
		_, err = client.Resource(mapping.Resource).Namespace(object.GetNamespace()).Create(
			w.ctx, object, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
		check(w.t, err)
	}
	deployment, err := w.client.AppsV1().Deployments(w.namespace).
		Get(w.ctx, account, metav1.GetOptions{})
	check(w.t, err)
	return deployment
}

func (w *world) printManifests() []*unstructured.Unstructured {
	w.t.Helper()
	printed, err := testbed.RunDiscovery(w.ctx,
		"manifests", "-n", w.namespace, "--image", "registry.test/haproxy-discovery:1")
	check(w.t, err)
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(printed), 4096)
	var objects []*unstructured.Unstructured
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return objects
		}
		check(w.t, err)
		objects = append(objects, object)
	}
}
