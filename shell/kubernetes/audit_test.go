package kubernetes

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/shell/timeline"
)

// auditPods follows pods and audits all the time.
func auditPods(t *testing.T, s *apiServer) *followed {
	f := newFollowed(s)
	f.auditor.interval, f.auditor.followUp = 20*time.Millisecond, 10*time.Millisecond
	f.run(t)
	return f
}

// awaitAudit waits for an audit that begins after this moment and confirms the view.
func (f *followed) awaitAudit(t *testing.T) {
	t.Helper()
	begun := time.Now()
	await(t, "an audit", f.server.log, func() bool { return f.Source().Audit.Verified.After(begun) })
}

// swallow makes no watch tell of what is changed by the call.
func (s *apiServer) swallow(n int, change func()) {
	s.mu.Lock()
	s.swallows = n
	s.mu.Unlock()
	change()
}

// R20a: whatever a watch has lost without being closed, an audit finds, and the pods are listed anew;
// which is told in one line each time.
func TestLostEventsAreFoundByAudits(t *testing.T) {
	t.Parallel()
	for name, streaming := range map[string]int{"streamed": 0, "listed": http.StatusUnprocessableEntity} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newAPIServer(t)
			s.answer("stream", streaming)
			s.page = 1
			s.pod("haproxy-0", "u0")
			s.pod("haproxy-1", "u1")
			f := auditPods(t, s)
			f.expect(t, "[lb/haproxy-0]", "[lb/haproxy-1]", "synced")
			f.awaitAudit(t)

			for i, lost := range []struct {
				events int
				change func()
				told   []string
				left   string
			}{
				{1, func() { s.remove(collectionOf + "pods/haproxy-0") }, []string{"[lb/haproxy-0]"}, "u1"},
				{1, func() { s.pod("haproxy-1", "u2") }, []string{"[lb/haproxy-1]"}, "u2"},
				{2, func() { s.pod("haproxy-3", "u3"); s.pod("haproxy-4", "u4") },
					[]string{"[lb/haproxy-3]", "[lb/haproxy-4]"}, "u2 u3 u4"},
			} {
				s.swallow(lost.events, lost.change)
				f.expect(t, lost.told...)
				if got := f.uids(t); got != lost.left {
					t.Errorf("the store holds %s, want %s", got, lost.left)
				}
				f.awaitAudit(t)
				told, shown := s.log.count("the view of the pods was lost"), f.Source().Audit.LostViews
				if told != i+1 || shown != uint64(i+1) {
					t.Errorf("%d losses are told and %d shown, want %d:\n%s", told, shown, i+1, s.log)
				}
			}
			if s.log.count("no contact") > 0 || s.log.count("initial pods") != 1 {
				t.Errorf("a new list was taken for a failure:\n%s", s.log)
			}
		})
	}
}

// An API server that was put back from a backup is behind what an informer knows. Left to itself, it
// would go on from the future that it has seen.
func TestRestoredServerIsFoundByAudits(t *testing.T) {
	t.Parallel()
	s := newAPIServer(t)
	s.pod("haproxy-0", "u0")
	s.mu.Lock()
	s.version = 1000
	s.mu.Unlock()
	s.pod("haproxy-1", "u1")
	f := auditPods(t, s)
	f.expect(t, "[lb/haproxy-0]", "[lb/haproxy-1]", "synced")
	f.awaitAudit(t)

	s.mu.Lock()
	s.version, s.events = 10, nil
	delete(s.objects, collectionOf+"pods/haproxy-1")
	s.mu.Unlock()
	f.expect(t, "[lb/haproxy-1]")
	s.pod("haproxy-2", "u2") // the new watch is one of the present
	f.expect(t, "[lb/haproxy-2]")
	f.awaitAudit(t)
	if n := s.log.count("the view of the pods was lost"); n != 1 {
		t.Errorf("told %d times:\n%s", n, s.log)
	}
}

// A server that is behind what the informer knows refuses to list from there. That is no reason to wait
// until it gets there, with audits or without.
func TestServerThatIsBehindIsListed(t *testing.T) {
	t.Parallel()
	s := newAPIServer(t)
	s.answer("stream", http.StatusUnprocessableEntity)
	s.mu.Lock()
	s.version = 1000
	s.mu.Unlock()
	s.pod("haproxy-0", "u0")
	f := newFollowed(s)
	f.AuditEvery(0)
	f.run(t)
	f.expect(t, "[lb/haproxy-0]", "synced")
	await(t, "a watch", s.log, func() bool { return f.View().Connected })

	s.mu.Lock()
	s.version, s.events = 10, nil
	delete(s.objects, collectionOf+"pods/haproxy-0")
	s.mu.Unlock()
	var told atomic.Bool
	s.watches(func(_ *http.Request, send func(any)) bool {
		if told.Swap(true) {
			return false
		}
		send(tooOld)
		return true
	})
	s.cutWatches()
	f.expect(t, "[lb/haproxy-0]")
}

