package demo

import "fmt"

// stateDocument is what an agent answers: the fields that discovery reads, among others that it
// skips. Without a version the agent does not know its HAProxy yet.
func stateDocument(version string) map[string]any {
	document := map[string]any{
		"api_version":   1,
		"agent_version": "0.3.0",
		"haproxy":       nil,
		"capabilities":  []string{"apply", "reload", "runtime"},
		"backends":      backends(),
	}
	if version != "" {
		document["haproxy"] = map[string]any{
			"version": version, "full_version": version + "-1", "worker_pid": 42,
		}
	}
	return document
}

func backends() []map[string]any {
	var all []map[string]any
	for i := range 20 {
		all = append(all, map[string]any{
			"name": fmt.Sprintf("shop-%d", i), "mode": "http", "servers": 3, "status": "UP",
		})
	}
	return all
}
