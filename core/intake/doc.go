// Package intake decides what to read from the pod store, when, and which inputs of core come of
// it: a pure machine beside the reducer. Asks and the results of reads go in; reads, a retry timer
// and inputs for core come out. Who runs it performs them; nothing is decided there.
//
// What is asked for is kept as a set, however often it is asked: a flood of events about pods grows
// it to their number at most. What makes the rules R6, R9 and R20 true:
//
//   - An event only names a pod. Its facts are read when its turn comes, from the store that is set
//     then, never taken from the event.
//   - A pod that is named and that the store lacks is deleted, with the UID last known for it. That
//     holds for names that came after the store was set. What was named before is forgotten with the
//     store it was about: the list of the next one holds it, or lacks it, which counts once that
//     store has synced.
//   - A sync is about the store that is set when it is told. One that is told before the first store
//     is passed on as it is; core remembers it for a first store that cannot say.
//   - A store that says by itself that it has synced counts as one whose sync was told.
//   - What cannot be read changes nothing and stays owed. It is read again every second, until it was
//     read, or a list has settled it. Of a new store, the list comes first.
//   - An event that names nobody means that any pod may have changed: the list is read and compared,
//     and it is no full pass.
package intake
