package main

import (
	"cmp"
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
	once        bool
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
		pods: pods, once: f.once, namespace: f.namespace, credentials: credentials,
		logger: logger, closePods: closePods,
	}, nil
}

// attach implements feed.
func (f *streamFeed) attach(component *shell.Component) []task {
	credentials := f.credentials.attach(component)
	f.podSource = newPodSource(f.pods, f.namespace, component, f.logger)
	f.podSource.once = f.once
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
	// begun tells that the stream has told of pods, be it that there are none.
	begun bool
	// once tells that an input of which nothing was readable is a failure.
	once bool
	// firstProblem is the first thing in the stream that made no sense; empty if there was none.
	firstProblem string
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
			s.silent()
		case item, more := <-items:
			if !more {
				return s.ended(ctx, readError)
			}
			if s.take(item) {
				s.begun = true
				if !s.store.HasSynced() || s.store.LastList() == podstream.ListBegun {
					silence.Reset(syncSilence)
				}
			}
		}
	}
}

// silent: who lists in parts may still go on, so that the list is not given up.
func (s *podSource) silent() {
	s.warnOfPart()
	s.synced("silence after the first objects")
}

// warnOfPart: a list that has not gone on is believed in what it holds (R6).
func (s *podSource) warnOfPart() {
	if s.store.LastList() == podstream.ListBegun {
		s.logger.Warn("a list says that another part of it follows, and none has; it counts only for " +
			"the pods that it holds, none is gone for being absent")
	}
}

// ended: the fleet as it was told so far stands. An input that told of nothing is no empty cluster:
// whoever should have written it has failed.
func (s *podSource) ended(ctx context.Context, readError <-chan error) error {
	select {
	case err := <-readError:
		return err
	default:
	}
	now := time.Now()
	s.endedAt.Store(&now)
	s.warnOfPart()
	switch err := s.nothingReadable(); {
	case s.begun:
		if !s.once {
			s.logger.Warn(
				"the stream of pods has ended; the last fleet stands, and nothing more is learned")
		}
		s.synced("end of input")
	case s.once:
		return err
	default:
		s.logger.Error("the stream of pods has ended; nothing is probed or published", "error", err)
	}
	<-ctx.Done()
	return nil
}

// nothingReadable says what was there instead of pods.
func (s *podSource) nothingReadable() error {
	if s.firstProblem == "" {
		return errors.New("reading pods: the input is empty; see what became of kubectl -o json")
	}
	return fmt.Errorf("reading pods: nothing in the input was readable: %s", s.firstProblem)
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
			s.firstProblem = cmp.Or(s.firstProblem, item.String())
		}
		s.store.Apply(item)
		return false
	case podstream.InitialEventsEnd:
		s.begun = true
		s.synced("end of the initial events")
		return false
	case podstream.ListItem:
		return s.takeList(item)
	case podstream.PodChanged:
		if s.ours(item.Pod) {
			s.apply(item)
		}
	case podstream.PodDeleted:
		s.apply(item)
	}
	return true
}

// takeList: only a whole list tells that the initial pods are complete.
func (s *podSource) takeList(list podstream.ListItem) (readable bool) {
	readable = len(list.Pods) > 0 || !list.Lossy
	list.Pods = lo.Filter(list.Pods,
		func(pod *unstructured.Unstructured, _ int) bool { return s.ours(pod) })
	s.apply(list)
	switch s.store.LastList() {
	case podstream.ListWhole:
		s.synced("list")
	case podstream.ListLossy:
		s.logger.Warn("a list could not be read as a whole; it counts only for the pods that were " +
			"read, none is gone for being absent")
	}
	return readable
}

// shown is the stream on the status page and in the metrics: one that has ended learns nothing more.
func (s *podSource) shown() timeline.Source {
	source := timeline.Source{Kind: timeline.PodSource, Name: "stream of pods", State: "being read"}
	if s.endedAt.Load() != nil {
		source.State = "has ended"
		source.Error = "nothing more is learned; is whoever wrote it still there?"
	}
	if skipped := s.skipped.Load(); skipped > 0 {
		source.State += fmt.Sprintf(", %d objects skipped", skipped)
	}
	return source
}

// lastContact is when the stream could last have told of a change.
func (s *podSource) lastContact() time.Time {
	if ended := s.endedAt.Load(); ended != nil {
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
	if keys := s.store.Apply(item); len(keys) > 0 { // an event without keys would mean all pods
		s.component.HandleEvent(shell.ResourceIndexUpdated{Resource: core.HAProxyPods, Keys: keys})
	}
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
