package main

import (
	"errors"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/haproxy-discovery/haproxy-discovery/cmd/haproxy-discovery/internal/manifests"
	"github.com/haproxy-discovery/haproxy-discovery/shell/kubernetes"
)

type manifestsFlags struct {
	options  manifests.Options
	selector string
	alerts   string
}

func newManifestsCommand(std streams) *cobra.Command {
	var flags manifestsFlags
	cmd := &cobra.Command{
		Use:                   "manifests -n NAMESPACE --image IMAGE [flags] [-- FLAGS OF run]",
		DisableFlagsInUseLine: true,
		Short:                 "Prints the objects that run discovery in a cluster",
		Long: `Prints, as YAML for kubectl apply, what it takes to run two replicas beside a fleet: a
ServiceAccount, a Role with no more than is needed, a Deployment and a Service for metrics. What comes
behind -- is given to run in the Deployment, unless it contradicts the rest; files that it names have to
be in the image, or in a volume that you add.

The image is one whose entry point is this program, for instance what "ko build ./cmd/haproxy-discovery"
makes of the sources without a Dockerfile. The Secret has the keys dataplane_username and
dataplane_password; create it first.`,
		Example: `  haproxy-discovery manifests -n lb --image registry.example/haproxy-discovery:1.0 \
      -- --agent-port 5556 | kubectl apply -f -
  haproxy-discovery manifests -n lb --alerts PrometheusRule | kubectl apply -f -`,
		RunE: func(cmd *cobra.Command, extra []string) error {
			if err := flags.checkAlerts(cmd.Flags(), extra); err != nil {
				return err
			}
			return flags.print(std.out, extra)
		},
	}
	set := cmd.Flags()
	set.StringVarP(&flags.options.Namespace, "namespace", "n", "", "namespace of the fleet (required, but for --alerts rules)")
	set.StringVar(&flags.options.Image, "image", "", "image to run (required, but for --alerts)")
	set.StringVarP(&flags.selector, "selector", "l", defaultSelector, "label selector of the pods")
	set.StringVar(&flags.options.CredentialsSecret, "credentials-secret", defaultCredentialsSecret,
		"`NAME` of the Secret in that namespace")
	set.StringVar(&flags.alerts, "alerts", "",
		"print alert rules instead: rules, a Prometheus rule file, or PrometheusRule, an object of its operator")
	completeFlags(cmd)
	return cmd
}

// checkAlerts refuses what alert rules have no place for.
func (f *manifestsFlags) checkAlerts(set *pflag.FlagSet, extra []string) error {
	switch {
	case f.alerts == "":
		return nil
	case f.alerts != "rules" && f.alerts != "PrometheusRule":
		return usagef("--alerts %q is neither rules nor PrometheusRule", f.alerts)
	case len(extra) > 0:
		return usagef("manifests: %q makes no sense with --alerts", extra[0])
	}
	return misplaced(set, "with --alerts", func(name string) bool {
		return name != "alerts" && name != "namespace"
	})
}

func (f *manifestsFlags) print(out io.Writer, extra []string) error {
	if f.alerts == "rules" && f.options.Namespace == "" {
		return write(out, manifests.AlertRules(""))
	}
	if f.options.Namespace == "" {
		return usagef("--namespace is required")
	}
	secret, err := kubernetes.ParseName(f.options.CredentialsSecret, f.options.Namespace)
	if err != nil {
		return usage(err)
	}
	switch {
	case secret.Namespace != f.options.Namespace || secret.Name != f.options.CredentialsSecret:
		return usagef("--credentials-secret %q is not a NAME in the namespace of the fleet",
			f.options.CredentialsSecret)
	case f.alerts == "rules":
		return write(out, manifests.AlertRules(f.options.Namespace))
	case f.alerts == "PrometheusRule":
		return write(out, manifests.PrometheusRule(f.options.Namespace))
	case f.options.Image == "":
		return usagef("--image is required")
	case strings.ContainsFunc(f.options.Image, unicode.IsSpace):
		return usagef("--image %q is no image", f.options.Image)
	}
	own := []string{
		"--listen=:8080", "--namespace=" + f.options.Namespace, "--selector=" + f.selector,
		"--credentials-secret=" + f.options.CredentialsSecret, "--leader-elect",
	}
	if err := checkRunArgs(own, extra); err != nil {
		return err
	}
	f.options.Args = slices.Concat([]string{"run"}, own, extra)
	yaml, err := manifests.Deployment(f.options)
	if err != nil {
		return err
	}
	return write(out, yaml)
}

const (
	giveBefore = "give it before the --"
	leaveLease = "leave it out; the Role permits one Lease, " + defaultLease + " beside the fleet"
	leaveFeed  = "leave it out; the cluster is the one that the pods run in, by their ServiceAccount"
)

// contradictions are the flags of run that the rest of the manifests depends on, with what to do.
var contradictions = map[string]string{
	"namespace":                       giveBefore,
	"selector":                        giveBefore,
	"credentials-secret":              giveBefore,
	"credentials-dir":                 "leave it out; give --credentials-secret before the --",
	"listen":                          "leave it out; the probes and the Service go by port 8080",
	"kubeconfig":                      leaveFeed,
	"context":                         leaveFeed,
	"pods-from":                       leaveFeed,
	"leader-elect":                    "leave it out; the two replicas elect a leader as it is",
	"leader-elect-resource-name":      leaveLease,
	"leader-elect-resource-namespace": leaveLease,
	"leader-elect-identity":           "leave it out; each replica needs one of its own",
	"once":                            "leave it out; a Deployment starts again what ends",
}

// checkRunArgs finds a slip here rather than in a pod that does not start, or is not found.
func checkRunArgs(own, extra []string) error {
	var run runFlags
	set := pflag.NewFlagSet("run", pflag.ContinueOnError)
	set.Usage = func() {}
	run.register(set)
	if err := set.Parse(extra); errors.Is(err, pflag.ErrHelp) {
		return usagef("manifests: --help behind --: leave it out")
	} else if err != nil {
		return usagef("manifests: flags of run: %w", err)
	}
	if set.NArg() > 0 {
		return usagef("manifests: unexpected argument %q", set.Arg(0))
	}
	var contradiction error
	set.Visit(func(flag *pflag.Flag) {
		if advice, found := contradictions[flag.Name]; found && contradiction == nil {
			contradiction = usagef("manifests: --%s behind --: %s", flag.Name, advice)
		}
	})
	if contradiction != nil {
		return contradiction
	}
	if err := set.Parse(own); err != nil {
		return err
	}
	return run.check(set)
}

func write(out io.Writer, text string) error {
	_, err := io.WriteString(out, text)
	return err
}
