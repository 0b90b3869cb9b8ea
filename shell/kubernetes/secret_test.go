package kubernetes

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

const (
	secretPath = collectionOf + "secrets/haproxy-credentials"
	password   = "s3cret@/%:#ü"
)

// secret sets the Secret's values, as the API encodes them; nil is one without the key.
func (s *apiServer) secret(username, password any) {
	data := map[string]any{"unrelated": base64.StdEncoding.EncodeToString([]byte("other-value"))}
	for key, value := range map[string]any{UsernameKey: username, PasswordKey: password} {
		if text, isText := value.(string); isText {
			data[key] = base64.StdEncoding.EncodeToString([]byte(text))
		} else if value != nil {
			data[key] = value
		}
	}
	s.set(secretPath, map[string]any{
		"apiVersion": "v1", "kind": "Secret", "data": data,
		"metadata": map[string]any{"namespace": "lb", "name": "haproxy-credentials"},
	})
}

func (s *apiServer) credentials() *CredentialsSecret {
	name := types.NamespacedName{Namespace: "lb", Name: "haproxy-credentials"}
	return NewCredentialsSecret(s.cluster, name, s.log.everything())
}

// noTrace fails where the text holds a password, plain or encoded.
func noTrace(t *testing.T, where, text string) {
	t.Helper()
	for _, secret := range []string{password, "other-value"} {
		for _, trace := range []string{secret, base64.StdEncoding.EncodeToString([]byte(secret))} {
			if strings.Contains(text, trace) {
				t.Errorf("%s shows %q:\n%s", where, trace, text)
			}
		}
	}
}

// R27: what is wrong with a Secret is said by name, without a value.
func TestR27SecretIsReadOrRefusedByName(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name               string
		username, password any
		want               string
	}{
		{"good", "admin", password, ""},
		{"line endings", "admin\n", password + "\r\n", ""},
		{"byte order marks", "\ufeffadmin", "\ufeff" + password + "\n", ""},
		{"invisible", "admin", password + "\u200b",
			"Secret lb/haproxy-credentials: invalid credentials: dataplane_password holds an invisible character"},
		{"space", "admin", password + "\u00a0",
			"Secret lb/haproxy-credentials: invalid credentials: dataplane_password begins or ends with a space"},
		{"line separator", "admin\u2028", password,
			"Secret lb/haproxy-credentials: invalid credentials: dataplane_username begins or ends with a space"},
		{"no password", "admin", nil, "Secret lb/haproxy-credentials has no key dataplane_password; add it"},
		{"no username", nil, password, "Secret lb/haproxy-credentials has no key dataplane_username; add it"},
		{"empty", "admin", "", "Secret lb/haproxy-credentials: invalid credentials: dataplane_password is empty"},
		{"control character", "admin", password + "\x07",
			"Secret lb/haproxy-credentials: invalid credentials: dataplane_password holds a control character"},
		{"no UTF-8", "admin", password + "\xff",
			"Secret lb/haproxy-credentials: invalid credentials: dataplane_password is no valid UTF-8"},
		{"not base64", "admin", []any{password}, "Secret lb/haproxy-credentials cannot be decoded"},
	} {
		s := newAPIServer(t)
		s.secret(test.username, test.password)
		credentials, err := s.credentials().Read(t.Context())
		if got := fmt.Sprint(err); test.want != "" && got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
		if test.want == "" && (err != nil || credentials.Username() != "admin" ||
			credentials.Password().Reveal() != password) {
			t.Errorf("%s: %v, %v", test.name, credentials, err)
		}
		noTrace(t, test.name, fmt.Sprintf("%v %+v %#v", err, err, err)+s.log.String())
	}
}

func TestSecretThatIsNotThereOrNotPermitted(t *testing.T) {
	t.Parallel()
	s := newAPIServer(t)
	_, err := s.credentials().Read(t.Context())
	if err == nil || !strings.Contains(err.Error(), "Secret lb/haproxy-credentials does not exist; create it") {
		t.Errorf("missing: %v", err)
	}
	s.secret("admin", password)
	for _, verb := range []string{"list", "watch", "get"} {
		s.answer(verb, http.StatusForbidden)
		_, err = s.credentials().Read(t.Context())
		var failure *Failure
		if !errors.As(err, &failure) || failure.Unreachable() ||
			!strings.Contains(err.Error(), verb+" Secret lb/haproxy-credentials at "+s.URL) {
			t.Errorf("%s forbidden: %v", verb, err)
		}
		s.answer(verb, 0)
	}
	s.answer("get", http.StatusServiceUnavailable)
	var failure *Failure
	if _, err = s.credentials().Read(t.Context()); !errors.As(err, &failure) || !failure.Unreachable() {
		t.Errorf("unavailable: %v", err)
	}
	noTrace(t, "the log", s.log.String())
}

// rotations collects the passwords that a running CredentialsSecret tells.
type rotations struct {
	*CredentialsSecret
	mu    sync.Mutex
	names []string
}

func (r *rotations) told() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.names, " ")
}

func (r *rotations) run(t *testing.T) {
	running(t, func(ctx context.Context) error {
		return r.Run(ctx, func(event any) {
			if problem := r.Problem(); problem != "" { // may be asked meanwhile
				t.Error(problem)
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			r.names = append(r.names, event.(core.CredentialsUpdated).Credentials.Username())
		})
	})
}

// A rotation is told once; what is invalid or gone later is logged once, shown, and changes nothing.
func TestR27SecretIsFollowed(t *testing.T) {
	t.Parallel()
	s := newAPIServer(t)
	s.answer("stream", http.StatusUnprocessableEntity) // so that there is a list to be logged
	s.secret("one", password)
	r := &rotations{CredentialsSecret: s.credentials()}
	if _, err := r.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.run(t)
	await(t, "the watch", s.log, func() bool { return r.View().Synced && r.View().Connected })
	told := func(want string) {
		t.Helper()
		await(t, want, s.log, func() bool { return r.told() == want })
	}
	s.secret("two", password)
	told("two")
	problem := func(want string) {
		t.Helper()
		await(t, want, s.log, func() bool { return strings.Contains(r.Problem(), want) })
	}
	s.secret("", password)
	problem("dataplane_username is empty")
	s.secret("", password+"2")
	s.secret("", password+"3")
	s.secret("two", nil)
	problem("no key dataplane_password")
	s.secret("two", password)
	await(t, "an end of the problem", s.log, func() bool { return r.Problem() == "" })
	s.remove(secretPath)
	problem("does not exist")
	s.secret("three", password)
	told("two three")
	for text, want := range map[string]int{
		"is empty": 1, "has no key": 1, "does not exist": 1, "readable again": 2, "old ones stay": 3,
	} {
		if n := s.log.count(text); n != want {
			t.Errorf("%q was logged %d times", text, n)
		}
	}
	noTrace(t, "the log", s.log.String())
}

// A program that has started while the server was gone gets its credentials later; if there are none
// then, it says so.
func TestSecretThatComesLater(t *testing.T) {
	t.Parallel()
	s := newAPIServer(t)
	r := &rotations{CredentialsSecret: s.credentials()}
	r.run(t)
	await(t, "the problem", s.log, func() bool { return strings.Contains(r.Problem(), "does not exist") })
	if s.log.count("nothing is probed until") != 1 {
		t.Error(s.log)
	}
	s.secret("one", password)
	await(t, "credentials", s.log, func() bool { return r.told() == "one" })
}
