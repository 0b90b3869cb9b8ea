package podstream

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// Whole documents, printed and separated in any way, with garbage lines between them, give exactly
// the documents, in order.
func TestPropertyWholeDocumentsSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var stream []byte
		var want []string
		afterGarbage := false
		for range rapid.IntRange(0, 8).Draw(t, "documents") {
			if rapid.IntRange(0, 2).Draw(t, "garbage?") == 0 {
				garbage := drawGarbage(t)
				stream = join(stream, "\n", garbage, "\n")
				afterGarbage = true
			}
			document, meaning := drawDocument(t)
			if !afterGarbage {
				stream = join(stream, rapid.StringMatching(`[ \t\r\n]{0,6}`).Draw(t, "blank"))
			}
			stream = append(stream, document...)
			want = append(want, meaning)
			afterGarbage = false
		}
		var in io.Reader = bytes.NewReader(stream)
		if rapid.Bool().Draw(t, "in halves") {
			in = iotest.HalfReader(in)
		}
		got := withoutProblems(withoutText(read(t, NewReader(in))))
		if !slices.Equal(got, want) {
			t.Fatalf("stream %q\ngot  %q\nwant %q", stream, got, want)
		}
	})
}

// drawDocument draws a document whose meaning is one item.
func drawDocument(t *rapid.T) (text []byte, meaning string) {
	object := pod(rapid.IntRange(0, 99).Draw(t, "pod"))
	meaning = strings.TrimPrefix(describe(PodChanged{Pod: unstructuredPod(object)}), "changed ")
	switch rapid.SampledFrom([]string{"bare", "ADDED", "DELETED", "bookmark", "list"}).Draw(t, "is") {
	case "bare":
		meaning = "changed " + meaning
	case "ADDED":
		object, meaning = event("ADDED", object), "changed "+meaning
	case "DELETED":
		object, meaning = event("DELETED", object), "deleted "+meaning
	case "bookmark":
		object, meaning = bookmark(true), "initial events end"
	case "list":
		object, meaning = list(object), "list of 1: "+meaning
	}
	indent := rapid.StringMatching(`[ \t]{0,5}`).Draw(t, "indent")
	switch rapid.IntRange(0, 2).Draw(t, "style") {
	case 0:
		return marshal(object), meaning
	case 1:
		return bytes.TrimSpace(flushLeft(object)), meaning
	}
	// A prefix stands before each line but the first.
	prefix := rapid.StringMatching(`[ \t]{0,3}`).Draw(t, "prefix")
	return bytes.TrimSpace(printed(object, prefix, indent)), meaning
}

// drawGarbage draws lines that are no JSON, or the beginning of an object: nothing in them can go
// on with what was begun before.
func drawGarbage(t *rapid.T) string {
	text := rapid.OneOf(
		rapid.StringMatching(`[a-zA-Z#<%][^\n]{0,40}`),
		rapid.Custom(func(t *rapid.T) string {
			object := marshal(pod(rapid.IntRange(0, 99).Draw(t, "cut pod")))
			return string(object[:rapid.IntRange(1, len(object)-1).Draw(t, "cut at")])
		}),
		rapid.SampledFrom([]string{
			"{", "{\"a\":", "{\"a\":[", "{\"a\":[1,", "{\"a", "{x}", "\x00\x00", "\xff{", "  {",
		}),
	)
	return strings.Join(rapid.SliceOfN(text, 1, 3).Draw(t, "garbage"), "\n")
}
