package kubernetes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// patience bounds every wait for a condition.
const patience = 20 * time.Second

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// apiServer is an HTTP server that speaks as much of the Kubernetes API as is needed to see how its
// clients take failures: list, watch with initial events, get, create and update, by path. What the
// API means is tested against a real one elsewhere.
type apiServer struct {
	*httptest.Server
	cluster *Cluster
	log     *logged

	mu      sync.Mutex
	version int
	objects map[string]map[string]any // by path
	events  []event
	changed chan struct{} // closed at each change
	answers map[string]int
	cut     chan struct{} // closed to end all watches
	hang    bool
	// swallows counts events that no watch is told of, from the next one on.
	swallows int
	// audits, if set, is called for each list of metadata before it is answered.
	audits func(r *http.Request)
	// page is the most that a list of metadata holds; lists counts those lists, a page each.
	page, lists int
	// watched, if set, answers watches in place of the server once their headers are out; it returns
	// false to leave one to the server.
	watched func(r *http.Request, send func(any)) bool
}

type event struct {
	Type    string         `json:"type"`
	Object  map[string]any `json:"object"`
	path    string
	version int
}

const collectionOf = "/api/v1/namespaces/lb/"

func newAPIServer(t *testing.T) *apiServer {
	s := &apiServer{
		log: &logged{}, version: 1,
		objects: map[string]map[string]any{}, answers: map[string]int{},
		changed: make(chan struct{}), cut: make(chan struct{}),
	}
	s.Server = httptest.NewServer(s)
	s.connect(t)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func (s *apiServer) connect(t *testing.T) {
	t.Helper()
	cluster, err := NewCluster(&rest.Config{
		Host: s.URL, BearerToken: "token-1", QPS: -1,
		ContentConfig: rest.ContentConfig{ContentType: "application/json"},
		// A transport of its own, so that it can be closed without the others.
		Transport: &http.Transport{},
	}, "lb")
	if err != nil {
		t.Fatal(err)
	}
	s.cluster = cluster
	t.Cleanup(cluster.Close)
}

// restart comes back at the same address, with everything that was there.
func (s *apiServer) restart(t *testing.T) {
	t.Helper()
	listener, err := net.Listen("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: s}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
}

// answer makes requests with this verb (list, watch, get, create, update) fail with a status; 0
// ends that.
func (s *apiServer) answer(verb string, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[verb] = status
}

// cutWatches ends all watches; the next ones may go on.
func (s *apiServer) cutWatches() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.cut)
	s.cut = make(chan struct{})
}

// forget makes the server unable to go on from what it has told before.
func (s *apiServer) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version += 100
	s.events = nil
}

func (s *apiServer) hanging(hang bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hang = hang
}

// watches has each watch answered by the function, see watched.
func (s *apiServer) watches(by func(r *http.Request, send func(any)) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watched = by
}

func (s *apiServer) set(path string, object map[string]any) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	kind := "MODIFIED"
	if s.objects[path] == nil {
		kind = "ADDED"
	}
	s.record(kind, path, object)
	s.objects[path] = object
	return object
}

func (s *apiServer) remove(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	object := maps.Clone(s.objects[path])
	delete(s.objects, path)
	s.record("DELETED", path, object)
}

func (s *apiServer) record(kind, path string, object map[string]any) {
	s.version++
	metadata := maps.Clone(object["metadata"].(map[string]any))
	metadata["resourceVersion"] = strconv.Itoa(s.version)
	object["metadata"] = metadata
	if s.swallows > 0 {
		s.swallows--
	} else {
		s.events = append(s.events, event{kind, object, path, s.version})
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

// ServeHTTP implements http.Handler.
func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	collection := strings.HasSuffix(r.URL.Path, "s") && !strings.Contains(r.URL.Path, "s/haproxy-")
	verb := map[string]string{"GET": "get", "POST": "create", "PUT": "update"}[r.Method]
	switch {
	case query.Get("watch") == "true":
		verb = "watch"
	case collection && verb == "get":
		verb = "list"
	}
	if verb == "list" && strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadataList") {
		verb = "audit"
	}
	s.mu.Lock()
	status, hang, object := s.answers[verb], s.hang, s.objects[r.URL.Path]
	if query.Get("sendInitialEvents") == "true" && s.answers["stream"] != 0 {
		status = s.answers["stream"]
	}
	s.mu.Unlock()
	if hang {
		// Until the body is read, the server does not look whether the client is still there.
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
		return
	}
	w.Header().Set("Content-Type", "application/json")
	switch {
	case status != 0:
		fail(w, status)
	case verb == "watch":
		s.watch(w, r)
	case verb == "audit":
		s.listMetadata(w, r)
	case verb == "list":
		s.list(w, r)
	case verb == "get" && object == nil:
		fail(w, http.StatusNotFound)
	case verb == "get":
		_ = json.NewEncoder(w).Encode(object)
	default:
		s.write(w, r)
	}
}

func fail(w http.ResponseWriter, code int) {
	reasons := map[int]metav1.StatusReason{
		http.StatusForbidden: metav1.StatusReasonForbidden, http.StatusNotFound: metav1.StatusReasonNotFound,
		http.StatusUnprocessableEntity: metav1.StatusReasonInvalid,
	}
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(failure(code, reasons[code], fmt.Sprintf("answer %d", code)))
}

