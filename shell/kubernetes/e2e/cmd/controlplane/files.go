package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/keyutil"
)

// files are what a control plane keeps in its directory, readable by their owner only.
type files struct {
	// etcd is etcd's data; socket is where it listens.
	etcd, socket string
	// certificates is where the kube-apiserver puts the certificate that it makes for itself.
	certificates, certificate string
	// serviceAccountKey signs the tokens of service accounts.
	serviceAccountKey string
	// tokens has the administrator's token, which is also in the kubeconfig.
	tokens, kubeconfig string
}

func filesIn(dir string) files {
	in := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	return files{
		etcd: in("etcd"), socket: in("s"),
		certificates: in("certificates"), certificate: in("certificates", "apiserver.crt"),
		serviceAccountKey: in("service-account.key"),
		tokens:            in("tokens.csv"), kubeconfig: in("kubeconfig"),
	}
}

// create makes what is not there yet. The kubeconfig comes last: with it, all is there.
func (f files) create(address string) error {
	if _, err := os.Stat(f.kubeconfig); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	key, err := keyutil.MakeEllipticPrivateKeyPEM()
	if err != nil {
		return fmt.Errorf("service account key: %w", err)
	}
	if err := keyutil.WriteKey(f.serviceAccountKey, key); err != nil {
		return err
	}
	token := rand.Text()
	line := token + ",admin,admin,system:masters\n"
	if err := os.WriteFile(f.tokens, []byte(line), 0o600); err != nil {
		return err
	}
	return f.writeKubeconfig(address, token)
}

func (f files) writeKubeconfig(address, token string) error {
	const name = "controlplane"
	config := api.NewConfig()
	config.Clusters[name] = &api.Cluster{
		Server: "https://" + address, CertificateAuthority: f.certificate,
	}
	config.AuthInfos[name] = &api.AuthInfo{Token: token}
	config.Contexts[name] = &api.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	unfinished := f.kubeconfig + ".new"
	if err := clientcmd.WriteToFile(*config, unfinished); err != nil {
		return err
	}
	return os.Rename(unfinished, f.kubeconfig)
}
