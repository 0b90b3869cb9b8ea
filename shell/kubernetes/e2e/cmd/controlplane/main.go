// Command controlplane is the part of a Kubernetes control plane that keeps the objects: the upstream
// kube-apiserver on top of an embedded etcd, in one process. There are no controllers, no scheduler
// and no kubelet: whoever uses it plays them.
//
// It serves on --address until SIGINT, SIGTERM or, with --until-stdin-closes, the end of the standard
// input, so that it never outlives its parent. DIR/kubeconfig is there before the server is; wait for
// /readyz. Started again in the same directory, it goes on with the same data, token and certificate.
// What stands after -- goes to the kube-apiserver.
package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	_ "time/tzdata"

	"github.com/spf13/cobra"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	if err := newCommand().Execute(); err != nil {
		os.Exit(1)
	}
}

func newCommand() *cobra.Command {
	var dir, address string
	var untilStdinCloses bool
	cmd := &cobra.Command{
		Use:           "controlplane --dir DIR --address IP:PORT [-- kube-apiserver flags]",
		Short:         "Runs etcd and kube-apiserver in one process, for tests",
		SilenceUsage:  true,
		SilenceErrors: false,
		RunE: func(_ *cobra.Command, extra []string) error {
			go exitOnSignal()
			if untilStdinCloses {
				go exitAtEnd(os.Stdin)
			}
			return serve(dir, address, extra)
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "where everything is kept; created if need be")
	cmd.Flags().StringVar(&address, "address", "", "loopback `IP:PORT` to serve on")
	cmd.Flags().BoolVar(&untilStdinCloses, "until-stdin-closes", false,
		"exit at the end of the standard input")
	for _, name := range []string{"dir", "address"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
	return cmd
}

// serve returns only if it fails.
func serve(dir, address string, extra []string) error {
	ip, port, err := net.SplitHostPort(address)
	if err != nil || net.ParseIP(ip) == nil {
		return fmt.Errorf("--address %q is not IP:PORT", address)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	files := filesIn(dir)
	if err := files.create(address); err != nil {
		return err
	}
	endpoint, err := startEtcd(files)
	if err != nil {
		return fmt.Errorf("etcd: %w", err)
	}
	server := app.NewAPIServerCommand()
	server.SetArgs(append(apiServerFlags(files, endpoint, ip, port), extra...))
	if err := server.Execute(); err != nil {
		return err
	}
	return errors.New("kube-apiserver has ended")
}

// exitOnSignal does not wait for what a production server would wait for, a minute for open watches
// among it. What etcd has written is in the hands of the kernel.
func exitOnSignal() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	<-signals
	os.Exit(0)
}

func exitAtEnd(in io.Reader) {
	_, _ = io.Copy(io.Discard, in)
	os.Exit(0)
}
