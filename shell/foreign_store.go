package shell

import (
	"fmt"
	"runtime"

	"k8s.io/apimachinery/pkg/labels"
	kruntime "k8s.io/apimachinery/pkg/runtime"
)

// foreignStore is the embedding program's store as the loop calls it. One that hangs can be
// abandoned; one that panics ends the component with an error (R32) before anything is made of it.
type foreignStore struct {
	store PodStore
	turn  *turn
	fail  func(error)
}

// foreignSyncer is a foreignStore that can say whether it has synced.
type foreignSyncer struct {
	foreignStore
	syncer syncer
}

func (c *Component) foreign(store PodStore) PodStore {
	guarded := foreignStore{store: store, turn: &c.turn, fail: c.fail}
	if canSay, is := store.(syncer); is {
		return foreignSyncer{guarded, canSay}
	}
	return guarded
}

func (s foreignStore) List(selector labels.Selector) (objects []kruntime.Object, err error) {
	s.call(func() { objects, err = s.store.List(selector) })
	return objects, err
}

func (s foreignStore) Get(key string) (object kruntime.Object, err error) {
	s.call(func() { object, err = s.store.Get(key) })
	return object, err
}

func (s foreignSyncer) HasSynced() (synced bool) {
	s.call(func() { synced = s.syncer.HasSynced() })
	return synced
}

// call does not return after a panic: the loop ends here.
func (s foreignStore) call(call func()) {
	s.turn.leave("the pod store")
	err := guarded(call)
	s.turn.comeBack()
	if err != nil {
		s.fail(fmt.Errorf("%w: %T: %w", ErrStorePanicked, s.store, err))
		runtime.Goexit()
	}
}