func failure(code int, reason metav1.StatusReason, message string) metav1.Status {
	return metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure",
		Reason: reason, Code: int32(code), Message: message,
	}
}

// errorEvent is what ends a watch with a failure.
func errorEvent(status metav1.Status) any {
	return map[string]any{"type": "ERROR", "object": status}
}

// tooOld is the failure of a watch from a version that the server has forgotten.
var tooOld = errorEvent(failure(http.StatusGone, metav1.StatusReasonExpired, "too old"))

func (s *apiServer) list(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	prefix := r.URL.Path + "/"
	if from, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion")); from > s.version {
		s.behind(w)
		return
	}
	items := []map[string]any{}
	for _, path := range slices.Sorted(maps.Keys(s.objects)) {
		if strings.HasPrefix(path, prefix) {
			items = append(items, s.objects[path])
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"apiVersion": "v1", "kind": "List", "items": items,
		"metadata": map[string]any{"resourceVersion": strconv.Itoa(s.version)},
	})
}

// listMetadata gives the metadata of all objects, in pages, and only of the present state.
func (s *apiServer) listMetadata(w http.ResponseWriter, r *http.Request) {
	if s.audits != nil {
		s.audits(r)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists++
	query := r.URL.Query()
	if query.Get("labelSelector") == "" || query.Get("resourceVersion") != "" || query.Get("limit") != "500" {
		fail(w, http.StatusBadRequest)
		return
	}
	items, more := []map[string]any{}, ""
	for _, path := range slices.Sorted(maps.Keys(s.objects)) {
		if !strings.HasPrefix(path, r.URL.Path+"/") || path <= query.Get("continue") {
			continue
		}
		if s.page > 0 && len(items) == s.page {
			more = items[len(items)-1]["path"].(string)
			break
		}
		items = append(items, map[string]any{
			"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata",
			"metadata": s.objects[path]["metadata"], "path": path,
		})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadataList", "items": items,
		"metadata": map[string]any{"resourceVersion": strconv.Itoa(s.version), "continue": more},
	})
}

func (s *apiServer) watch(w http.ResponseWriter, r *http.Request) {
	from, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	prefix := r.URL.Path + "/"
	w.WriteHeader(http.StatusOK)
	send := func(e any) {
		_ = json.NewEncoder(w).Encode(e)
		w.(http.Flusher).Flush()
	}
	s.mu.Lock()
	watched := s.watched
	s.mu.Unlock()
	w.(http.Flusher).Flush()
	if watched != nil && watched(r, send) {
		return
	}
	s.mu.Lock()
	cut, version := s.cut, s.version
	forgotten := from != 0 && len(s.events) == 0 && from < version
	if r.URL.Query().Get("sendInitialEvents") == "true" {
		for _, path := range slices.Sorted(maps.Keys(s.objects)) {
			if strings.HasPrefix(path, prefix) {
				send(event{Type: "ADDED", Object: s.objects[path]})
			}
		}
		send(bookmark(prefix, s.version))
		from, forgotten = version, false
	}
	s.mu.Unlock()
	if forgotten {
		send(tooOld)
		return
	}
	w.(http.Flusher).Flush()
	for {
		s.mu.Lock()
		changed := s.changed
		for _, e := range s.events {
			if e.version > from && strings.HasPrefix(e.path, prefix) {
				send(e)
			}
		}
		from = s.version
		s.mu.Unlock()
		select {
		case <-changed:
		case <-cut:
			return
		case <-r.Context().Done():
			return
		}
	}
}

// behind refuses a version that the server has not reached.
func (s *apiServer) behind(w http.ResponseWriter) {
	status := failure(http.StatusGatewayTimeout, metav1.StatusReasonTimeout, "too large resource version")
	status.Details = &metav1.StatusDetails{
		Causes: []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}},
	}
	w.WriteHeader(http.StatusGatewayTimeout)
	_ = json.NewEncoder(w).Encode(status)
}

func bookmark(prefix string, version int) event {
	kind := "Pod"
	if strings.HasSuffix(prefix, "/secrets/") {
		kind = "Secret"
	}
	return event{Type: "BOOKMARK", Object: map[string]any{
		"apiVersion": "v1", "kind": kind, "metadata": map[string]any{
			"resourceVersion": strconv.Itoa(version),
			"annotations":     map[string]any{metav1.InitialEventsAnnotationKey: "true"},
		},
	}}
}

func (s *apiServer) write(w http.ResponseWriter, r *http.Request) {
	var object map[string]any
	if err := json.NewDecoder(r.Body).Decode(&object); err != nil {
		fail(w, http.StatusBadRequest)
		return
	}
	path := r.URL.Path
	if r.Method == http.MethodPost {
		path += "/" + object["metadata"].(map[string]any)["name"].(string)
	}
	_ = json.NewEncoder(w).Encode(s.set(path, object))
}

// logged is what was logged, by level and message and also in whole.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelInfo}))
}

// everything is a logger that leaves nothing out.
func (l *logged) everything() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.Level(-100)}))
}

func (l *logged) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *logged) count(text string) int { return strings.Count(l.String(), text) }

// await waits for a condition.
func await(t *testing.T, what string, log *logged, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !condition(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s; logged:\n%s", what, log)
		}
	}
}
