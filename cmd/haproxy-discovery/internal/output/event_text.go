package output

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/samber/lo"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// eventText gives one readable line, without its line ending.
func eventText(at time.Time, event core.Event) string {
	return at.UTC().Format("15:04:05.000") + "  " + printable(describe(event, nil))
}

// printable keeps a name with control characters from breaking lines or moving the cursor, and one
// with format characters (Cf) from being shown in another order than it has.
func printable(line string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cc, unicode.Cf) {
			return '\uFFFD'
		}
		return r
	}, line)
}

// describe names one pod only, if it is asked about one.
func describe(event core.Event, about *core.PodKey) string {
	switch e := event.(type) {
	case core.HAProxyPodsDiscovered:
		return describeDiscovered(e, about)
	case core.HAProxyPodTerminated:
		return fmt.Sprintf("TERMINATED  %s uid=%s %s cause=%s", e.Key(), short(e.UID), e.URL, e.Cause)
	case core.HAProxyPodRejected:
		text := fmt.Sprintf("REJECTED    %s uid=%s %s cause=%s",
			e.Key(), short(e.UID), e.Reason, e.Cause)
		if e.Attempt > 0 {
			text += fmt.Sprintf(" attempt=%d retry_in=%v", e.Attempt, e.RetryIn.Round(time.Millisecond))
		}
		if e.Detail != "" {
			text += fmt.Sprintf(" (%s)", e.Detail)
		}
		return text
	default:
		return fmt.Sprintf("%T", event)
	}
}

func describeDiscovered(e core.HAProxyPodsDiscovered, about *core.PodKey) string {
	var b strings.Builder
	fmt.Fprintf(&b, "DISCOVERED  generation=%d endpoints=%d trigger=%s",
		e.Generation, e.Fleet.Len(), e.Trigger)
	for _, flag := range []struct {
		set  bool
		name string
	}{{e.Replay, " replay"}, {e.CredentialsChanged, " credentials_changed"}} {
		if flag.set {
			b.WriteString(flag.name)
		}
	}
	for _, list := range []struct {
		sign string
		keys []core.PodKey
	}{{"+", e.Added}, {"~", e.Updated}, {"-", e.Removed}} {
		b.WriteString(keyList(e.Fleet, list.sign, list.keys, about))
	}
	return b.String()
}

// keyList shows the first few keys of a list, or the one asked about, with the versions of those
// that are in the fleet.
func keyList(fleet core.Fleet, sign string, keys []core.PodKey, about *core.PodKey) string {
	const few = 5
	shown, rest := keys[:min(len(keys), few)], "more"
	if about != nil {
		isIt := func(key core.PodKey, _ int) bool { return key == *about }
		shown, rest = lo.Filter(keys, isIt), "others"
	}
	var b strings.Builder
	for _, key := range shown {
		fmt.Fprintf(&b, " %s%s", sign, key)
		if endpoint, found := fleet.Get(key); found && sign != "-" {
			fmt.Fprintf(&b, "(%s)", cmp.Or(endpoint.Version.Text, "version unknown"))
		}
	}
	if more := len(keys) - len(shown); more > 0 {
		fmt.Fprintf(&b, " %s%d %s", sign, more, rest)
	}
	return b.String()
}

// short cuts a UID like git cuts a hash.
func short(uid string) string { return uid[:min(len(uid), 8)] }
