package invariant_test

import (
	"strings"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/invariant"
)

func TestFingerprintTellsStatesApart(t *testing.T) {
	seen := map[string]string{}
	for name, inputs := range map[string][]core.Input{
		"new":               nil,
		"one pod":           opened(pod("a", "u")),
		"another UID":       opened(pod("a", "u2")),
		"admitted":          after(opened(pod("a", "u")), answered(1)),
		"without a version": after(opened(pod("a", "u")), answeredWithout(1)),
		"failed":            after(opened(pod("a", "u")), failed(1)),
		"rotated":           after(opened(), core.CredentialsUpdated{Credentials: second}),
		"the same again":    after(opened(), core.CredentialsUpdated{Credentials: first}),
		"queued": opened(pod("a", "u"), pod("b", "u"), pod("c", "u"),
			pod("d", "u")),
		"cancelled": after(opened(pod("a", "u")), deleted("a")),
	} {
		text := invariant.Fingerprint(run(caps, inputs))
		if other, found := seen[text]; found {
			t.Errorf("%q and %q say the same", name, other)
		}
		seen[text] = name
		if again := invariant.Fingerprint(run(caps, inputs)); again != text {
			t.Errorf("%q says %s and then %s", name, text, again)
		}
		if strings.Contains(text, "alpha") || strings.Contains(text, "beta") {
			t.Errorf("R26: the fingerprint of %q holds a password", name)
		}
	}
}
