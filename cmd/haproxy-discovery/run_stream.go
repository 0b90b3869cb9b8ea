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

// podStreamProblem counts what was skipped in the stream.
const podStreamProblem shell.ProblemKind = "pod_stream"

// streamFeed feeds a component from a stream of pods and a directory of credentials.
type streamFeed struct {
	pods        io.Reader
	namespace   string
	credentials *credentialsFeed
	logger      *slog.Logger
	closePods   func()
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
		pods: pods, namespace: f.namespace, credentials: credentials, logger: logger,
		closePods: closePods,
	}, nil
}

// attach implements feed.
func (f *streamFeed) attach(component *shell.Component) []activity {
	credentials := f.credentials.attach(component)
	f.podSource = newPodSource(f.pods, f.namespace, component, f.logger)
	return []activity{f.podSource.run, credentials}
}

// age implements feed.
func (f *streamFeed) age(driftInterval time.Duration) (func() time.Time, time.Duration) {
	return nil, staleIntervals * driftInterval
}

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
	// over tells that the stream has ended.
	over atomic.Bool
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
	s.over.Store(true)
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
			s.component.Report(shell.Problem{Kind: podStreamProblem, Err: errors.New(item.String())})
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

// shown is the stream on the status page and in the metrics. That it ends is no error: what it
// has told stands, and a drift pass reads it again.
func (s *podSource) shown() timeline.Source {
	state := "being read"
	if s.over.Load() {
		state = "has ended"
	}
	return timeline.Source{Kind: timeline.PodSource, Name: "stream of pods", State: state}
}

func (s *podSource) ours(pod *unstructured.Unstructured) bool {
	return s.namespace == "" || pod.GetNamespace() == s.namespace
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
