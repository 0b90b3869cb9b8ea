package checking

import "time"

const (
	// logsPerMinute bounds what is logged of one invariant. A bug that shows in every step would bury
	// everything else; the counts tell how often.
	logsPerMinute = 10
	quotaPeriod   = time.Minute
)

// quota decides what is logged.
type quota struct {
	since  time.Time
	logged map[string]int
}

func (q *quota) allows(what string, at time.Time) bool {
	if q.logged == nil || at.Sub(q.since) >= quotaPeriod {
		q.since, q.logged = at, map[string]int{}
	}
	q.logged[what]++
	return q.logged[what] <= logsPerMinute
}
