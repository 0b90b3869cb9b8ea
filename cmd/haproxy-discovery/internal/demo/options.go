package demo

import (
	"fmt"
	"time"
)

// maxPods keeps the fleet well below the usual limits on open files.
const maxPods = 1000

// Options says how big the fleet is and what happens to it.
type Options struct {
	// Pods is the number of pods, 1 to 1000.
	Pods int
	// Hung is how many of them have an agent that never answers, 0 to Pods.
	Hung int
	// Duration is how long the script goes on; more than 0.
	Duration time.Duration
	// Seed is what the script is drawn from: the same seed gives the same script.
	Seed uint64
}

// Validate names, in one line, the first flag whose value cannot be used.
func (o Options) Validate() error {
	switch {
	case o.Pods < 1 || o.Pods > maxPods:
		return fmt.Errorf("--pods %d is not between 1 and %d", o.Pods, maxPods)
	case o.Hung < 0 || o.Hung > o.Pods:
		return fmt.Errorf("--hung %d is not between 0 and --pods %d", o.Hung, o.Pods)
	case o.Duration <= 0:
		return fmt.Errorf("--duration %v is not positive", o.Duration)
	}
	return nil
}
