package kubernetes

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// impatient are limits for tests.
var impatient = watchLimits{
	answer: 2 * time.Second, settle: 200 * time.Millisecond, silence: 300 * time.Millisecond,
	initialSilence: 300 * time.Millisecond, pause: 200 * time.Millisecond,
}

// isInitial tells that the request asks for the list, too.
func isInitial(r *http.Request) bool { return r.URL.Query().Get("sendInitialEvents") == "true" }

// A server that hangs behind an open connection is found out: its watch is silent, and so is the next
// one. The view grows old meanwhile, and what was missed is learned once the server is back.
func TestHungServerBehindAnOpenWatch(t *testing.T) {
	t.Parallel()
	s := newAPIServer(t)
	s.pod("haproxy-0", "u0")
	f := followWithin(t, s, impatient)
	f.expect(t, "[lb/haproxy-0]", "synced")
	s.hanging(true)
	await(t, "the failure", s.log, func() bool { return f.View().LastError != "" })
	view := f.View()
	if view.Connected || view.Age(time.Now()) < impatient.silence ||
		!strings.Contains(view.LastError, "is the API server up") {
		t.Errorf("view %+v", view)
	}
	s.remove(collectionOf + "pods/haproxy-0")
	s.hanging(false)
	f.expect(t, "[lb/haproxy-0]")
	await(t, "contact", s.log, func() bool { return f.View().LastError == "" })
	if n := s.log.count("no contact"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, s.log)
	}
}

// A server that is silent since nothing happens is asked again, and nothing is told of it.
func TestSilentWatchIsOpenedAnew(t *testing.T) {
	t.Parallel()
	s := newAPIServer(t)
	s.pod("haproxy-0", "u0")
	var opened atomic.Int32
	s.watches(func(*http.Request, func(any)) bool {
		opened.Add(1)
		return false
	})
	f := followWithin(t, s, impatient)
	f.expect(t, "[lb/haproxy-0]", "synced")
	await(t, "more watches", s.log, func() bool { return opened.Load() > 3 })
	s.pod("haproxy-0", "u1")
	f.expect(t, "[lb/haproxy-0]")
	if s.log.count("contact") > 0 {
		t.Error(s.log)
	}
}

// A server that never says that its initial list is complete is asked for a plain one.
func TestInitialListThatIsNeverComplete(t *testing.T) {
	t.Parallel()
	trickling := func(e event) func(*http.Request, func(any)) {
		return func(r *http.Request, send func(any)) {
			for {
				select {
				case <-time.After(impatient.initialSilence / 10):
					send(e)
				case <-r.Context().Done():
					return
				}
			}
		}
	}
	plain := bookmark(collectionOf+"pods/", 7)
	delete(plain.Object["metadata"].(map[string]any), "annotations")
	for name, end := range map[string]func(*http.Request, func(any)){
		"goes on":           func(r *http.Request, _ func(any)) { <-r.Context().Done() },
		"ends":              func(*http.Request, func(any)) {},
		"tells of changes":  trickling(event{Type: "MODIFIED", Object: plain.Object}),
		"tells of progress": trickling(plain),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newAPIServer(t)
			s.pod("haproxy-0", "u0")
			s.watches(func(r *http.Request, send func(any)) bool {
				if isInitial(r) {
					send(event{Type: "ADDED", Object: s.objects[collectionOf+"pods/haproxy-0"]})
					end(r, send)
				}
				return isInitial(r)
			})
			f := followWithin(t, s, impatient)
			f.expect(t, "[lb/haproxy-0]", "synced")
			s.pod("haproxy-0", "u1")
			f.expect(t, "[lb/haproxy-0]")
			await(t, "contact", s.log, func() bool { return f.View().LastError == "" })
			if told := s.log.count("does not complete"); told != 1 && name != "ends" {
				t.Errorf("told %d times:\n%s", told, s.log)
			}
		})
	}
}

