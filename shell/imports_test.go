package shell_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Whoever embeds discovery compiles what is used, and nothing that only others need.
func TestDependencies(t *testing.T) {
	t.Parallel()
	const clientGo, prometheus, cobra = "k8s.io/client-go", "github.com/prometheus/", "github.com/spf13/"
	for packages, forbidden := range map[string][]string{
		"../core ../core/invariant ../core/projection ../effects . ./inputlog ./recording ./checking ./timeline": {
			clientGo, prometheus, cobra,
		},
		"./metrics":    {clientGo, cobra},
		"./status":     {clientGo, prometheus, cobra},
		"./kubernetes": {prometheus, "github.com/spf13/cobra"},
	} {
		arguments := append([]string{"list", "-deps"}, strings.Fields(packages)...)
		list := exec.CommandContext(t.Context(), "go", arguments...)
		list.Stderr = os.Stderr
		output, err := list.Output()
		if err != nil || !strings.Contains(string(output), "discovery/core") {
			t.Fatalf("go %v: %v\n%s", arguments, err, output)
		}
		for _, name := range forbidden {
			if strings.Contains(string(output), "\n"+name) {
				t.Errorf("%s need %s", packages, name)
			}
		}
	}
}
