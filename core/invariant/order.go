package invariant

import (
	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// The groups of effects in the order of R14. Refuse has no place of its own.
const (
	endings = iota + 1
	rejections
	terminations
	discoveries
	beginnings
)

func groupOf(effect core.Effect) int {
	switch e := effect.(type) {
	case core.CancelProbe, core.StopTimer:
		return endings
	case core.StartProbe, core.StartTimer:
		return beginnings
	case core.Publish:
		switch e.Event.(type) {
		case core.HAProxyPodRejected:
			return rejections
		case core.HAProxyPodTerminated:
			return terminations
		case core.HAProxyPodsDiscovered:
			return discoveries
		}
	}
	return 0
}

// keyOf is the pod of an event about one pod.
func keyOf(effect core.Effect) (key core.PodKey, found bool) {
	publish, _ := effect.(core.Publish)
	switch e := publish.Event.(type) {
	case core.HAProxyPodRejected:
		return e.Key(), true
	case core.HAProxyPodTerminated:
		return e.Key(), true
	default:
		return core.PodKey{}, false
	}
}

// checkOrder: the effects come in groups, events about single pods in the order of their keys, and
// at most one publication (R14).
func (t *transition) checkOrder() {
	var last core.Effect
	lastGroup, lastKey := 0, core.PodKey{}
	for _, effect := range t.effects {
		if _, isRefuse := effect.(core.Refuse); isRefuse {
			continue
		}
		group := groupOf(effect)
		key, about := keyOf(effect)
		switch {
		case group == 0:
			t.violate("R14", "%T is no known effect", effect)
		case group < lastGroup:
			t.violate("R14", "%T after %T", effect, last)
		case group > lastGroup:
		case group == discoveries:
			t.violate("R14", "two publications")
		case about && lastKey.Compare(key) >= 0:
			t.violate("R14", "%s after %s", key, lastKey)
		}
		last, lastGroup, lastKey = effect, group, key
	}
}
