// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// onlyWords reports whether what a call is given is text for people or only
// room for later: messages of errors and of logs, and sizes of make.
func onlyWords(n *ast.CallExpr) bool {
	name := called(n)
	switch {
	case name == "make":
		_, isMap := n.Args[0].(*ast.MapType)
		return len(n.Args) == 3 || isMap
	case slices.Contains([]string{"panic", "errors.New", "fmt.Errorf", "slices.Grow"}, name):
		return true
	}
	return logs(n)
}

// logs reports whether a call writes to a log.
func logs(n *ast.CallExpr) bool {
	of, method := "", called(n)
	if dot := strings.LastIndexByte(method, '.'); dot >= 0 {
		of, method = strings.ToLower(method[:dot]), method[dot+1:]
	}
	levels := []string{"Debug", "Info", "Warn", "Error", "Log", "LogAttrs", "DebugContext", "InfoContext", "WarnContext", "ErrorContext", "Printf", "Println"}
	return strings.HasSuffix(of, "log") && slices.Contains(levels, method) || strings.HasSuffix(of, "logger") && slices.Contains(levels, method)
}

// removable reports whether a test can be expected to miss a call: not a lock,
// of which the race detector has the word, nor a hint of capacity, nor a log.
func removable(n *ast.CallExpr) bool {
	name := called(n)
	last := name[strings.LastIndexByte(name, '.')+1:]
	return !logs(n) && !slices.Contains([]string{"Lock", "Unlock", "RLock", "RUnlock", "Grow", "KeepAlive", "Helper", "panic"}, last)
}

// called returns the name of what is called, with the names before its dots; "" for what has none.
func called(n *ast.CallExpr) string { return dotted(n.Fun) }

func dotted(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return dotted(e.X) + "." + e.Sel.Name
	}
	return ""
}

// joinsStrings reports whether a sum has a string's literal in it.
func joinsStrings(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Kind == token.STRING
	case *ast.BinaryExpr:
		return e.Op == token.ADD && (joinsStrings(e.X) || joinsStrings(e.Y))
	case *ast.ParenExpr:
		return joinsStrings(e.X)
	}
	return false
}

// isChosen reports whether a number could as well be one more or one less: how
// many units of time something takes, or a constant's large bound.
func isChosen(n *ast.BasicLit, above []ast.Node) bool {
	binary, _ := above[len(above)-1].(*ast.BinaryExpr)
	if binary != nil && (isUnit(binary.X) || isUnit(binary.Y)) {
		return true
	}
	if !slices.ContainsFunc(above, func(a ast.Node) bool { d, ok := a.(*ast.GenDecl); return ok && d.Tok == token.CONST }) {
		return false
	}
	v, err := strconv.ParseUint(n.Value, 0, 64)
	return err == nil && v >= 1000 || binary != nil && binary.Op == token.SHL && isLiteral(binary.X) && isLiteral(binary.Y)
}

func isLiteral(e ast.Expr) bool { _, ok := e.(*ast.BasicLit); return ok }

// isUnit reports whether an expression is a unit of time, as in 5 * time.Second.
func isUnit(e ast.Expr) bool {
	name := dotted(e)
	return slices.Contains([]string{"time.Nanosecond", "time.Microsecond", "time.Millisecond", "time.Second", "time.Minute", "time.Hour"}, name)
}
