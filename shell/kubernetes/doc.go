// Package kubernetes feeds discovery from a cluster. It is the only package that imports client-go,
// so that programs with another source of pods do not compile it.
//
//	Connect              finds the cluster as kubectl does: kubeconfig, context, in-cluster
//	Pods                 a pod store filled by an informer, trimmed to what discovery reads
//	PodHandler           event handlers for a pod informer of your own
//	CredentialsSecret    the agents' credentials, from one Secret that is followed
//	Leadership           an election by Lease; discovery runs on every replica, leader or not
//
// A controller with an informer and an election of its own needs PodHandler alone; e2e/embedding is
// one.
//
// None of them decides anything: Pods names the pods that have changed, and the component reads
// their facts from the store when it gets to them.
//
// # When the API server fails
//
// What was seen last stands: the store keeps its pods, the credentials stay in use, and all
// requests are tried again, at growing intervals of up to a minute. Each loss of contact is logged
// once, as is its end; View, Problem and Status show at any time how things stand, for metrics and
// pages. A Failure says what was asked of whom and what to do, and whether trying again may help.
//
// Check and Read ask before the start, so that a program can tell what is missing or not permitted
// instead of waiting for it.
package kubernetes
