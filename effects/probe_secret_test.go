package effects

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"log"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// captureLog redirects the standard logger, which libraries write to.
func captureLog(t *testing.T) *lockedBuffer {
	t.Helper()
	captured := &lockedBuffer{}
	log.SetOutput(captured)
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
	return captured
}

type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

// An agent repeats what it was sent, wherever it can; nothing of it comes out.
func TestProbeQuotesNothing(t *testing.T) {
	captured := captureLog(t)
	basic := base64.StdEncoding.EncodeToString([]byte("admin:" + testPassword))
	echo := testPassword + " Basic " + basic
	quoted, _ := json.Marshal(echo)
	for name, response := range map[string]string{
		"401":               "HTTP/1.1 401 " + echo + "\r\nWWW-Authenticate: " + echo + "\r\n\r\n" + echo,
		"500":               "HTTP/1.1 500 " + echo + "\r\nX-Echo: " + echo + "\r\n\r\n" + echo,
		"302":               "HTTP/1.1 302 Found\r\nLocation: http://" + echo + "/\r\n\r\n",
		"status line":       echo + "\r\n\r\n",
		"status code":       "HTTP/1.1 " + echo,
		"protocol":          testPassword + " 200 OK\r\n\r\n",
		"header without :":  "HTTP/1.1 200 OK\r\n" + basic + "\r\n\r\n",
		"content length":    "HTTP/1.1 200 OK\r\nContent-Length: " + echo + "\r\n\r\n",
		"transfer encoding": "HTTP/1.1 200 OK\r\nTransfer-Encoding: " + echo + "\r\n\r\n",
		"content encoding":  "HTTP/1.1 200 OK\r\nContent-Encoding: " + echo + "\r\n\r\n{}",
		"chunk":             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + echo + "\r\n",
		"no JSON":           withLength(echo),
		"JSON string":       withLength(string(quoted)),
		"field name":        withLength(fmt.Sprintf(`{%s:1,"api_version":2}`, quoted)),
		"api_version":       withLength(fmt.Sprintf(`{"api_version":%s}`, quoted)),
		"haproxy":           withLength(fmt.Sprintf(`{"api_version":1,"haproxy":%s}`, quoted)),
		"version":           withLength(versionDocument(echo)),
	} {
		t.Run(name, func(t *testing.T) {
			agent := newRawAgent(t, sending(response))
			failure, isFailure := probeOnce(t, agent.url).(core.Failure)
			if !isFailure {
				t.Fatalf("outcome %+v, want a failure", failure)
			}
			printed := fmt.Sprintf("%v %+v %#v", failure, failure, failure) + captured.String()
			for _, secret := range []string{testPassword, basic, basic[8:16], "p@ss"} {
				if strings.Contains(printed, secret) {
					t.Errorf("%q holds %q", printed, secret)
				}
			}
		})
	}
}

// An agent that speaks before it is asked must not get its words into the log.
func TestProbeLogsNothingUnsolicited(t *testing.T) {
	captured := captureLog(t)
	spoken := make(chan struct{}, 1)
	agent := newUnreadAgent(t, func(conn net.Conn, done <-chan struct{}) {
		fmt.Fprint(conn, testPassword+"\r\n\r\n")
		spoken <- struct{}{}
		<-done
	})
	prober := newTestProber(t, TLSFiles{})
	prober.dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		<-spoken
		return conn, err
	}
	outcome := prober.Probe(context.Background(), probeOf(t, agent.url, ampleTime))
	wantFailure(t, outcome, core.CauseOther, "not well-formed HTTP")
	if captured.String() != "" {
		t.Errorf("logged %q", captured)
	}
}

// R26: the version is the one text of an agent that is kept and printed, so no password may hide
// in it: what an encoding needs that is no part of versions gives it away, and the rest is sought.
func TestVersionRepeatsThePassword(t *testing.T) {
	const password = "s3cr-t word"
	plain, basic := []byte(password), []byte("admin:"+password)
	std, forURLs := base64.RawStdEncoding, base64.RawURLEncoding
	for name, text := range map[string]string{
		"as it is":          password,
		"base64":            std.EncodeToString(plain),
		"base64 for URLs":   forURLs.EncodeToString(plain),
		"basic auth":        "Basic " + std.EncodeToString(basic),
		"base64, shifted 1": std.EncodeToString([]byte("v" + password + "z")),
		"base64, shifted 2": std.EncodeToString([]byte("v:" + password)),
		"hex":               hex.EncodeToString(plain),
		"upper case hex":    strings.ToUpper(hex.EncodeToString(plain)),
		"spaced hex":        fmt.Sprintf("% x", plain),
		"separated hex":     strings.ReplaceAll(fmt.Sprintf("% X", plain), " ", ":"),
	} {
		for _, field := range []string{"version", "full_version"} {
			body, _ := json.Marshal(map[string]any{
				"api_version": 1, "haproxy": map[string]any{field: "3 " + text},
			})
			outcome := answerTo(t, string(body), password)
			wantFailure(t, outcome, core.CauseInvalidDocument, "repeats the credentials")
			if strings.Contains(fmt.Sprintf("%+v", outcome), text) {
				t.Errorf("%s: %+v quotes it", name, outcome)
			}
		}
	}
}

