package main

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// addProbingFlags offers the times and numbers of probes and retries.
func addProbingFlags(set *pflag.FlagSet, config *core.Config) {
	usual := core.DefaultConfig()
	set.DurationVar(&config.ProbeTimeout, "probe-timeout", usual.ProbeTimeout,
		"time limit of a first probe; it doubles with each further attempt")
	set.DurationVar(&config.MaxProbeTimeout, "max-probe-timeout", usual.MaxProbeTimeout,
		"longest time limit of a probe")
	set.DurationVar(&config.RetryDelay, "retry-delay", usual.RetryDelay,
		"wait after a first failed probe; it doubles with each further one")
	set.DurationVar(&config.MaxRetryDelay, "max-retry-delay", usual.MaxRetryDelay,
		"longest wait between two probes of an agent")
	set.IntVar(&config.MaxProbes, "max-probes", usual.MaxProbes, "how many probes may be under way")
	set.IntVar(&config.MaxRetries, "max-retries", usual.MaxRetries,
		"how many of them may be retries, so that new pods find a place")
}

// checkProbing refuses what the rules cannot work with, by the names of the flags. A bound that was
// not given follows the value that it bounds.
func checkProbing(set *pflag.FlagSet, config *core.Config) error {
	if !set.Changed("max-probe-timeout") {
		config.MaxProbeTimeout = max(config.MaxProbeTimeout, config.ProbeTimeout)
	}
	if !set.Changed("max-retry-delay") {
		config.MaxRetryDelay = max(config.MaxRetryDelay, config.RetryDelay)
	}
	if !set.Changed("max-retries") {
		config.MaxRetries = min(config.MaxRetries, config.MaxProbes)
	}
	for _, times := range []struct {
		name, maxName string
		first, last   time.Duration
	}{
		{"probe-timeout", "max-probe-timeout", config.ProbeTimeout, config.MaxProbeTimeout},
		{"retry-delay", "max-retry-delay", config.RetryDelay, config.MaxRetryDelay},
	} {
		switch {
		case times.first <= 0:
			return usagef("--%s %v is not positive", times.name, times.first)
		case times.last < times.first:
			return usagef("--%s %v is less than --%s %v",
				times.maxName, times.last, times.name, times.first)
		}
	}
	switch {
	case config.MaxProbes < 1:
		return usagef("--max-probes %d is less than 1", config.MaxProbes)
	case config.MaxRetries < 1 || config.MaxRetries > config.MaxProbes:
		return usagef("--max-retries %d is not between 1 and --max-probes %d",
			config.MaxRetries, config.MaxProbes)
	}
	return nil
}
