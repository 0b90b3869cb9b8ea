package world_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/haproxy-discovery/haproxy-discovery/fuzz/world"
)

// TestASeedIsOnePlan: what a soak plays for a seed is what rapid checks first with it, which is why
// rapid can shrink what a soak has found.
func TestASeedIsOnePlan(t *testing.T) {
	seedFlag := flag.Lookup("rapid.seed")
	before := seedFlag.Value.String()
	t.Cleanup(func() {
		if err := seedFlag.Value.Set(before); err != nil {
			t.Error(err)
		}
	})
	for seed := 1; seed <= 3; seed++ {
		if err := seedFlag.Value.Set(fmt.Sprint(seed)); err != nil {
			t.Fatal(err)
		}
		drawn := 0
		rapid.Check(t, func(rt *rapid.T) {
			plan := world.Plans.Draw(rt, "plan")
			if drawn == 0 && plan != world.Plans.Example(seed) {
				rt.Fatalf("seed %d leads to another plan", seed)
			}
			drawn++
		})
	}
}

// TestAPlanIsOneStory: the same plan makes the same run, whatever was played before.
func TestAPlanIsOneStory(t *testing.T) {
	var reused world.World
	for seed := 1; seed <= 50; seed++ {
		plan := world.Plans.Example(seed)
		var fresh world.World
		first, second := tell(&fresh, plan), tell(&reused, plan)
		if first != second {
			t.Fatalf("seed %d tells\n%s\nand then\n%s", seed, first, second)
		}
		if len(first) == 0 {
			t.Fatalf("seed %d tells nothing", seed)
		}
	}
}

func tell(w *world.World, plan world.Plan) string {
	var text strings.Builder
	w.Log = func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) }
	w.Run(plan)
	return text.String()
}
