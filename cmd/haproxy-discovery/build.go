package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// buildText names this build: version and Go release. It is what input logs carry.
func buildText() string {
	version := "(unknown)"
	if info, found := debug.ReadBuildInfo(); found {
		version = info.Main.Version
	}
	return fmt.Sprintf("%s %s", version, runtime.Version())
}
