package e2e

import (
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/haproxy-discovery/haproxy-discovery/shell/kubernetes/e2e/internal/testbed"
)

// readPods is what a role needs to follow pods.
var readPods = rbacv1.PolicyRule{
	APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "list", "watch"},
}

// readTheSecret is what a role needs to follow the credentials.
var readTheSecret = rbacv1.PolicyRule{
	APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{secretName},
	Verbs: []string{"get", "list", "watch"},
}

// What is not permitted ends the program at the start, with a line that says what and to do what.
func TestForbiddenAtTheStart(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		permitted []rbacv1.PolicyRule
		want      []string
	}{
		"the Secret": {[]rbacv1.PolicyRule{readPods}, []string{"Secret", secretName}},
		"pods":       {[]rbacv1.PolicyRule{readTheSecret}, []string{"pods"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.permit("replica", test.permitted...)
			d := w.discoverAs(testbed.Access{Token: w.token("replica")}, "--log-level", "error")
			expectRefusal(t, d, append(test.want, "forbidden", "manifests", w.namespace)...)
		})
	}
}

// A permission that is taken away while the program runs ends nothing. It is told once, and missed
// only until it is granted again.
func TestForbiddenWhileRunning(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.permit("replica", readPods, readTheSecret)
	proxy := newProxy(t, w)
	pods := w.launchMany(3)
	d := w.discoverAs(
		testbed.Access{Server: proxy.Address(), Token: w.token("replica")}, ticking...)
	d.AwaitPods(pods...)

	mark := d.Mark()
	check(t, w.client.RbacV1().RoleBindings(w.namespace).
		Delete(w.ctx, "replica", metav1.DeleteOptions{}))
	w.awaitAccess("replica", false)
	proxy.Cut() // a watch that is open stays open
	check(t, proxy.Restore())
	d.AwaitLog("forbidden")
	later := w.launch(testbed.Wish{Name: "later"})
	expectSteady(t, d)
	w.bind("replica")
	d.AwaitPods(append(pods, later)...)
	expectTerminations(t, d, mark)
}

// permit makes a service account that may do this in the namespace, and nothing else.
func (w *world) permit(account string, rules ...rbacv1.PolicyRule) {
	w.t.Helper()
	_, err := w.client.CoreV1().ServiceAccounts(w.namespace).Create(w.ctx, &corev1.ServiceAccount{
		ObjectMeta: metav1.ObjectMeta{Name: account},
	}, metav1.CreateOptions{})
	check(w.t, err)
	_, err = w.client.RbacV1().Roles(w.namespace).Create(w.ctx, &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: account}, Rules: rules,
	}, metav1.CreateOptions{})
	check(w.t, err)
	w.bind(account)
}

func (w *world) bind(account string) {
	w.t.Helper()
	_, err := w.client.RbacV1().RoleBindings(w.namespace).Create(w.ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: account},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: account},
		Subjects: []rbacv1.Subject{
			{Kind: rbacv1.ServiceAccountKind, Namespace: w.namespace, Name: account},
		},
	}, metav1.CreateOptions{})
	check(w.t, err)
	w.awaitAccess(account, true)
}

// token is one of the service account's.
func (w *world) token(account string) string {
	w.t.Helper()
	request, err := w.client.CoreV1().ServiceAccounts(w.namespace).CreateToken(
		w.ctx, account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	check(w.t, err)
	return request.Status.Token
}

// as is a client of the service account.
func (w *world) as(account string) kubernetes.Interface {
	w.t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", w.kubeconfig(testbed.Access{
		Token: w.token(account),
	}))
	check(w.t, err)
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	check(w.t, err)
	return client
}

// awaitAccess waits until the API server has taken a change of permissions in.
func (w *world) awaitAccess(account string, granted bool) {
	w.t.Helper()
	client := w.as(account)
	testbed.Eventually(w.t, "a change of permissions", func() bool {
		some := w.may(client, "list", "", "pods", "") ||
			w.may(client, "get", "", "secrets", secretName)
		return some == granted
	})
}

// may asks the API server what it would say.
func (w *world) may(client kubernetes.Interface, verb, group, resource, name string) bool {
	w.t.Helper()
	review, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(w.ctx,
		&authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: w.namespace, Verb: verb, Group: group, Resource: resource, Name: name,
			},
		}}, metav1.CreateOptions{})
	check(w.t, err)
	return review.Status.Allowed
}
