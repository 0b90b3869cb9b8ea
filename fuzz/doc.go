// Package fuzz is the reducer's adversary. Its tests drive core.Reduce with inputs that no
// well-behaved shell would send, and check every step with package invariant and with the naive
// oracle in fuzz/oracle.
//
// Its subpackages come at core from other sides, or lend a hand:
//
//   - world plays clusters, operators and agents on virtual time, from seeds.
//   - explore visits every state of small worlds.
//   - script has a coverage-guided fuzzer tell the stories, byte by byte.
//   - mutants changes core in small ways, and sees whether the tests notice.
//   - oracle has the rules a second time.
//   - story puts inputs and effects into words.
//   - bounds limits the time and the memory of fuzz targets.
package fuzz