// A server whose watches have always expired already is in trouble: that is seen, told once, and it
// is not asked again and again without a pause.
func TestWatchesThatExpireAtOnce(t *testing.T) {
	t.Parallel()
	s := newAPIServer(t)
	s.pod("haproxy-0", "u0")
	var asked atomic.Int32
	s.watches(func(_ *http.Request, send func(any)) bool {
		asked.Add(1)
		send(tooOld)
		return true
	})
	f := followWithin(t, s, impatient)
	await(t, "the failure", s.log, func() bool { return strings.Contains(f.View().LastError, "expired") })
	before, since := asked.Load(), time.Now()
	await(t, "more requests", s.log, func() bool { return asked.Load() >= before+5 })
	if took := time.Since(since); took < 4*impatient.pause {
		t.Errorf("asked 5 times within %v", took)
	}
	s.watches(nil)
	f.expect(t, "[lb/haproxy-0]", "synced")
	await(t, "contact", s.log, func() bool { return f.View().LastError == "" })
	if n := s.log.count("no contact"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, s.log)
	}
}

// Watches that open and end, or fail, at once are one loss of contact, not one each.
func TestWatchesThatEndAtOnce(t *testing.T) {
	t.Parallel()
	node := map[string]any{"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": "n"}}
	for name, last := range map[string]any{
		"end":                    nil,
		"end after a bookmark":   bookmark(collectionOf+"pods/", 7),
		"tell of something else": event{Type: "ADDED", Object: node},
		"fail": errorEvent(failure(
			http.StatusInternalServerError, metav1.StatusReasonInternalError, "bad day")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newAPIServer(t)
			s.pod("haproxy-0", "u0")
			var asked atomic.Int32
			f := followWithin(t, s, impatient)
			f.expect(t, "[lb/haproxy-0]", "synced")
			s.watches(func(_ *http.Request, send func(any)) bool {
				asked.Add(1)
				send(bookmark(collectionOf+"pods/", 7))
				if last != nil {
					send(last)
				}
				return true
			})
			s.cutWatches()
			await(t, "several watches", s.log, func() bool {
				return asked.Load() > 2 && f.View().LastError != ""
			})
			if view := f.View(); s.log.count("no contact") != 1 ||
				s.log.count("server again") > 0 {
				t.Errorf("view %+v, logged:\n%s", view, s.log)
			}
			s.watches(nil)
			await(t, "contact", s.log, func() bool { return s.log.count("server again") == 1 })
		})
	}
}

// What client-go cannot read it quotes in an error, and logs that. R26: no Secret gets out this way.
func TestUnreadableEventsAreNotQuoted(t *testing.T) {
	t.Parallel()
	for name, unreadable := range map[string]func(secret map[string]any) any{
		"no kind": func(secret map[string]any) any {
			return event{Type: "MODIFIED", Object: map[string]any{"apiVersion": "v1", "data": secret["data"]}}
		},
		"no type of event": func(secret map[string]any) any {
			return map[string]any{"type": secret["data"].(map[string]any)[PasswordKey], "object": secret}
		},
		"an error that is no status": func(secret map[string]any) any {
			return event{Type: "ERROR", Object: secret}
		},
		"no event": func(secret map[string]any) any { return secret },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newAPIServer(t)
			s.secret("admin", password)
			told := make(chan struct{}, 10)
			secret := s.credentials()
			running(t, func(ctx context.Context) error {
				return secret.Run(ctx, func(any) { told <- struct{}{} })
			})
			<-told
			s.watches(func(_ *http.Request, send func(any)) bool {
				send(unreadable(s.objects[secretPath]))
				return true
			})
			s.cutWatches()
			await(t, "the failure", s.log, func() bool { return secret.View().LastError != "" })
			await(t, "client-go's own line", s.log, func() bool { return s.log.count("ended with error") > 0 })
			noTrace(t, "the error", secret.View().LastError)
			noTrace(t, "the log", s.log.String())
		})
	}
}
