package testbed

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// clockTick is the unit of CPU times in /proc, on every architecture that Go runs on.
const clockTick = 10 * time.Millisecond

// PeakMemory is the most memory that the program has had resident, in bytes.
func (d *Discovery) PeakMemory() int64 {
	d.t.Helper()
	status := d.proc("status")
	for line := range strings.Lines(status) {
		if kibibytes, found := strings.CutPrefix(line, "VmHWM:"); found {
			n, err := strconv.ParseInt(strings.Fields(kibibytes)[0], 10, 64)
			if err != nil {
				d.t.Fatal(err)
			}
			return n << 10
		}
	}
	d.t.Fatal("/proc tells no peak of memory")
	return 0
}

// CPUTime is what the program has used so far, in user and kernel mode.
func (d *Discovery) CPUTime() time.Duration {
	d.t.Helper()
	stat := d.proc("stat")
	// The program's name, in parentheses, may hold anything.
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	var ticks int64
	for _, field := range fields[11:13] { // utime and stime
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			d.t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * clockTick
}

func (d *Discovery) proc(name string) string {
	d.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", d.process.Process.Pid, name))
	if err != nil {
		d.t.Fatal(err)
	}
	return string(text)
}
