package effects

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
)

// TLSFiles says how to speak TLS to agents with an https URL. All paths are of PEM files.
//
// The files are looked at before each TLS probe and read again when their content has changed. A
// new content that cannot be used (a file missing or half written, a certificate that does not
// match the key yet) leaves the last good one in use, so that a slip in a rotation locks nobody
// out; probes that fail for TLS reasons name the file in their detail while that lasts. Of a bundle of
// CA certificates, each that cannot be read is passed over and named in the same way.
type TLSFiles struct {
	// CA holds the certificates that agents are verified with; the system's roots if empty.
	CA string
	// Certificate and Key are the client certificate, shown to agents that ask for one. They go
	// together; none if empty.
	Certificate string
	Key         string
	// ServerName is what the agents' certificates are for; the IP address of the URL if empty.
	ServerName string
}

// trust is TLSFiles in use. A part without files is nil.
type trust struct {
	serverName string
	roots      *lastGood[*x509.CertPool]
	client     *lastGood[tls.Certificate]
}

func loadTrust(files TLSFiles) (*trust, error) {
	t := &trust{serverName: files.ServerName}
	switch {
	case files.Certificate != "" && files.Key == "":
		return nil, fmt.Errorf("agent certificate file %q: no key file is given", files.Certificate)
	case files.Certificate == "" && files.Key != "":
		return nil, fmt.Errorf("agent key file %q: no certificate file is given", files.Key)
	}
	if files.CA != "" {
		t.roots = &lastGood[*x509.CertPool]{parse: parseRoots, paths: []string{files.CA}}
		if _, err := t.roots.get(); err != nil && !isPassedOver(err) {
			return nil, fmt.Errorf("agent CA %w", err)
		}
	}
	if files.Certificate != "" {
		t.client = &lastGood[tls.Certificate]{
			parse: parseKeyPair, paths: []string{files.Certificate, files.Key},
		}
		if _, err := t.client.get(); err != nil {
			return nil, fmt.Errorf("agent certificate %w", err)
		}
	}
	return t, nil
}

// config is for one handshake with a host. flaws, empty or the end of a sentence, names the files
// whose newest content cannot be used, or not wholly.
func (t *trust) config(host string) (config *tls.Config, flaws string) {
	config = &tls.Config{ServerName: t.serverName}
	if t.serverName == "" {
		config.ServerName = host
	}
	if t.roots != nil {
		roots, err := t.roots.get()
		config.RootCAs = roots
		flaws += flawText(err)
	}
	if t.client != nil {
		certificate, err := t.client.get()
		config.Certificates = []tls.Certificate{certificate}
		flaws += flawText(err)
	}
	return config, flaws
}

// problem is what is wrong with the newest content of the files; nil if nothing is.
func (t *trust) problem() error {
	var problems []error
	if t.roots != nil {
		_, err := t.roots.get()
		problems = append(problems, err)
	}
	if t.client != nil {
		_, err := t.client.get()
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

func flawText(err error) string {
	switch {
	case err == nil:
		return ""
	case isPassedOver(err):
		return fmt.Sprintf("; %v", err)
	}
	return fmt.Sprintf("; an older content is in use, since %v", err)
}

// passedOver is what is wrong with a part of a content whose rest can be used.
type passedOver struct{ error }

func isPassedOver(err error) bool {
	var part passedOver
	return errors.As(err, &part)
}

// lastGood is a value that is made from files, and anew when their content changes.
type lastGood[T any] struct {
	paths []string
	parse func(contents [][]byte) (T, error)

	mu       sync.Mutex
	contents [][]byte
	value    T
	err      error
}

// get gives the value of the newest content that could be used, and what is wrong with the present
// one. Reading a small file costs less than a handshake, and misses no change as times might.
func (l *lastGood[T]) get() (T, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	contents := make([][]byte, len(l.paths))
	for i, path := range l.paths {
		content, err := readRegular(path)
		if err != nil {
			l.contents, l.err = nil, err
			return l.value, l.err
		}
		contents[i] = content
	}
	if l.contents != nil && equalContents(contents, l.contents) {
		return l.value, l.err
	}
	value, err := l.parse(contents)
	l.contents, l.err = contents, nil
	if err != nil {
		l.err = fmt.Errorf("file %q %w", l.paths[0], err)
	}
	if err == nil || isPassedOver(err) {
		l.value = value
	}
	return l.value, l.err
}

// maxTLSFile bounds a file, in bytes; the bundles of the big distributions have a quarter of that.
const maxTLSFile = 1 << 20

func readRegular(path string) ([]byte, error) {
	// Stat first: to open a named pipe would block, and all probes with it.
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, unreadable(path, err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("file %q is no regular file", path)
	case info.Size() > maxTLSFile:
		return nil, fmt.Errorf("file %q is larger than 1 MiB", path)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	return content, nil
}

func equalContents(a, b [][]byte) bool {
	for i := range a {
		if !bytes.Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func unreadable(path string, err error) error {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		err = failed.Err
	}
	return fmt.Errorf("file %q cannot be read: %w", path, err)
}

// parseRoots takes all blocks of a bundle or none: of one that is half written, those that are there
// already are no good content. Comments, and blocks that are of another type or have headers, are
// passed over, as the library does; so are, with an error, certificates that are whole but that the
// library does not read, such as old ones with a negative serial number.
func parseRoots(contents [][]byte) (*x509.CertPool, error) {
	roots, found := x509.NewCertPool(), 0
	var unread []string
	rest := contents[0]
	for {
		var block *pem.Block
		before := rest
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		// Decode skips what it cannot read on its way to a block that it can.
		if bytes.Count(before[:len(before)-len(rest)], pemBegin) != 1 {
			return nil, errBrokenBlock
		}
		if block.Type != "CERTIFICATE" || len(block.Headers) != 0 {
			continue
		}
		found++
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			unread = append(unread, fmt.Sprintf("number %d (%v)", found, err))
			continue
		}
		roots.AddCert(certificate)
	}
	switch {
	case bytes.Contains(rest, pemBegin):
		return nil, errBrokenBlock
	case found == len(unread):
		return nil, errors.New("holds no PEM certificate that can be used")
	case len(unread) > 0:
		return roots, passedOver{fmt.Errorf("holds certificates that cannot be read and are passed over: %s",
			strings.Join(unread, ", "))}
	}
	return roots, nil
}

var (
	pemBegin       = []byte("-----BEGIN")
	errBrokenBlock = errors.New("holds a PEM block that is cut off or broken")
)

// parseKeyPair keeps the library's error to itself: it may quote what it found in the key file.
func parseKeyPair(contents [][]byte) (tls.Certificate, error) {
	pair, err := tls.X509KeyPair(contents[0], contents[1])
	if err != nil {
		return tls.Certificate{}, errors.New(
			"and its key file do not hold a PEM certificate and the private key that belongs to it")
	}
	return pair, nil
}
