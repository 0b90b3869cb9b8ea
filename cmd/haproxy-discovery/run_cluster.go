package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
	"github.com/haproxy-discovery/haproxy-discovery/shell/kubernetes"
	"github.com/haproxy-discovery/haproxy-discovery/shell/timeline"
)

// onceLimit is how long --once waits for a contact that is lost after the start; a variable for tests.
var onceLimit = 15 * time.Second

const (
	// startLimit bounds the checks before the start.
	startLimit = 5 * time.Second
	// answerGrace is for a check that heeds the limit, to say what it has waited for.
	answerGrace = 200 * time.Millisecond
)

// clusterFeed feeds a component from a cluster: pods, credentials, leadership.
type clusterFeed struct {
	cluster *kubernetes.Cluster
	pods    *kubernetes.Pods
	logger  *slog.Logger
	// once does not wait for a server that is lost before the sync.
	once bool
	// Credentials come from either of these.
	secret *kubernetes.CredentialsSecret
	dir    *credentialsFeed
	// first are the credentials that the Secret has held at the start, if it could be read.
	first core.Credentials
	// leadership is nil without --leader-elect.
	leadership *kubernetes.Leadership
}

// openCluster connects and checks that everything is there and permitted. An API server that is out
// of reach ends the program only with --once: a replica that restarts during an outage had better
// wait for it, without being ready, than crash over and over.
func (f *runFlags) openCluster(ctx context.Context, logger *slog.Logger) (*clusterFeed, error) {
	kubernetes.LogClientTo(logger)
	cluster, err := kubernetes.Connect(kubernetes.Access{
		Kubeconfig: f.cluster.kubeconfig, Context: f.cluster.context, Namespace: f.namespace,
	}, "haproxy-discovery")
	if errors.Is(err, kubernetes.ErrNoCluster) {
		return nil, usagef("run: %w; give --kubeconfig FILE, or pods with --pods-from FILE", err)
	}
	if err != nil {
		return nil, usage(err)
	}
	feed := &clusterFeed{
		cluster: cluster, logger: logger, once: f.once,
		pods: kubernetes.NewPods(cluster, f.selector, logger),
	}
	feed.pods.AuditEvery(f.cluster.auditInterval)
	if err := f.openOnCluster(feed); err != nil {
		return nil, err
	}
	if err := feed.check(ctx); err != nil {
		if !isOutOfReach(err) {
			return nil, usage(err)
		}
		if f.once {
			return nil, err
		}
		logger.Warn("the API server is out of reach at the start; trying again until it is not",
			"error", err)
	}
	if ctx.Err() != nil {
		return feed, nil // nothing was found out, and nothing will be begun
	}
	logger.Info("following a cluster", "server", cluster.Server, "namespace", cluster.Namespace,
		"selector", f.selector)
	return feed, nil
}

func (f *runFlags) openOnCluster(feed *clusterFeed) (err error) {
	namespace := feed.cluster.Namespace
	if f.credentialsDir != "" {
		if feed.dir, err = openCredentialsDir(f.credentialsDir, feed.logger); err != nil {
			return err
		}
	} else {
		secret := cmp.Or(f.cluster.credentialsSecret, defaultCredentialsSecret)
		name, err := kubernetes.ParseName(secret, namespace)
		if err != nil {
			return usagef("--credentials-secret: %w", err)
		}
		feed.secret = kubernetes.NewCredentialsSecret(feed.cluster, name, feed.logger)
	}
	if !f.cluster.leaderElect {
		return nil
	}
	election := f.cluster.election
	lease := cmp.Or(f.cluster.leaseNamespace, namespace) + "/" + f.cluster.leaseName
	if election.Lease, err = kubernetes.ParseName(lease, namespace); err != nil {
		return usagef("--leader-elect-resource-name: %w", err)
	}
	if election.Identity == "" {
		if election.Identity, err = kubernetes.DefaultIdentity(); err != nil {
			return usagef("--leader-elect-identity: %w", err)
		}
	}
	if feed.leadership, err = kubernetes.NewLeadership(feed.cluster, election, feed.logger); err != nil {
		return usage(err)
	}
	return nil
}

// errNoAnswer is wrapped by the error of a check that has not even failed.
var errNoAnswer = errors.New("no answer")

