// Package manager shows in a test that discovery can be handed to a manager of controller-runtime as it
// is. It is a module of its own, so that nobody else needs controller-runtime.
package manager
