// SPDX-License-Identifier: Apache-2.0

// Command golf reports statements of Go files that do several things in one line:
//
//   - an if or a switch that begins with a call, or with a statement that changes what its
//     condition does not read, as in "if n.changed = true; last";
//   - an assignment or a definition of five values or more.
//
// It exits with status 1 if it finds any. Generated files are left out.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"slices"
)

// most is how many values one assignment may have.
const most = 4

func main() {
	found := false
	for _, path := range os.Args[1:] {
		text, err := os.ReadFile(path)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		findings, err := look(path, text)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		for _, f := range findings {
			found = true
			fmt.Println(f)
		}
	}
	if found {
		os.Exit(1)
	}
}

// look returns the findings in a file, each with its place.
func look(path string, text []byte) ([]string, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if ast.IsGenerated(file) {
		return nil, nil
	}
	var findings []string
	report := func(at ast.Node, what string) {
		findings = append(findings, fmt.Sprintf("%s: %s", files.Position(at.Pos()), what))
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			if unrelated(n.Init, n.Cond) {
				report(n.Init, "it changes what the condition does not read; expected it on a line of its own")
			}
		case *ast.SwitchStmt:
			if unrelated(n.Init, n.Tag) {
				report(n.Init, "it changes what the value of the switch does not read; expected it on a line of its own")
			}
		case *ast.AssignStmt:
			if len(n.Lhs) > most {
				report(n, fmt.Sprintf("an assignment of %d values; expected at most %d", len(n.Lhs), most))
			}
		case *ast.ValueSpec:
			if len(n.Names) > most && len(n.Values) > 0 {
				report(n, fmt.Sprintf("a definition of %d values; expected at most %d", len(n.Names), most))
			}
		}
		return true
	})
	return findings, nil
}

// unrelated reports whether a statement is a call, or changes something, and an expression reads
// nothing of what it changes.
func unrelated(s ast.Stmt, read ast.Expr) bool {
	var changed []ast.Expr
	switch s := s.(type) {
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE {
			return false
		}
		changed = s.Lhs
	case *ast.IncDecStmt:
		changed = []ast.Expr{s.X}
	case nil:
		return false
	}
	reads := map[string]bool{}
	if read != nil {
		ast.Inspect(read, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok {
				reads[types.ExprString(e)] = true
			}
			return true
		})
	}
	return !slices.ContainsFunc(changed, func(e ast.Expr) bool { return reads[types.ExprString(e)] })
}
