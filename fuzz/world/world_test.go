package world_test

import (
	"testing"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/fuzz/world"
)

func TestSpeed(t *testing.T) {
	var w world.World
	begin := time.Now()
	inputs := 0
	for seed := 1; seed <= 3000; seed++ {
		plan := world.Plans.Example(seed)
		if failure := w.Run(plan); failure != nil {
			w.Log = t.Logf
			w.Run(plan)
			t.Fatalf("seed %d: %v", seed, failure)
		}
		inputs += w.Inputs()
	}
	t.Logf("%d inputs, %.0f a second", inputs, float64(inputs)/time.Since(begin).Seconds())
}
