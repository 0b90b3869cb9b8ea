package kubernetes

import (
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// renewal makes an informer list anew although nothing seems wrong with its watch. Left to itself, an
// informer goes on from the resource version that it knows, even if it lists; a version of a history
// that the API server has left would keep it from ever seeing the present one.
type renewal struct {
	mu sync.Mutex
	// asked counts the new lists that were asked for, made those of them that there were.
	asked, made int
	again       chan struct{}
}

// renewing is a list or a watch with regard to what was asked for when it began.
type renewing struct {
	renewal *renewal
	number  int
	isDue   bool
	// again is closed when a new list is asked for.
	again <-chan struct{}
}

// ask ends the open watch, and has the next list read anew.
func (r *renewal) ask() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked++
	if r.again != nil {
		close(r.again)
		r.again = nil
	}
}

// begin is called for each list and watch. Where a new list is due, the options are made to ask for the
// present state, whatever it is: a consistent read (R20a).
func (r *renewal) begin(options *metav1.ListOptions) renewing {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.again == nil {
		r.again = make(chan struct{})
	}
	begun := renewing{renewal: r, number: r.asked, isDue: r.made < r.asked, again: r.again}
	if begun.isDue {
		options.ResourceVersion = ""
	}
	return begun
}

func (r renewing) due() bool { return r.isDue }

// done: the list is complete. One that has begun before the last demand does not meet it.
func (r renewing) done() {
	if r.renewal == nil {
		return
	}
	r.renewal.mu.Lock()
	defer r.renewal.mu.Unlock()
	r.renewal.made = max(r.renewal.made, r.number)
}

// errRenewed is what makes an informer list anew: as if the server had forgotten what to go on from.
var errRenewed = apierrors.NewResourceExpired("a new list was asked for")

// renew ends the watch, to the informer's eyes by the server.
func (h *heardWatch) renew() {
	status := errRenewed.Status()
	select {
	case h.result <- watch.Event{Type: watch.Error, Object: &status}:
	case <-h.stopped:
	}
	h.Interface.Stop()
}
