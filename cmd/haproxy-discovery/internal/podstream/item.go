// Package podstream reads pods as kubectl prints them: a List, watch events, bare Pods, one per
// line or indented, one after the other in any mixture. A Reader turns the text into Items; a
// Store applies them in order and serves as the pod store of discovery.
//
// Whatever the stream holds besides becomes a Problem: one line for a log, which says where in the
// stream what is wrong. The stream goes on behind it.
package podstream

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Item is one thing that the stream tells. The set is closed: ListItem, PodChanged, PodDeleted,
// InitialEventsEnd, Problem. Pods in it have a name and a UID; nothing else of them was checked.
type Item interface{ isItem() }

// ListItem is a list, or one of the parts of which the API hands out a long one.
type ListItem struct {
	Pods []*unstructured.Unstructured
	// Continued tells that another part follows (metadata.continue).
	Continued bool
	// Lossy tells that some of its items are not among Pods, since they could not be read or are
	// of another kind.
	Lossy bool
}

// PodChanged is a pod that was added or has changed: an ADDED or MODIFIED event, or a bare Pod.
type PodChanged struct{ Pod *unstructured.Unstructured }

// PodDeleted is a pod that is gone, with its last state.
type PodDeleted struct{ Pod *unstructured.Unstructured }

// InitialEventsEnd is the bookmark behind the last pod that existed when the watch began.
type InitialEventsEnd struct{}

// Problem is something in the stream that was skipped. String gives it as one line.
type Problem struct {
	// Object numbers the objects of the stream from 1; a stretch of garbage counts as one.
	Object int
	// Offset is where the object begins, in bytes from the start of the stream.
	Offset int64
	// Line is the line in which it begins, from 1.
	Line int64
	// Text says what is wrong. Of the content it quotes kinds and names only, and what a watch's
	// own error says.
	Text string
	// Harmless tells that nothing was lost.
	Harmless bool
}

// String gives place and text in one line.
func (p Problem) String() string {
	return fmt.Sprintf("object %d (byte %d, line %d): %s", p.Object, p.Offset, p.Line, p.Text)
}

func (ListItem) isItem()         {}
func (PodChanged) isItem()       {}
func (PodDeleted) isItem()       {}
func (InitialEventsEnd) isItem() {}
func (Problem) isItem()          {}
