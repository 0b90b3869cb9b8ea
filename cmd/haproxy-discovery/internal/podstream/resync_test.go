package podstream

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func expectBriefly(t *testing.T, stream []byte, want ...string) {
	t.Helper()
	expect(t, withoutText(readAll(t, stream)), want...)
}

// An object may be cut behind any of its bytes: it costs itself, and nothing behind it.
func TestTruncatedObjectCostsOnlyItself(t *testing.T) {
	small := map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": "a \\ \" }", "uid": "u", "labels": map[string]any{}},
		"spec":     []any{1, -2.5e3, true, nil, []any{"x"}, map[string]any{}},
	}
	behind := join(lined(pod(1)), indented(pod(2)))
	for style, print := range map[string]func(any) []byte{
		"lined": lined, "indented": indented, "flush left": flushLeft,
	} {
		whole := bytes.TrimSpace(print(small))
		for length := 1; length < len(whole); length++ {
			items := withoutText(readAll(t, join(whole[:length], "\n", behind)))
			pods := withoutProblems(items)
			if len(items) == len(pods) || strings.Join(pods, ";") != changed(1)+";"+changed(2) {
				t.Fatalf("%s, cut behind %q: got %q", style, whole[:length], items)
			}
		}
	}
}

func withoutProblems(items []string) []string {
	var rest []string
	for _, item := range items {
		if !strings.HasPrefix(item, "problem") {
			rest = append(rest, item)
		}
	}
	return rest
}

func TestObjectsCutOneAfterTheOther(t *testing.T) {
	expectBriefly(t, join(
		"{\"a\":\n", "{\"b\":[\n", "{\"c\":[1,\n", lined(pod(1)), "{\"d\":\n", lined(pod(2)), "{\n",
		lined(pod(3)), "{\"e\":\n", lined(pod(4))),
		// The first three look like one object up to the fault behind the pod.
		"problem", changed(1), "problem", changed(2), "problem", changed(3), "problem", changed(4))
}

// Behind a fault, only an object that begins a line is one of the stream's own.
func TestInnerObjectsOfABrokenOneAreNotTaken(t *testing.T) {
	expectBriefly(t, join("{\"a\":[\n", marshal(pod(1)), ", 5\n  ", lined(pod(2)), lined(pod(3))),
		"problem", changed(1), changed(3))
	expectBriefly(t, bytes.Replace(indented(list(pod(1), pod(2))), []byte("Running"), []byte("\n"), 1),
		"problem")
}

func TestOnlyTheAnnotatedBookmarkEndsTheInitialEvents(t *testing.T) {
	denied := bytes.Replace(lined(bookmark(true)), []byte(`"true"`), []byte(`"false"`), 1)
	ofNodes := bytes.Replace(lined(bookmark(true)), []byte(`"Pod"`), []byte(`"Node"`), 1)
	expectBriefly(t, join(denied, lined(bookmark(false)), ofNodes, lined(bookmark(true))),
		"notice", "notice", "problem", "initial events end")
}

func TestBracesAtTheBeginningOfALineInsideAnObject(t *testing.T) {
	expectBriefly(t, join(flushLeft(pod(1)), flushLeft(list(pod(2), pod(3))), flushLeft(pod(4))),
		changed(1), "list of 2: lb/hap-2 u2 10.1.0.3 running, lb/hap-3 u3 10.1.0.4 running",
		changed(4))
}

func TestGarbage(t *testing.T) {
	for name, garbage := range map[string]string{
		"text":                   "error: the server has gone away\n",
		"braces in a line":       "error {\"kind\":\"Pod\"}\n",
		"broken object":          "{kind: Pod}\n",
		"rest of an object":      "  },\n  \"kind\": \"Pod\",\n   {\n }\n}\n",
		"binary":                 "\x00\xff\xfe\x01{\x00\n\x00",
		"NULs":                   strings.Repeat("\x00", 5000) + "\n",
		"YAML":                   "---\napiVersion: v1\nkind: Pod\n",
		"UTF-16":                 "\xff\xfe{\x00}\x00\r\x00\n\x00",
		"half a byte order mark": "\xef\xbb\n",
		"a list":                 "[1,2]\n",
		"an object of no kind":   "{}\n",
		"too deep": strings.Repeat("[", 20000) + "\n" + "{\"a\":" +
			strings.Repeat("[", 20000) + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			items := withoutText(readAll(t, join(lined(pod(1)), garbage, "\n", lined(pod(2)))))
			expect(t, withoutProblems(items), changed(1), changed(2))
			if len(items) == 2 {
				t.Error("the garbage was not reported")
			}
		})
	}
}

func TestProblemTellsThePlace(t *testing.T) {
	first := lined(pod(0))
	expect(t, readAll(t, join("\n", first, "\n\n{\"a\":1,\n \"b\" 2}\nx\n{}")),
		changed(0),
		fmt.Sprintf("problem: object 2 (byte %d, line 5): broken JSON at byte %d, line 6",
			len(first)+3, len(first)+3+13),
		fmt.Sprintf("problem: object 3 (byte %d, line 8): object without a kind",
			len(first)+3+18))
}

func TestProblemIsOneLine(t *testing.T) {
	name := "a\nb\x00\u2028" + strings.Repeat("long", 1000)
	for _, object := range []any{
		with(pod(1), "kind", name),
		with(pod(1), "metadata", map[string]any{"name": name}),
		event("ERROR", map[string]any{"reason": name, "message": name, "code": name}),
	} {
		items := readAll(t, lined(object))
		if len(items) != 1 || len(items[0]) > 2000 || strings.ContainsAny(items[0], "\n\x00\u2028") {
			t.Errorf("got %q", items)
		}
	}
}

// Numbers are decoded as Kubernetes does: what keeps a pod from being copied would be another type.
func TestNumbersAreDecodedAsKubernetesDoes(t *testing.T) {
	reader := NewReader(strings.NewReader(
		`{"kind":"Pod","metadata":{"name":"a","uid":"u",` +
			`"labels":[1,-9007199254740993,1.5,1e3,99999999999999999999]}}`))
	item, err := reader.Next()
	if err != nil {
		t.Fatal(err)
	}
	metadata := item.(PodChanged).Pod.Object["metadata"].(map[string]any)
	var got string
	for _, number := range metadata["labels"].([]any) {
		got += fmt.Sprintf(" %T(%v)", number, number)
	}
	want := " int64(1) int64(-9007199254740993) float64(1.5) float64(1000) float64(1e+20)"
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	_ = item.(PodChanged).Pod.DeepCopy() // panics for other types of numbers
}

func TestListReplacesWhateverItHolds(t *testing.T) {
	expect(t, readAll(t, join(lined(list()), lined(with(list(), "items", nil)),
		lined(map[string]any{"items": []any{without(pod(1), "kind")}}),
		lined(with(list(pod(2)), "kind", "PodList")))),
		"list of 0: ", "list of 0: ", "list of 1: lb/hap-1 u1 10.1.0.2 running",
		"list of 1: lb/hap-2 u2 10.1.0.3 running")
}

func TestOneBadItemCostsTheListOnlyThisItem(t *testing.T) {
	stream := bytes.Replace(lined(list(pod(1), pod(2), pod(3))), []byte("5555"), []byte("1e999"), 1)
	items := readAll(t, stream)
	expect(t, items,
		"problem: object 1 (byte 0, line 1): item 1 of the list: object with a number out of range",
		"lossy list of 2: lb/hap-2 u2 10.1.0.3 running, lb/hap-3 u3 10.1.0.4 running")
}
