package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/samber/lo"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/haproxy-discovery/haproxy-discovery/cmd/haproxy-discovery/internal/podstream"
	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
	"github.com/haproxy-discovery/haproxy-discovery/shell/timeline"
)

// syncSilence is the silence after an object that counts as the end of the initial pods: a plain
// `kubectl get --watch` does not tell where they end.
const syncSilence = time.Second

// streamFeed feeds a component from a stream of pods and a directory of credentials.
type streamFeed struct {
	pods        io.Reader
	namespace   string
	credentials *credentialsFeed
	logger      *slog.Logger
	closePods   func()
	// live tells that the pods do not come from a regular file.
	live bool
	// podSource is set by attach.
	podSource *podSource
}

func (f *runFlags) openStream(in io.Reader, logger *slog.Logger) (*streamFeed, error) {
	credentials, err := openCredentialsDir(f.credentialsDir, logger)
	if err != nil {
		return nil, err
	}
	pods, closePods, err := openPods(f.podsFrom, in)
	if err != nil {
		return nil, err
	}
	return &streamFeed{
		pods: pods, live: !isRegular(pods), namespace: f.namespace, credentials: credentials,
		logger: logger, closePods: closePods,
	}, nil
}

// attach implements feed.
func (f *streamFeed) attach(component *shell.Component) []task {
	credentials := f.credentials.attach(component)
	f.podSource = newPodSource(f.pods, f.namespace, component, f.logger)
	f.podSource.live = f.live
	return []task{{f.podSource.shown().Name, f.podSource.run}, credentials}
}

// lastContact implements feed.
func (f *streamFeed) lastContact() time.Time { return f.podSource.lastContact() }

// sources implements feed.
func (f *streamFeed) sources() []timeline.Source {
	return []timeline.Source{f.podSource.shown(), f.credentials.shown()}
}

// close implements feed.
func (f *streamFeed) close() { f.closePods() }

// podSource takes the pods out of the stream.
type podSource struct {
	items     *podstream.Reader
	namespace string
	store     *podstream.Store
	component *shell.Component
	logger    *slog.Logger
	// begun tells that the stream has held a pod or a list.
	begun bool
	// live tells that the stream can tell more: it is a pipe, not a file.
	live bool
	// skipped counts the objects that made no sense, foreign those of other namespaces.
	skipped, foreign atomic.Int64
	// endedAt is when the stream has ended; nil before.
	endedAt atomic.Pointer[time.Time]
}

func newPodSource(
	pods io.Reader, namespace string, component *shell.Component, logger *slog.Logger,
) *podSource {
	s := &podSource{
		items:     podstream.NewReader(pods),
		namespace: namespace,
		store:     podstream.NewStore(),
		component: component,
		logger:    logger,
	}
	// The sync is told by synced alone, and once: the store itself cannot say, so that it makes no
	// difference whether the stream or the component is faster.
	component.SetPodStore(struct{ shell.PodStore }{s.store})
	return s
}

// run feeds the component until ctx ends; the end of the stream ends nothing but the feeding. The
// reading goroutine cannot be interrupted: it ends with its input or with the program.
func (s *podSource) run(ctx context.Context) error {
	items := make(chan podstream.Item)
	readError := make(chan error, 1)
	go func() {
		defer close(items)
		for {
			item, err := s.items.Next()
			if err != nil {
				if !errors.Is(err, io.EOF) {
					readError <- fmt.Errorf("reading pods: %w", err)
				}
				return
			}
			select {
			case items <- item:
			case <-ctx.Done():
				return
			}
		}
	}()
	silence := time.NewTimer(syncSilence)
	silence.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-silence.C:
			s.synced("silence after the first objects")
		case item, more := <-items:
			if !more {
				return s.ended(ctx, readError)
			}
			if s.take(item) {
				s.begun = true
				if !s.store.HasSynced() {
					silence.Reset(syncSilence)
				}
			}
		}
	}
}

// ended: the fleet as it was told so far stands.
func (s *podSource) ended(ctx context.Context, readError <-chan error) error {
	select {
	case err := <-readError:
		return err
	default:
	}
	now := time.Now()
	s.endedAt.Store(&now)
	if s.live {
		s.logger.Warn("the stream of pods has ended; the last fleet stands, and nothing more is learned")
	}
	if !s.begun {
		s.logger.Warn("the input has ended without a single list or pod; the fleet counts as empty")
	}
	s.synced("end of input")
	<-ctx.Done()
	return nil
}

// take applies one item and tells whether it was an object of pods.
func (s *podSource) take(item podstream.Item) bool {
	switch item := item.(type) {
	case podstream.Problem:
		if item.Harmless {
			s.logger.Info("pod stream", "note", item.String())
		} else {
			s.logger.Warn("pod stream", "skipped", item.String())
			s.skipped.Add(1)
		}
		return false
	case podstream.InitialEventsEnd:
		s.synced("end of the initial events")
		return false
	case podstream.ListItem:
		s.apply(podstream.ListItem{Pods: lo.Filter(item.Pods,
			func(pod *unstructured.Unstructured, _ int) bool { return s.ours(pod) })})
		s.synced("list")
	case podstream.PodChanged:
		if s.ours(item.Pod) {
			s.apply(item)
		}
	case podstream.PodDeleted:
		s.apply(item)
	}
	return true
}

// shown is the stream on the status page and in the metrics. A file that has been read is fine; a
// stream that was cut off learns nothing more.
func (s *podSource) shown() timeline.Source {
	source := timeline.Source{Kind: timeline.PodSource, Name: "stream of pods", State: "being read"}
	if s.endedAt.Load() != nil {
		source.State = "has ended"
		if s.live {
			source.Error = "nothing more is learned; is whoever wrote it still there?"
		}
	}
	if skipped := s.skipped.Load(); skipped > 0 {
		source.State += fmt.Sprintf(", %d objects skipped", skipped)
	}
	return source
}

// lastContact is when the stream could last have told of a change.
func (s *podSource) lastContact() time.Time {
	if ended := s.endedAt.Load(); ended != nil && s.live {
		return *ended
	}
	return time.Now()
}

func (s *podSource) ours(pod *unstructured.Unstructured) bool {
	if s.namespace == "" || pod.GetNamespace() == s.namespace {
		return true
	}
	if s.foreign.Add(1) == 1 {
		s.logger.Warn("pods of other namespaces are left out", "namespace", s.namespace,
			"first", pod.GetNamespace()+"/"+pod.GetName())
	}
	return false
}

func (s *podSource) apply(item podstream.Item) {
	s.component.HandleEvent(shell.ResourceIndexUpdated{
		Resource: core.HAProxyPods, Keys: s.store.Apply(item),
	})
}

// synced tells the component once that the initial pods are complete.
func (s *podSource) synced(by string) {
	if !s.store.HasSynced() {
		s.store.MarkSynced()
		pods, _ := s.store.List(labels.Everything())
		s.logger.Info("initial pods are complete", "by", by, "pods", len(pods))
		s.component.HandleEvent(shell.ResourceSyncComplete{Resource: core.HAProxyPods})
	}
}
