package main

import (
	"io"
	"os"
)

func openPods(path string, in io.Reader) (io.Reader, func(), error) {
	if path == "-" {
		return in, func() {}, nil
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, nil, usagef("--pods-from: %w", err)
	case info.IsDir():
		return nil, nil, usagef("--pods-from: %s is a directory", path)
	case info.Mode()&os.ModeNamedPipe != 0:
		return &namedPipe{path: path}, func() {}, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, usagef("--pods-from: %w", err)
	}
	return file, func() { _ = file.Close() }, nil
}

// namedPipe is opened by whoever reads it, since that waits for a writer. The end of the program
// closes it.
type namedPipe struct {
	path string
	file *os.File
}

func (p *namedPipe) Read(buffer []byte) (n int, err error) {
	if p.file == nil {
		if p.file, err = os.Open(p.path); err != nil {
			return 0, err
		}
	}
	return p.file.Read(buffer)
}
