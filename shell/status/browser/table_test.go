package browser

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell/internal/loopback"
)

const podNames = `[...` + rows + `].map((r) => r.querySelector(".pod").textContent)`

func (p *tab) expectOrder(want ...string) {
	p.t.Helper()
	for i, name := range want {
		want[i] = "lb/" + name
	}
	if got := eval[[]string](p, podNames); !slices.Equal(got, want) {
		p.t.Errorf("the order is %q instead of %q", got, want)
	}
}

// Pods are in the order in which people count; columns are sorted by mouse and by keyboard, and what
// comes later finds its place.
func TestTableIsSorted(t *testing.T) {
	s := newSite(t, loopback.Pod("hap-10", "u10", "127.77.0.1"), loopback.Pod("hap-2", "u2", "127.77.0.1"),
		loopback.Pod("hap-1", "u1", "127.77.0.9"))
	p := newTab(t)
	p.open("http://" + s.address + "/")
	p.await(rows + `.length === 3`)
	p.expectOrder("hap-1", "hap-2", "hap-10")
	p.click(`th [data-column="pod"]`)
	p.expectOrder("hap-10", "hap-2", "hap-1")

	eval[any](p, `document.querySelector('th [data-column="verdict"]').focus()`)
	p.do(chromedp.KeyEvent("\r"))
	p.expectOrder("hap-2", "hap-10", "hap-1") // admitted before rejected, each by name
	sorted := `[...document.querySelectorAll("th[aria-sort]")].map((h) => h.textContent + " " + h.ariaSort)`
	if got := fmt.Sprint(eval[[]string](p, sorted)); got != "[Verdict ascending]" {
		t.Errorf("aria-sort: %s", got)
	}
	s.changed(s.store.Set(loopback.Pod("hap-3", "u3", "127.77.0.1")))
	p.await(rows + `.length === 4`)
	p.await(cell("hap-3", "verdict") + `.textContent === "admitted"`)
	p.expectOrder("hap-2", "hap-3", "hap-10", "hap-1")
	p.do(chromedp.KeyEvent("\r"))
	p.expectOrder("hap-1", "hap-2", "hap-3", "hap-10")
	p.check(s.address)
}

// At 1,400 pixels each row is one line, and no name and no address is broken or cut, not even a long one.
func TestEachRowIsOneLine(t *testing.T) {
	noAgent := loopback.Pod("haproxy-canary-6d8f7c9b54-x2x4z", "u2", "127.77.0.1")
	_ = unstructured.SetNestedSlice(noAgent.Object, []any{
		map[string]any{"name": "haproxy"}, map[string]any{"name": "exporter"}, map[string]any{"name": "sidecar"},
	}, "status", "containerStatuses")
	s := newSite(t, noAgent,
		loopback.Pod("haproxy-production-5f7d9c6b8d-abcde", "u1", "127.77.0.1"),
		loopback.Pod("haproxy-0", "u3", "fd00:1234:5678:9abc:def0:1234:5678:9abc"),
		loopback.Pod("haproxy-1", "u4", "127.77.0.9"))
	s.HandleEvent(core.BecameLeader{})
	p := newTab(t)
	p.open("http://" + s.address + "/")
	p.await(rows + `.length === 4`)
	if width := eval[int](p, `innerWidth`); width != 1400 {
		t.Fatalf("the window is %d pixels wide", width)
	}
	if path := os.Getenv("SCREENSHOT"); path != "" {
		picture, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatal(err)
		}
		_ = os.WriteFile(path, picture, 0o600)
	}
	if heights := eval[[]float64](p, `[...`+rows+`].map((r) => r.getBoundingClientRect().height)`); slices.Max(heights) > 36 {
		t.Errorf("the rows are %v pixels high", heights)
	}
	cut := eval[[]string](p, `[...document.querySelectorAll("#pods td.pod, #pods td.url")]`+
		`.filter((c) => c.scrollWidth > c.clientWidth).map((c) => c.textContent)`)
	if len(cut) > 0 {
		t.Errorf("cut off: %q", cut)
	}
	why := `document.querySelector("#pods .detail[title*='sidecar']")`
	p.await(why + `?.textContent.includes("exporter")`)
	p.check(s.address)
}
