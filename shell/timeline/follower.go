package timeline

import "github.com/haproxy-discovery/haproxy-discovery/core"

// Follower walks along a Timeline: it tells which pods were touched since it looked last. It holds
// what it has not walked past yet, so it is to be let go when it is no longer used. Not safe for
// concurrent use.
type Follower struct {
	times *Timeline
	at    *entry
}

// Follow gives a Follower that stands at the present moment.
func (t *Timeline) Follow() *Follower { return &Follower{times: t, at: t.newest.Load()} }

// Changed gives a channel that is closed once something has happened since Next.
func (f *Follower) Changed() <-chan struct{} { return f.at.done }

// Next walks up to the present moment, and gives that with the pods touched on the way, in no
// order.
func (f *Follower) Next() (Moment, map[core.PodKey]struct{}) {
	touched := map[core.PodKey]struct{}{}
	for newest := f.times.newest.Load(); f.at != newest; {
		f.at = f.at.next
		for _, key := range f.at.moment.Touched {
			touched[key] = struct{}{}
		}
	}
	return f.times.complete(f.at.moment), touched
}
