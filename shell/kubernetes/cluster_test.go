package kubernetes

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
)

// kubeconfig writes one with a context; the namespace may be empty.
func kubeconfig(t *testing.T, context, namespace string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), context)
	content := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":%[1]q,
		"clusters":[{"name":%[1]q,"cluster":{"server":"https://admin:s3cret@%[1]s.example:6443/path"}}],
		"users":[{"name":"u","user":{"token":"s3cret-token"}}],
		"contexts":[{"name":%[1]q,"context":{"cluster":%[1]q,"user":"u","namespace":%[2]q}}]}`, context, namespace)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The cluster, context and namespace are found in the order that kubectl looks for them.
func TestConnectFindsTheClusterAsKubectlDoes(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	home := clientcmd.RecommendedHomeFile
	clientcmd.RecommendedHomeFile = "/nowhere/home"
	t.Cleanup(func() { clientcmd.RecommendedHomeFile = home })
	one, two := kubeconfig(t, "one", "lb"), kubeconfig(t, "two", "")
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	list := one + string(filepath.ListSeparator) + two
	for _, test := range []struct {
		name, environment string
		access            Access
		want              string // server and namespace, or a part of the error
	}{
		{"explicit", "", Access{Kubeconfig: one}, "https://one.example:6443 lb"},
		{"explicit before the environment", one, Access{Kubeconfig: two}, "https://two.example:6443 default"},
		{"environment", two, Access{}, "https://two.example:6443 default"},
		{"several files", list, Access{}, "https://one.example:6443 lb"},
		{"context", list, Access{Context: "two"}, "https://two.example:6443 default"},
		{"namespace", one, Access{Namespace: "edge"}, "https://one.example:6443 edge"},
		{"no such context with an @", list, Access{Context: "admin@three"}, `context "admin@three" does not exist`},
		{"no such context", list, Access{Context: "three"}, `kubeconfig: context "three" does not exist`},
		{"no such file", "", Access{Kubeconfig: "/nowhere/config"}, "/nowhere/config"},
		{"broken file", broken, Access{}, broken},
		{"bad namespace", one, Access{Namespace: "a b"}, `namespace "a b"`},
		{"nothing", "", Access{}, ErrNoCluster.Error()},
		{"nothing where it should be", "/nowhere/config", Access{}, `KUBECONFIG is "/nowhere/config", but no cluster`},
		{"empty file", "", Access{Kubeconfig: os.DevNull}, os.DevNull},
	} {
		t.Setenv("KUBECONFIG", test.environment)
		cluster, err := Connect(test.access, "test")
		got := fmt.Sprint(err)
		if err == nil {
			got = cluster.Server + " " + cluster.Namespace
			cluster.Close()
		}
		if !strings.Contains(got, test.want) || strings.Contains(got, "s3cret") {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
	t.Setenv("KUBECONFIG", "")
	if _, err := Connect(Access{}, "test"); !errors.Is(err, ErrNoCluster) {
		t.Errorf("nothing: %v", err)
	}
}

// A kubeconfig that is not complete is told what it lacks; nobody becomes anonymous unawares.
func TestIncompleteKubeconfigs(t *testing.T) {
	certificate := filepath.Join(t.TempDir(), "certificate")
	if err := os.WriteFile(certificate, []byte("no PEM"), 0o600); err != nil {
		t.Fatal(err)
	}
	pair := fmt.Sprintf(`"client-certificate":%[1]q,"client-key":%[1]q`, certificate)
	for want, config := range map[string]string{
		"there is no current context; choose one of a, b": `"clusters":[{"name":"c","cluster":{"server":"https://h"}}],
			"contexts":[{"name":"b","context":{"cluster":"c"}},{"name":"a","context":{"cluster":"c"}}]`,
		`context "a" names the cluster "d", which does not exist`: `"current-context":"a",
			"clusters":[{"name":"c","cluster":{"server":"https://h"}}],
			"contexts":[{"name":"a","context":{"cluster":"d"}}]`,
		`context "a" names the user "u", which does not exist`: `"current-context":"a",
			"clusters":[{"name":"c","cluster":{"server":"https://h"}}],
			"contexts":[{"name":"a","context":{"cluster":"c","user":"u"}}]`,
		"are no PEM certificate": `"current-context":"a",
			"clusters":[{"name":"c","cluster":{"server":"https://h"}}],"users":[{"name":"u","user":{` + pair + `}}],
			"contexts":[{"name":"a","context":{"cluster":"c","user":"u"}}]`,
	} {
		path := filepath.Join(t.TempDir(), "config")
		content := `{"apiVersion":"v1","kind":"Config",` + config + "}"
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Connect(Access{Kubeconfig: path}, "test")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A user and password in a URL that makes no sense are not repeated.
func TestConfigErrorsHoldNoPassword(t *testing.T) {
	for name, cluster := range map[string]string{
		"server with a space":   `"server":"https://admin:s3cret@ho st:6443"`,
		"server with an escape": `"server":"https://admin:s3c/ret%zz@host"`,
		"proxy with a bad port": `"server":"https://host","proxy-url":"http://user:s3cret@proxy:bad"`,
		"proxy without scheme":  `"server":"https://host","proxy-url":"user:s3cret@proxy:80"`,
		"proxy with a quote":    `"server":"https://host","proxy-url":"http://user:s3c\"ret%zz@proxy:80"`,
		"proxy with a slash":    `"server":"https://host","proxy-url":"http://user:s3c/ret%zz@proxy:80"`,
		"server with one slash": `"server":"https:/admin:s3cret@h:1"`,
		"server with a quote":   `"server":"https://admin:s3c\"ret@ho st:6443"`,
	} {
		path := filepath.Join(t.TempDir(), "config")
		content := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"c",
			"clusters":[{"name":"c","cluster":{%s}}],"users":[{"name":"u","user":{}}],
			"contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}]}`, cluster)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Connect(Access{Kubeconfig: path}, "test")
		if err == nil || strings.Contains(err.Error(), "s3c") || !strings.Contains(err.Error(), "kubeconfig") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
