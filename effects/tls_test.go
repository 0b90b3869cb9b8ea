package effects

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

func probeWith(t testing.TB, prober *Prober, agentURL string) core.Outcome {
	t.Helper()
	return prober.Probe(context.Background(), probeOf(t, agentURL, ampleTime))
}

// The agent's certificate has to be valid, now, for the right name, and from the CA.
func TestTLSVerifiesTheAgent(t *testing.T) {
	verifyNoProbeLeaks(t)
	ca, dir := newAuthority(t, "ca"), newPEMDir(t)
	files := TLSFiles{CA: dir.write("ca.pem", ca.pem)}
	named := TLSFiles{CA: files.CA, ServerName: "agent.example"}
	forName := func(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, []string{"agent.example"} }
	for name, test := range map[string]struct {
		files  TLSFiles
		change func(*x509.Certificate)
		detail string
	}{
		"good":                 {files: files},
		"good for server name": {files: named, change: forName},
		"system roots":         {change: nil, detail: "not signed by a trusted CA"},
		"other CA": {files: TLSFiles{CA: dir.write("other.pem", newAuthority(t, "other").pem)},
			detail: "not signed by a trusted CA"},
		"other address": {files: files, detail: "for another name",
			change: func(c *x509.Certificate) { c.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 9)} }},
		"other name": {files: named, detail: "for another name",
			change: func(c *x509.Certificate) { c.DNSNames = []string{"p%40ss.example"} }},
		"expired": {files: files, detail: "has expired or is not valid yet",
			change: func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }},
		"not valid yet": {files: files, detail: "has expired or is not valid yet",
			change: func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Minute) }},
		"not for servers": {files: files, detail: "is not valid",
			change: func(c *x509.Certificate) {
				c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning}
			}},
	} {
		t.Run(name, func(t *testing.T) {
			certificate, key := ca.issue(test.change)
			agent := newTLSAgent(t, certificate, key, nil)
			outcome := probeWith(t, newTestProber(t, test.files), agent)
			if test.detail == "" {
				wantAnswer(t, outcome, validAnswer)
			} else {
				wantFailure(t, outcome, core.CauseTLS, test.detail)
			}
		})
	}
}

// The credentials must not be sent before the agent has proved who it is.
func TestTLSWithAgentsThatDoNotSpeakIt(t *testing.T) {
	verifyNoProbeLeaks(t)
	dir := newPEMDir(t)
	prober := newTestProber(t, TLSFiles{CA: dir.write("ca.pem", newAuthority(t, "ca").pem)})
	plain := newHTTPAgent(t, answering(validDocument))
	https := func(plainURL string) string { return "https" + strings.TrimPrefix(plainURL, "http") }
	wantFailure(t, probeWith(t, prober, https(plain.URL)), core.CauseTLS, "does not speak TLS")
	if plain.requests.Load() != 0 {
		t.Error("a request was sent in clear")
	}
	closing := newUnreadAgent(t, func(net.Conn, <-chan struct{}) {})
	outcome := probeWith(t, prober, https(closing.url))
	wantFailure(t, outcome, core.CauseTLS, "ended in the TLS handshake")

	silent := newUnreadAgent(t, func(_ net.Conn, done <-chan struct{}) { <-done })
	const limit = 50 * time.Millisecond
	outcome = prober.Probe(context.Background(), probeOf(t, https(silent.url), limit))
	wantFailure(t, outcome, core.CauseTimeout, "still in the TLS handshake")
}

func TestTLSClientCertificate(t *testing.T) {
	verifyNoProbeLeaks(t)
	ca, clients, dir := newAuthority(t, "ca"), newAuthority(t, "clients"), newPEMDir(t)
	certificate, key := ca.issue(nil)
	agent := newTLSAgent(t, certificate, key, clients)
	files := func(issuer *authority, change func(*x509.Certificate)) TLSFiles {
		certificate, key := issuer.issue(change)
		return TLSFiles{CA: dir.write("ca.pem", ca.pem),
			Certificate: dir.write("tls.crt", certificate), Key: dir.write("tls.key", key)}
	}
	wantAnswer(t, probeWith(t, newTestProber(t, files(clients, nil)), agent), validAnswer)

	none := newTestProber(t, TLSFiles{CA: filepath.Join(dir.path, "ca.pem")})
	wantFailure(t, probeWith(t, none, agent), core.CauseTLS, "certificate required")
	foreign := newTestProber(t, files(newAuthority(t, "foreign"), nil))
	wantFailure(t, probeWith(t, foreign, agent), core.CauseTLS, "certificate required")
	expired := newTestProber(t, files(clients, func(c *x509.Certificate) {
		c.NotAfter = time.Now().Add(-time.Minute)
	}))
	wantFailure(t, probeWith(t, expired, agent), core.CauseTLS, "expired certificate")
}

