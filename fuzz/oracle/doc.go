// Package oracle is discovery written a second time, for obviousness instead of speed. After each
// step it judges every pod anew from its facts, works out what the step has to tell, and compares
// that with what core.Reduce made of it: the effects, and all that the new state says (I11).
//
// It shares the vocabulary with core, the types of inputs, effects, events and facts, and none of
// its rules. Where core keeps indexes, queues and counters up to date, the oracle keeps lists of
// what has happened and reads them again from the start:
//
//   - facts.go: what the inputs have told (R6, R9)
//   - verdicts.go, selectors.go: what each pod is (R1 to R5)
//   - candidacies.go: who is a candidate since when, and what its agent said (R10 to R13)
//   - causes.go: why an endpoint is retired (R14)
//   - probes.go: who is asked, who waits, and when to ask again (R21 to R24)
//   - rejections.go: which pods are reported (R7, R8, R23)
//   - publication.go: when the fleet is told, and what is told of it (R14 to R19)
//   - effects.go, state.go: the comparison
//
// The numbers of probes and timers are core's choice: they are learned from its effects.
package oracle
