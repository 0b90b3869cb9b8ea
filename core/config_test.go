package core_test

import (
	"testing"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// The numbers of production, as the rules have them.
func TestDefaultConfig(t *testing.T) {
	want := core.Config{
		AgentContainer: "agent", AgentScheme: "http",
		MaxProbes: 16, MaxRetries: 12,
		ProbeTimeout: time.Second, MaxProbeTimeout: 5 * time.Second,
		RetryDelay: time.Second, MaxRetryDelay: 30 * time.Second,
		PublishDelay: 100 * time.Millisecond, FirstPublishDelay: 10 * time.Second,
	}
	if got := core.DefaultConfig(); got != want {
		t.Errorf("the defaults are %+v", got)
	}
	if got := core.New(want).Config(); got != want {
		t.Errorf("the defaults given are %+v", got)
	}
	// Retries get as many places as there are, where those are fewer.
	for probes, retries := range map[int]int{1: 1, 11: 11, 13: 12, 100: 12} {
		if got := core.New(core.Config{MaxProbes: probes}).Config(); got.MaxRetries != retries {
			t.Errorf("%d retries for %d probes", got.MaxRetries, probes)
		}
	}
}

// What is set stays, and so do the outermost values that make sense.
func TestConfigBounds(t *testing.T) {
	for name, config := range map[string]core.Config{
		"all fields": {
			AgentContainer: "x", AgentScheme: "https", MaxProbes: 3, MaxRetries: 2,
			ProbeTimeout: 4, MaxProbeTimeout: 5, RetryDelay: 6, MaxRetryDelay: 7,
			PublishDelay: 8, FirstPublishDelay: 9,
		},
		"the least": {
			AgentContainer: "x", AgentScheme: "http", MaxProbes: 1, MaxRetries: 1,
			ProbeTimeout: 1, MaxProbeTimeout: 1, RetryDelay: 1, MaxRetryDelay: 1,
			PublishDelay: 1, FirstPublishDelay: 1,
		},
		"retries everywhere": {
			AgentContainer: "x", AgentScheme: "http", MaxProbes: 20, MaxRetries: 20,
			ProbeTimeout: 1, MaxProbeTimeout: 1, RetryDelay: 1, MaxRetryDelay: 1,
			PublishDelay: 1, FirstPublishDelay: 1,
		},
	} {
		if err := config.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := core.New(config).Config(); got != config {
			t.Errorf("%s: %+v has become %+v", name, config, got)
		}
	}
}

// What makes no sense is named, with its value.
func TestInvalidConfig(t *testing.T) {
	for want, config := range map[string]core.Config{
		`AgentScheme "ftp" is neither http nor https`:          {AgentScheme: "ftp"},
		"MaxProbes -1 is less than 1":                          {MaxProbes: -1},
		"MaxRetries -1 is not between 1 and MaxProbes 16":      {MaxRetries: -1},
		"MaxRetries 17 is not between 1 and MaxProbes 16":      {MaxRetries: 17},
		"ProbeTimeout -1ns and MaxProbeTimeout 5s do not grow": {ProbeTimeout: -1},
		"ProbeTimeout 6s and MaxProbeTimeout 5s do not grow":   {ProbeTimeout: 6 * time.Second},
		"RetryDelay -1ns and MaxRetryDelay 30s do not grow":    {RetryDelay: -1},
		"RetryDelay 1s and MaxRetryDelay 1ns do not grow":      {MaxRetryDelay: 1},
		"PublishDelay -1ns is negative":                        {PublishDelay: -1},
		"FirstPublishDelay -1ns is negative":                   {FirstPublishDelay: -1},
	} {
		if err := config.Validate(); err == nil || err.Error() != want {
			t.Errorf("%+v: %v, want %s", config, err, want)
		}
	}
}

// An agent's port is 1 to 65535.
func TestPortBounds(t *testing.T) {
	for port, valid := range map[int]bool{
		-1: false, 0: false, 1: true, 80: true, 65535: true, 65536: false,
	} {
		_, err := core.Discovery{AgentPort: port}.Candidates(nil, core.Credentials{})
		if (err == nil) != valid {
			t.Errorf("port %d: %v", port, err)
		}
	}
}
