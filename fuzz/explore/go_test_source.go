package explore

import (
	"bytes"
	"fmt"
	"go/format"
	"slices"
	"strings"
	"text/template"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// GoTest is the counterexample as the source of a Go test that stands alone: put into a file
// anywhere in this module, it fails as long as core is wrong.
func (c *Counterexample) GoTest() ([]byte, error) {
	l := &literals{names: map[*core.Pod]string{}}
	data := goTest{Counterexample: c, Config: configLiteral(c.World.Config)}
	for _, input := range c.Inputs {
		data.Steps = append(data.Steps, l.input(input))
	}
	for _, input := range c.branches {
		data.Branches = append(data.Branches, l.input(input))
	}
	data.Pods = l.declared
	var source bytes.Buffer
	if err := goTestTemplate.Execute(&source, data); err != nil {
		return nil, err
	}
	formatted, err := format.Source(source.Bytes())
	if err != nil {
		return nil, fmt.Errorf("formatting\n%s: %w", source.Bytes(), err)
	}
	return formatted, nil
}

// goTest is what the template fills in.
type goTest struct {
	*Counterexample
	Config                string
	Pods, Steps, Branches []string
}

// HasPods and HasCredentials tell what the source needs; Go refuses what is not used.
func (g goTest) HasPods() bool { return len(g.Pods) > 0 }

// HasCredentials: see HasPods.
func (g goTest) HasCredentials() bool {
	return slices.ContainsFunc(slices.Concat(g.Steps, g.Branches),
		func(step string) bool { return strings.Contains(step, "credentials(") })
}

// Proof by name, since a template knows no constants.
func (g goTest) Proof() string {
	return [...]string{"check", "echo", "purity", "convergence", "restoring"}[g.proof]
}

var goTestTemplate = template.Must(template.New("test").Parse(`package counterexample

// Found by exploration, by a shortest way:
{{range .Violations}}// {{.}}
{{end}}
import (
	{{if .HasPods}}"net/netip"
	{{end}}"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/invariant"
)

func TestCounterexample(t *testing.T) {
	{{if .HasCredentials}}credentials := func(username string) core.Credentials {
		credentials, err := core.NewCredentials(username, "of "+username)
		if err != nil {
			t.Fatal(err)
		}
		return credentials
	}
	{{end}}{{range .Pods}}{{.}}
	{{end}}
	inputs := []core.Input{
		{{range .Steps}}{{.}},
		{{end}}
	}
	state := core.New({{.Config}})
	for number, input := range inputs {
		after, effects := core.Reduce(state, input)
		for _, violation := range invariant.Check(state, input, after, effects) {
			t.Errorf("input %d, %T: %v", number+1, input, violation)
		}
		{{- if eq .Proof "echo"}}
		if number == len(inputs)-1 {
			for _, effect := range effects {
				if _, isRefuse := effect.(core.Refuse); !isRefuse {
					t.Errorf("what had ended before leads to %T", effect)
				}
			}
			if invariant.Fingerprint(after) != invariant.Fingerprint(state) {
				t.Error("what had ended before changes the state")
			}
		}
		{{- end}}
		state = after
	}
	{{- if eq .Proof "purity"}}
	text := invariant.Fingerprint(state)
	for _, input := range []core.Input{
		{{range .Branches}}{{.}},
		{{end}}
	} {
		core.Reduce(state, input)
		if invariant.Fingerprint(state) != text {
			t.Fatalf("reducing %T has changed the older state", input)
		}
	}
	{{- else if eq .Proof "restoring"}}
	restored, err := core.Restore(state.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	for _, input := range []core.Input{
		{{range .Branches}}{{.}},
		{{end}}
	} {
		after, _ := core.Reduce(state, input)
		again, _ := core.Reduce(restored, input)
		if invariant.Fingerprint(again) != invariant.Fingerprint(after) {
			t.Errorf("after %T, the restored state differs", input)
		}
	}
	{{- else if eq .Proof "convergence"}}
	for _, violation := range invariant.Converge(state, core.Reduce) {
		t.Errorf("in the end: %v", violation)
	}
	{{- end}}
}
`))
