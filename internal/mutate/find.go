// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// mutant is one change of one file: the bytes from start up to end are replaced by text.
type mutant struct {
	file       string
	src        []byte // of the file as it was found
	at         token.Position
	start, end int
	text       string
	operator   string
}

// finder collects the mutants of one file.
type finder struct {
	name string
	src  []byte
	pos  *token.FileSet
	out  []mutant
}

// find returns all mutants of the files, in the order of the source. Generated files have none.
func find(dir string, files []string) ([]mutant, error) {
	var out []mutant
	for _, name := range files {
		path := filepath.Join(dir, name)
		src, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		f := &finder{name: path, src: src, pos: token.NewFileSet()}
		tree, err := parser.ParseFile(f.pos, path, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		if ast.IsGenerated(tree) {
			continue
		}
		ast.PreorderStack(tree, nil, f.visit)
		slices.SortStableFunc(f.out, func(a, b mutant) int { return a.start - b.start })
		out = append(out, f.out...)
	}
	return out, nil
}

// visit adds the mutants of one node and reports whether those below it count.
func (f *finder) visit(n ast.Node, above []ast.Node) bool {
	var parent ast.Node
	if len(above) > 0 {
		parent = above[len(above)-1]
	}
	switch n := n.(type) {
	case *ast.ImportSpec, *ast.ArrayType:
		return false
	case *ast.CallExpr:
		return !onlyWords(n)
	case *ast.BinaryExpr:
		f.binary(n, parent)
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			f.replace("drop !", n, f.text(n.X))
		}
	case *ast.BasicLit:
		f.literal(n, above)
	case *ast.Ident:
		if flip, ok := map[string]string{"true": "false", "false": "true"}[n.Name]; ok {
			f.replace("true ↔ false", n, flip)
		}
	case *ast.IfStmt:
		f.condition(n)
	case *ast.ReturnStmt:
		f.returned(n)
	case *ast.ExprStmt:
		if call, ok := n.X.(*ast.CallExpr); ok && removable(call) {
			f.replace("remove call", n, "")
		}
	case *ast.AssignStmt:
		f.assignment(n)
	case *ast.IncDecStmt:
		f.replace("++ ↔ --", n, f.text(n.X)+map[token.Token]string{token.INC: "--", token.DEC: "++"}[n.Tok])
		if _, loops := parent.(*ast.ForStmt); !loops { // that loop would not end
			f.replace("remove assignment", n, "")
		}
	case *ast.BranchStmt:
		if flip, ok := map[token.Token]string{token.BREAK: "continue", token.CONTINUE: "break"}[n.Tok]; ok && n.Label == nil {
			f.replace("break ↔ continue", n, flip)
		}
	case *ast.SliceExpr:
		f.bound(n.Low, "+")
		f.bound(n.High, "-")
	}
	return true
}

var swapped = map[token.Token]struct{ operator, by string }{
	token.ADD: {"+ ↔ -", "-"}, token.SUB: {"+ ↔ -", "+"}, token.MUL: {"* ↔ /", "/"}, token.QUO: {"* ↔ /", "*"},
	token.LAND: {"&& ↔ ||", "||"}, token.LOR: {"&& ↔ ||", "&&"},
	token.EQL: {"negate", "!="}, token.NEQ: {"negate", "=="},
	token.LSS: {"negate", ">="}, token.GEQ: {"negate", "<"}, token.GTR: {"negate", "<="}, token.LEQ: {"negate", ">"},
	token.ADD_ASSIGN: {"+= ↔ -=", "-="}, token.SUB_ASSIGN: {"+= ↔ -=", "+="},
}

var boundaries = map[token.Token]string{token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">"}

func (f *finder) binary(n *ast.BinaryExpr, parent ast.Node) {
	end := n.OpPos + token.Pos(len(n.Op.String()))
	if _, isIf := parent.(*ast.IfStmt); isIf && f.isErrCheck(n) {
		f.add("error not seen", n.Pos(), n.End(), f.text(n)+" && false")
		return
	}
	if s, ok := swapped[n.Op]; ok && !joinsStrings(n) && !isUnit(n.X) && !isUnit(n.Y) {
		f.add(s.operator, n.OpPos, end, s.by)
	}
	if to, ok := boundaries[n.Op]; ok && !f.limits(n, parent) {
		f.add("boundary", n.OpPos, end, to)
	}
}

