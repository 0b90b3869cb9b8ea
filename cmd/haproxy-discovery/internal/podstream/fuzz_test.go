package podstream

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/samber/lo"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/haproxy-discovery/haproxy-discovery/fuzz/bounds"
)

func unstructuredPod(object map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: object}
}

// FuzzReader: whatever the stream, reading ends, costs memory in proportion, gives each byte at most
// one meaning, does not depend on how the bytes arrive, and leaves a store that can be read. A
// stream that ends anywhere tells nothing that the whole one does not, and no problem quotes a
// secret.
func FuzzReader(f *testing.F) {
	// Small ones: the fuzzer spends its time on the length of its seeds.
	small := with(without(pod(0), "spec", "status"), "metadata",
		map[string]any{"name": "a", "namespace": "lb", "uid": "u"})
	secret := with(small, "spec", map[string]any{"env": []any{map[string]any{"value": ""}}})
	for i, object := range []any{
		small, list(small, nil, 5), event("ADDED", small), event("DELETED", small), event("x", nil),
		bookmark(true), bookmark(false), gone(), with(small, "kind", 5), with(list(), "items", 5),
		secret, list(with(secret, "kind", nil), with(secret, "metadata", nil)),
	} {
		f.Add(lined(object), uint16(7*i))
		f.Add(indented(object), uint16(50))
		broken := join("garbage\n", flushLeft(object), lined(object)[:12], "\n\xef\xbb\xbf", lined(object))
		f.Add(broken, uint16(len(broken)-20))
	}
	f.Add([]byte("{\"a\":\n{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"uid\":\"u\"}}\n{"), uint16(58))
	f.Add([]byte("{\"kind\":\"Pod\",\"metadata\":{\"name\":\"\xff\",\"uid\":\"u\",\"namespace\":5}}"), uint16(0))
	f.Fuzz(func(t *testing.T, stream []byte, end uint16) {
		stream = secretValue.ReplaceAll(stream, []byte(`"value":"`+planted+`"`))
		items := checkReading(t, stream)
		ended := stream[:min(int(end), len(stream))]
		checkEnded(t, items, ended, checkReading(t, ended))
	})
}

var secretValue = regexp.MustCompile(`"value":"[^"\\]*"`)

// checkReading gives the items of a stream.
func checkReading(t *testing.T, stream []byte) []Item {
	t.Helper()
	var items []Item
	bounds.Hold(t, len(stream), 400, func() { items = itemsOf(t, stream) })
	store := NewStore()
	var before Problem
	for _, item := range items {
		store.Apply(item)
		problem, isProblem := item.(Problem)
		if !isProblem {
			continue
		}
		if problem.Offset < before.Offset || problem.Offset >= int64(len(stream)) ||
			problem.Line < before.Line || problem.Object < before.Object {
			t.Errorf("problem %v behind %v", problem, before)
		}
		if strings.ContainsAny(problem.String(), "\r\n\x00") || len(problem.String()) > 2000 {
			t.Errorf("not one short line: %q", problem)
		}
		if strings.Contains(problem.String(), planted) {
			t.Errorf("a secret has come out: %q", problem)
		}
		before = problem
	}
	if len(items) > len(stream) {
		t.Errorf("%d items in %d bytes", len(items), len(stream))
	}
	texts := describeAll(items)
	bytewise := read(t, NewReader(iotest.OneByteReader(bytes.NewReader(stream))))
	if !slices.Equal(texts, bytewise) {
		t.Errorf("got %q, and byte by byte %q", texts, bytewise)
	}
	if line := bytes.TrimSpace(stream); len(line) > 0 && json.Valid(line) &&
		(line[0] != '{' && len(items) != 1 || strings.Contains(strings.Join(texts, ""), "broken")) {
		t.Errorf("one JSON value gave %q", texts)
	}
	if objects, err := store.List(labels.Everything()); err != nil || len(objects) > len(items) &&
		!strings.Contains(strings.Join(texts, ""), "list of") {
		t.Errorf("the store gives %d objects, %v", len(objects), err)
	}
	return items
}

// checkEnded compares what the beginning of a stream tells with what the whole one tells. They
// differ from the object on in which it ends; what is whole inside that one must begin a line.
func checkEnded(t *testing.T, items []Item, ended []byte, told []Item) {
	t.Helper()
	all, some := describeAll(items), describeAll(told)
	for len(all) > 0 && len(some) > 0 && all[0] == some[0] {
		all, some, told = all[1:], some[1:], told[1:]
	}
	var lines []string
	for i := range ended {
		if i == 0 || ended[i-1] != '\n' || ended[i] != '{' || len(told) == 0 {
			continue
		}
		var raw json.RawMessage
		if json.NewDecoder(bytes.NewReader(ended[i:])).Decode(&raw) == nil {
			lines = append(lines, describeAll(interpret(place{}, raw))...)
		}
	}
	for i, item := range told {
		if _, isProblem := item.(Problem); !isProblem && !slices.Contains(lines, some[i]) {
			t.Errorf("a stream that ends behind %q tells of %s", ended, some[i])
		}
	}
}

func itemsOf(t *testing.T, stream []byte) (items []Item) {
	t.Helper()
	for reader := NewReader(bytes.NewReader(stream)); ; {
		item, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return items
		}
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, item)
	}
}

func describeAll(items []Item) []string {
	return lo.Map(items, func(item Item, _ int) string { return describe(item) })
}
