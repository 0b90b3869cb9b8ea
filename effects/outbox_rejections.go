package effects

import (
	"container/list"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// maxRejected bounds the pods whose rejection waits for one subscriber: a stuck one would otherwise
// fill the memory while pods with ever new names fail. Beyond the bound the oldest is thrown away
// and counted. That is harmless: a rejection explains and takes nothing back, and full passes tell
// it again.
const maxRejected = 10_000

// rejections is a queue with one rejection for each pod: a newer one replaces the waiting one and
// goes to the end. The zero value is empty.
type rejections struct {
	order  list.List // of *parcel
	places map[core.PodKey]*list.Element
	// discarded counts those thrown away for want of room.
	discarded uint64
}

func (r *rejections) put(key core.PodKey, next *parcel) {
	if r.places == nil {
		r.places = map[core.PodKey]*list.Element{}
	}
	if waiting, found := r.places[key]; found {
		r.order.Remove(waiting)
	} else if r.len() == maxRejected {
		r.removeOldest()
		r.discarded++
	}
	r.places[key] = r.order.PushBack(next)
}

// oldest is nil if there is none.
func (r *rejections) oldest() *parcel {
	if front := r.order.Front(); front != nil {
		return front.Value.(*parcel)
	}
	return nil
}

func (r *rejections) removeOldest() {
	removed := r.order.Remove(r.order.Front()).(*parcel)
	delete(r.places, removed.Event.(core.HAProxyPodRejected).Key())
}

func (r *rejections) len() int { return r.order.Len() }
