package e2e

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/haproxy-discovery/haproxy-discovery/shell/kubernetes/e2e/internal/testbed"
)

// New credentials are told at once, for the same fleet and without a probe.
func TestSecretRotated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pods := w.launchMany(3)
	d := w.discover()
	d.AwaitPods(pods...)

	mark, probes := d.Mark(), w.agents.Requests()
	password := w.newPassword()
	w.agents.Accept("operator", password)
	w.updateSecret(map[string]string{
		"dataplane_username": "operator", "dataplane_password": password + "\n",
	})
	event := d.Await(mark, "new credentials", func(event testbed.Event) bool {
		return event.CredentialsChanged
	})
	if event.Count != len(pods) || len(event.Added)+len(event.Removed)+len(event.Updated) > 0 {
		t.Errorf("new credentials change the fleet: %+v", event)
	}
	d.AwaitFleet("the new user everywhere", func(fleet testbed.Fleet) bool {
		for _, endpoint := range fleet {
			if endpoint.Username != "operator" {
				return false
			}
		}
		return true
	})
	if n := w.agents.Requests() - probes; n != 0 {
		t.Errorf("%d probes of admitted pods", n)
	}
	// The new password is the one in use.
	d.AwaitPods(append(pods, w.launch(testbed.Wish{Name: "later"}))...)
	expectTerminations(t, d, mark)
}

// What makes no sense is refused by name; the old credentials stay in use.
func TestSecretSpoiledWhileRunning(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pod := w.launch(testbed.Wish{Name: "haproxy-0"})
	d := w.discover()
	d.AwaitPods(pod)

	mark := d.Mark()
	w.updateSecret(map[string]string{"dataplane_username": "admin", "dataplane_password": ""})
	d.AwaitLog("the old ones stay in use")
	second := w.launch(testbed.Wish{Name: "haproxy-1"})
	d.AwaitPods(pod, second)
	check(t, w.client.CoreV1().Secrets(w.namespace).Delete(w.ctx, secretName, metav1.DeleteOptions{}))
	d.AwaitLog("does not exist")
	third := w.launch(testbed.Wish{Name: "haproxy-2"})
	d.AwaitPods(pod, second, third)

	w.createSecret()
	d.Await(mark, "new credentials", func(event testbed.Event) bool {
		return event.CredentialsChanged
	})
	d.AwaitPods(pod, second, third, w.launch(testbed.Wish{Name: "haproxy-3"}))
	expectTerminations(t, d, mark)
}

// What is not there at the start ends the program at once, with a line that says what to do.
func TestSecretUnusableAtTheStart(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		data map[string]string // nil for no Secret
		want []string
	}{
		"no such Secret": {want: []string{"does not exist"}},
		"no username": {
			data: map[string]string{"dataplane_password": "unused"},
			want: []string{"dataplane_username"},
		},
		"no password": {
			data: map[string]string{"dataplane_username": "admin", "password": "unused"},
			want: []string{"dataplane_password"},
		},
		"an empty password": {
			data: map[string]string{"dataplane_username": "admin", "dataplane_password": "\n"},
			want: []string{"password"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if test.data == nil {
				check(t, w.client.CoreV1().Secrets(w.namespace).
					Delete(w.ctx, secretName, metav1.DeleteOptions{}))
			} else {
				w.updateSecret(test.data)
			}
			d := w.discover("--log-level", "error")
			expectRefusal(t, d, append(test.want, w.namespace, secretName)...)
		})
	}
}

// expectRefusal: the program ends with status 2 and one line that holds all of these.
func expectRefusal(t *testing.T, d *testbed.Discovery, want ...string) {
	t.Helper()
	if status := d.AwaitExit(); status != 2 {
		t.Errorf("exit status %d, want 2", status)
	}
	expectOneLine(t, d, want...)
}

// expectOneLine: the standard error is one line with all of these in it.
func expectOneLine(t *testing.T, d *testbed.Discovery, want ...string) {
	t.Helper()
	message := d.Log()
	t.Logf("%s", message)
	if strings.Count(message, "\n") != 1 {
		t.Errorf("%d lines, want one", strings.Count(message, "\n"))
	}
	for _, text := range want {
		if !strings.Contains(message, text) {
			t.Errorf("the message lacks %q", text)
		}
	}
}

func (w *world) updateSecret(data map[string]string) {
	w.t.Helper()
	_, err := w.client.CoreV1().Secrets(w.namespace).Update(w.ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: secretName}, StringData: data,
	}, metav1.UpdateOptions{})
	check(w.t, err)
}
