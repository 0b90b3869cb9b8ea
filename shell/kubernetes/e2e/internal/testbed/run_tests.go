package testbed

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// RunTests runs the tests of a package that share a control plane, and gives the exit status. share
// is told the control plane before they begin.
func RunTests(m *testing.M, share func(*ControlPlane)) int {
	controlPlane, err := NewControlPlane()
	if err == nil {
		share(controlPlane)
		err = controlPlane.Start(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "no API server to test with:", err)
		return 1
	}
	defer func() { _ = controlPlane.Close() }()
	return m.Run()
}
