// Package script lets a coverage-guided fuzzer tell stories to core.Reduce: its test reads bytes as
// a sequence of inputs, in which a few pods come, change and go, agents answer or fail, and timers
// fire, with inputs that make no sense in between. All invariants are checked after each.
package script
