package podstream

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/haproxy-discovery/haproxy-discovery/shell/kubernetes"
)

// kept is the heap that what build returns holds, in bytes.
func kept(t *testing.T, build func() any) uint64 {
	t.Helper()
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	before := heap()
	held := build()
	after := heap()
	runtime.KeepAlive(held)
	if after <= before {
		t.Fatalf("%d bytes before, %d after", before, after)
	}
	return after - before
}

// largePod has a spec and annotations as they are in clusters: some 5.5 KB in all.
func largePod(n int) map[string]any {
	object := pod(n)
	object["metadata"].(map[string]any)["annotations"] = map[string]any{
		"note": strings.Repeat("x", 3700),
	}
	return object
}

// 10,000 pods take no more than twice the heap of the same pods in an informer that trims them.
func TestStreamKeepsOnlyTheFacts(t *testing.T) {
	const pods = 10_000
	if size := len(marshal(largePod(0))); size < 5_000 || size > 6_000 {
		t.Fatalf("a pod has %d bytes", size)
	}
	informers := kept(t, func() any {
		cache := map[string]*unstructured.Unstructured{}
		for n := range pods {
			var object map[string]any
			if err := json.Unmarshal(marshal(largePod(n)), &object); err != nil {
				t.Fatal(err)
			}
			cache[fmt.Sprint("lb/", n)] = kubernetes.TrimPod(&unstructured.Unstructured{Object: object})
		}
		return cache
	})
	for name, framed := range map[string]func(n int) []byte{
		"bare": func(n int) []byte { return lined(largePod(n)) },
		"list": func(n int) []byte { return join(",", marshal(largePod(n))) },
	} {
		streams := kept(t, func() any {
			in, out := io.Pipe()
			go func() {
				if name == "list" {
					_, _ = fmt.Fprintf(out, `{"kind":"List","items":[%s`, marshal(largePod(0)))
				}
				for n := range pods {
					_, _ = out.Write(framed(n))
				}
				if name == "list" {
					_, _ = fmt.Fprint(out, "]}")
				}
				_ = out.Close()
			}()
			store, reader := NewStore(), NewReader(in)
			for {
				item, err := reader.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				store.Apply(item)
			}
			if objects, _ := store.List(nil); len(objects) != pods {
				t.Fatalf("%s: %d pods", name, len(objects))
			}
			return []any{store, reader}
		})
		t.Logf("%s: %.2f times an informer's heap", name, float64(streams)/float64(informers))
		if streams > 2*informers {
			t.Errorf("%s: %d bytes, %d in an informer", name, streams, informers)
		}
	}
}

func TestLargeAnnotationIsNotKept(t *testing.T) {
	large := largePod(1)
	large["metadata"].(map[string]any)["annotations"] = map[string]any{
		"note": strings.Repeat("x", 200<<10),
	}
	for name, stream := range map[string][]byte{
		"bare": lined(large), "event": lined(event("ADDED", large)), "list": lined(list(large)),
	} {
		store := NewStore()
		reader := NewReader(bytes.NewReader(stream))
		item, err := reader.Next()
		if err != nil {
			t.Fatal(err)
		}
		store.Apply(item)
		if text := marshal(storedPod(t, store).Object); len(text) > 2000 {
			t.Errorf("%s: %d bytes are kept", name, len(text))
		}
	}
}
