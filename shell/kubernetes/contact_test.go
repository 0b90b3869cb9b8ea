package kubernetes

import (
	"strings"
	"testing"
	"time"
)

// A server that neither answers nor fails is seen, too, before the first contact and later on.
func TestSilenceIsAnErrorInTheEnd(t *testing.T) {
	t.Parallel()
	contact := newContact("pods", (&logged{}).logger())
	begun := contact.began
	for _, test := range []struct {
		after  time.Duration
		happen func()
		silent string
	}{
		{10 * time.Second, nil, ""},
		{16 * time.Second, nil, "no answer since " + begun.UTC().Format(time.RFC3339)},
		{20 * time.Second, contact.opened, ""},
		{time.Hour, nil, ""},
		{time.Hour, func() { contact.closed(true) }, ""},
		{time.Hour + time.Minute, nil, "no answer since " + begun.Add(time.Hour).UTC().Format(time.RFC3339)},
		{time.Hour + time.Minute, contact.heard, ""},
	} {
		contact.now = func() time.Time { return begun.Add(test.after) }
		if test.happen != nil {
			test.happen()
		}
		got := contact.view().LastError
		if (got == "") != (test.silent == "") || !strings.Contains(got, test.silent) {
			t.Errorf("after %v: %q, want %q", test.after, got, test.silent)
		}
	}
}
