// Package credentialsdir reads the agents' credentials from a directory, such as a mounted Secret,
// and follows their changes.
package credentialsdir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

const (
	usernameFile = "dataplane_username"
	passwordFile = "dataplane_password"
)

// maxFile bounds one file, in bytes.
const maxFile = 64 << 10

// Read reads the files dataplane_username and dataplane_password. A byte order mark at the
// beginning and one line ending at the end of each are no part of the value (R27). All errors are
// one line that names the file and never shows its content: no such directory or file, no regular
// file, unreadable, larger than 64 KiB, not valid UTF-8, or a value that core.NewCredentials refuses.
//
// The two files are read one after the other: while they are being replaced, the result may mix old
// and new. Watch does not fall for that.
func Read(dir string) (core.Credentials, error) {
	username, err := readFile(dir, usernameFile)
	if err != nil {
		return core.Credentials{}, err
	}
	password, err := readFile(dir, passwordFile)
	if err != nil {
		return core.Credentials{}, err
	}
	credentials, err := core.NewCredentials(username, password)
	if err != nil {
		return core.Credentials{}, fmt.Errorf("directory %q: %w", dir, err)
	}
	return credentials, nil
}

func readFile(dir, name string) (string, error) {
	path := filepath.Join(dir, name)
	// Stat first: to open a named pipe would block.
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", unreadable(path, err)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("credentials file %q is no regular file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return "", unreadable(path, err)
	}
	defer func() { _ = file.Close() }()
	content, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	switch {
	case err != nil:
		return "", unreadable(path, err)
	case len(content) > maxFile:
		return "", fmt.Errorf("credentials file %q is larger than 64 KiB", path)
	case !utf8.Valid(content):
		// It could be sent, but neither printed nor recorded without damage.
		return "", fmt.Errorf("credentials file %q is not valid UTF-8", path)
	}
	return core.TrimFile(string(content)), nil
}

// unreadable quotes the path, so that the text stays one line whatever the path holds.
func unreadable(path string, err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		err = pathError.Err
	}
	return fmt.Errorf("credentials file %q cannot be read: %w", path, err)
}
