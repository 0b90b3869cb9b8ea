package main

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

// startLimit bounds etcd's start.
const startLimit = time.Minute

// startEtcd runs a single member on a Unix socket, which nobody else can reach or occupy, and gives
// its endpoint. It goes on until the process ends.
func startEtcd(files files) (endpoint string, err error) {
	clients := url.URL{Scheme: "unix", Path: files.socket}
	peers := url.URL{Scheme: "unix", Path: files.socket + "-peers"}
	for _, left := range []string{clients.Path, peers.Path} { // by a process that was killed
		if err := os.Remove(left); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	config := embed.NewConfig()
	config.Dir = files.etcd
	config.LogLevel = "error"
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{clients}, []url.URL{clients}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{peers}, []url.URL{peers}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	// Data has to survive the process, not the machine; and there is no other member to wait for.
	config.UnsafeNoFsync = true
	config.TickMs, config.ElectionMs = 10, 100
	etcd, err := embed.StartEtcd(config)
	if err != nil {
		return "", err
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return clients.String(), nil
	case err := <-etcd.Err():
		return "", err
	case <-time.After(startLimit):
		return "", errors.New("not ready after " + startLimit.String())
	}
}
