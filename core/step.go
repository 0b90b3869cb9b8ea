package core

// Step is one step of discovery, whole: what Reduce was given and what it has given back.
type Step struct {
	Before  State
	Input   Input
	After   State
	Effects []Effect
}
