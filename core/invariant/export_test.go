package invariant

// LeaveNobodyOut has the next look at the whole state be one at every pod.
func (m *Monitor) LeaveNobodyOut() { m.last.valid = false }

// LooksAtAll tells whether the next drift tick would look at every pod.
func (m *Monitor) LooksAtAll() bool { return !m.last.serves(m.books.known.epoch) }
