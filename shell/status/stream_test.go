package status_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell/internal/loopback"
)

type streamed struct {
	at      time.Time
	raw     string
	Summary struct {
		FleetSize int `json:"fleet_size"`
	}
	Reset bool
	Pods  []podRow
	Gone  []podRow
}

// follow reads the stream as a browser does.
func (s *served) follow() (next func() streamed, end func()) {
	s.t.Helper()
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get(s.url + "/events")
	if err != nil {
		s.t.Fatal(err)
	}
	if kind := response.Header.Get("Content-Type"); kind != "text/event-stream" {
		s.t.Fatalf("the type of the stream is %q", kind)
	}
	lines := bufio.NewReader(response.Body)
	return func() streamed {
		s.t.Helper()
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				s.t.Fatalf("the stream has ended: %v", err)
			}
			if data, is := strings.CutPrefix(line, "data: "); is {
				m := streamed{at: time.Now(), raw: data}
				if err := json.Unmarshal([]byte(data), &m); err != nil {
					s.t.Fatal(err)
				}
				return m
			}
		}
	}, func() { _ = response.Body.Close() }
}

// A page gets all pods once, then what has changed, and not more often than four times a second.
func TestStreamSendsChanges(t *testing.T) {
	t.Parallel()
	agents := loopback.NewAgents(t)
	agents.Start("127.77.0.1", loopback.Healthy("3.4.3"))
	store := loopback.NewStore()
	for i := range 20 {
		store.Set(loopback.Pod(fmt.Sprintf("hap-%02d", i), fmt.Sprint("u", i), "127.77.0.1"))
	}
	s := serve(t)
	s.run(agents.Port, store)
	s.await("the fleet", func(state core.State) bool { return state.Admitted().Len() == 20 })

	next, end := s.follow()
	defer end()
	first := next()
	if !first.Reset || len(first.Pods) != 20 || first.Summary.FleetSize != 20 {
		t.Fatalf("the first message is %+v", first)
	}
	s.changed(store.Set(loopback.Pod("hap-07", "another", "127.77.0.1")), store.Remove("hap-03"))
	last, gone := first, []podRow{}
	var row podRow
	for row.UID != "another" || row.Verdict != "admitted" || len(gone) == 0 {
		m := next()
		if pause := m.at.Sub(last.at); pause < 200*time.Millisecond {
			t.Errorf("a message %v after the one before", pause)
		}
		last, gone = m, append(gone, m.Gone...)
		if m.Reset || len(m.Pods) > 1 {
			t.Fatalf("%d pods were sent, for one that has changed", len(m.Pods))
		}
		if len(m.Pods) == 1 {
			row = m.Pods[0]
		}
	}
	if row.Name != "hap-07" || len(gone) != 1 || gone[0].Namespace != "lb" || gone[0].Name != "hap-03" {
		t.Errorf("%+v changed, %+v gone", row, gone)
	}

	// A burst comes in few messages.
	messages, finished := 0, false
	for i := range 200 {
		s.changed(store.Set(loopback.Pod("hap-08", fmt.Sprint("burst", i), "127.77.0.1")))
	}
	for ; !finished; messages++ {
		for _, pod := range next().Pods {
			finished = finished || pod.UID == "burst199" && pod.Verdict == "admitted"
		}
	}
	if messages > 20 {
		t.Errorf("%d messages", messages)
	}
}

// The end of the server ends open streams, within half a second and a little.
func TestServeEndsInTime(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.start()
	s.await("the loop", func(core.State) bool { return true })
	for range 3 {
		next, end := s.follow()
		defer end()
		next()
	}
	if took := s.stopServing(); took > time.Second {
		t.Errorf("it took %v", took)
	}
	if _, err := http.Get(s.url); err == nil {
		t.Error("it still serves")
	}
}

// More pages than there may be are refused; when one is closed, there is room again.
func TestStreamsAreBounded(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.start()
	var ends []func()
	for range 64 {
		next, end := s.follow()
		next()
		ends = append(ends, end)
	}
	defer func() {
		for _, end := range ends[1:] {
			end()
		}
	}()
	if code, text := s.get("/events"); code != http.StatusServiceUnavailable {
		t.Fatalf("%d %s", code, text)
	}
	ends[0]()
	deadline := time.Now().Add(patience)
	for {
		response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get(s.url + "/events")
		if err != nil {
			t.Fatal(err)
		}
		if response.StatusCode == http.StatusOK {
			_ = response.Body.Close()
			return
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		if time.Now().After(deadline) {
			t.Fatal("the place of a closed page stays taken")
		}
		time.Sleep(10 * time.Millisecond)
	}
}
