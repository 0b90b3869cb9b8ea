package kubernetes

import (
	"errors"
	"fmt"
	"net/url"
	"os"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// ErrNoCluster is what Connect's error is or wraps where nothing tells of any cluster.
var ErrNoCluster = errors.New("no cluster is configured: there is neither a kubeconfig " +
	"(KUBECONFIG, ~/.kube/config) nor a pod's service account")

// Access says which cluster to use and how, in the way of kubectl's flags of these names.
type Access struct {
	// Kubeconfig is the path of a kubeconfig file. Empty: the files listed in KUBECONFIG, else
	// ~/.kube/config, else the service account of the pod that we run in.
	Kubeconfig string
	// Context is the kubeconfig's context; the current one if empty.
	Context string
	// Namespace is the context's if empty, else the pod's that we run in, else default.
	Namespace string
}

// Cluster is an API server to talk to, and the namespace to look at; made by Connect or NewCluster.
type Cluster struct {
	Config    *rest.Config
	Client    dynamic.Interface
	Namespace string
	// Server is scheme and host of the API server.
	Server string

	// metadata asks for metadata alone.
	metadata metadata.Interface
	close    func()
}

// Connect reads the configuration and asks nobody yet. Its errors, one line each, name the file or
// the context at fault.
func Connect(access Access, userAgent string) (*Cluster, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = access.Kubeconfig
	overrides := &clientcmd.ConfigOverrides{CurrentContext: access.Context}
	overrides.Context.Namespace = access.Namespace
	loaded := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	raw, err := loaded.RawConfig()
	if err != nil {
		return nil, configError(err)
	}
	config, err := loaded.ClientConfig()
	if broken := checkKubeconfig(raw, access.Context, err); broken != nil {
		return nil, configError(broken)
	}
	switch {
	case clientcmd.IsEmptyConfig(err) && access.Kubeconfig != "":
		return nil, fmt.Errorf("kubeconfig %q names no cluster", access.Kubeconfig)
	case clientcmd.IsEmptyConfig(err) && os.Getenv(clientcmd.RecommendedConfigPathEnvVar) != "":
		return nil, fmt.Errorf("KUBECONFIG is %q, but %w",
			os.Getenv(clientcmd.RecommendedConfigPathEnvVar), ErrNoCluster)
	case clientcmd.IsEmptyConfig(err):
		return nil, ErrNoCluster
	case err != nil:
		return nil, configError(err)
	}
	namespace, _, err := loaded.Namespace()
	if err != nil {
		return nil, configError(err)
	}
	if err := checkNamespace(namespace); err != nil {
		return nil, err
	}
	config.UserAgent = userAgent
	return NewCluster(config, namespace)
}

// NewCluster uses the configuration of a program that has one already. The error says what is wrong
// with it.
func NewCluster(config *rest.Config, namespace string) (*Cluster, error) {
	if err := checkClientCertificate(config); err != nil {
		return nil, configError(err)
	}
	server, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, configError(err, config.Host)
	}
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, configError(err)
	}
	client, err := dynamic.NewForConfigAndClient(config, httpClient)
	if err != nil {
		return nil, configError(err, config.Host)
	}
	metadataClient, err := metadata.NewForConfigAndClient(config, httpClient)
	if err != nil {
		return nil, configError(err, config.Host)
	}
	return &Cluster{
		Config: config, Client: client, Namespace: namespace, metadata: metadataClient,
		Server: (&url.URL{Scheme: server.Scheme, Host: server.Host}).String(),
		close:  func() { utilnet.CloseIdleConnectionsFor(httpClient.Transport) },
	}, nil
}

// Close closes the connections that nobody uses any more.
func (c *Cluster) Close() { c.close() }
