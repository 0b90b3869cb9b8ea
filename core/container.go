package core

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/samber/lo"
)

// container is one entry of a pod's container statuses.
type container struct {
	name, imageID, containerID string
	state                      AgentState
}

// epochContainers are those that the runtime ID is made from, and the agent's state. The agent is
// looked up by name, first among the containers, then among the init containers: one of those that
// still runs in a running pod is a native sidecar (R2). Other init containers come and go beside the
// agent and do not count.
func epochContainers(agent string, containers, inits []container) ([]container, AgentState) {
	isAgent := func(c container) bool { return c.name == agent }
	if found, isFound := lo.Find(containers, isAgent); isFound {
		return containers, found.state
	}
	if found, isFound := lo.Find(inits, isAgent); isFound {
		return append(slices.Clip(containers), found), found.state
	}
	return containers, AgentMissing
}

// maxNamed bounds how many containers a text for people names.
const maxNamed = 10

// noAgent says which containers there are instead of the agent's, in whatever order they come.
func noAgent(agent string, containers []container) string {
	names := lo.Map(containers, func(c container, _ int) string { return fmt.Sprintf("%.64q", c.name) })
	slices.Sort(names)
	there := strings.Join(names[:min(len(names), maxNamed)], ", ")
	switch more := len(names) - maxNamed; {
	case more > 0:
		there += fmt.Sprintf(" and %d more", more)
	case len(names) == 0:
		there = "none"
	}
	return fmt.Sprintf("no container is named %q; there: %s", agent, there)
}

// runtimeID hashes the name and the container ID of each container, in whatever order they come.
// Restart counts, readiness and times do not enter. The image ID does where there is no container ID
// yet: another image comes with another container, while the runtime may spell the same image in
// another way after its own restart.
func runtimeID(containers []container) RuntimeID {
	entries := lo.Map(containers, func(c container, _ int) string {
		if c.containerID != "" {
			c.imageID = ""
		}
		var entry []byte
		for _, text := range []string{c.name, c.imageID, c.containerID} {
			entry = binary.AppendUvarint(entry, uint64(len(text)))
			entry = append(entry, text...)
		}
		return string(entry)
	})
	slices.Sort(entries)
	hash := sha256.New()
	for _, entry := range entries {
		hash.Write([]byte(entry))
	}
	return RuntimeID(hex.EncodeToString(hash.Sum(nil)))
}
