package testbed

import (
	"fmt"
	"os"
	"path/filepath"
)

// binary finds what make has built, in the folder bin of the main module.
func binary(name string) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir != filepath.Dir(dir) {
		path := filepath.Join(dir, "bin", name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
		dir = filepath.Dir(dir)
	}
	return "", fmt.Errorf("bin/%s is missing; make e2e builds it, for ten minutes the first time, "+
		"from Go modules alone", name)
}
