package core

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"

	"github.com/samber/lo"
)

// container is one entry of a pod's container statuses.
type container struct {
	name, imageID, containerID string
	state                      AgentState
}

// agentState looks the agent up by name, first among the containers, then among the init
// containers: one of those that still runs in a running pod is a native sidecar (R2).
func agentState(name string, containers, inits []container) AgentState {
	isAgent := func(c container) bool { return c.name == name }
	if agent, found := lo.Find(containers, isAgent); found {
		return agent.state
	}
	agent, _ := lo.Find(inits, isAgent)
	return agent.state
}

// runtimeID hashes name, image ID and container ID of all containers and of the running init
// containers. The order in the lists does not enter, nor do restart counts, readiness or times.
func runtimeID(containers, inits []container) RuntimeID {
	running := lo.Filter(inits, func(c container, _ int) bool { return c.state == AgentRunning })
	entries := lo.Map(slices.Concat(containers, running), func(c container, _ int) string {
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
