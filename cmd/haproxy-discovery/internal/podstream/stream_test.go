package podstream

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// read gives all items of a stream, as describe prints them.
func read(t interface {
	Helper()
	Fatal(args ...any)
}, reader *Reader,
) []string {
	t.Helper()
	var items []string
	for {
		item, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return items
		}
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, describe(item))
	}
}

func describe(item Item) string {
	switch item := item.(type) {
	case ListItem:
		names := make([]string, 0, len(item.Pods))
		for _, pod := range item.Pods {
			names = append(names, describePod(pod))
		}
		what := "list"
		if item.Continued {
			what = "part of a " + what
		}
		if item.Lossy {
			what = "lossy " + what
		}
		return fmt.Sprintf("%s of %d: %s", what, len(names), strings.Join(names, ", "))
	case PodChanged:
		return "changed " + describePod(item.Pod)
	case PodDeleted:
		return "deleted " + describePod(item.Pod)
	case InitialEventsEnd:
		return "initial events end"
	case Problem:
		if item.Harmless {
			return "notice: " + item.String()
		}
		return "problem: " + item.String()
	}
	return fmt.Sprintf("unknown item %T", item)
}

// describePod shows that the facts of the pod have survived.
func describePod(object *unstructured.Unstructured) string {
	pod, err := core.ReadPod(object, "agent")
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%v %s %v %s", pod.Key, pod.UID, pod.IP, pod.Agent)
}

// withoutText keeps what the stream tells, and of a problem only that there was one.
func withoutText(items []string) []string {
	var short []string
	for _, item := range items {
		if kind, _, isText := strings.Cut(item, ": object "); isText {
			item = kind
		}
		short = append(short, item)
	}
	return short
}

func readAll(t *testing.T, stream []byte) []string {
	t.Helper()
	return read(t, NewReader(bytes.NewReader(stream)))
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// changed is what a bare pod(n) becomes.
func changed(n int) string {
	return fmt.Sprintf("changed lb/hap-%d u%d 10.1.0.%d running", n, n, n+1)
}
