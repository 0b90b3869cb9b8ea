package kubernetes

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// checkKubeconfig finds what client-go passes over, or tells in words that mislead. loading is its own
// error.
func checkKubeconfig(config api.Config, context string, loading error) error {
	context = cmp.Or(context, config.CurrentContext)
	chosen := config.Contexts[context]
	switch {
	case context == "" && len(config.Contexts) > 0 && clientcmd.IsEmptyConfig(loading):
		return fmt.Errorf("there is no current context; choose one of %s",
			strings.Join(slices.Sorted(maps.Keys(config.Contexts)), ", "))
	case chosen == nil:
		return nil
	}
	cluster := config.Clusters[chosen.Cluster]
	switch {
	case cluster == nil:
		return fmt.Errorf("context %q names the cluster %q, which does not exist", context, chosen.Cluster)
	case chosen.AuthInfo != "" && config.AuthInfos[chosen.AuthInfo] == nil:
		// client-go would go on without any user.
		return fmt.Errorf("context %q names the user %q, which does not exist", context, chosen.AuthInfo)
	case cluster.ProxyURL != "" && loading != nil:
		if proxy, err := url.Parse(cluster.ProxyURL); err != nil || proxy.Host == "" {
			return fmt.Errorf("the proxy-url of cluster %q is no URL of a proxy", chosen.Cluster)
		}
	}
	return nil
}

// checkClientCertificate: of files that do not make a pair, client-go would say so in a log, and go on
// without any.
func checkClientCertificate(config *rest.Config) error {
	loaded := rest.CopyConfig(config)
	if err := rest.LoadTLSFiles(loaded); err != nil {
		return err
	}
	if len(loaded.CertData) == 0 || len(loaded.KeyData) == 0 {
		return nil
	}
	if _, err := tls.X509KeyPair(loaded.CertData, loaded.KeyData); err != nil {
		return errors.New("the client certificate and the client key are no PEM certificate and the " +
			"private key that belongs to it")
	}
	return nil
}

// configError leaves out the user and the password of each URL that the error quotes: of these, and
// of others as far as they can be told.
func configError(err error, urls ...string) error {
	text := err.Error()
	for _, address := range urls {
		_, rest, hasScheme := strings.Cut(address, "//")
		if !hasScheme {
			rest = address
		}
		if end := strings.LastIndex(rest, "@"); end >= 0 {
			login := rest[:end+1]
			text = strings.ReplaceAll(text, login, "")
			text = strings.ReplaceAll(text, strings.Trim(strconv.Quote(login), `"`), "")
		}
	}
	text = userinfo.ReplaceAllString(text, "//")
	return errors.New("kubeconfig: " + yamlAnchor.ReplaceAllString(text, "unknown anchor"))
}

var (
	userinfo = regexp.MustCompile(`//[^"]*@`)
	// yamlAnchor is what a token or password that begins with an asterisk is taken for.
	yamlAnchor = regexp.MustCompile(`unknown anchor '[^']*'`)
)
