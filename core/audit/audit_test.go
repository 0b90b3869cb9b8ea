package audit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/haproxy-discovery/haproxy-discovery/core"
	"github.com/haproxy-discovery/haproxy-discovery/core/audit"
)

// view reads "hap-0=u0:5 hap-1=u1:6": name, UID and resource version.
func view(text string) audit.View {
	view := audit.View{}
	for _, entry := range strings.Fields(text) {
		name, version, _ := strings.Cut(entry, "=")
		uid, resource, _ := strings.Cut(version, ":")
		view[core.PodKey{Namespace: "lb", Name: name}] = audit.Version{UID: uid, ResourceVersion: resource}
	}
	return view
}

// look reads "listed | before | after"; without the last, the cache has not moved.
func look(text string) audit.Look {
	parts := strings.Split(text, "|")
	if len(parts) == 2 {
		parts = append(parts, parts[1])
	}
	return audit.Look{Listed: view(parts[0]), Before: view(parts[1]), After: view(parts[2])}
}

// told is a verdict in words.
func told(verdict audit.Verdict) string {
	var words []string
	if len(verdict.Lost) > 0 {
		words = append(words, fmt.Sprint("lost ", verdict.Lost))
	}
	for word, holds := range map[string]bool{
		"confirmed": verdict.Confirmed, "before confirmed": verdict.ConfirmedBefore,
		"follow up": verdict.FollowUp,
	} {
		if holds {
			words = append(words, word)
		}
	}
	slices.Sort(words)
	return strings.Join(words, ", ")
}

func TestVerdicts(t *testing.T) {
	for name, steps := range map[string][][2]string{
		"all is well": {
			{"a=u:1 b=v:2 | a=u:1 b=v:2", "confirmed"},
			{"a=u:1 b=v:2 | a=u:1 b=v:2", "before confirmed, confirmed"},
		},
		"no pods":                        {{" | ", "confirmed"}},
		"the cache moves while we look":  {{"a=u:2 | a=u:1 | a=u:2", "confirmed"}},
		"the cache is ahead of the list": {{"a=u:2 | a=u:2 | a=u:3", "confirmed"}},
		"a change was on its way": {
			{"a=u:2 | a=u:1", "follow up"},
			{"a=u:2 | a=u:2", "before confirmed, confirmed"},
		},
		"each time another change is on its way": {
			{"a=u:2 | a=u:1", "follow up"},
			{"a=u:3 | a=u:2", "before confirmed, follow up"},
			{"a=u:4 | a=u:3", "before confirmed, follow up"},
			{"a=u:5 | a=u:4", "before confirmed"},
			{"a=u:6 | a=u:5", "before confirmed, follow up"},
		},
		"a change was lost": {
			{"a=u:2 | a=u:1", "follow up"},
			{"a=u:2 | a=u:1", "follow up, lost [lb/a]"},
			{"a=u:2 | a=u:2", "confirmed"},
		},
		"several were lost, and more have followed": {
			{"a=u:2 | a=u:1", "follow up"},
			{"a=u:7 | a=u:1", "follow up, lost [lb/a]"},
		},
		"a deletion was lost": {
			{" | a=u:1", "follow up"},
			{" | a=u:1", "follow up, lost [lb/a]"},
		},
		"a new pod was lost": {
			{"a=u:1 | ", "follow up"},
			{"a=u:2 | ", "follow up, lost [lb/a]"},
		},
		"pods of one name come and go": {
			{"a=u:1 | ", "follow up"},
			{"a=v:9 | ", "before confirmed, follow up"},
		},
		"a pod has the version of another": {
			{"a=v:1 | a=u:1", "follow up"},
			{"a=v:1 | a=u:1", "follow up, lost [lb/a]"},
		},
		"one is lost beside one that was on its way": {
			{"a=u:2 b=v:2 | a=u:1 b=v:1", "follow up"},
			{"a=u:2 b=v:2 | a=u:1 b=v:2", "follow up, lost [lb/a]"},
		},
		// The history that the cluster has left had a deletion, a change and a new pod.
		"an older state was put back": {
			{"a=u:1 b=v:2 c=w:3 | b=v:8 c=w:3 d=x:9", "follow up"},
			{"a=u:1 b=v:2 c=w:3 | b=v:8 c=w:3 d=x:9", "follow up, lost [lb/a lb/b lb/d]"},
			{"a=u:1 b=v:2 c=w:3 | a=u:1 b=v:2 c=w:3", "confirmed"},
		},
		// The cache is filled anew now and then, not over and over.
		"a new list does not help": {
			{"a=u:2 | a=u:1", "follow up"},
			{"a=u:2 | a=u:1", "follow up, lost [lb/a]"},
			{"a=u:2 | a=u:1", "follow up"},
			{"a=u:2 | a=u:1", "lost [lb/a]"},
			{"a=u:2 | a=u:1", "follow up"},
			{"a=u:2 | a=u:1", "follow up, lost [lb/a]"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var auditor audit.Auditor
			for i, step := range steps {
				next, verdict := auditor.Judge(look(step[0]))
				if got := told(verdict); got != step[1] {
					t.Errorf("look %d: %q, want %q", i, got, step[1])
				}
				// The Auditor before has not changed.
				if _, again := auditor.Judge(look(step[0])); told(again) != told(verdict) {
					t.Errorf("look %d: judged again, %q", i, told(again))
				}
				auditor = next
			}
		})
	}
}