// R25: the CA may be replaced while the program runs.
func TestTLSReloadsTheCA(t *testing.T) {
	verifyNoProbeLeaks(t)
	old, next, dir := newAuthority(t, "old"), newAuthority(t, "next"), newPEMDir(t)
	oldCertificate, oldKey := old.issue(nil)
	oldAgent := newTLSAgent(t, oldCertificate, oldKey, nil)
	newCertificate, newKey := next.issue(nil)
	newAgent := newTLSAgent(t, newCertificate, newKey, nil)

	path := dir.write("ca.pem", old.pem)
	prober := newTestProber(t, TLSFiles{CA: path})
	wantAnswer(t, probeWith(t, prober, oldAgent), validAnswer)
	wantFailure(t, probeWith(t, prober, newAgent), core.CauseTLS, "not signed by a trusted CA")

	dir.write("ca.pem", next.pem)
	wantAnswer(t, probeWith(t, prober, newAgent), validAnswer)
	wantFailure(t, probeWith(t, prober, oldAgent), core.CauseTLS, "not signed by a trusted CA")

	// What cannot be used changes nothing; only failures of TLS mention it.
	dir.write("ca.pem", []byte("half a certi"))
	wantAnswer(t, probeWith(t, prober, newAgent), validAnswer)
	wantFailure(t, probeWith(t, prober, oldAgent), core.CauseTLS,
		"an older content is in use, since file \""+path+"\" holds no PEM certificate")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	wantAnswer(t, probeWith(t, prober, newAgent), validAnswer)
	wantFailure(t, probeWith(t, prober, oldAgent), core.CauseTLS,
		"file \""+path+"\" cannot be read: no such file or directory")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	wantAnswer(t, probeWith(t, prober, newAgent), validAnswer)
	if err := prober.TLSProblem(); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("problem %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	dir.write("ca.pem", make([]byte, maxTLSFile+1))
	wantFailure(t, probeWith(t, prober, oldAgent), core.CauseTLS, "larger than 1 MiB")

	dir.write("ca.pem", append(old.pem, next.pem...))
	wantAnswer(t, probeWith(t, prober, newAgent), validAnswer)
	wantAnswer(t, probeWith(t, prober, oldAgent), validAnswer)
	if err := prober.TLSProblem(); err != nil {
		t.Errorf("problem %v", err)
	}
}

// R25: of a bundle that is being written, the first half is no good content, wherever it is cut; and
// what is no certificate does no harm.
func TestTLSKeepsTheLastWholeBundle(t *testing.T) {
	one, two, dir := newAuthority(t, "one"), newAuthority(t, "two"), newPEMDir(t)
	_, key := one.issue(nil)
	broken := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("no certificate")})
	garbled := bytes.Replace(two.pem, []byte("M"), []byte("!"), 1)
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	for name, test := range map[string]struct {
		bundle []byte
		want   string
	}{
		"whole":               {join(one.pem, two.pem), ""},
		"comments":            {join([]byte("# ours\n"), one.pem, []byte("\n# theirs\n"), two.pem, []byte("#\n")), ""},
		"other blocks":        {join(key, one.pem, two.pem), ""},
		"no last line ending": {bytes.TrimSpace(join(one.pem, two.pem)), ""},
		"CRLF":                {bytes.ReplaceAll(join(one.pem, two.pem), []byte("\n"), []byte("\r\n")), ""},
		"cut in a block":      {join(one.pem, two.pem[:len(two.pem)/2]), "cut off or broken"},
		"cut in the end line": {join(one.pem, two.pem[:len(two.pem)-5]), "cut off or broken"},
		"cut, then another":   {join(one.pem[:len(one.pem)/2], []byte("\n"), two.pem), "cut off or broken"},
		"garbled":             {join(one.pem, garbled, one.pem), "cut off or broken"},
		"garbled at the end":  {join(one.pem, garbled), "cut off or broken"},
		"no certificate":      {broken, "no PEM certificate that can be used"},
	} {
		t.Run(name, func(t *testing.T) {
			path := dir.write("ca.pem", one.pem)
			trust, err := loadTrust(TLSFiles{CA: path})
			if err != nil {
				t.Fatal(err)
			}
			good, _ := trust.roots.get()
			dir.write("ca.pem", test.bundle)
			roots, err := trust.roots.get()
			if test.want != "" {
				if err == nil || !strings.Contains(err.Error(), path) ||
					!strings.Contains(err.Error(), test.want) || roots != good {
					t.Errorf("the last good bundle is kept: %t, %v", roots == good, err)
				}
				return
			}
			whole := x509.NewCertPool()
			whole.AddCert(one.certificate)
			whole.AddCert(two.certificate)
			if err != nil || !roots.Equal(whole) {
				t.Errorf("the bundle is not in use: %v", err)
			}
		})
	}
}