// However much changes meanwhile, there is no alarm.
func TestNoAlarmWhilePodsChange(t *testing.T) {
	t.Parallel()
	s := newAPIServer(t)
	s.page = 7
	f := newFollowed(s)
	// Changes take no longer to arrive than passes between two audits, however busy the machine is.
	f.auditor.interval, f.auditor.followUp = 200*time.Millisecond, 200*time.Millisecond
	f.run(t)
	for i := range 500 {
		name := fmt.Sprintf("haproxy-%d", i%20)
		if i%3 == 2 {
			s.removeIfThere(collectionOf + "pods/" + name)
		} else {
			s.pod(name, fmt.Sprint("u", i))
		}
		time.Sleep(2 * time.Millisecond)
	}
	f.awaitAudit(t)
	if audit := f.Source().Audit; audit.LostViews > 0 {
		t.Errorf("%d false alarms:\n%s", audit.LostViews, s.log)
	}
}

func (s *apiServer) removeIfThere(path string) {
	s.mu.Lock()
	there := s.objects[path] != nil
	s.mu.Unlock()
	if there {
		s.remove(path)
	}
}

// An audit that cannot be made changes nothing but the age of the last one, and is told once.
func TestAuditThatCannotBeMade(t *testing.T) {
	t.Parallel()
	for name, trouble := range map[string]struct {
		status int
		named  string
	}{
		"forbidden": {http.StatusForbidden, "grant it"},
		"busy":      {http.StatusTooManyRequests, "audit pods in namespace lb"},
		"broken":    {http.StatusInternalServerError, "audit pods in namespace lb"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newAPIServer(t)
			s.pod("haproxy-0", "u0")
			f := auditPods(t, s)
			f.expect(t, "[lb/haproxy-0]", "synced")
			f.awaitAudit(t)

			s.answer("audit", trouble.status)
			await(t, "the failure", s.log, func() bool { return s.log.count(trouble.named) > 0 })
			verified := f.Source().Audit.Verified
			s.mu.Lock() // what is gone is not noticed
			before := s.objects[collectionOf+"pods/haproxy-0"]
			delete(s.objects, collectionOf+"pods/haproxy-0")
			s.mu.Unlock()
			time.Sleep(10 * f.auditor.interval)
			source := f.Source()
			if source.Audit.Verified != verified || source.Audit.LostViews > 0 || source.Error != "" ||
				source.State != "connected" || f.uids(t) != "u0" {
				t.Errorf("source %+v, pods %s", source, f.uids(t))
			}
			if n := s.log.count("cannot be audited for now"); n != 1 {
				t.Errorf("told %d times:\n%s", n, s.log)
			}
			s.mu.Lock()
			s.objects[collectionOf+"pods/haproxy-0"] = before
			s.mu.Unlock()
			s.answer("audit", 0)
			f.awaitAudit(t)
			if s.log.count("can be audited again") != 1 || s.log.count("was lost") > 0 {
				t.Errorf("logged:\n%s", s.log)
			}
		})
	}
}

// Out of contact there is nothing to audit: nobody is asked, and the contact tells.
func TestNoAuditOutOfContact(t *testing.T) {
	t.Parallel()
	s := newAPIServer(t)
	s.pod("haproxy-0", "u0")
	f := auditPods(t, s)
	f.expect(t, "[lb/haproxy-0]", "synced")
	f.awaitAudit(t)
	s.answer("watch", http.StatusForbidden)
	s.cutWatches()
	await(t, "the loss", s.log, func() bool { return s.log.count("no contact") == 1 })
	s.mu.Lock()
	asked := s.lists
	s.mu.Unlock()
	time.Sleep(10 * f.auditor.interval)
	s.mu.Lock()
	defer s.mu.Unlock()
	if more := s.lists - asked; more > 1 || s.log.count("audited") > 0 { // one may be under way
		t.Errorf("asked %d times more:\n%s", more, s.log)
	}
}

// None are made if none are wanted.
func TestNoAudits(t *testing.T) {
	t.Parallel()
	s := newAPIServer(t)
	f := newFollowed(s)
	f.AuditEvery(0)
	f.run(t)
	f.expect(t, "synced")
	await(t, "a watch", s.log, func() bool { return f.View().Connected })
	if audit := f.Source().Audit; audit != (timeline.Audit{}) || audit.Age(time.Now()) >= 0 {
		t.Errorf("audit %+v", audit)
	}
}

// An answer that is no list of metadata is not taken for an empty one.
func TestForeignAnswerIsNoAudit(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"another object": `{"kind":"APIVersions","versions":["v1"],` + secretBody + `}`,
		"no version":     `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","items":[]}`,
		"a failure":      `{"kind":"Status","apiVersion":"v1","status":"Failure"}`,
		"a single one":   `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1"}`,
		"no JSON":        "<html>" + secretBody,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := &logged{}
			pods := NewPods(answering(t, http.StatusOK, "application/json", body), "", log.logger())
			listed, err := pods.auditor.list(t.Context())
			if err == nil {
				t.Fatalf("taken for %v", listed)
			}
			pods.auditor.failed(err)
			if log.count("cannot be audited") != 1 || log.count("WnE5") > 0 {
				t.Errorf("logged %s", log)
			}
		})
	}
}

// R31: an audit that hangs ends with the rest.
func TestHungAuditEndsWithinASecond(t *testing.T) {
	t.Parallel()
	s := newAPIServer(t)
	var hung atomic.Bool
	s.audits = func(r *http.Request) {
		hung.Store(true)
		<-r.Context().Done()
	}
	f := auditPods(t, s)
	f.expect(t, "synced")
	await(t, "an audit", s.log, hung.Load)
	if took := f.stop(); took > time.Second {
		t.Errorf("took %v", took)
	}
}
