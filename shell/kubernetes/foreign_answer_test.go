package kubernetes

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// secretBody is what no text may repeat, not even in part.
const secretBody = `"data":{"dataplane_password":"WnE5aHVudGVyMlh5UHc="}`

// answering is a cluster whose server answers everything alike.
func answering(t *testing.T, status int, contentType, body string) *Cluster {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = fmt.Fprint(w, body)
	}))
	t.Cleanup(server.Close)
	cluster, err := NewCluster(&rest.Config{Host: server.URL, Transport: &http.Transport{}}, "lb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	return cluster
}

// An answer that is not what was asked for is a failure, whatever it says of itself, and its text
// repeats nothing of it: client-go alone would quote it, or take it for an empty list.
func TestForeignAnswersAreFailures(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status      int
		contentType string
		body        string
		want        string
	}{
		"no kind":        {200, "application/json", "{" + secretBody + "}", "no object of the API"},
		"no JSON":        {200, "text/html", "<html>" + secretBody, "no object of the API"},
		"text and 500":   {500, "text/plain", secretBody, "none of the API, status 500"},
		"a failure":      {200, "application/json", `{"kind":"Status","apiVersion":"v1","status":"Failure"}`, `"Status"`},
		"another object": {200, "application/json", `{"kind":"APIVersions","versions":["v1"]}`, `"APIVersions"`},
		"a single one":   {200, "application/json", `{"kind":"Pod","apiVersion":"v1",` + secretBody + `}`, `"Pod"`},
		"no version":     {200, "application/json", `{"kind":"PodList","apiVersion":"v1","items":[]}`, `"PodList"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := answering(t, test.status, test.contentType, test.body)
			for _, check := range []func(context.Context) error{
				NewPods(cluster, "", nil).Check,
				func(ctx context.Context) error {
					_, err := NewCredentialsSecret(cluster, types.NamespacedName{Namespace: "lb", Name: "hap"}, nil).Read(ctx)
					return err
				},
			} {
				err := check(t.Context())
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%v, want %s", err, test.want)
				}
				if text := fmt.Sprint(err); strings.Contains(text, "WnE5") || len(text) > 1000 {
					t.Errorf("the answer is repeated: %s", text)
				}
			}
		})
	}
}

// A watch that tells of something else has failed, too.
func TestForeignEventsAreFailures(t *testing.T) {
	t.Parallel()
	s := newAPIServer(t)
	s.pod("haproxy-0", "u0")
	f := followPods(t, s)
	f.expect(t, "[lb/haproxy-0]", "synced")
	s.set(collectionOf+"pods/node-1", map[string]any{
		"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": "node-1", "uid": "n1"},
	})
	await(t, "the failure", s.log, func() bool {
		return strings.Contains(f.View().LastError, `of kind "Node" instead of a Pod`)
	})
	if got := f.uids(t); got != "u0" {
		t.Errorf("the store holds %q", got)
	}
}
