package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
)

// report is what came of the trials.
type report struct {
	tried, noticed, equivalent int
	byStage                    map[string]int
	known                      []survivor
	unknown                    []survivor
	// stale are entries of the list that name no mutant, or one that was noticed.
	stale []string
}

type survivor struct {
	Mutant
	reason string
}

func compare(verdicts []verdict, list []accepted, all []Mutant) report {
	r := report{tried: len(verdicts), byStage: map[string]int{}}
	entries := map[string]accepted{}
	for _, entry := range list {
		entries[entry.name] = entry
	}
	noticed := map[string]bool{}
	for _, v := range verdicts {
		entry, listed := entries[v.name.String()]
		switch {
		case v.noticedBy != "":
			r.noticed++
			r.byStage[v.noticedBy]++
			noticed[v.name.String()] = true
		case listed:
			r.known = append(r.known, survivor{v.Mutant, entry.reason})
			if entry.equivalent {
				r.equivalent++
			}
		default:
			r.unknown = append(r.unknown, survivor{Mutant: v.Mutant})
		}
	}
	exists := map[string]bool{}
	for _, mutant := range all {
		exists[mutant.name.String()] = true
	}
	for _, entry := range list {
		switch {
		case !exists[entry.name]:
			r.stale = append(r.stale, entry.name+": there is no such mutant")
		case noticed[entry.name]:
			r.stale = append(r.stale, entry.name+": a test notices it")
		}
	}
	return r
}

// score is how many of the mutants that make a difference were noticed, in per cent.
func (r report) score() float64 {
	if r.tried == r.equivalent {
		return 100
	}
	return 100 * float64(r.noticed) / float64(r.tried-r.equivalent)
}

func (r report) passed() bool {
	return len(r.unknown) == 0 && len(r.stale) == 0 && r.score() >= minScore
}

func (r report) print(w io.Writer, took time.Duration) {
	for _, s := range r.known {
		fmt.Fprintf(w, "known, line %d: %s\n    %s\n", s.Line, s.name, s.reason)
	}
	for _, s := range r.unknown {
		fmt.Fprintf(w, "survivor, line %d: %s\n", s.Line, s.name)
	}
	for _, text := range r.stale {
		fmt.Fprintf(w, "stale entry of %s: %s\n", acceptedFile, text)
	}
	stages := slices.SortedFunc(maps.Keys(r.byStage), func(a, b string) int {
		return cmp.Or(cmp.Compare(r.byStage[b], r.byStage[a]), cmp.Compare(a, b))
	})
	for _, name := range stages {
		fmt.Fprintf(w, "%5d noticed by the %s\n", r.byStage[name], name)
	}
	fmt.Fprintf(w, "%d mutants, %d noticed, %d survive: %d equivalent, %d accepted, %d unknown; "+
		"score %.1f %%, in %v\n",
		r.tried, r.noticed, r.tried-r.noticed, r.equivalent, len(r.known)-r.equivalent,
		len(r.unknown), r.score(), took.Round(time.Second))
}
