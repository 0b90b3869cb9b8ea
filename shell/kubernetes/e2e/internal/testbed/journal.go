package testbed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// journal is what a run has printed so far.
type journal struct {
	secrets func() []string // that no line may hold

	mu       sync.Mutex
	news     chan struct{} // closed with the next change
	ledger   *ledger
	events   []Event
	fleet    Fleet
	problems []string
	ended    bool
}

func newJournal(secrets func() []string) *journal {
	return &journal{secrets: secrets, news: make(chan struct{}), ledger: newLedger()}
}

// line is taken down with the time of its arrival, and decoded by someone else.
type line struct {
	text    []byte
	arrived time.Time
}

// read takes everything from the program's standard output.
func (j *journal) read(out io.Reader, split func(io.Reader, func([]byte))) {
	lines := make(chan line, 10_000)
	go func() {
		defer close(lines)
		split(out, func(text []byte) { lines <- line{text, time.Now()} })
	}()
	for line := range lines {
		if bytes.HasSuffix(line.text, []byte("\n")) { // else the program was killed in the middle
			event, err := j.decode(line)
			j.enter(event, err)
		}
	}
	j.end()
}

func (j *journal) decode(line line) (Event, error) {
	event := Event{Arrived: line.arrived}
	if err := json.Unmarshal(line.text, &event); err != nil {
		return event, fmt.Errorf("not an event: %w: %.200s", err, line.text)
	}
	for _, secret := range j.secrets() {
		if bytes.Contains(line.text, []byte(secret)) {
			return event, fmt.Errorf("%s holds a password", event.Kind)
		}
	}
	return event, nil
}

func (j *journal) enter(event Event, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err == nil {
		err = j.ledger.enter(event)
	}
	if err != nil {
		j.problems = append(j.problems, err.Error())
	}
	if event.Kind == Discovered {
		j.fleet = fleetOf(event.Endpoints)
		event.Endpoints = nil // a thousand of them a hundred times a second
	}
	j.events = append(j.events, event)
	j.announce()
}

func (j *journal) end() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ended = true
	j.announce()
}

func (j *journal) announce() {
	close(j.news)
	j.news = make(chan struct{})
}

// await looks again after each event until it finds what it looks for, the run has ended or the
// limit is over.
func (j *journal) await(limit time.Duration, look func() bool) error {
	deadline := time.After(limit)
	for {
		j.mu.Lock()
		found, ended, news := look(), j.ended, j.news
		j.mu.Unlock()
		switch {
		case found:
			return nil
		case ended:
			return errors.New("the program has ended")
		}
		select {
		case <-news:
		case <-deadline:
			return fmt.Errorf("not within %v", limit)
		}
	}
}

// tail is the end of the journal, for people.
func (j *journal) tail() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var text strings.Builder
	for _, event := range j.events[max(0, len(j.events)-20):] {
		switch event.Kind {
		case Discovered:
			fmt.Fprintf(&text, "%s discovered generation=%d trigger=%s replay=%v count=%d +%d ~%d -%d\n",
				event.Time.Format(time.StampMicro), event.Generation, event.Trigger, event.Replay,
				event.Count, len(event.Added), len(event.Updated), len(event.Removed))
		default:
			fmt.Fprintf(&text, "%s %s %s %s %s %s\n", event.Time.Format(time.StampMicro), event.Kind,
				event.Name, event.UID, event.Reason, event.Cause)
		}
	}
	return text.String()
}
