package e2e

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/haproxy-discovery/haproxy-discovery/shell/kubernetes/e2e/internal/testbed"
)

// newProxy is a network between discovery and the API server.
func newProxy(t *testing.T, w *world) *testbed.Proxy {
	t.Helper()
	proxy := testbed.NewProxy(w.controlPlane.Address())
	check(t, proxy.Restore())
	t.Cleanup(proxy.Cut)
	return proxy
}

// newControlPlane is an API server for one test, which may do with it what it likes.
func newControlPlane(t *testing.T, flags ...string) *testbed.ControlPlane {
	t.Helper()
	controlPlane, err := testbed.NewControlPlane(flags...)
	check(t, err)
	t.Cleanup(func() { _ = controlPlane.Close() })
	check(t, controlPlane.Start(t.Context()))
	return controlPlane
}

// A server that hangs behind an open connection is missed within a minute.
func TestAPIServerHangs(t *testing.T) {
	t.Parallel()
	controlPlane := newControlPlane(t)
	w := newWorldOn(t, controlPlane, nil)
	pods := w.launchMany(3)
	d := w.discover(ticking...)
	d.AwaitPods(pods...)

	check(t, controlPlane.Freeze())
	d.AwaitLog("the connection was lost")
	expectSteady(t, d)
	mark := d.Mark()
	check(t, controlPlane.Thaw())
	check(t, pods[1].Remove(w.ctx))
	d.AwaitPods(pods[0], pods[2])
	expectTerminations(t, d, mark, pods[1])
}

// The watch is taken up where it was cut: the server still has what was missed.
func TestDeletionMissedWhileCut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	proxy := newProxy(t, w)
	pods := w.launchMany(3)
	d := w.discoverAs(testbed.Access{Server: proxy.Address()})
	d.AwaitPods(pods...)

	proxy.Cut()
	mark := d.Mark()
	check(t, pods[1].Remove(w.ctx))
	d.AwaitLog("no contact with the API server")
	if events := d.Since(mark, func(testbed.Event) bool { return true }); len(events) > 0 {
		t.Errorf("out of contact, the fleet changes: %+v", events)
	}
	check(t, proxy.Restore())
	d.AwaitPods(pods[0], pods[2])
	expectTerminations(t, d, mark, pods[1])
}

// The server no longer has what was missed, and answers 410 Gone. Only the difference between what
// discovery knew and a new list shows that a pod is gone, that one was replaced, and that one is
// new.
func TestRelistAfter410Gone(t *testing.T) {
	t.Parallel()
	// Without a cache, the server watches etcd, whose history the test can cut off.
	controlPlane := newControlPlane(t, "--watch-cache-sizes=pods#0")
	w := newWorldOn(t, controlPlane, nil)
	proxy := newProxy(t, w)
	pods := w.launchMany(3)
	d := w.discoverAs(testbed.Access{Server: proxy.Address()})
	d.AwaitPods(pods...)

	proxy.Cut()
	mark := d.Mark()
	list, err := w.client.CoreV1().Pods(w.namespace).List(w.ctx, metav1.ListOptions{})
	check(t, err)
	check(t, pods[0].Remove(w.ctx))
	check(t, pods[1].Remove(w.ctx))
	replacement := w.launch(testbed.Wish{Name: pods[1].Name, IP: pods[1].IP})
	added := w.launch(testbed.Wish{Name: "added"})
	forgetHistory(t, w)
	expectGone(t, w, list.ResourceVersion)

	check(t, proxy.Restore())
	d.AwaitPods(replacement, pods[2], added)
	expectTerminations(t, d, mark, pods[0], pods[1])
	causes := map[string]string{pods[0].UID: "deleted", pods[1].UID: "replaced"}
	for _, event := range d.Since(mark, isTerminated) {
		if event.Cause != causes[event.UID] {
			t.Errorf("%s: terminated because %s, want %s", event.Name, event.Cause, causes[event.UID])
		}
	}
}

