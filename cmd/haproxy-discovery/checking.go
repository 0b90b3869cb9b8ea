package main

import (
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/haproxy-discovery/haproxy-discovery/shell"
	"github.com/haproxy-discovery/haproxy-discovery/shell/checking"
)

func checkInvariantsFlag(cmd *cobra.Command, wanted *bool) {
	cmd.Flags().BoolVar(wanted, "check-invariants", false,
		"check each step against the invariants; a violation is logged as an error, discovery goes on")
}

// checkInvariants gives the option that checks each step, none unless it is wanted.
func checkInvariants(wanted bool, logger *slog.Logger) []shell.Option {
	if !wanted {
		return nil
	}
	return []shell.Option{shell.WithObserver(checking.New(logger, nil))}
}
