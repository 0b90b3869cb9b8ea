package credentialsdir

import (
	"context"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
)

// Watch reads the directory now and once per interval, until the context ends. It goes by the
// content alone, so it does not matter how the files are replaced: in place, by renaming, or by the
// kubelet's swap of a symlink.
//
// What was read counts once a second reading in a row has given the same. So a change whose two
// files are written within one interval is never taken up half-done, and is reported after at most
// two intervals. A slower writer should replace both files at once.
//
// updated is called when the credentials differ from those before, at first from last. problem is
// called when the directory cannot be read, once until it can be read again or the problem becomes
// another one; the credentials before stay in use (R27). Both are called by Watch's own goroutine.
func Watch(
	ctx context.Context, dir string, interval time.Duration, last core.Credentials,
	updated func(core.Credentials), problem func(error),
) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	settled := reading{credentials: last}
	before := settled
	for {
		now, err := read(dir)
		if now == before && now != settled {
			if err != nil || settled.problem != "" {
				problem(err)
			}
			if err == nil && now.credentials != last {
				last = now.credentials
				updated(last)
			}
			settled = now
		}
		before = now
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// reading is what one look at the directory gave: credentials or the text of a problem.
type reading struct {
	credentials core.Credentials
	problem     string
}

func read(dir string) (reading, error) {
	credentials, err := Read(dir)
	if err != nil {
		return reading{problem: err.Error()}, err
	}
	return reading{credentials: credentials}, nil
}
