package replay

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/shell/inputlog"
)

// Point is a moment of a log: the number of a step, or a time. The zero Point is none.
type Point struct {
	Seq uint64
	At  time.Time
}

// ParsePoint reads a number, or a time: RFC 3339, a clock time (UTC) of the day on which the log
// begins, or the time from the log's end backwards, like -10m. The span of the log is asked for only
// if the time depends on it.
func ParsePoint(text string, span func() (begin, end time.Time, err error)) (Point, error) {
	if seq, err := strconv.ParseUint(text, 10, 64); err == nil {
		if seq == 0 {
			return Point{}, fmt.Errorf("0: steps are numbered from 1")
		}
		return Point{Seq: seq}, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return Point{At: at}, nil
	}
	clock, isClock := parseClock(text)
	back, backErr := time.ParseDuration(text)
	isBack := backErr == nil && strings.HasPrefix(text, "-")
	if !isClock && !isBack {
		return Point{}, fmt.Errorf("%q is neither a number nor a time, like 2026-01-02T15:04:05Z, "+
			"15:04:05 on the day the log begins, or -10m from its end", text)
	}
	begin, end, err := span()
	if err != nil {
		return Point{}, err
	}
	if isBack {
		return Point{At: end.Add(back)}, nil
	}
	return Point{At: begin.UTC().Truncate(24 * time.Hour).Add(clock)}, nil
}

func parseClock(text string) (time.Duration, bool) {
	for _, layout := range []string{"15:04", "15:04:05"} {
		if clock, err := time.Parse(layout, text); err == nil {
			return clock.Sub(clock.Truncate(24 * time.Hour)), true
		}
	}
	return 0, false
}

// reached reports whether a step is the point or later.
func (p Point) reached(step inputlog.Step) bool {
	return step.Seq >= p.Seq && !step.At.Before(p.At)
}

// passed reports whether a step is later than the point; none is later than no point.
func (p Point) passed(step inputlog.Step) bool {
	return p.Seq > 0 && step.Seq > p.Seq || !p.At.IsZero() && step.At.After(p.At)
}

// Span reads when a log begins and ends, as far as it can be read.
func Span(log *inputlog.Reader) (begin, end time.Time) {
	for {
		entry, err := log.Next()
		if err != nil {
			return begin, end
		}
		at := end
		switch e := entry.(type) {
		case inputlog.Started:
			at = e.Started
		case inputlog.Step:
			at = e.At
		case inputlog.Stopped:
			at = e.At
		case inputlog.Ended:
			if !e.Killed {
				at = e.At
			}
		}
		if begin.IsZero() {
			begin = at
		}
		end = at
	}
}
