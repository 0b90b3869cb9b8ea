package manifests

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

var options = Options{
	Namespace: "lb", Image: "registry.example/discovery:1", CredentialsSecret: "haproxy-credentials",
	Args: []string{"run", "--selector=app in (a, b)", `--record=C:\"x": #1`, "{{ .Image }}"},
}

// Each object has no field that its type lacks, and the values are the ones given, whatever they hold.
func TestDeployment(t *testing.T) {
	text, err := Deployment(options)
	if err != nil {
		t.Fatal(err)
	}
	var account corev1.ServiceAccount
	var role rbacv1.Role
	var binding rbacv1.RoleBinding
	var deployment appsv1.Deployment
	var service corev1.Service
	objects := []any{&account, &role, &binding, &deployment, &service}
	documents := strings.Split(text, "\n---\n")
	if len(documents) != len(objects) {
		t.Fatalf("%d documents", len(documents))
	}
	for i, document := range documents {
		if err := yaml.UnmarshalStrict([]byte(document), objects[i]); err != nil {
			t.Errorf("%T: %v", objects[i], err)
		}
	}
	for _, namespace := range []string{
		account.Namespace, role.Namespace, binding.Namespace, deployment.Namespace, service.Namespace,
		binding.Subjects[0].Namespace,
	} {
		if namespace != "lb" {
			t.Errorf("namespace %q", namespace)
		}
	}
	if binding.Subjects[0].Name != account.Name || binding.RoleRef.Name != role.Name ||
		deployment.Spec.Template.Spec.ServiceAccountName != account.Name {
		t.Error("account, role and deployment do not belong together")
	}
	container := deployment.Spec.Template.Spec.Containers[0]
	if diff := cmp.Diff(options.Args, container.Args); diff != "" || container.Image != options.Image {
		t.Errorf("image %q, arguments:\n%s", container.Image, diff)
	}
	if !cmp.Equal(service.Spec.Selector, deployment.Spec.Template.Labels) ||
		!cmp.Equal(deployment.Spec.Selector.MatchLabels, deployment.Spec.Template.Labels) {
		t.Error("the selectors do not select the pods")
	}
}

// The Role is what discovery asks for, no more: only this Secret, only this Lease.
func TestRoleIsNoWiderThanNeeded(t *testing.T) {
	text, err := Deployment(options)
	if err != nil {
		t.Fatal(err)
	}
	var role rbacv1.Role
	if err := yaml.Unmarshal([]byte(strings.Split(text, "\n---\n")[1]), &role); err != nil {
		t.Fatal(err)
	}
	want := []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "list", "watch"}},
		{
			APIGroups: []string{""}, Resources: []string{"secrets"},
			ResourceNames: []string{"haproxy-credentials"}, Verbs: []string{"get", "list", "watch"},
		},
		{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"create"}},
		{
			APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"},
			ResourceNames: []string{"haproxy-discovery"}, Verbs: []string{"get", "update"},
		},
	}
	if diff := cmp.Diff(want, role.Rules); diff != "" {
		t.Error(diff)
	}
}

// Both forms hold the same rules; each has what an alert needs, and asks only for our metrics.
func TestAlertRules(t *testing.T) {
	type rules struct {
		Groups []struct {
			Name  string `json:"name"`
			Rules []struct {
				Alert       string            `json:"alert"`
				Expr        string            `json:"expr"`
				For         string            `json:"for"`
				Labels      map[string]string `json:"labels"`
				Annotations map[string]string `json:"annotations"`
			} `json:"rules"`
		} `json:"groups"`
	}
	var file rules
	if err := yaml.UnmarshalStrict([]byte(AlertRules("lb")), &file); err != nil {
		t.Fatal(err)
	}
	var object struct {
		APIVersion string         `json:"apiVersion"`
		Kind       string         `json:"kind"`
		Metadata   map[string]any `json:"metadata"`
		Spec       rules          `json:"spec"`
	}
	if err := yaml.UnmarshalStrict([]byte(PrometheusRule("lb")), &object); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(file, object.Spec); diff != "" || object.Metadata["namespace"] != "lb" {
		t.Errorf("namespace %v, rules:\n%s", object.Metadata["namespace"], diff)
	}
	for _, rule := range file.Groups[0].Rules {
		if rule.For == "" || rule.Labels["severity"] == "" || rule.Annotations["summary"] == "" ||
			rule.Annotations["description"] == "" {
			t.Errorf("rule %+v", rule)
		}
	}
}
