package main

import (
	"log/slog"

	"github.com/spf13/pflag"

	"github.com/haproxy-discovery/haproxy-discovery/shell"
	"github.com/haproxy-discovery/haproxy-discovery/shell/checking"
)

func checkInvariantsFlag(set *pflag.FlagSet, wanted *bool) {
	set.BoolVar(wanted, "check-invariants", false,
		"check each step against the invariants; a violation is logged as an error, discovery goes on")
}

// checkInvariants gives the option that checks each step, none unless it is wanted.
func checkInvariants(wanted bool, logger *slog.Logger, served *statusServer) []shell.Option {
	if !wanted {
		return nil
	}
	checker := checking.New(logger, served.violated)
	served.followChecks(checker)
	return []shell.Option{shell.WithObserver(checker)}
}
