package effects

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/fuzz/bounds"
)

// FuzzDocument: whatever the bytes of a document are, the verdict is an answer with
// versions, and the same that a lax reader of JSON would find, or a failure.
func FuzzDocument(f *testing.F) {
	for _, body := range []string{
		validDocument,
		versionDocument(testPassword),
		`{"api_version":2,"haproxy":{"version":"` + testPassword + `"}}`,
		`{"api_version":1,"haproxy":{"version":"\ud800"},"x":[[{}]]} `,
		`{"api_version":1,"haproxy":{"full_version":"3.4.3","version":null}}`,
		`{"\u0061pi_version":1,"haproxy":null,"haproxy":{}}`,
		`{"api_version":1e0,"haproxy":[1,"2",true]}`,
	} {
		f.Add([]byte(body))
	}
	sent := []core.Credentials{testCredentials(f, testPassword)}
	f.Fuzz(func(t *testing.T, body []byte) {
		var outcome core.Outcome
		bounds.Hold(t, len(body), 50, func() { outcome = judgeDocument(body, sent) })
		switch outcome := outcome.(type) {
		case core.Failure:
			checkFailure(t, outcome, sent)
			if outcome.Cause != core.CauseInvalidDocument &&
				outcome.Cause != core.CauseUnsupportedAPIVersion {
				t.Errorf("a document fails with %+v", outcome)
			}
		case core.Answer:
			checkAnswer(t, outcome, sent)
			if want := laxAnswer(t, body); outcome != want {
				t.Errorf("%q is read as %+v instead of %+v", body, outcome, want)
			}
		}
	})
}

func judgeDocument(body []byte, sent []core.Credentials) core.Outcome {
	document, err := parseDocument(body)
	if err != nil {
		return core.Failure(err.(failure))
	}
	answer, err := document.answer(sent)
	if err != nil {
		return core.Failure(err.(failure))
	}
	return answer
}

// laxAnswer reads a document that was accepted with the standard library.
func laxAnswer(t *testing.T, body []byte) core.Answer {
	t.Helper()
	fields := map[string]json.RawMessage{} // Names differ by letter case in a map.
	if err := json.Unmarshal(body, &fields); err != nil {
		t.Errorf("%q was accepted: %v", body, err)
	}
	if string(fields["api_version"]) != "1" {
		t.Errorf("API version %s was accepted", fields["api_version"])
	}
	haproxy := map[string]any{}
	_ = json.Unmarshal(fields["haproxy"], &haproxy)
	version, _ := haproxy["version"].(string)
	fullVersion, _ := haproxy["full_version"].(string)
	return core.Answer{Version: version, FullVersion: fullVersion}
}

// checkAnswer holds that what is kept of an agent's answer reads like versions and is no secret.
func checkAnswer(t *testing.T, answer core.Answer, sent []core.Credentials) {
	t.Helper()
	for _, text := range []string{answer.Version, answer.FullVersion} {
		if text != "" && !core.IsVersion(text) || repeatsAny(answer.Version+answer.FullVersion, sent) {
			t.Errorf("answer %+v", answer)
		}
	}
}

// checkFailure holds that a detail is a short line of plain words, without a secret.
func checkFailure(t *testing.T, failure core.Failure, sent []core.Credentials) {
	t.Helper()
	isPlain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune(" .,:;'()_%-", r)
	}
	if failure.Cause == "" || failure.Detail == "" || len(failure.Detail) > 200 ||
		strings.ContainsFunc(failure.Detail, func(r rune) bool { return !isPlain(r) }) ||
		repeatsAny(failure.Detail, sent) {
		t.Errorf("failure %+v", failure)
	}
}
