package main

import (
	"io"

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
		Use:   "manifests -n NAMESPACE --image IMAGE [-- FLAGS OF run]",
		Short: "Prints the objects that run discovery in a cluster",
		Long: `Prints, as YAML for kubectl apply, what it takes to run two replicas beside a fleet: a
ServiceAccount, a Role with no more than is needed, a Deployment and a Service for metrics. What comes
behind -- is given to run in the Deployment.

The image is one whose entry point is this program, for instance what "ko build ./cmd/haproxy-discovery"
makes of the sources without a Dockerfile. The Secret has the keys dataplane_username and
dataplane_password; create it first.`,
		Example: `  haproxy-discovery manifests -n lb --image registry.example/haproxy-discovery:1.0 \
      -- --agent-port 5556 | kubectl apply -f -
  haproxy-discovery manifests -n lb --alerts PrometheusRule | kubectl apply -f -`,
		RunE: func(_ *cobra.Command, extra []string) error { return flags.print(std.out, extra) },
	}
	set := cmd.Flags()
	set.StringVarP(&flags.options.Namespace, "namespace", "n", "", "namespace of the fleet (required)")
	set.StringVar(&flags.options.Image, "image", "", "image to run (required)")
	set.StringVarP(&flags.selector, "selector", "l", defaultSelector, "label selector of the pods")
	set.StringVar(&flags.options.CredentialsSecret, "credentials-secret", defaultCredentialsSecret,
		"`NAME` of the Secret in that namespace")
	set.StringVar(&flags.alerts, "alerts", "",
		"print alert rules instead: rules, a Prometheus rule file, or PrometheusRule, an object of its operator")
	return cmd
}

func (f *manifestsFlags) print(out io.Writer, extra []string) error {
	switch f.alerts {
	case "rules":
		return write(out, manifests.AlertRules())
	case "", "PrometheusRule":
	default:
		return usagef("--alerts %q is neither rules nor PrometheusRule", f.alerts)
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
	case f.alerts == "PrometheusRule":
		return write(out, manifests.PrometheusRule(f.options.Namespace))
	case f.options.Image == "":
		return usagef("--image is required")
	}
	args := append([]string{
		"--namespace=" + f.options.Namespace, "--selector=" + f.selector,
		"--credentials-secret=" + f.options.CredentialsSecret, "--leader-elect",
	}, extra...)
	if err := checkRunArgs(args); err != nil {
		return err
	}
	f.options.Args = append([]string{"run", "--listen=:8080"}, args...)
	yaml, err := manifests.Deployment(f.options)
	if err != nil {
		return err
	}
	return write(out, yaml)
}

// checkRunArgs finds a slip here rather than in a pod that does not start.
func checkRunArgs(args []string) error {
	var run runFlags
	set := pflag.NewFlagSet("run", pflag.ContinueOnError)
	set.Usage = func() {}
	run.register(set)
	if err := set.Parse(args); err != nil {
		return usagef("manifests: flags of run: %w", err)
	}
	if set.NArg() > 0 {
		return usagef("manifests: unexpected argument %q", set.Arg(0))
	}
	return run.check(set)
}

func write(out io.Writer, text string) error {
	_, err := io.WriteString(out, text)
	return err
}
