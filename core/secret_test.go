package core_test

import (
	"bytes"
	"encoding/base64"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// A length that occurs nowhere by accident; characters that each encoding writes differently.
var password = strings.Repeat("p@ss/wörd:%41# ", 7) + "end"

// No printing of any exported type shows the password, in any encoding, or its length (R26).
func TestNoPrintingShowsThePassword(t *testing.T) {
	for name, value := range printables(t) {
		for how, printed := range printings(value) {
			if leak := leakIn(printed); leak != "" {
				t.Errorf("%s with %s shows %s", name, how, leak)
			}
		}
	}
}

// The test above can fail: a plain text is found in each of its encodings, and so is its length.
func TestLeaksAreFound(t *testing.T) {
	for _, leaking := range []string{
		"x" + password + "y",
		base64.StdEncoding.EncodeToString([]byte("admin:" + password)),
		fmt.Sprintf("%X", password),
		url.QueryEscape(password),
		url.PathEscape(password),
		fmt.Sprintf("%q", password),
		fmt.Sprintf("%v", []byte(password)),
		fmt.Sprintf("{n:%d}", len(password)),
	} {
		if leakIn(leaking) == "" {
			t.Errorf("the leak in %q was not found", leaking)
		}
	}
}

func printables(t *testing.T) map[string]any {
	t.Helper()
	secret := core.NewSecret(password)
	basic := credentials(t, "admin", password)
	state := core.New(core.Config{})
	var effects []core.Effect
	pod := &core.Pod{
		Key: core.PodKey{Namespace: "lb", Name: "hap-0"}, UID: "u1", Phase: core.PhaseRunning,
		IP: read(t, object(t, "running.json")).IP, Agent: core.AgentRunning,
	}
	inputs := []core.Input{
		core.ConfigValidated{AgentPort: 5555},
		core.CredentialsUpdated{Credentials: basic},
		core.PodStoreSet{Pods: []*core.Pod{pod}, Synced: core.SyncDone},
		core.ProbeFinished{Probe: 1, Outcome: core.Answer{Version: "3.4.3"}},
	}
	for _, input := range inputs {
		var more []core.Effect
		state, more = core.Reduce(state, input)
		effects = append(effects, more...)
	}
	fleet, _, published := state.Published()
	endpoints := fleet.Endpoints()
	if !published || len(endpoints) != 1 {
		t.Fatal("there is nothing to print")
	}
	start := core.StartProbe{Probe: 1, Identity: endpoints[0].Identity, Credentials: basic}
	updated := core.CredentialsUpdated{Credentials: basic}
	outstanding := core.OutstandingProbe{Probe: 1, Credentials: basic}
	return map[string]any{
		"Secret": secret, "*Secret": &secret, "[]Secret": []core.Secret{secret},
		"map of Secret": map[string]core.Secret{"x": secret},
		"Credentials":   basic, "*Credentials": &basic, "[]Credentials": []core.Credentials{basic},
		"[]*Credentials": []*core.Credentials{&basic},
		"struct":         struct{ unexported core.Credentials }{basic},
		"nested":         struct{ Exported any }{&struct{ secret core.Secret }{secret}},
		"StartProbe":     start, "*StartProbe": &start, "[]StartProbe": []core.StartProbe{start},
		"effects": effects, "inputs": inputs,
		"CredentialsUpdated": updated, "*CredentialsUpdated": &updated,
		"[]CredentialsUpdated": []core.CredentialsUpdated{updated},
		"Endpoint":             endpoints[0], "*Endpoint": &endpoints[0], "[]Endpoint": endpoints,
		"Candidate": core.Candidate{Credentials: basic},
		"Fleet":     fleet, "*Fleet": &fleet, "[]Fleet": []core.Fleet{fleet},
		"OutstandingProbe": outstanding, "*OutstandingProbe": &outstanding,
		"[]OutstandingProbe": []core.OutstandingProbe{outstanding},
		"State":              state, "*State": &state, "[]State": []core.State{state},
	}
}

// printings prints a value in every way that a program may do it by accident.
func printings(value any) map[string]string {
	printed := map[string]string{}
	for _, verb := range strings.Split("v +v #v s q x X d t b o O c U e E f F g G p T w", " ") {
		printed["%"+verb] = fmt.Sprintf("%"+verb, value)
	}
	printed["% x"] = fmt.Sprintf("% x", value)
	printed["%#x"] = fmt.Sprintf("%#x", value)
	printed["%200v"] = fmt.Sprintf("%200v", value)
	printed["Println"] = fmt.Sprintln(value)
	printed["Errorf"] = fmt.Errorf("wrapped: %v", value).Error()
	if text, err := json.Marshal(value); err == nil {
		printed["JSON"] = string(text)
	} else {
		printed["JSON error"] = err.Error()
	}
	if text, err := xml.Marshal(value); err == nil {
		printed["XML"] = string(text)
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("m", "value", value)
	printed["slog text"] = log.String()
	log.Reset()
	slog.New(slog.NewJSONHandler(&log, nil)).Info("m", "value", value)
	printed["slog JSON"] = log.String()
	var wire bytes.Buffer
	if gob.NewEncoder(&wire).Encode(value) == nil {
		printed["gob"] = wire.String()
	}
	return printed
}

// Addresses, in any base, and times hold digits by accident.
var accidental = regexp.MustCompile(
	`(?i)0x[0-9a-f]+|[0-9a-f]{9,}|\d{9,}|U\+[0-9A-F]+|time=\S+|"time":"[^"]*"`)

// leakIn names the form in which a text holds the password or its length, else it is empty.
func leakIn(text string) string {
	for form, secret := range map[string]string{
		"the password":              password,
		"a part of the password":    "wörd",
		"an escaped part":           `w\u00f6rd`,
		"base64":                    base64.StdEncoding.EncodeToString([]byte(password)),
		"base64 without padding":    base64.RawURLEncoding.EncodeToString([]byte(password)),
		"basic auth":                base64.StdEncoding.EncodeToString([]byte("admin:" + password)),
		"hexadecimal":               hex.EncodeToString([]byte(password)),
		"hexadecimal with spaces":   fmt.Sprintf("% x", password[:12]),
		"query escape":              url.QueryEscape(password),
		"path escape":               url.PathEscape(password),
		"decimal bytes":             strings.Trim(fmt.Sprint([]byte(password[:12])), "[]"),
		"its length as a number":    fmt.Sprint(len(password)),
		"its length in characters":  fmt.Sprint(len([]rune(password))),
		"its length in hexadecimal": fmt.Sprintf(":%x}", len(password)),
	} {
		visible := text
		if strings.HasPrefix(form, "its length") {
			visible = accidental.ReplaceAllString(text, "")
		}
		if strings.Contains(strings.ToLower(visible), strings.ToLower(secret)) {
			return form
		}
	}
	return ""
}

// Credentials are refused by name and without the value (R27).
func TestNewCredentialsRefuses(t *testing.T) {
	for _, test := range []struct{ user, password, names string }{
		{"", "secret-value", "dataplane_username"},
		{"admin", "", "dataplane_password"},
		{"user-\x00value", "secret-value", "dataplane_username"},
		{"user-value\n", "secret-value", "dataplane_username"},
		{"user:value", "secret-value", "dataplane_username"},
		{"admin", "secret-value\n", "dataplane_password"},
		{"admin", "secret-\tvalue", "dataplane_password"},
		{"admin", "secret-\xffvalue", "dataplane_password"},
		{"user-\xffvalue", "secret-value", "dataplane_username"},
		{"admin", "secret-value\x7f", "dataplane_password"},
		{"admin", "secret-\u0085value", "dataplane_password"},
		{"admin", "secret-value\u200b", "dataplane_password holds an invisible character"},
		{"user-\u200bvalue", "secret-value", "dataplane_username holds an invisible character"},
		{"admin", "\ufeffsecret-value", "dataplane_password holds an invisible character"},
		{"admin", "secret-\u00advalue", "dataplane_password holds an invisible character"},
		{"admin", "secret-\u3164value", "dataplane_password holds an invisible character"},
		{"admin", "secret-value\u00a0", "dataplane_password begins or ends with a space"},
		{"admin", "secret-value\u2028", "dataplane_password begins or ends with a space"},
		{"admin", "\u3000secret-value", "dataplane_password begins or ends with a space"},
		{" user-value", "secret-value", "dataplane_username begins or ends with a space"},
		{"admin", "secret-value ", "dataplane_password begins or ends with a space"},
	} {
		refused, err := core.NewCredentials(test.user, test.password)
		if !errors.Is(err, core.ErrCredentials) || !strings.Contains(err.Error(), test.names) {
			t.Errorf("%q %q: %v", test.user, test.password, err)
			continue
		}
		if !refused.IsZero() || strings.Contains(err.Error(), "value") {
			t.Errorf("%q %q: %v tells too much", test.user, test.password, err)
		}
	}
}

func TestCredentialsKeepTheirValues(t *testing.T) {
	strange := "p@ss/word:%# ß\u00a0é\u0301\"'"
	basic := credentials(t, "ädmin", strange)
	if basic.Username() != "ädmin" || basic.Password().Reveal() != strange {
		t.Errorf("got %q and %q", basic.Username(), basic.Password().Reveal())
	}
	if basic != credentials(t, "ädmin", strange) || basic == credentials(t, "ädmin", "other") {
		t.Error("equality of credentials is not equality of their values")
	}
	if basic.IsZero() || !(core.Credentials{}).IsZero() || (core.Secret{}).Reveal() != "" {
		t.Error("the zero values are not zero")
	}
}

// What stands in the place of a secret says so, and credentials tell whose they are.
func TestSecretsPrintAsRedacted(t *testing.T) {
	secret, basic := core.NewSecret("x"), credentials(t, "admin", "x")
	secretJSON, err := json.Marshal(secret)
	if err != nil {
		t.Fatal(err)
	}
	basicJSON, err := json.Marshal(basic)
	if err != nil {
		t.Fatal(err)
	}
	for got, want := range map[string]string{
		fmt.Sprint(secret):                   "[redacted]",
		fmt.Sprintf("%#v", secret):           "[redacted]",
		"slog " + secret.LogValue().String(): "slog [redacted]",
		string(secretJSON):                   `"[redacted]"`,
		fmt.Sprint(basic):                    "admin:[redacted]",
		fmt.Sprintf("%#v", basic):            "core.Credentials{admin:[redacted]}",
		string(basicJSON):                    `{"password":"[redacted]","username":"admin"}`,
	} {
		if got != want {
			t.Errorf("printed as %s instead of %s", got, want)
		}
	}
}

// A byte order mark at the beginning and one line ending at the end are trimmed, nothing else (R27).
func TestR27TrimFile(t *testing.T) {
	for value, want := range map[string]string{
		"": "", "a": "a", "a\n": "a", "a\r\n": "a", "a\n\n": "a\n", " a ": " a ", "\n": "",
		"a\nb": "a\nb", "\na": "\na", "\uFEFFa\r\n": "a", "\uFEFF\uFEFFa": "\uFEFFa", "a\uFEFF": "a\uFEFF",
		"\uFEFF": "", "\xEF\xBBa": "\xEF\xBBa",
	} {
		if got := core.TrimFile(value); got != want {
			t.Errorf("%q: got %q, want %q", value, got, want)
		}
	}
}
