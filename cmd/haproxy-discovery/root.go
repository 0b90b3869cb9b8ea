package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// streams are the standard streams of a command.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// newRootCommand builds the command line. Errors of usage carry exit status 2.
func newRootCommand(in io.Reader, out, errOut io.Writer) *cobra.Command {
	std := streams{in: in, out: out, err: errOut}
	root := &cobra.Command{
		Use:   "haproxy-discovery",
		Short: "Tells at every moment which HAProxy agents may be talked to",
		Long: `haproxy-discovery follows the pods of an HAProxy fleet, probes their agents and tells which of
them may be talked to: an agent is in the fleet once it has answered, and out of it in the moment
its pod is replaced, restarted or gone.`,
		Version:       buildText(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArguments,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("haproxy-discovery {{.Version}}\n")
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if !cmd.HasParent() {
			return usagef("%w (see %s --help)", err, cmd.CommandPath())
		}
		return usagef("%s: %w (see %s --help)", cmd.Name(), err, cmd.CommandPath())
	})
	root.AddCommand(newDemoCommand(std), newRunCommand(std), newReplayCommand(std),
		newManifestsCommand(std), newVersionCommand(std))
	return root
}

func noArguments(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case !cmd.HasParent():
		return usagef("unknown command %q (see %s --help)", args[0], cmd.CommandPath())
	default:
		return usagef("%s: unexpected argument %q (see %s --help)", cmd.Name(), args[0], cmd.CommandPath())
	}
}

func newVersionCommand(std streams) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Prints the version of this program",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(std.out, "haproxy-discovery "+buildText())
			return err
		},
	}
}
