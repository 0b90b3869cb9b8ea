package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// accepted is a survivor that is known, with the reason why it may be one.
type accepted struct {
	name   string
	reason string
	// equivalent tells that it makes no difference that a test could see; others are gaps that were
	// left on purpose, and count against the score.
	equivalent bool
}

// readAccepted reads the list: a line with a name, as Mutant prints it, and below it, indented, the
// reason, which begins with "equivalent: " or "accepted: ". Lines that begin with # are remarks.
func readAccepted(path string) ([]accepted, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list, err := parseAccepted(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return list, nil
}

func parseAccepted(text string) (list []accepted, err error) {
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch indented := strings.TrimLeft(line, " \t"); {
		case indented == "" || line[0] == '#':
		case indented == line:
			if seen[line] {
				return nil, fmt.Errorf("%q stands in it twice", line)
			}
			seen[line] = true
			list = append(list, accepted{name: line})
		case len(list) == 0:
			return nil, fmt.Errorf("the reason %q is for nothing", indented)
		default:
			last := &list[len(list)-1]
			last.reason = strings.TrimSpace(last.reason + " " + indented)
		}
	}
	for i := range list {
		equivalent := strings.HasPrefix(list[i].reason, "equivalent: ")
		if !equivalent && !strings.HasPrefix(list[i].reason, "accepted: ") {
			return nil, fmt.Errorf("%q has no reason that begins with equivalent or accepted",
				list[i].name)
		}
		list[i].equivalent = equivalent
	}
	return list, nil
}
