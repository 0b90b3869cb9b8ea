package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is set by the Makefile's build, for a release; otherwise the module's version counts.
var version = ""

// buildText names this build: version and Go release. It is what input logs carry.
func buildText() string {
	name := version
	if info, found := debug.ReadBuildInfo(); name == "" && found {
		name = info.Main.Version
	}
	return fmt.Sprintf("%s %s", name, runtime.Version())
}
