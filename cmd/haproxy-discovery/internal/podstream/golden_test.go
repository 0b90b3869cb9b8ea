package podstream

import (
	"bytes"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

var rewrite = flag.Bool("rewrite", false, "write the streams and their items in testdata anew")

// golden are the streams of testdata. The files are what is tested; -rewrite makes them.
var golden = map[string][]byte{
	"list": indented(list(pod(0), pod(1))),
	"watch": join(lined(event("ADDED", pod(0))), lined(event("ADDED", pod(1))),
		lined(bookmark(true)), lined(event("MODIFIED", pod(1))), lined(event("DELETED", pod(0))),
		lined(bookmark(false)), lined(gone())),
	"watch-indented": join(indented(event("ADDED", pod(0))), indented(event("DELETED", pod(0)))),
	"bare-pods":      join(indented(pod(0)), lined(pod(1)), marshal(pod(2)), marshal(pod(3))),
	"raw-api-list": lined(map[string]any{
		"kind": "PodList", "apiVersion": "v1", "metadata": map[string]any{"resourceVersion": "7"},
		"items": []any{without(pod(0), "kind", "apiVersion"), without(pod(1), "kind", "apiVersion")},
	}),
	"windows": bytes.ReplaceAll(join(byteOrderMark, indented(pod(0)), byteOrderMark,
		indented(pod(1))), []byte("\n"), []byte("\r\n")),
	"broken": join("Flag --watch has been deprecated\n", indented(pod(0)),
		cut(indented(pod(1)), `"image": "haproxy`), "\n", indented(pod(2)),
		"\x00\x00\x00\x00\n", lined(pod(3)), "{{}\n", cut(lined(pod(4)), `"nodeName":"wor`)),
	"odd": join("null\n", lined(list(nil, 5, "x", []any{}, map[string]any{}, pod(0),
		with(pod(1), "kind", "Node"), with(pod(2), "apiVersion", "example.org/v1"),
		with(pod(3), "metadata", []any{}), with(pod(4), "metadata", map[string]any{"uid": "u4"}),
		with(pod(5), "metadata", map[string]any{"name": "hap-5", "uid": ""}),
		with(pod(6), "status", "none"), pod(7))),
		lined(event("ADDED", nil)), lined(event("ADDED", list(pod(8)))),
		lined(event("REPLACED", pod(8))), lined(event("DELETED", "x")),
		lined(event("ERROR", nil)), lined(map[string]any{"type": 5, "object": pod(8)}),
		lined(map[string]any{"type": "ADDED"}), lined(map[string]any{"object": pod(8)}),
		lined(map[string]any{"kind": "List"}), lined(with(list(), "items", pod(8))),
		lined(with(list(), "apiVersion", "v2")), lined(with(list(), "kind", "NodeList")),
		lined(with(pod(8), "kind", nil)), lined(with(pod(8), "kind", 5)), "{}\n",
		lined(gone()["object"]), strings.Replace(string(lined(pod(9))), "5555", "1e999", 1)),
}

func with(object map[string]any, field string, value any) map[string]any {
	copied := maps.Clone(object)
	copied[field] = value
	return copied
}

func without(object map[string]any, fields ...string) map[string]any {
	copied := maps.Clone(object)
	maps.DeleteFunc(copied, func(k string, _ any) bool { return slices.Contains(fields, k) })
	return copied
}

func TestGolden(t *testing.T) {
	for name, stream := range golden {
		t.Run(name, func(t *testing.T) {
			streamFile := filepath.Join("testdata", name+".stream")
			itemsFile := filepath.Join("testdata", name+".items")
			if *rewrite {
				writeFile(t, streamFile, stream)
				items := readAll(t, stream)
				writeFile(t, itemsFile, []byte(strings.Join(items, "\n")+"\n"))
			}
			stream := readFile(t, streamFile)
			want := strings.Split(strings.TrimSuffix(string(readFile(t, itemsFile)), "\n"), "\n")
			expect(t, readAll(t, stream), want...)
			bytewise := NewReader(iotest.OneByteReader(bytes.NewReader(stream)))
			expect(t, read(t, bytewise), want...)
			if strings.Contains(strings.Join(want, "\n"), planted) {
				t.Error("an item's text quotes the content")
			}
		})
	}
}

func writeFile(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
