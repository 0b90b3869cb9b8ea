// Package testbed is what the tests of this module stand on: a real API server, and around it what
// it does not bring along. Kubelet binds pods and reports their containers, Agents are the HTTP
// servers that would run in them, Proxy is the network between the API server and a client,
// Informer is how fast any client can know, and Discovery is the program under test, as a user
// starts it.
//
// Everything listens on loopback addresses that are drawn at random for each process.
package testbed
