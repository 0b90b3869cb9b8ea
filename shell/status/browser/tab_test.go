package browser

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// install is what to do where there is no browser.
const install = "no Chromium: apt-get install -y --no-install-recommends chromium"

// tabLimit bounds a whole test.
const tabLimit = 5 * time.Minute

// tab is a page of a headless Chromium, with what it has complained of and asked for.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu         sync.Mutex
	complaints []string
	requests   []string
	// offline tells that failing requests are what the test is about.
	offline bool
}

// newTab starts a browser that ends with the test. It fails where there is none.
func newTab(t *testing.T, options ...chromedp.ExecAllocatorOption) *tab {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal(install)
	}
	all := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path),
		chromedp.NoSandbox, // tests may run as root
		chromedp.DisableGPU, chromedp.WindowSize(1400, 900))
	allocator, endBrowser := chromedp.NewExecAllocator(context.Background(), append(all, options...)...)
	t.Cleanup(endBrowser)
	ctx, endTab := chromedp.NewContext(allocator)
	t.Cleanup(endTab)
	ctx, endLimit := context.WithTimeout(ctx, tabLimit)
	t.Cleanup(endLimit)
	p := &tab{t: t, ctx: ctx}
	p.do() // starts the browser
	if err := chromedp.Listen(ctx, p.take); err != nil {
		t.Fatal(err)
	}
	_, networkError := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	// Time of the processor, not of the clock: others may be busy on the machine.
	_, metricsError := chromedp.Call(ctx, performance.Enable,
		performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks})
	_, logError := chromedp.Call(ctx, log.Enable, cdp.Empty{})
	_, runtimeError := chromedp.Call(ctx, runtime.Enable, cdp.Empty{})
	if err := errors.Join(networkError, metricsError, logError, runtimeError); err != nil {
		t.Fatal(err)
	}
	return p
}

// take collects what must not happen.
func (p *tab) take(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, e.Request.URL)
	case *runtime.EventExceptionThrown:
		p.complaints = append(p.complaints, fmt.Sprintf("exception: %s %+v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception))
	case *runtime.EventConsoleAPICalled:
		p.complaints = append(p.complaints, fmt.Sprintf("console.%s", e.Type))
	case *log.EventEntryAdded:
		if !p.offline || e.Entry.Source != log.EntrySourceNetwork {
			p.complaints = append(p.complaints, fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
		}
	}
}

func (p *tab) setOffline(offline bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.offline = offline
}

func (p *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, actions...); err != nil {
		p.t.Fatal(err)
	}
}

func (p *tab) open(address string) {
	p.t.Helper()
	p.do(chromedp.Navigate(address))
}

// eval gives what an expression is in the page.
func eval[T any](p *tab, expression string) T {
	p.t.Helper()
	result, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return result
}

// await waits until an expression is true in the page.
func (p *tab) await(expression string) {
	p.t.Helper()
	_, err := chromedp.Run(p.ctx, chromedp.Poll[any](expression,
		chromedp.WithPollingInterval(100*time.Millisecond), chromedp.WithPollingTimeout(patience)))
	if err != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.t.Fatalf("waited in vain for %s: %v\ncomplaints: %v", expression, err, p.complaints)
	}
}

// typeFilter replaces the filter's text as somebody who types would, letter by letter.
func (p *tab) typeFilter(text string) {
	p.t.Helper()
	eval[any](p, `document.getElementById("filter-text").select()`)
	p.do(chromedp.SendKeys(chromedp.CSS("#filter-text"), text))
}

func (p *tab) click(selector string) {
	p.t.Helper()
	p.do(chromedp.Click(chromedp.CSS(selector)))
}

// cost is what the page has used of the processor so far.
type cost struct{ script, layout time.Duration }

func (p *tab) cost() cost {
	p.t.Helper()
	result, err := chromedp.Call(p.ctx, performance.GetMetrics, cdp.Empty{})
	if err != nil {
		p.t.Fatal(err)
	}
	seconds := map[string]float64{}
	for _, metric := range result.Metrics {
		seconds[metric.Name] = metric.Value
	}
	return cost{
		script: time.Duration(seconds["ScriptDuration"] * float64(time.Second)),
		layout: time.Duration((seconds["LayoutDuration"] + seconds["RecalcStyleDuration"]) * float64(time.Second)),
	}
}

// check fails on errors of the page, and on requests to anything but its own server.
func (p *tab) check(address string) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.complaints) > 0 {
		p.t.Errorf("the page complains: %s", strings.Join(p.complaints, "\n"))
	}
	if len(p.requests) == 0 {
		p.t.Error("no request was seen, so this shows nothing")
	}
	for _, request := range p.requests {
		if target, err := url.Parse(request); err != nil || target.Host != address {
			p.t.Errorf("the page asks %s", request)
		}
	}
}