func (c *clusterFeed) noAnswer() error {
	return fmt.Errorf("%w from %s within %v: neither the API server nor the kubeconfig's "+
		"credential plugin, if there is one, has come to an end", errNoAnswer, c.cluster.Server, startLimit)
}

// isOutOfReach tells whether trying again may help.
func isOutOfReach(err error) bool {
	var failure *kubernetes.Failure
	return errors.Is(err, errNoAnswer) || errors.As(err, &failure) && failure.Unreachable()
}

// check asks for everything at once; of several failures it gives one that trying again will not
// mend, if there is any. What does not answer is left behind: client-go does not end a credential
// plugin with the context.
func (c *clusterFeed) check(signalled context.Context) error {
	ctx, cancel := context.WithTimeout(signalled, startLimit)
	defer cancel()
	checks := []func(context.Context) error{c.pods.Check}
	first := make(chan core.Credentials, 1)
	if c.secret != nil {
		checks = append(checks, func(ctx context.Context) error {
			credentials, err := c.secret.Read(ctx)
			first <- credentials
			return err
		})
	}
	if c.leadership != nil {
		checks = append(checks, c.leadership.Check)
	}
	failures := make([]chan error, len(checks)) // in the order of the checks
	for i, check := range checks {
		failures[i] = make(chan error, 1)
		go func() { failures[i] <- check(ctx) }()
	}
	waiting, stop := context.WithTimeout(signalled, startLimit+answerGrace)
	defer stop()
	var outOfReach error
	for _, failure := range failures {
		err, answered := await(failure, waiting.Done())
		switch {
		case signalled.Err() != nil:
			return nil
		case !answered:
			err = c.noAnswer()
		case err != nil && !isOutOfReach(err):
			return err
		}
		outOfReach = cmp.Or(outOfReach, err)
	}
	select {
	case c.first = <-first:
	default:
	}
	return outOfReach
}

// attach implements feed.
func (c *clusterFeed) attach(component *shell.Component) []task {
	component.SetPodStore(c.pods)
	feeding := func(source timeline.Source, run func(context.Context, func(event any)) error) task {
		return task{source.Name, func(ctx context.Context) error {
			return run(ctx, component.HandleEvent)
		}}
	}
	tasks := []task{feeding(c.pods.Source(), c.pods.Run)}
	if c.dir != nil {
		tasks = append(tasks, c.dir.attach(component))
	} else {
		if !c.first.IsZero() {
			component.HandleEvent(core.CredentialsUpdated{Credentials: c.first})
		}
		tasks = append(tasks, feeding(c.secret.Source(), c.secret.Run))
	}
	if c.leadership != nil {
		tasks = append(tasks, feeding(c.leadership.Source(), c.leadership.Run))
	}
	if c.once {
		tasks = append(tasks, task{"contact with the API server", c.awaitSync})
	}
	return tasks
}

// awaitSync ends with an error once the API server has been out of contact for onceLimit before the
// initial list was complete: who asks once does not wait.
func (c *clusterFeed) awaitSync(ctx context.Context) error {
	tick := time.NewTicker(onceLimit / 20)
	defer tick.Stop()
	began := time.Now()
	for {
		now, view := time.Now(), c.pods.View()
		silent := view.Age(now)
		if silent < 0 {
			silent = now.Sub(began)
		}
		switch {
		case view.Synced:
			<-ctx.Done()
			return nil
		case silent > onceLimit:
			return fmt.Errorf("no contact with the API server for %v: %s", onceLimit,
				cmp.Or(view.LastError, c.cluster.Server+" does not answer"))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// lastContact implements feed.
func (c *clusterFeed) lastContact() time.Time { return c.pods.View().LastContact }

// sources implements feed.
func (c *clusterFeed) sources() []timeline.Source {
	sources := []timeline.Source{c.pods.Source()}
	if c.dir != nil {
		sources = append(sources, c.dir.shown())
	} else {
		sources = append(sources, c.secret.Source())
	}
	if c.leadership != nil {
		sources = append(sources, c.leadership.Source())
	}
	return sources
}

// close implements feed.
func (c *clusterFeed) close() { c.cluster.Close() }
