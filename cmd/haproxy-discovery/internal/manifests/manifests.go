// Package manifests prints what it takes to run discovery in a cluster: the objects of a deployment
// and alert rules.
package manifests

import (
	"bytes"
	_ "embed"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"text/template"
)

//go:embed deployment.yaml.tmpl
var deployment string

//go:embed alerts.yaml
var alerts string

// Options is what differs between deployments.
type Options struct {
	Namespace         string
	Image             string
	CredentialsSecret string
	// Args are those of the container, the image's entry point being the program.
	Args []string
}

// Deployment gives ServiceAccount, Role, RoleBinding, Deployment and Service as a stream of YAML.
func Deployment(options Options) (string, error) {
	parsed, err := template.New("deployment").Parse(deployment)
	if err != nil {
		return "", err
	}
	quoted := Options{
		Namespace: quote(options.Namespace), Image: quote(options.Image),
		CredentialsSecret: quote(options.CredentialsSecret),
	}
	for _, arg := range options.Args {
		// The kubelet replaces $(NAME), and a doubled $ by a single one.
		quoted.Args = append(quoted.Args, quote(strings.ReplaceAll(arg, "$", "$$")))
	}
	var out bytes.Buffer
	err = parsed.Execute(&out, quoted)
	return out.String(), err
}

// quote writes a string that is one to YAML, whatever it holds: it knows all of Go's escapes.
func quote(text string) string { return strconv.QuoteToASCII(text) }

// AlertRules gives a rule file for Prometheus: for the fleet of a namespace or, if that is empty, for
// all that Prometheus knows of.
func AlertRules(namespace string) string {
	if namespace == "" {
		return alerts
	}
	return metricNames.ReplaceAllString(alerts, "${0}{namespace="+strconv.Quote(namespace)+"}")
}

var metricNames = regexp.MustCompile(`\bhaptic_\w+`)

// PrometheusRule gives the rules for a namespace as an object of the Prometheus operator.
func PrometheusRule(namespace string) string {
	var out strings.Builder
	_, _ = fmt.Fprintf(&out, "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata:\n"+
		"  name: haproxy-discovery\n  namespace: %s\nspec:\n", quote(namespace))
	for line := range strings.Lines(AlertRules(namespace)) {
		out.WriteString("  " + line)
	}
	return out.String()
}