// The same for encodings that no version can be written in.
func TestVersionIsNotWrittenInOtherEncodings(t *testing.T) {
	const password = `s3cr&t "word"/ü`
	plain := []byte(password)
	for _, text := range []string{
		password, url.QueryEscape(password), url.PathEscape(password), fmt.Sprintf("%q", password),
		html.EscapeString(password), fmt.Sprint(plain), fmt.Sprintf("%x", sha256.Sum256(plain)),
		base64.StdEncoding.EncodeToString(plain),
	} {
		outcome := answerTo(t, versionDocument("3.4.3 "+text), "another password")
		wantFailure(t, outcome, core.CauseInvalidDocument, "haproxy.version does not read like a version")
	}
}

// Passwords of many kinds, each inside of something longer that is encoded: each is found.
func TestEveryPasswordIsFoundInItsEncodings(t *testing.T) {
	for _, password := range []string{
		"12345678", "aaaaaaaa", ">>>>>>>>", "????????", "~~~~~~~~", "€€€€€€€€", "p@ss/w%rd:#€", "a b c d e",
	} {
		for _, before := range []string{"", "x", "xy", "admin:"} {
			for _, after := range []string{"", "x", "xy", "xyz"} {
				plain := []byte(before + password + after)
				for _, text := range []string{
					string(plain), hex.EncodeToString(plain), base64.StdEncoding.EncodeToString(plain),
					base64.RawURLEncoding.EncodeToString(plain),
				} {
					if !repeatsAny("3."+text, []core.Credentials{testCredentials(t, password)}) {
						t.Errorf("%q is not found in %q", password, text)
					}
				}
			}
		}
	}
}

// An agent may keep what it was sent, and repeat it when other credentials are in use, or in parts.
func TestVersionRepeatsAnOldPasswordOrIsSplit(t *testing.T) {
	prober := newTestProber(t, TLSFiles{})
	agent := newHTTPAgent(t, answering(versionDocument("3.4.3 first-password")))
	for i, want := range []core.Cause{core.CauseInvalidDocument, core.CauseInvalidDocument} {
		probe := probeOf(t, agent.URL, ampleTime)
		probe.Credentials = testCredentials(t, []string{"first-password", "second-password"}[i])
		if failure, is := prober.Probe(context.Background(), probe).(core.Failure); !is || failure.Cause != want {
			t.Errorf("probe %d: %+v", i, failure)
		}
	}
	split := `{"api_version":1,"haproxy":{"version":"3.f1r","full_version":"5t-passw"}}`
	wantFailure(t, answerTo(t, split, "f1r5t-passw"), core.CauseInvalidDocument, "repeats the credentials")
}

// R26: a prober that was used remembers what it has sent, and prints none of it.
func TestPrintingAProberTellsNoPassword(t *testing.T) {
	prober := newTestProber(t, TLSFiles{})
	agent := newHTTPAgent(t, answering(versionDocument("3.4.3")))
	probe := probeOf(t, agent.URL, ampleTime)
	probe.Credentials = testCredentials(t, "first-password")
	prober.Probe(context.Background(), probe)
	if len(prober.sent.list) != 1 {
		t.Fatalf("%d credentials are remembered", len(prober.sent.list))
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		printed := fmt.Sprintf(verb, prober) + fmt.Sprintf(verb, prober.sent.list)
		if repeatsAny(printed, prober.sent.list) {
			t.Errorf("%s prints %s", verb, printed)
		}
	}
}

// A password of fewer than 8 characters is in many versions by chance: it keeps nobody out.
func TestVersionAndShortPasswords(t *testing.T) {
	for _, test := range []struct {
		password, version string
		repeated          bool
	}{
		{"1234", "3.4.3-1234", false},
		{"3.4.3", "3.4.3", false},
		{"1", "31", false},
		{"3.4.3-1", "3.4.3-1", false},
		{"3.4.3-12", "3.4.3-12", true},
		{"3.4.3-12", "3.4.3-1", false},
		{"ünïcödé", "3.4.3-1", false},
		{"!!!!!!!3", "3.4.3", false},
	} {
		outcome := answerTo(t, versionDocument(test.version), test.password)
		if _, isAnswer := outcome.(core.Answer); isAnswer == test.repeated {
			t.Errorf("password %q, version %q: %+v", test.password, test.version, outcome)
		}
	}
}

func versionDocument(version string) string {
	return fmt.Sprintf(`{"api_version":1,"haproxy":{"version":%q}}`, version)
}

// answerTo judges a document without a network in between.
func answerTo(t testing.TB, body, password string) core.Outcome {
	t.Helper()
	document, err := parseDocument([]byte(body))
	if err == nil {
		var answer core.Answer
		if answer, err = document.answer([]core.Credentials{testCredentials(t, password)}); err == nil {
			return answer
		}
	}
	return core.Failure(err.(failure))
}