// forgetHistory makes etcd forget all but the present state.
func forgetHistory(t *testing.T, w *world) {
	t.Helper()
	etcd, err := clientv3.New(clientv3.Config{
		Endpoints: []string{"unix://" + w.controlPlane.EtcdSocket()}, DialTimeout: testbed.Patience,
	})
	check(t, err)
	defer etcd.Close()
	ctx, cancel := context.WithTimeout(w.ctx, testbed.Patience)
	defer cancel()
	now, err := etcd.Get(ctx, "/")
	check(t, err)
	_, err = etcd.Compact(ctx, now.Header.Revision, clientv3.WithCompactPhysical())
	check(t, err)
}

// expectGone: a watch from this version on is refused.
func expectGone(t *testing.T, w *world, version string) {
	t.Helper()
	watcher, err := w.client.CoreV1().Pods(w.namespace).Watch(w.ctx, metav1.ListOptions{
		ResourceVersion: version,
	})
	if err == nil {
		defer watcher.Stop()
		select {
		case event := <-watcher.ResultChan():
			if event.Type == watch.Error {
				err = apierrors.FromObject(event.Object)
			}
		case <-time.After(testbed.Patience):
		}
	}
	if !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
		t.Fatalf("a watch from version %s is answered %v, want 410 Gone", version, err)
	}
}

// A rollout is under way when the server dies and when it comes back, in the middle of its writes.
// Nobody knows then which of them have got through; so each attempt makes a pod of another name.
func TestAPIServerKilledUnderLoad(t *testing.T) {
	t.Parallel()
	controlPlane := newControlPlane(t)
	w := newWorldOn(t, controlPlane, nil)
	old := w.launchMany(40)
	d := w.discover(ticking...)
	d.AwaitPods(old...)

	rollout := d.Mark()
	updated := make([]*testbed.Pod, len(old))
	var rolled atomic.Int64
	var group errgroup.Group
	group.SetLimit(4)
	rolling := make(chan error, 1)
	go func() {
		for i := range old {
			group.Go(func() (err error) {
				updated[i], err = w.replaceInTheEnd(old[i], i)
				rolled.Add(1)
				return err
			})
		}
		rolling <- group.Wait()
	}()
	testbed.Eventually(t, "a quarter of the rollout", func() bool {
		return rolled.Load() >= int64(len(old))/4
	})
	controlPlane.Kill()
	d.AwaitLog("no contact with the API server")
	expectSteady(t, d)
	check(t, controlPlane.Start(w.ctx))
	check(t, <-rolling)
	d.AwaitPods(updated...)
	expectTerminatedOnce(t, d, rollout, old...)
}

// replaceInTheEnd replaces a pod however long each step takes.
func (w *world) replaceInTheEnd(old *testbed.Pod, i int) (updated *testbed.Pod, err error) {
	name, attempt := "", 0
	err = persist(w.ctx, func() (err error) {
		if attempt > 0 { // who knows how far the last one has got
			if err := w.forceDelete(name); err != nil {
				return err
			}
		}
		attempt++
		name = fmt.Sprintf("haproxy-new-%d-%d", i, attempt)
		updated, err = w.kubelet.Launch(w.ctx, testbed.Wish{Name: name})
		return err
	})
	if err != nil {
		return nil, err
	}
	return updated, persist(w.ctx, func() error { return ignoreMissing(old.Remove(w.ctx)) })
}

func (w *world) forceDelete(name string) error {
	return ignoreMissing(w.client.CoreV1().Pods(w.namespace).
		Delete(w.ctx, name, *metav1.NewDeleteOptions(0)))
}

func ignoreMissing(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// expectSteady: drift ticks go on looking at every pod, and change nothing for want of news. What
// the server had announced before it was gone may come before the first of them. The program was
// started with ticking.
func expectSteady(t *testing.T, d *testbed.Discovery) {
	t.Helper()
	d.Await(d.Mark(), "a drift tick", isDriftTick)
	mark := d.Mark()
	for next := mark; next < mark+3; next++ {
		d.Await(next, "a drift tick", isDriftTick)
	}
	for _, event := range d.Since(mark, func(testbed.Event) bool { return true }) {
		if !isDriftTick(event) || len(event.Added)+len(event.Removed)+len(event.Updated) > 0 {
			t.Errorf("though nothing was heard: %+v", event)
		}
	}
}

// ticking are the flags for drift ticks that a test can wait for.
var ticking = []string{"--drift-interval", "500ms"}

func isDriftTick(event testbed.Event) bool { return event.Trigger == "drift_prevention_triggered" }