// limits reports whether parent is `if a < b { a = b }` or `{ b = a }`, where
// the boundary makes no difference.
func (f *finder) limits(n *ast.BinaryExpr, parent ast.Node) bool {
	i, ok := parent.(*ast.IfStmt)
	if !ok || len(i.Body.List) != 1 {
		return false
	}
	set, ok := i.Body.List[0].(*ast.AssignStmt)
	if !ok || len(set.Lhs) != 1 || len(set.Rhs) != 1 || set.Tok != token.ASSIGN {
		return false
	}
	x, y, l, r := f.text(n.X), f.text(n.Y), f.text(set.Lhs[0]), f.text(set.Rhs[0])
	return x == l && y == r || x == r && y == l
}

func (f *finder) literal(n *ast.BasicLit, above []ast.Node) {
	if n.Kind != token.INT || strings.HasPrefix(n.Value, "0o") || isChosen(n, above) { // 0o: the mode of a file
		return
	}
	if v, err := strconv.ParseUint(n.Value, 0, 63); err == nil {
		f.replace("constant + 1", n, strconv.FormatUint(v+1, 10))
		if v > 0 {
			f.replace("constant - 1", n, strconv.FormatUint(v-1, 10))
		}
	}
}

// condition negates conditions that have no operator of their own.
func (f *finder) condition(n *ast.IfStmt) {
	switch n.Cond.(type) {
	case *ast.BinaryExpr, *ast.UnaryExpr:
	default:
		f.replace("negate", n.Cond, "!("+f.text(n.Cond)+")")
	}
}

// returned makes success of an error that is returned last.
func (f *finder) returned(n *ast.ReturnStmt) {
	if len(n.Results) == 0 {
		return
	}
	switch last := n.Results[len(n.Results)-1].(type) {
	case *ast.Ident:
		if last.Name == "err" || strings.HasPrefix(last.Name, "err") || strings.HasPrefix(last.Name, "Err") {
			f.replace("return nil error", last, "nil")
		}
	case *ast.CallExpr:
		if name := called(last); name == "fmt.Errorf" || name == "errors.New" || name == "errors.Join" {
			f.replace("return nil error", last, "nil")
		}
	}
}

// assignment removes the assignment and keeps what its right side does.
func (f *finder) assignment(n *ast.AssignStmt) {
	if s, ok := swapped[n.Tok]; ok && !joinsStrings(n.Rhs[0]) {
		f.add(s.operator, n.TokPos, n.TokPos+2, s.by)
	}
	blank := func(e ast.Expr) bool { id, ok := e.(*ast.Ident); return ok && id.Name == "_" }
	if n.Tok == token.DEFINE || !slices.ContainsFunc(n.Lhs, func(e ast.Expr) bool { return !blank(e) }) {
		return
	}
	if id, ok := n.Rhs[0].(*ast.Ident); ok && id.Name == "nil" {
		f.replace("remove assignment", n, "")
		return
	}
	left := "_" + strings.Repeat(", _", len(n.Lhs)-1)
	f.add("remove assignment", n.Pos(), n.Rhs[0].Pos(), left+" = ")
}

// bound moves a bound of a slice that is no literal; literals have mutants of their own.
func (f *finder) bound(e ast.Expr, op string) {
	if _, isLit := e.(*ast.BasicLit); e != nil && !isLit {
		f.replace("slice bound", e, "("+f.text(e)+")"+op+"1")
	}
}

// isErrCheck reports whether n is `err != nil`.
func (f *finder) isErrCheck(n *ast.BinaryExpr) bool {
	return n.Op == token.NEQ && f.text(n.Y) == "nil" && strings.HasPrefix(strings.ToLower(f.text(n.X)), "err")
}

func (f *finder) text(n ast.Node) string {
	return string(f.src[f.pos.Position(n.Pos()).Offset:f.pos.Position(n.End()).Offset])
}

func (f *finder) replace(operator string, n ast.Node, by string) {
	f.add(operator, n.Pos(), n.End(), by)
}

func (f *finder) add(operator string, from, to token.Pos, text string) {
	at := f.pos.Position(from)
	f.out = append(f.out, mutant{file: f.name, src: f.src, at: at, start: at.Offset, end: f.pos.Position(to).Offset, text: text, operator: operator})
}

// lines returns the first line that the mutant changes, before and after.
func (m mutant) lines() (before, after string) {
	from := strings.LastIndexByte(string(m.src[:m.start]), '\n') + 1
	line := func(s []byte) string { first, _, _ := strings.Cut(string(s), "\n"); return strings.TrimSpace(first) }
	before, after = line(m.src[from:]), line(m.apply()[from:])
	if after == "" {
		after = "(nothing)"
	}
	return before, after
}

// apply returns the file with the change.
func (m mutant) apply() []byte {
	return fmt.Appendf(nil, "%s%s%s", m.src[:m.start], m.text, m.src[m.end:])
}
