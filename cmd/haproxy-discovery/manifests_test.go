package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"
)

// fittingFlags are the flags of run that agree with the rest of the manifests, each with a value.
// Files have to be in the image or in a volume that is added.
var fittingFlags = map[string]string{
	"audit-interval": "5m0s",
	"agent-port":     "5556", "agent-scheme": "https", "agent-ca": "/ca.pem", "agent-cert": "/c.pem",
	"agent-key": "/k.pem", "agent-server-name": "agents", "agent-container": "sidecar",
	"drift-interval": "1m", "record": "/log/log.jsonl", "check-invariants": "true", "output": "text",
	"log-level": "debug", "leader-elect-lease-duration": "20s", "leader-elect-renew-deadline": "8s",
	"leader-elect-retry-period": "1s", "probe-timeout": "2s", "max-probe-timeout": "6s",
	"retry-delay": "2s", "max-retry-delay": "40s", "max-probes": "20", "max-retries": "8",
}

// Whatever flag run has, it either fits the manifests or is refused in one line that says why.
func TestManifestsTakeNoFlagThatContradictsThem(t *testing.T) {
	set := pflag.NewFlagSet("run", pflag.ContinueOnError)
	new(runFlags).register(set)
	set.VisitAll(func(flag *pflag.Flag) {
		value, fits := fittingFlags[flag.Name]
		if !fits {
			value = flag.DefValue
		}
		argument := fmt.Sprintf("--%s=%s", flag.Name, value)
		args := []string{"manifests", "-n", "lb", "--image", "x", "--", argument}
		if strings.HasPrefix(flag.Name, "agent-") && flag.Name != "agent-scheme" {
			args = append(args, "--agent-scheme=https") // which some of them need
		}
		if other, paired := map[string]string{"agent-cert": "agent-key", "agent-key": "agent-cert"}[flag.Name]; paired {
			args = append(args, "--"+other+"="+fittingFlags[other])
		}
		got := command(t, "", args...)
		if fits {
			if got.status != 0 {
				t.Errorf("%s: status %d: %s", argument, got.status, got.errOut)
				return
			}
			pod := decodeKind[appsv1.Deployment](t, got.out, "Deployment").Spec.Template.Spec
			if !slices.Contains(pod.Containers[0].Args, argument) {
				t.Errorf("%s is not given to run: %q", argument, pod.Containers[0].Args)
			}
			return
		}
		refusal := fmt.Sprintf("--%s behind --: ", flag.Name)
		if got.status != 2 || got.out != "" || strings.Count(got.errOut, "\n") != 1 ||
			!strings.Contains(got.errOut, refusal) {
			t.Errorf("%s: status %d: %q, output %q", argument, got.status, got.errOut, got.out)
		}
	})
}

// Arguments arrive as they were given, whatever they hold: YAML reads them back, and the kubelet
// replaces nothing in them.
func TestManifestsQuoteArguments(t *testing.T) {
	const name = "a\x7fb\u0085\u2028c\"'$(HOME)$$ü\\"
	got := command(t, "", "manifests", "-n", "lb", "--image", "x", "--", "--agent-container="+name)
	args := decodeKind[appsv1.Deployment](t, got.out, "Deployment").Spec.Template.Spec.Containers[0].Args
	want := "--agent-container=" + strings.ReplaceAll(name, "$", "$$")
	if !slices.Contains(args, want) {
		t.Errorf("%q is not among %q", want, args)
	}
}

// The shorthand of a flag is that flag.
func TestManifestsRefuseShorthands(t *testing.T) {
	got := command(t, "", "manifests", "-n", "lb", "--image", "x", "--", "-nother")
	if got.status != 2 || !strings.Contains(got.errOut, "--namespace") {
		t.Errorf("status %d: %q", got.status, got.errOut)
	}
}

// The probes, the Service and Prometheus ask where the program listens.
func TestManifestsAgreeOnThePort(t *testing.T) {
	got := command(t, "", "manifests", "-n", "lb", "--image", "x")
	container := decodeKind[appsv1.Deployment](t, got.out, "Deployment").Spec.Template.Spec.Containers[0]
	service := decodeKind[corev1.Service](t, got.out, "Service")
	port := container.Ports[0]
	if !slices.Contains(container.Args, fmt.Sprint("--listen=:", port.ContainerPort)) ||
		service.Annotations["prometheus.io/port"] != fmt.Sprint(port.ContainerPort) {
		t.Errorf("port %d, arguments %q, %v", port.ContainerPort, container.Args, service.Annotations)
	}
	for _, target := range []intstr.IntOrString{
		container.LivenessProbe.HTTPGet.Port, container.ReadinessProbe.HTTPGet.Port,
		service.Spec.Ports[0].TargetPort,
	} {
		if target.StrVal != port.Name {
			t.Errorf("port %v, not %q, is asked", target, port.Name)
		}
	}
}

// The page warns of a stale view when the alert does.
func TestAlertOfStaleViewIsThePages(t *testing.T) {
	got := command(t, "", "manifests", "--alerts", "rules")
	rule := fmt.Sprintf("(haptic_discovery_store_view_age_seconds) > %v\n", staleView.Seconds())
	if !strings.Contains(got.out, rule) {
		t.Errorf("no rule has %q", rule)
	}
}

func decodeKind[T any](t *testing.T, printed, kind string) (object T) {
	t.Helper()
	for document := range strings.SplitSeq(printed, "\n---\n") {
		if strings.Contains(document, "\nkind: "+kind+"\n") {
			if err := yaml.UnmarshalStrict([]byte(document), &object); err != nil {
				t.Fatal(err)
			}
			return object
		}
	}
	t.Fatalf("no %s in %s", kind, printed)
	return object
}