// R25: a certificate of a bundle that cannot be read costs the others nothing, at start-up and later,
// and is named: where the files are looked at, and by failures of TLS.
func TestTLSPassesOverCertificatesThatCannotBeRead(t *testing.T) {
	verifyNoProbeLeaks(t)
	ca, other, dir := newAuthority(t, "ca"), newAuthority(t, "other"), newPEMDir(t)
	negative := newAuthority(t, "negative")
	der := bytes.Clone(negative.certificate.Raw)
	serial := bytes.Index(der, []byte{2, 1, 1})
	der[serial+2] = 0xff // -1
	negativePEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	expired, _ := ca.issue(func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) })
	certificate, key := ca.issue(nil)
	agent := newTLSAgent(t, certificate, key, nil)
	foreignCertificate, foreignKey := other.issue(nil)
	foreign := newTLSAgent(t, foreignCertificate, foreignKey, nil)
	for name, bundle := range map[string][]byte{
		"behind":        bytes.Join([][]byte{ca.pem, negativePEM}, nil),
		"behind others": bytes.Join([][]byte{expired, ca.pem, []byte("junk\n"), negativePEM}, []byte("\n")),
		"before":        bytes.Join([][]byte{negativePEM, key, ca.pem}, nil),
	} {
		path := dir.write("ca.pem", bundle)
		prober := newTestProber(t, TLSFiles{CA: path})
		wantAnswer(t, probeWith(t, prober, agent), validAnswer)
		number := map[string]string{"behind": "2", "behind others": "3", "before": "1"}[name]
		want := `file "` + path + `" holds certificates that cannot be read and are passed over: number ` +
			number + ` (x509: negative serial number)`
		if err := prober.TLSProblem(); err == nil || err.Error() != want {
			t.Errorf("%s: problem %v", name, err)
		}
		wantFailure(t, probeWith(t, prober, foreign), core.CauseTLS, "trusted CA; "+want)

		// The same when the bundle is replaced while it is in use.
		dir.write("ca.pem", other.pem)
		wantAnswer(t, probeWith(t, prober, foreign), validAnswer)
		dir.write("ca.pem", bundle)
		wantAnswer(t, probeWith(t, prober, agent), validAnswer)
		wantFailure(t, probeWith(t, prober, foreign), core.CauseTLS, "trusted CA; "+want)
	}
}

// R25: so may the client certificate, whose two files never change at the same instant.
func TestTLSReloadsTheClientCertificate(t *testing.T) {
	verifyNoProbeLeaks(t)
	ca, dir := newAuthority(t, "ca"), newPEMDir(t)
	oldClients, newClients := newAuthority(t, "old"), newAuthority(t, "new")
	certificate, key := ca.issue(nil)
	oldAgent := newTLSAgent(t, certificate, key, oldClients)
	newAgent := newTLSAgent(t, certificate, key, newClients)

	oldCertificate, oldKey := oldClients.issue(nil)
	newCertificate, newKey := newClients.issue(nil)
	prober := newTestProber(t, TLSFiles{
		CA:          dir.write("ca.pem", ca.pem),
		Certificate: dir.write("tls.crt", oldCertificate),
		Key:         dir.write("tls.key", oldKey),
	})
	wantAnswer(t, probeWith(t, prober, oldAgent), validAnswer)

	dir.write("tls.crt", newCertificate)
	wantAnswer(t, probeWith(t, prober, oldAgent), validAnswer)
	wantFailure(t, probeWith(t, prober, newAgent), core.CauseTLS, "do not hold a PEM certificate and")

	dir.write("tls.key", newKey)
	wantAnswer(t, probeWith(t, prober, newAgent), validAnswer)
	wantFailure(t, probeWith(t, prober, oldAgent), core.CauseTLS, "certificate required")
}

// At start-up a file that cannot be used is an error: one line that names it.
func TestTLSFilesErrors(t *testing.T) {
	ca, dir := newAuthority(t, "ca"), newPEMDir(t)
	certificatePEM, keyPEM := ca.issue(nil)
	_, otherKeyPEM := ca.issue(nil)
	certificate, key := dir.write("tls.crt", certificatePEM), dir.write("tls.key", keyPEM)
	otherKey, text := dir.write("other.key", otherKeyPEM), dir.write("text", []byte("secret text"))
	missing := filepath.Join(dir.path, "missing")
	for _, test := range []struct {
		files TLSFiles
		want  []string
	}{
		{TLSFiles{CA: missing}, []string{"agent CA", missing, "no such file"}},
		{TLSFiles{CA: text}, []string{"agent CA", text, "no PEM certificate"}},
		{TLSFiles{CA: key}, []string{"agent CA", key, "no PEM certificate"}},
		{TLSFiles{CA: dir.path}, []string{"agent CA", dir.path, "is no regular file"}},
		{TLSFiles{Certificate: certificate}, []string{certificate, "no key file"}},
		{TLSFiles{Key: key}, []string{key, "no certificate file"}},
		{TLSFiles{Certificate: missing, Key: key}, []string{missing, "no such file"}},
		{TLSFiles{Certificate: certificate, Key: missing}, []string{missing, "no such file"}},
		{TLSFiles{Certificate: certificate, Key: text}, []string{certificate, "private key"}},
		{TLSFiles{Certificate: certificate, Key: otherKey}, []string{certificate, "belongs to it"}},
	} {
		_, err := NewProber(test.files)
		if err == nil {
			t.Errorf("%+v: no error", test.files)
			continue
		}
		for _, want := range test.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q does not say %q", err, want)
			}
		}
		if strings.ContainsAny(err.Error(), "\n") || strings.Contains(err.Error(), "secret text") {
			t.Errorf("%q is not one line, or quotes the file", err)
		}
	}
}
