package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func mutantNamed(id int, original, change string) Mutant {
	return Mutant{ID: id, Line: 10 * id, name: name{
		File: "a.go", Function: "f", Original: original, Change: change, Nth: 1,
	}}
}

func TestAcceptedList(t *testing.T) {
	list, err := parseAccepted("# a remark\n\na.go f: x -> y\n    equivalent: it makes\n\tno difference\n" +
		"a.go f: x -> y (2)\n  accepted: too rare\n")
	want := []accepted{
		{"a.go f: x -> y", "equivalent: it makes no difference", true},
		{"a.go f: x -> y (2)", "accepted: too rare", false},
	}
	if diff := cmp.Diff(want, list, cmp.AllowUnexported(accepted{})); diff != "" || err != nil {
		t.Errorf("%v, - want, + got:\n%s", err, diff)
	}
	for text, complaint := range map[string]string{
		"a.go f: x -> y\n":                         "has no reason",
		"a.go f: x -> y\n  because\n":              "has no reason",
		"  equivalent: x\n":                        "is for nothing",
		"a\n  equivalent: x\na\n  equivalent: x\n": "twice",
	} {
		if _, err := parseAccepted(text); err == nil || !strings.Contains(err.Error(), complaint) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// What passes and what does not: survivors must be known, the list must be true, and the score high
// enough.
func TestReport(t *testing.T) {
	var all []Mutant
	var verdicts []verdict
	for id := 1; id <= 20; id++ {
		all = append(all, mutantNamed(id, strings.Repeat("x", id), "removed"))
		verdicts = append(verdicts, verdict{all[id-1], "transcripts"})
	}
	survives := func(ids ...int) []verdict {
		changed := append([]verdict(nil), verdicts...)
		for _, id := range ids {
			changed[id-1].noticedBy = ""
		}
		return changed
	}
	known := func(reason string, ids ...int) (list []accepted) {
		for _, id := range ids {
			list = append(list, accepted{all[id-1].name.String(), reason, reason == "equivalent"})
		}
		return list
	}
	for name, test := range map[string]struct {
		verdicts []verdict
		list     []accepted
		passed   bool
		score    float64
		says     string
	}{
		"all noticed":      {verdicts, nil, true, 100, "20 noticed by the transcripts"},
		"one survives":     {survives(3), nil, false, 95, "survivor, line 30: a.go f: xxx -> removed"},
		"one is accepted":  {survives(3), known("accepted", 3), true, 95, "1 accepted"},
		"two are accepted": {survives(3, 4), known("accepted", 3, 4), false, 90, "2 accepted"},
		"ten are equivalent": {survives(1, 2, 3, 4, 5, 6, 7, 8, 9, 10),
			known("equivalent", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10), true, 100, "10 equivalent"},
		"a known one is noticed": {verdicts, known("equivalent", 3), false, 100, "a test notices it"},
		"one that is gone": {verdicts, []accepted{{"a.go g: x -> y", "equivalent", true}}, false, 100,
			"there is no such mutant"},
		"a known one is not tried": {verdicts[:2], known("equivalent", 3), true, 100, "2 mutants"},
	} {
		r := compare(test.verdicts, test.list, all)
		var text strings.Builder
		r.print(&text, time.Second)
		if r.passed() != test.passed || r.score() != test.score {
			t.Errorf("%s: passed %t, score %v", name, r.passed(), r.score())
		}
		if !strings.Contains(text.String(), test.says) {
			t.Errorf("%s: says\n%s", name, text.String())
		}
	}
}
