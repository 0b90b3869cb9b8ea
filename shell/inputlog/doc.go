// Package inputlog records the inputs of a run and reads them back, so that a replay sees what the
// run saw: why a pod was, or was not, in the fleet.
//
// # Writing and reading
//
// [Open] begins to record; [Writer.Append] takes each input before it is reduced, [Writer.Effects]
// what it led to, and the state after it. Neither waits for the disk: both fill a buffer that one
// goroutine empties, as a rule within a millisecond. So effects may be seen whose input is not in the
// log: if the program is killed (SIGKILL), what waits in the buffer is lost, at most 1,024 inputs and
// 64 KiB of encoded ones; if the machine stops, also what its kernel had yet to write, since nothing is
// synced. If the disk falls behind by more, recording stops, with a last record and a [Notice].
//
// A log has one writer at a time: a lock (flock) goes with the open file. Nothing about the file keeps
// a program from its work. To append to a log, only its header and its end are read. A file that is no
// log, or is damaged at its end, is renamed to LOG.set-aside-TIME. The writer notices within seconds
// that its file was truncated, deleted, moved away or replaced: it begins the file at the path anew,
// with a snapshot of the newest state, so that each file replays from its own beginning. One that was
// moved away gets its closing record. [Writer.Reopen] has that happen at once, and begins a recording
// again that has stopped. Both ways of logrotate work: copytruncate (what comes between its copy and
// its cut is in neither file, but in the snapshot), and a rename with Reopen, which loses nothing.
//
// A run whose last input was never reduced, since the reducer panicked, ends with a stopped record that
// names the input.
//
// [Reader] gives the entries of a log in the order of its lines, each as soon as its line is there.
// To replay: start from a fresh state at each [Started], reduce the input of each [Step], digest the
// effects that come out, by [NewDigester], and compare that with the [Reduced] that follows. [Ended] and
// [Stopped] tell where a run ends. No error of a Reader but the end of the log is io.EOF to errors.Is.
//
// # The format
//
// A log is JSON Lines: one JSON object a line, UTF-8, lines end in LF. The first line is the
// header; a line break is added here only for reading:
//
//	{"format":"haproxy-discovery input log","version":{"major":1,"minor":1},
//	 "build":"v1.2.3","time":"2026-01-02T03:04:05.6Z","config":{"agent_container":"agent",…},
//	 "sum":"468b1406"}
//
// The configuration has all fields of core.Config by their names in snake_case, defaults filled
// in, durations like "1.5s". Then one record for each input:
//
//	{"seq":7,"time":"2026-01-02T03:04:06Z","kind":"timer_fired","input":{"timer":3},
//	 "previous_effects":"1f0c…","sum":"922dd226"}
//
// seq counts the inputs from 1 without a gap, over all runs in the log. time is the wall time in
// UTC. previous_effects is the digest of what the input before led to: 32 hexadecimal digits, or
// empty where there is none, as in the first record of a run. Four kinds hold no input:
//
//	{"kind":"closing","time":…,"last":41,"previous_effects":…,"sum":…}
//	{"kind":"stopped","time":…,"reason":"the disk is too slow: …","last":41,"previous_effects":…,"sum":…}
//	{"kind":"restart","version":{…},"time":…,"build":…,"config":{…},"last":41,"sum":…}
//	{"kind":"snapshot","time":…,"state":{…},"last":41,"sum":…}
//
// last is the number of the last input before, so that missing ones are noticed.
//
// A closing record ends a run that ended in order; a stopped record one whose recording had to end
// before the program did. Both carry the last digest. A restart record begins another run, from a
// fresh state; it alone may follow the other two. It may also follow an input: that run was killed.
// All three may have last, the number of the last input before them. A higher one than that of the
// last record is an error of closing and restart records; in a stopped record it tells how many inputs
// could not be written any more.
//
// A snapshot record may stand right after the header or a restart record: the run goes on from that
// state instead of a fresh one, and its next input has the number after last. What was before is in
// another file, or was lost. The state has the fields of core.Snapshot but the configuration, which is
// the run's; its pods are what the log has told of pods (see LIST below).
//
// sum, always the last field, is the CRC-32C of everything before it on its line (up to, and without,
// the comma), begun with the sum of the line before, 0 for the header. So a byte that has changed, and
// a line that is missing, moved or given twice, is an error at that line, although the record may
// still be a valid one. Version 1.0 had no sums, and its restart records no version. To change a log
// by hand, make it one of version 1.0:
//
//	sed -E 's/,"sum":"[0-9a-f]{8}"\}$/}/; s/"minor":1\}/"minor":0}/' LOG
//
// Fields that a reader does not know are ignored; one that it knows must not come twice, nor in other
// letters. A kind that it does not know is an error. A new field raises the minor version, anything
// else the major version.
//
// # Inputs
//
//	config_validated            {"agent_port":5555,"pod_selector":"…"}
//	credentials_updated         {"credentials":{"username":"admin","password":"secret-1"}}
//	pod_store_set               {"pods":LIST,"synced":1}    0 cannot say, 1 yes, 2 no
//	resource_index_updated      {"resource":"haproxy-pods","upserted":[POD,…],"deleted":[REF,…]}
//	resource_sync_complete      {"resource":"haproxy-pods","pods":LIST}
//	became_leader               {}
//	drift_prevention_triggered  {"pods":LIST}
//	probe_finished              {"probe":4,"outcome":OUTCOME}
//	timer_fired                 {"timer":3}
//	none                        null                        something that is no input
//
// OUTCOME is {"answer":{"version":…,"full_version":…}}, {"failure":{"cause":…,"detail":…}} or null.
// REF is {"namespace":…,"name":…,"uid":…}. POD is null or has the fields namespace, name, uid,
// labels (an object), ip ("" for none), phase, terminating, agent, runtime_id, malformed and
// unreadable (the sum of 1 for the phase, 2 for the labels, 4 for the IP); and no_agent, which is
// there only where it says something. All other fields are always
// there.
//
// LIST is a whole list of the pod store, told as the difference from what the log has told of pods
// in this run: {"changed":[POD,…],"gone":[{"namespace":…,"name":…},…]}, each in the order of the
// keys. What the log has told is the last such list, and each resource_index_updated since: a
// deleted pod is forgotten if the UID fits, then an upserted one takes the place of its key. A list
// that is not strictly ordered by key is told in full, {"list":[POD,…]}, and is not remembered.
//
// A text may hold any bytes: NUL and two hexadecimal digits stand for a byte that is no part of
// valid UTF-8, and for NUL itself.
//
// # Secrets
//
// No password is in a log, nor anything computed from one. "secret-1" stands for the first that
// appeared, "secret-2" for the next other one: what remains is which are the same. Earlier runs'
// passwords are not known after a restart, which goes on with fresh numbers. null stands for no
// credentials at all. A username is no secret. The digests see the same placeholders. The file can
// be read by its owner only.
//
// # Damage
//
// A last line that is no whole JSON object is what a crash leaves: it is skipped with a warning,
// and cut off when the log is appended to. NUL bytes at the end of the file, CRLF line endings and
// a missing last line ending cost a warning as well, an empty log too. Anything else is an error
// that names the line and the field: a number out of its range (which is the same on all machines), a
// name that is given twice or in other letters, two records on a line. So is a line of more than
// 256 MiB, which bounds the memory that reading takes; a list of half a million pods fits. A log that
// was compressed is named as such.
package inputlog
