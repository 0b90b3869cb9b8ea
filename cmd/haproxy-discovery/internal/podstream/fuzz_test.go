package podstream

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

func unstructuredPod(object map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: object}
}

// FuzzReader: whatever the stream, reading ends, gives each byte at most one meaning, does not
// depend on how the bytes arrive, and leaves a store that can be read.
func FuzzReader(f *testing.F) {
	// Small ones: the fuzzer spends its time on the length of its seeds.
	small := with(without(pod(0), "spec", "status"), "metadata",
		map[string]any{"name": "a", "namespace": "lb", "uid": "u"})
	for _, object := range []any{
		small, list(small, nil, 5), event("ADDED", small), event("DELETED", small), event("x", nil),
		bookmark(true), bookmark(false), gone(), with(small, "kind", 5), with(list(), "items", 5),
	} {
		f.Add(lined(object))
		f.Add(indented(object))
		f.Add(join("garbage\n", flushLeft(object), lined(object)[:12], "\n\xef\xbb\xbf", lined(object)))
	}
	f.Add([]byte("{\"a\":\n{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"uid\":\"u\"}}\n{"))
	f.Add([]byte("{\"kind\":\"Pod\",\"metadata\":{\"name\":\"\xff\",\"uid\":\"u\",\"namespace\":5}}"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		reader := NewReader(bytes.NewReader(stream))
		store := NewStore()
		var items []string
		var before Problem
		for item, err := reader.Next(); err == nil; item, err = reader.Next() {
			items = append(items, describe(item))
			store.Apply(item)
			problem, isProblem := item.(Problem)
			if !isProblem {
				continue
			}
			if problem.Offset < before.Offset || problem.Offset >= int64(len(stream)) ||
				problem.Line < before.Line || problem.Object < before.Object {
				t.Errorf("problem %v behind %v", problem, before)
			}
			if strings.ContainsAny(problem.String(), "\r\n\x00") {
				t.Errorf("not one line: %q", problem)
			}
			before = problem
		}
		if len(items) > len(stream) {
			t.Errorf("%d items in %d bytes", len(items), len(stream))
		}
		bytewise := read(t, NewReader(iotest.OneByteReader(bytes.NewReader(stream))))
		if !slices.Equal(items, bytewise) {
			t.Errorf("got %q, and byte by byte %q", items, bytewise)
		}
		if line := bytes.TrimSpace(stream); len(line) > 0 && json.Valid(line) &&
			(line[0] != '{' && len(items) != 1 || strings.Contains(strings.Join(items, ""), "broken")) {
			t.Errorf("one JSON value gave %q", items)
		}
		if objects, err := store.List(labels.Everything()); err != nil || len(objects) > len(items) &&
			!strings.Contains(strings.Join(items, ""), "list of") {
			t.Errorf("the store gives %d objects, %v", len(objects), err)
		}
	})
}
