package inputlog

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

func credentialsOf(t testing.TB, username, password string) core.Credentials {
	t.Helper()
	credentials, err := core.NewCredentials(username, password)
	if err != nil {
		t.Fatal(err)
	}
	return credentials
}

// rotation is a history in which a password is set, replaced, and set again.
func rotation(t testing.TB, first, second string) []core.Input {
	return []core.Input{
		core.CredentialsUpdated{},
		core.CredentialsUpdated{Credentials: credentialsOf(t, "admin", first)},
		core.CredentialsUpdated{Credentials: credentialsOf(t, "admin", second)},
		core.ConfigValidated{AgentPort: 5555},
		core.PodStoreSet{Pods: podsOf(3), Synced: core.SyncDone},
		core.ProbeFinished{Probe: 1, Outcome: core.Answer{Version: "3.4.3"}},
		core.CredentialsUpdated{Credentials: credentialsOf(t, "admin", first)},
	}
}

// recordSteps reduces and records as the shell does.
func recordSteps(t testing.TB, path string, inputs []core.Input) {
	t.Helper()
	w := open(t, path, nil)
	state := core.New(core.Config{})
	for _, input := range inputs {
		w.Append(someTime, input)
		var effects []core.Effect
		state, effects = core.Reduce(state, input)
		w.Effects(effects, state)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// R26: no password in any encoding, and the same bytes whatever text and length it has.
func TestNoTraceOfAPassword(t *testing.T) {
	const first, second = "Tr0ub4dor@/%:#&3-é", "correct horse battery staple"
	path := filepath.Join(t.TempDir(), "log")
	recordSteps(t, path, rotation(t, first, second))
	log := contents(t, path)
	for _, password := range []string{first, second} {
		quoted, _ := json.Marshal(password)
		for _, trace := range []string{
			password, string(bytes.Trim(quoted, `"`)),
			url.QueryEscape(password), url.PathEscape(password),
			hex.EncodeToString([]byte(password)),
			base64.StdEncoding.EncodeToString([]byte(password))[:16],
			base64.URLEncoding.EncodeToString([]byte(password))[:16],
			base64.StdEncoding.EncodeToString([]byte("admin:" + password))[:16],
		} {
			if strings.Contains(strings.ToLower(string(log)), strings.ToLower(trace)) {
				t.Errorf("the log holds %q", trace)
			}
		}
	}
	for _, others := range [][2]string{{"a", "b"}, {"secret-2", "secret-1"}} {
		other := filepath.Join(t.TempDir(), "log")
		recordSteps(t, other, rotation(t, others[0], others[1]))
		if !bytes.Equal(withoutLastLine(log), withoutLastLine(contents(t, other))) {
			t.Errorf("the passwords %q lead to another log", others)
		}
	}
}

// withoutLastLine drops the closing record, which holds the time of day.
func withoutLastLine(log []byte) []byte {
	return log[:bytes.LastIndexByte(bytes.TrimSpace(log), '\n')]
}

// Equality remains: the same password has the same placeholder, another one another, and a restart
// goes on with fresh ones. Replayed effects have the digests that were recorded.
func TestPlaceholdersAndDigestsOverARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	recordSteps(t, path, rotation(t, "one", "two"))
	recordSteps(t, path, rotation(t, "two", "three"))
	entries, err := readAll(t, contents(t, path))
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	var state core.State
	digester, digest, probes := NewDigester(), "", 0
	for _, entry := range entries {
		switch entry := entry.(type) {
		case Started:
			state = core.New(entry.Config)
		case Step:
			if update, is := entry.Input.(core.CredentialsUpdated); is {
				seen = append(seen, update.Credentials.Password().Reveal())
			}
			var effects []core.Effect
			state, effects = core.Reduce(state, entry.Input)
			for _, effect := range effects {
				if _, is := effect.(core.StartProbe); is {
					probes++
				}
			}
			digest = digester.Sum(effects)
		case Reduced:
			if digest != entry.Digest {
				t.Errorf("seq %d: the replay gives %s, not %s", entry.Seq, digest, entry.Digest)
			}
		case Ended:
		default:
			t.Errorf("unexpected %+v", entry)
		}
	}
	const want = ",secret-1,secret-2,secret-1,,secret-8,secret-9,secret-8"
	if got := strings.Join(seen, ","); got != want {
		t.Errorf("the passwords are read as %s, not as %s", got, want)
	}
	if probes == 0 {
		t.Error("the history starts no probe, so it shows nothing")
	}
}

// A digester for replays never digests a password that is no placeholder.
func TestReplayDigesterSeesNoRealPassword(t *testing.T) {
	sum := func(password string) string {
		return NewDigester().Sum([]core.Effect{
			core.StartProbe{Credentials: credentialsOf(t, "admin", password)},
		})
	}
	if sum("hunter2") != sum("another one") || sum("secret-01") != sum("hunter2") {
		t.Error("the digest depends on a real password")
	}
	if sum("secret-1") == sum("secret-2") {
		t.Error("the digest does not tell placeholders apart")
	}
}

// R26: the file is its owner's, even where it was open to others before.
func TestLogIsReadableByItsOwnerOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	appendRun(t, path)
	assertMode(t, path)
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	appendRun(t, path)
	assertMode(t, path)
}

func assertMode(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the mode of the log is %v", info.Mode())
	}
}
