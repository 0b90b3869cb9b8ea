// Package fuzz is the reducer's adversary. Its tests drive core.Reduce with inputs that no
// well-behaved shell would send, and check every step with package invariant and with the naive
// oracle in fuzz/oracle.
package fuzz
