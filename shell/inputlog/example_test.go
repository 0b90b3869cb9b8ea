package inputlog_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/shell/inputlog"
)

// A run is recorded, then replayed: the effects have the digests that were recorded.
func Example() {
	dir, _ := os.MkdirTemp("", "inputlog")
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "discovery.log")

	w, err := inputlog.Open(path, inputlog.Run{Build: "v1.2.3", Started: time.Now()}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	state := core.New(core.DefaultConfig())
	for _, input := range []core.Input{core.ConfigValidated{AgentPort: 5555}, core.BecameLeader{}} {
		w.Append(time.Now(), input)
		var effects []core.Effect
		state, effects = core.Reduce(state, input)
		w.Effects(effects, core.State{})
	}
	if err := w.Close(); err != nil {
		fmt.Println(err)
	}

	log, _ := os.Open(path)
	defer log.Close()
	digester, digest := inputlog.NewDigester(), ""
	for reader := inputlog.NewReader(log); ; {
		entry, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			fmt.Println(err)
			return
		}
		switch entry := entry.(type) {
		case inputlog.Started:
			state = core.New(entry.Config)
		case inputlog.Step:
			var effects []core.Effect
			state, effects = core.Reduce(state, entry.Input)
			digest = digester.Sum(effects)
			fmt.Println(entry.Seq, inputlog.KindName(entry.Input))
		case inputlog.Reduced:
			fmt.Println(entry.Seq, "has led to the same effects:", entry.Digest == digest)
		case inputlog.Warning:
			fmt.Println(entry)
		}
	}
	// Output:
	// 1 config_validated
	// 1 has led to the same effects: true
	// 2 became_leader
	// 2 has led to the same effects: true
}
