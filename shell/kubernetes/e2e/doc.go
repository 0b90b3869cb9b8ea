// Package e2e tests haproxy-discovery on a real cluster: the program as it is built, a real
// kube-apiserver, real agents, a real HAProxy. Nothing of Kubernetes is imitated but the kubelet
// and the scheduler, which a control plane without nodes lacks; package testbed plays those.
//
// It is a module of its own, since the API server brings hundreds of modules that no user of
// discovery should have to know. Run it with make e2e.
package e2e
