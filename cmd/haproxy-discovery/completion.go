package main

import (
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// flagValues are what the flags of any command take, where that is a choice.
var flagValues = map[string][]cobra.Completion{
	"output":       {"json", "text"},
	"agent-scheme": {"http", "https"},
	"log-level":    {"debug", "info", "warn", "error"},
	"alerts":       {"PrometheusRule", "rules"},
}

// completeFlags lets the shell offer the values of a command's flags.
func completeFlags(cmd *cobra.Command) {
	for name, values := range flagValues {
		if cmd.Flags().Lookup(name) != nil {
			offer(cmd, name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
		}
	}
	if cmd.Flags().Lookup("context") != nil {
		offer(cmd, "context", fromKubeconfig(func(name string, _ *api.Context) string { return name }))
	}
	if cmd.Flags().Lookup("namespace") != nil {
		offer(cmd, "namespace", fromKubeconfig(func(_ string, c *api.Context) string { return c.Namespace }))
	}
}

func offer(cmd *cobra.Command, flag string, values cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, values); err != nil {
		panic(err) // no such flag, or offered twice
	}
}

// fromKubeconfig offers what the contexts of the kubeconfig say: no cluster is asked, which may be
// out of reach. What cannot be read offers nothing.
func fromKubeconfig(value func(name string, context *api.Context) string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		rules := clientcmd.NewDefaultClientConfigLoadingRules()
		if flag := cmd.Flags().Lookup("kubeconfig"); flag != nil {
			rules.ExplicitPath = flag.Value.String()
		}
		config, err := rules.Load()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var values []cobra.Completion
		for name, context := range config.Contexts {
			if text := value(name, context); text != "" {
				values = append(values, text)
			}
		}
		slices.Sort(values)
		return slices.Compact(values), cobra.ShellCompDirectiveNoFileComp
	}
}
