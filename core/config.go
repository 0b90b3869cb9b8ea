package core

import (
	"cmp"
	"fmt"
	"time"
)

// Config holds the numbers of the rules, so that a model checker can run with small ones. A zero
// field stands for its default.
type Config struct {
	// AgentContainer is the name of the agent's container; "agent".
	AgentContainer string
	// AgentScheme is http or https; "http".
	AgentScheme string
	// MaxProbes bounds the probes outstanding, cancelled ones included; 16 (R21).
	MaxProbes int
	// MaxRetries bounds the places among them that retries may hold; 12, or MaxProbes if that is
	// less (R21).
	MaxRetries int
	// ProbeTimeout is the limit of the first attempt; it doubles with each attempt up to
	// MaxProbeTimeout. 1 s and 5 s (R22).
	ProbeTimeout    time.Duration
	MaxProbeTimeout time.Duration
	// RetryDelay is the wait after the first failed attempt; it doubles with each attempt up to
	// MaxRetryDelay and is spread by up to 20 % either way. 1 s and 30 s (R23).
	RetryDelay    time.Duration
	MaxRetryDelay time.Duration
	// PublishDelay bounds how long an admission waits for others; 100 ms (R17).
	PublishDelay time.Duration
	// FirstPublishDelay bounds how long the first publication waits; 10 s (R17).
	FirstPublishDelay time.Duration
}

// DefaultConfig is what production uses.
func DefaultConfig() Config { return Config{}.withDefaults() }

func (c Config) withDefaults() Config {
	maxProbes := cmp.Or(c.MaxProbes, 16)
	return Config{
		AgentContainer:    cmp.Or(c.AgentContainer, "agent"),
		AgentScheme:       cmp.Or(c.AgentScheme, "http"),
		MaxProbes:         maxProbes,
		MaxRetries:        cmp.Or(c.MaxRetries, min(12, maxProbes)),
		ProbeTimeout:      cmp.Or(c.ProbeTimeout, time.Second),
		MaxProbeTimeout:   cmp.Or(c.MaxProbeTimeout, 5*time.Second),
		RetryDelay:        cmp.Or(c.RetryDelay, time.Second),
		MaxRetryDelay:     cmp.Or(c.MaxRetryDelay, 30*time.Second),
		PublishDelay:      cmp.Or(c.PublishDelay, 100*time.Millisecond),
		FirstPublishDelay: cmp.Or(c.FirstPublishDelay, 10*time.Second),
	}
}

// Validate names the first field that the rules cannot work with. Zero fields are fine.
func (c Config) Validate() error {
	full := c.withDefaults()
	switch {
	case full.AgentScheme != "http" && full.AgentScheme != "https":
		return fmt.Errorf("AgentScheme %q is neither http nor https", full.AgentScheme)
	case full.MaxProbes < 1:
		return fmt.Errorf("MaxProbes %d is less than 1", full.MaxProbes)
	case full.MaxRetries < 1 || full.MaxRetries > full.MaxProbes:
		return fmt.Errorf("MaxRetries %d is not between 1 and MaxProbes %d",
			full.MaxRetries, full.MaxProbes)
	case full.ProbeTimeout < 0 || full.MaxProbeTimeout < full.ProbeTimeout:
		return fmt.Errorf("ProbeTimeout %v and MaxProbeTimeout %v do not grow",
			full.ProbeTimeout, full.MaxProbeTimeout)
	case full.RetryDelay < 0 || full.MaxRetryDelay < full.RetryDelay:
		return fmt.Errorf("RetryDelay %v and MaxRetryDelay %v do not grow",
			full.RetryDelay, full.MaxRetryDelay)
	case full.PublishDelay < 0:
		return fmt.Errorf("PublishDelay %v is negative", full.PublishDelay)
	case full.FirstPublishDelay < 0:
		return fmt.Errorf("FirstPublishDelay %v is negative", full.FirstPublishDelay)
	}
	return nil
}
