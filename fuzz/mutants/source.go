package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// source is a package that was parsed and type-checked.
type source struct {
	folder string
	files  []sourceFile
	set    *token.FileSet
	info   *types.Info
	types  *types.Package
}

type sourceFile struct {
	name string
	text []byte
	ast  *ast.File
}

// load reads a package, without its tests. Dependencies are taken as they were compiled.
func load(ctx context.Context, pattern string) (*source, error) {
	command := exec.CommandContext(ctx, "go", "list", "-export", "-deps", "-json", pattern)
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w", pattern, err)
	}
	type listed struct {
		ImportPath, Dir, Export string
		GoFiles                 []string
	}
	var last listed // the package itself comes behind its dependencies
	exports := map[string]string{}
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		var next listed
		if err := decoder.Decode(&next); err == io.EOF {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list %s: %w", pattern, err)
		}
		exports[next.ImportPath] = next.Export
		last = next
	}
	s := &source{folder: last.Dir, set: token.NewFileSet()}
	for _, name := range last.GoFiles {
		text, err := os.ReadFile(filepath.Join(s.folder, name))
		if err != nil {
			return nil, err
		}
		s.files = append(s.files, sourceFile{name: name, text: text})
	}
	return s, s.check(last.ImportPath, func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
}

// check parses the texts of the files and finds the types in them.
func (s *source) check(path string, lookup importer.Lookup) error {
	var files []*ast.File
	for i := range s.files {
		file := &s.files[i]
		parsed, err := parser.ParseFile(s.set, file.name, file.text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		file.ast = parsed
		files = append(files, parsed)
	}
	s.info = &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{},
	}
	config := types.Config{Importer: importer.ForCompiler(s.set, "gc", lookup)}
	var err error
	s.types, err = config.Check(path, s.set, files, s.info)
	return err
}
