package main

import (
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/effects"
	"github.com/haproxy-discovery/haproxy-discovery/shell"
	"github.com/haproxy-discovery/haproxy-discovery/shell/kubernetes"
)

// What is followed on a cluster unless told otherwise.
const (
	defaultSelector          = "app.kubernetes.io/component=loadbalancer"
	defaultCredentialsSecret = "haproxy-credentials"
	defaultLease             = "haproxy-discovery"
)

// minAuditInterval spares the API server.
const minAuditInterval = time.Second

type runFlags struct {
	podsFrom       string
	selector       string
	namespace      string
	credentialsDir string
	cluster        clusterFlags

	agentPort      int
	agentScheme    string
	agentTLS       effects.TLSFiles
	agentContainer string

	probing       core.Config
	driftInterval time.Duration
	record        string
	listen        string
	checked       bool
	once          bool
	output        string
	logLevel      string
}

// clusterFlags make no sense with --pods-from.
type clusterFlags struct {
	kubeconfig        string
	context           string
	auditInterval     time.Duration
	credentialsSecret string
	leaderElect       bool
	leaseName         string
	leaseNamespace    string
	election          kubernetes.Election
}

func (f *runFlags) register(set *pflag.FlagSet) {
	set.StringVar(&f.podsFrom, "pods-from", "",
		"read pods from `FILE`, or - for standard input, as kubectl get pods -o json prints them "+
			"(default: follow a cluster)")
	set.StringVarP(&f.selector, "selector", "l", "",
		"label selector of the pods (default "+defaultSelector+"; with --pods-from all pods given)")
	set.StringVarP(&f.namespace, "namespace", "n", "",
		"namespace of the pods (default the context's or the pod's; with --pods-from all pods given)")
	set.StringVar(&f.credentialsDir, "credentials-dir", "",
		"directory `DIR` with the files dataplane_username and dataplane_password")

	set.IntVar(&f.agentPort, "agent-port", 5555, "port of the agents")
	set.StringVar(&f.agentScheme, "agent-scheme", "http", "http or https")
	set.StringVar(&f.agentTLS.CA, "agent-ca", "", "PEM file with the CA of the agents' certificates")
	set.StringVar(&f.agentTLS.Certificate, "agent-cert", "", "PEM file with the client certificate")
	set.StringVar(&f.agentTLS.Key, "agent-key", "", "PEM file with the client certificate's key")
	set.StringVar(&f.agentTLS.ServerName, "agent-server-name", "",
		"name in the agents' certificates (default the pod's IP address)")
	set.StringVar(&f.agentContainer, "agent-container", "agent", "name of the agent's container")

	addProbingFlags(set, &f.probing)
	set.DurationVar(&f.driftInterval, "drift-interval", shell.DefaultDriftInterval,
		"time between two complete looks at all pods; 0 for never")
	set.StringVar(&f.record, "record", "", "record every input to a file, for replay")
	checkInvariantsFlag(set, &f.checked)
	addListenFlag(set, &f.listen)
	set.BoolVar(&f.once, "once", false,
		"end when every candidate's first attempt has a verdict that was published")
	set.StringVarP(&f.output, "output", "o", "", "json or text (default text on a terminal, else json)")
	set.StringVar(&f.logLevel, "log-level", "info", "debug, info, warn or error")
	f.cluster.register(set)
}

func (f *clusterFlags) register(set *pflag.FlagSet) {
	set.StringVar(&f.kubeconfig, "kubeconfig", "",
		"kubeconfig `FILE` (default $KUBECONFIG, ~/.kube/config, or the pod's service account)")
	set.StringVar(&f.context, "context", "", "context of the kubeconfig (default the current one)")
	set.DurationVar(&f.auditInterval, "audit-interval", kubernetes.DefaultAuditInterval,
		"time between two comparisons of the pods cached with those of the API server; 0 for never")
	set.StringVar(&f.credentialsSecret, "credentials-secret", "",
		"Secret with the keys dataplane_username and dataplane_password, as `NAME` or namespace/name "+
			"(default "+defaultCredentialsSecret+" in the pods' namespace)")
	set.BoolVar(&f.leaderElect, "leader-elect", false,
		"elect a leader among replicas; all discover, and a new leader tells its last fleet again")
	set.DurationVar(&f.election.LeaseDuration, "leader-elect-lease-duration",
		kubernetes.DefaultLeaseDuration, "how long the others wait for a leader that is not heard of")
	set.DurationVar(&f.election.RenewDeadline, "leader-elect-renew-deadline",
		kubernetes.DefaultRenewDeadline, "how long a leader tries to renew before it gives up")
	set.DurationVar(&f.election.RetryPeriod, "leader-elect-retry-period",
		kubernetes.DefaultRetryPeriod, "time between two tries")
	set.StringVar(&f.leaseName, "leader-elect-resource-name", defaultLease, "name of the Lease")
	set.StringVar(&f.leaseNamespace, "leader-elect-resource-namespace", "",
		"namespace of the Lease (default the pods' namespace)")
	set.StringVar(&f.election.Identity, "leader-elect-identity", "",
		"name of this replica (default the host's name and something unique)")
}

