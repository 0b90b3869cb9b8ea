package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

//go:embed switches.go.txt
var switches string

// stage is a set of tests: those of a package that the arguments choose.
type stage struct {
	name string
	pkg  string
	args []string
	// slow ones are for a full run.
	slow bool
}

// build compiles the tests of all stages, with the mutated package in the place of the real one.
func build(ctx context.Context, source *source, mutated mutated, stages []stage) (*trials, error) {
	folder, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return nil, err
	}
	t := &trials{folder: folder}
	if err := t.build(ctx, source, mutated, stages); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

func (t *trials) build(
	ctx context.Context, source *source, mutated mutated, stages []stage,
) error {
	overlay, err := writeOverlay(t.folder, source, mutated)
	if err != nil {
		return err
	}
	binaries := map[string]string{}
	for _, stage := range stages {
		binary, built := binaries[stage.pkg]
		if !built {
			binary = filepath.Join(t.folder, fmt.Sprintf("%d.test", len(binaries)))
			binaries[stage.pkg] = binary
			command := exec.CommandContext(ctx,
				"go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", binary, stage.pkg)
			if output, err := command.CombinedOutput(); err != nil {
				return fmt.Errorf("building the tests of %s: %w\n%s", stage.pkg, err, output)
			}
		}
		workFolder, err := filepath.Abs(stage.pkg)
		if err != nil {
			return err
		}
		t.stages = append(t.stages, builtStage{stage: stage, binary: binary, folder: workFolder})
	}
	return nil
}

// writeOverlay writes the mutated files, and the file that tells the compiler of them.
func writeOverlay(folder string, source *source, mutated mutated) (path string, err error) {
	const switchesName = "mutant_switches.go"
	files := map[string][]byte{
		switchesName: []byte("package " + source.types.Name() + "\n\n" + switches),
	}
	for name, text := range mutated.files {
		files[name] = text
	}
	replace := map[string]string{}
	for name, text := range files {
		copied := filepath.Join(folder, name)
		if err := os.WriteFile(copied, text, 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(source.folder, name)] = copied
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path = filepath.Join(folder, "overlay.json")
	return path, os.WriteFile(path, overlay, 0o600)
}
