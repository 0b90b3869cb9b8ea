package credentialsdir

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const secret = "s3cret@/%:#ü"

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func credentialsIn(t *testing.T, username, password string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, usernameFile, username)
	write(t, dir, passwordFile, password)
	return dir
}

func TestR27WhatAFileHasAroundAValueIsTrimmed(t *testing.T) {
	for _, mark := range []string{"", "\ufeff"} {
		for _, ending := range []string{"", "\n", "\r\n"} {
			credentials, err := Read(credentialsIn(t, mark+"admin"+ending, mark+secret+ending))
			if err != nil {
				t.Fatal(err)
			}
			if credentials.Username() != "admin" || credentials.Password().Reveal() != secret {
				t.Errorf("with %q and %q: got username %q and another password or not",
					mark, ending, credentials.Username())
			}
		}
	}
}

func TestValueOfExactly64KiBIsRead(t *testing.T) {
	if _, err := Read(credentialsIn(t, "admin", strings.Repeat("x", maxFile))); err != nil {
		t.Error(err)
	}
}

func TestR27RefusedByNameWithoutTheValue(t *testing.T) {
	tests := map[string]struct {
		damage func(t *testing.T, dir string)
		want   string
	}{
		"missing directory": {
			func(t *testing.T, dir string) { must(t, os.RemoveAll(dir)) },
			`credentials file "DIR/dataplane_username" cannot be read: no such file or directory`,
		},
		"file instead of directory": {
			func(t *testing.T, dir string) {
				must(t, os.RemoveAll(dir))
				must(t, os.WriteFile(dir, []byte(secret), 0o600))
			},
			`credentials file "DIR/dataplane_username" cannot be read: not a directory`,
		},
		"missing username": {
			func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, usernameFile))) },
			`credentials file "DIR/dataplane_username" cannot be read: no such file or directory`,
		},
		"missing password": {
			func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, passwordFile))) },
			`credentials file "DIR/dataplane_password" cannot be read: no such file or directory`,
		},
		"directory instead of file": {
			func(t *testing.T, dir string) {
				must(t, os.Remove(filepath.Join(dir, passwordFile)))
				must(t, os.Mkdir(filepath.Join(dir, passwordFile), 0o700))
			},
			`credentials file "DIR/dataplane_password" is no regular file`,
		},
		"named pipe without a writer": {
			func(t *testing.T, dir string) {
				must(t, os.Remove(filepath.Join(dir, passwordFile)))
				must(t, syscall.Mkfifo(filepath.Join(dir, passwordFile), 0o600))
			},
			`credentials file "DIR/dataplane_password" is no regular file`,
		},
		"unreadable": {
			func(t *testing.T, dir string) {
				path := filepath.Join(dir, passwordFile)
				must(t, os.Remove(path))
				must(t, os.Symlink(passwordFile, path))
			},
			`credentials file "DIR/dataplane_password" cannot be read: ` +
				`too many levels of symbolic links`,
		},
		"too large": {
			func(t *testing.T, dir string) {
				write(t, dir, passwordFile, secret+strings.Repeat("x", maxFile))
			},
			`credentials file "DIR/dataplane_password" is larger than 64 KiB`,
		},
		"empty": {
			func(t *testing.T, dir string) { write(t, dir, passwordFile, "\n") },
			`directory "DIR": invalid credentials: dataplane_password is empty`,
		},
		"control character": {
			func(t *testing.T, dir string) { write(t, dir, passwordFile, secret+"\n\n") },
			`directory "DIR": invalid credentials: dataplane_password holds a control character`,
		},
		"only a byte order mark": {
			func(t *testing.T, dir string) { write(t, dir, passwordFile, "\ufeff\r\n") },
			`directory "DIR": invalid credentials: dataplane_password is empty`,
		},
		"invisible character": {
			func(t *testing.T, dir string) { write(t, dir, passwordFile, secret+"\u200b\n") },
			`directory "DIR": invalid credentials: dataplane_password holds an invisible character`,
		},
		"space at the end": {
			func(t *testing.T, dir string) { write(t, dir, usernameFile, "admin\u00a0") },
			`directory "DIR": invalid credentials: dataplane_username begins or ends with a space`,
		},
		"line separator at the end": {
			func(t *testing.T, dir string) { write(t, dir, passwordFile, secret+"\u2028") },
			`directory "DIR": invalid credentials: dataplane_password begins or ends with a space`,
		},
		"colon in the username": {
			func(t *testing.T, dir string) { write(t, dir, usernameFile, "ad:min") },
			`directory "DIR": invalid credentials: dataplane_username holds a colon`,
		},
		"no UTF-8": {
			func(t *testing.T, dir string) { write(t, dir, passwordFile, secret+"\xff") },
			`credentials file "DIR/dataplane_password" is not valid UTF-8`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := credentialsIn(t, "admin", secret)
			test.damage(t, dir)
			credentials, err := Read(dir)
			if err == nil {
				t.Fatal("no error")
			}
			if want := strings.ReplaceAll(test.want, "DIR", dir); err.Error() != want {
				t.Errorf("got  %v\nwant %v", err, want)
			}
			if strings.Contains(fmt.Sprintf("%+v %#v", err, err), secret) {
				t.Error("the error shows the secret")
			}
			if !credentials.IsZero() {
				t.Error("credentials beside an error")
			}
		})
	}
}

func TestPathWithNewlineStaysOneLine(t *testing.T) {
	_, err := Read("/nowhere\nat all")
	if err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