// check finds what is wrong with the flags alone, and fills in the defaults that depend on others.
func (f *runFlags) check(set *pflag.FlagSet) error {
	switch {
	case f.agentPort < 1 || f.agentPort > 65535:
		return usagef("--agent-port %d is not between 1 and 65535", f.agentPort)
	case f.agentContainer == "":
		return usagef("--agent-container is empty")
	case f.agentScheme != "http" && f.agentScheme != "https":
		return usagef("--agent-scheme %q is neither http nor https", f.agentScheme)
	case f.driftInterval < 0:
		return usagef("--drift-interval %v is negative", f.driftInterval)
	}
	if _, err := labels.Parse(f.selector); err != nil {
		return usagef("--selector %q: %w", f.selector, err)
	}
	if err := checkProbing(set, &f.probing); err != nil {
		return err
	}
	if _, err := newLogger(io.Discard, f.logLevel); err != nil {
		return err
	}
	if _, err := formatOf(f.output, io.Discard); err != nil {
		return err
	}
	if err := f.checkTLS(set); err != nil {
		return err
	}
	if f.podsFrom != "" {
		return f.checkStream(set)
	}
	return f.checkCluster(set)
}

// checkTLS refuses what would be ignored while the password goes out in the clear, and half of a
// client certificate.
func (f *runFlags) checkTLS(set *pflag.FlagSet) error {
	if f.agentScheme == "https" {
		if set.Changed("agent-cert") != set.Changed("agent-key") {
			return usagef("--agent-cert and --agent-key go together, and only one of them is given")
		}
		return nil
	}
	return misplaced(set, "without --agent-scheme https", func(name string) bool {
		return slices.Contains([]string{"agent-ca", "agent-cert", "agent-key", "agent-server-name"}, name)
	})
}

// misplaced names the first flag given, in the order of names, that makes no sense here.
func misplaced(set *pflag.FlagSet, here string, is func(name string) bool) (err error) {
	set.Visit(func(flag *pflag.Flag) {
		if err == nil && is(flag.Name) {
			err = usagef("--%s makes no sense %s", flag.Name, here)
		}
	})
	return err
}

func (f *runFlags) checkStream(set *pflag.FlagSet) error {
	var ofCluster clusterFlags
	only := pflag.NewFlagSet("", pflag.ContinueOnError)
	ofCluster.register(only)
	err := misplaced(set, "with --pods-from", func(name string) bool { return only.Lookup(name) != nil })
	switch {
	case err != nil:
		return err
	case f.credentialsDir == "":
		return usagef("--credentials-dir is required with --pods-from: a directory with the files " +
			"dataplane_username and dataplane_password")
	case f.namespace != "":
		if problems := validation.IsDNS1123Label(f.namespace); len(problems) > 0 {
			return usagef("--namespace %q: %s", f.namespace, problems[0])
		}
	}
	return nil
}

func (f *runFlags) checkCluster(set *pflag.FlagSet) error {
	if !set.Changed("selector") {
		f.selector = defaultSelector
	}
	err := misplaced(set, "without --leader-elect", func(name string) bool {
		return strings.HasPrefix(name, "leader-elect-") && !set.Changed("leader-elect")
	})
	switch {
	case err != nil:
		return err
	case f.cluster.auditInterval < 0:
		return usagef("--audit-interval %v is negative", f.cluster.auditInterval)
	case f.cluster.auditInterval > 0 && f.cluster.auditInterval < minAuditInterval:
		return usagef("--audit-interval %v is below %v", f.cluster.auditInterval, minAuditInterval)
	case f.credentialsDir != "" && f.cluster.credentialsSecret != "":
		return usagef("--credentials-dir and --credentials-secret exclude each other")
	case f.cluster.leaderElect && f.once:
		return usagef("--leader-elect makes no sense with --once")
	case f.cluster.leaderElect:
		if err := f.cluster.election.Validate(); err != nil {
			return usagef("--leader-elect: %w", err)
		}
	}
	return nil
}
