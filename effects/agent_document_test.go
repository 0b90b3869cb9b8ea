package effects

import (
	"strings"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// Documents that are none, each served by a real agent.
func TestDocuments(t *testing.T) {
	const (
		invalid     = core.CauseInvalidDocument
		unsupported = core.CauseUnsupportedAPIVersion
	)
	known := core.Answer{Version: "3.4.3"}
	for _, test := range []struct {
		body   string
		cause  core.Cause
		answer core.Answer
	}{
		{body: validDocument, answer: validAnswer},
		{body: " \n" + validDocument + "\r\n\t ", answer: validAnswer},
		{body: `{"api_version":1}`},
		{body: `{"api_version":1,"haproxy":null}`},
		{body: `{"api_version":1,"haproxy":{}}`},
		{body: `{"api_version":1,"haproxy":{"version":null,"full_version":""}}`},
		{body: `{"haproxy":{"version":"3.4.3"},"api_version":1}`, answer: known},
		{body: `{"\u0061pi_version":1,"haproxy":{"version":"\u0033.4.3"}}`, answer: known},
		{body: `{"api_version":1,"haproxy":{"full_version":"3.4.3-1"}}`,
			answer: core.Answer{FullVersion: "3.4.3-1"}},
		{body: versionDocument("v3.3.5 8467a253"), answer: core.Answer{Version: "v3.3.5 8467a253"}},

		// Names differ by letter case, unknown ones may hold anything, even twice.
		{body: `{"api_version":1,"API_VERSION":2,"HAProxy":7,"x":[{"a":1,"a":2}],"x":null,` +
			`"haproxy":{"version":"3.4.3","VERSION":"9.9","haproxy":{"version":4}}}`, answer: known},
		// What is not read need not be Unicode either, but JSON.
		{body: `{"api_version":1,"note":"\udce9","haproxy":{"version":"3.4.3"}}`, answer: known},
		{body: `{"api_version":1,"haproxy":{"note":"\udce9\ud800","\udce9":1,"version":"3.4.3"}}`,
			answer: known},
		{body: "{\"api_version\":1,\"\xff\":\"\xff\",\"haproxy\":{\"\xe9\":[\"\xe9\"],\"version\":\"3.4.3\"}}",
			answer: known},
		{body: `{"api_version":1,"note":"\u00","haproxy":{"version":"3.4.3"}}`, cause: invalid},
		{body: `{"api_version":1,"note":"\x","haproxy":{"version":"3.4.3"}}`, cause: invalid},
		{body: "{\"api_version\":1,\"note\":\"\n\"}", cause: invalid},
		{body: "{\"api_version\":1,\"haproxy\":{\"version\":\"3.4.3\xff\"}}", cause: invalid},
		{body: "{\"api_version\xff\":1}", cause: invalid},
		{body: `{"API_VERSION":1}`, cause: invalid},
		{body: `{"Api_version":1,"api_version":2}`, cause: unsupported},
		{body: `{"api_version":1,"big":1e999999,"deep":` +
			strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}`},
		{body: `{"api_version":1,"deep":` +
			strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`, cause: invalid},

		{body: ``, cause: invalid},
		{body: `   `, cause: invalid},
		{body: `null`, cause: invalid},
		{body: `{}`, cause: invalid},
		{body: `[]`, cause: invalid},
		{body: `[` + validDocument + `]`, cause: invalid},
		{body: `1`, cause: invalid},
		{body: `"api_version"`, cause: invalid},
		{body: `<!DOCTYPE html><html><body>It works!</body></html>`, cause: invalid},
		{body: validDocument + `x`, cause: invalid},
		{body: validDocument + validDocument, cause: invalid},
		{body: validDocument + "\x00", cause: invalid},
		{body: "\ufeff" + validDocument, cause: invalid},
		{body: validDocument[:len(validDocument)-1], cause: invalid},
		{body: `{"api_version":1,}`, cause: invalid},
		{body: `{"api_version":01}`, cause: invalid},
		{body: `{'api_version':1}`, cause: invalid},
		{body: `{"api_version":1,"x":NaN}`, cause: invalid},

		{body: `{"api_version":"1"}`, cause: invalid},
		{body: `{"api_version":null}`, cause: invalid},
		{body: `{"api_version":true}`, cause: invalid},
		{body: `{"api_version":[1]}`, cause: invalid},
		{body: `{"api_version":{"api_version":1}}`, cause: invalid},
		{body: `{"api_version":1.0}`, cause: invalid},
		{body: `{"api_version":1e0}`, cause: invalid},
		{body: `{"api_version":2}`, cause: unsupported},
		{body: `{"api_version":0}`, cause: unsupported},
		{body: `{"api_version":-1}`, cause: unsupported},
		{body: `{"api_version":18446744073709551617}`, cause: unsupported},
		{body: `{"api_version":1` + strings.Repeat("0", 100_000) + `}`, cause: unsupported},
		{body: `{"api_version":2,"haproxy":["another shape"]}`, cause: unsupported},
		{body: `{"api_version":1,"api_version":1}`, cause: invalid},
		{body: `{"api_version":2,"api_version":1}`, cause: invalid},
		{body: `{"api_version":null,"api_version":1}`, cause: invalid},

		{body: `{"api_version":1,"haproxy":[]}`, cause: invalid},
		{body: `{"api_version":1,"haproxy":"3.4.3"}`, cause: invalid},
		{body: `{"api_version":1,"haproxy":false}`, cause: invalid},
		{body: `{"api_version":1,"haproxy":{},"haproxy":{"version":"3.4.3"}}`, cause: invalid},
		{body: `{"api_version":1,"haproxy":null,"haproxy":{}}`, cause: invalid},
		{body: `{"api_version":1,"haproxy":{},"haproxy":null}`, cause: invalid},
		{body: `{"api_version":1,"haproxy":{"version":3.4}}`, cause: invalid},
		{body: `{"api_version":1,"haproxy":{"full_version":{}}}`, cause: invalid},
		{body: `{"api_version":1,"haproxy":{"version":"3.4.3","version":"3.4.3"}}`, cause: invalid},
		{body: `{"api_version":1,"haproxy":{"version":"3.4.3\u001b[31m"}}`, cause: invalid},
		{body: `{"api_version":1,"haproxy":{"version":"3.4.3\n"}}`, cause: invalid},
		{body: `{"api_version":1,"haproxy":{"version":"3.4.3\u202e"}}`, cause: invalid},
		{body: `{"api_version":1,"haproxy":{"version":"\ud800"}}`, cause: invalid},
		{body: versionDocument("3.4.3 ü"), cause: invalid},
		{body: versionDocument("3.4.3 se%20cret"), cause: invalid},
		{body: versionDocument("HAProxy"), cause: invalid},
		{body: versionDocument(strings.Repeat("3", 65)), cause: invalid},
		{body: versionDocument(strings.Repeat("3", 1<<20)), cause: invalid},
		{body: versionDocument(strings.Repeat("3", 64)),
			answer: core.Answer{Version: strings.Repeat("3", 64)}},
		{body: `{"api_version":1,"haproxy":{"version":"` + strings.Repeat(`\u0033`, 64) + `"}}`,
			answer: core.Answer{Version: strings.Repeat("3", 64)}},
		{body: `{"api_version":1,"haproxy":{"version":"` + strings.Repeat(`\u0033`, 65) + `"}}`,
			cause: invalid},
	} {
		agent := newHTTPAgent(t, answering(test.body))
		outcome := probeOnce(t, agent.URL)
		if test.cause != "" {
			wantFailure(t, outcome, test.cause, "")
		} else {
			wantAnswer(t, outcome, test.answer)
		}
		if t.Failed() {
			t.Fatalf("that was for %.200q", test.body)
		}
	}
}
