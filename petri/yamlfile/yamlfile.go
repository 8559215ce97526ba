// SPDX-License-Identifier: Apache-2.0

// Package yamlfile reads YAML that people write, so that every fault in it can
// be answered with file:line:column, what was found and what was expected.
// Anchors, aliases and tags are not followed. Size and depth are bounded.
package yamlfile

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/pnagent/pnagent/petri"
)

// MaxSize bounds a file, in bytes.
const MaxSize = 1 << 20

// maxDepth bounds how deep brackets and indented blocks nest.
const maxDepth = 100

// Node is a place in a file: a scalar, a list or a mapping.
type Node struct {
	file string
	node ast.Node
}

// Read reads a file of at most one document. An empty one gives a Node for
// which IsEmpty is true.
func Read(r io.Reader, file string) (Node, error) {
	n := Node{file: file}
	text, err := io.ReadAll(io.LimitReader(r, MaxSize+1))
	switch {
	case err != nil:
		return n, fmt.Errorf("reading %s: %w", file, err)
	case len(text) > MaxSize:
		return n, n.Fault("more than %d bytes", MaxSize)
	case deep(text):
		return n, n.Fault("nested more than %d deep", maxDepth)
	}
	f, err := parser.ParseBytes(text, 0)
	if err != nil {
		return n, n.syntax(err)
	}
	for _, doc := range f.Docs {
		if doc.Body == nil {
			continue
		}
		if n.node != nil {
			return n, Node{file, doc.Body}.Fault("a second document; expected one")
		}
		n.node = doc.Body
	}
	return n, nil
}

// deep reports whether a text nests deeper than the parser should go: in
// brackets, or by "- - - …" at the beginning of a line.
func deep(text []byte) bool {
	depth, leading, begun := 0, 0, false
	for _, c := range text {
		switch c {
		case '\n':
			leading, begun = 0, false
		case '-', '?', ':':
			if !begun {
				leading++
			}
		case ' ', '\t':
		case '[', '{':
			depth, begun = depth+1, true
		case ']', '}':
			depth, begun = depth-1, true
		default:
			begun = true
		}
		if depth > maxDepth || leading > maxDepth {
			return true
		}
	}
	return false
}

// syntaxError is an error of the parser. Package yaml of that module has it under a name, but
// also what encodes and decodes Go values, which takes much more of a program than the parser.
type syntaxError interface {
	error
	GetToken() *token.Token
	GetMessage() string
}

// syntax turns the parser's error into a fault.
func (n Node) syntax(err error) error {
	var e syntaxError
	if !errors.As(err, &e) || e.GetToken() == nil || e.GetToken().Position == nil {
		return n.Fault("not YAML: %v", err)
	}
	p := e.GetToken().Position
	return &petri.Fault{File: n.file, Pos: petri.Pos{Line: p.Line, Column: p.Column}, Msg: "not YAML: " + e.GetMessage()}
}

// IsEmpty reports whether there is nothing in the file.
func (n Node) IsEmpty() bool { return n.node == nil }

// Pos returns where the node begins.
func (n Node) Pos() petri.Pos {
	if n.node == nil {
		return petri.Pos{}
	}
	if t := n.node.GetToken(); t != nil && t.Position != nil {
		return petri.Pos{Line: t.Position.Line, Column: t.Position.Column}
	}
	return petri.Pos{}
}

// String returns the node as YAML.
func (n Node) String() string {
	if n.node == nil {
		return ""
	}
	return n.node.String()
}

// Fault returns an error (a *petri.Fault) at the node.
func (n Node) Fault(format string, args ...any) error {
	return &petri.Fault{File: n.file, Pos: n.Pos(), Msg: fmt.Sprintf(format, args...)}
}

// Expected returns a fault that says what was found and what was expected.
func (n Node) Expected(what string) error {
	return n.Fault("found %s; expected %s", n.describe(), what)
}

func (n Node) describe() string {
	if n.node == nil {
		return "nothing"
	}
	if s, ok := n.Scalar(); ok {
		return strconv.Quote(s)
	}
	return "a " + strings.ToLower(n.node.Type().String())
}

// Scalar returns the text of a scalar as it stands in the file, so that an id
// such as 010 or true stays what it is, and false for anything else.
func (n Node) Scalar() (string, bool) {
	switch v := n.node.(type) {
	case *ast.StringNode:
		return v.Value, true
	case *ast.LiteralNode:
		return v.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.node.GetToken().Value, true
	}
	return "", false
}

// List returns the entries of a list, and false for anything else.
func (n Node) List() ([]Node, bool) {
	s, ok := n.node.(*ast.SequenceNode)
	if !ok {
		return nil, false
	}
	out := make([]Node, len(s.Values))
	for i, v := range s.Values {
		out[i] = Node{n.file, v}
	}
	return out, true
}

// Key is a key of a mapping.
type Key struct {
	Node
	Name string
}

// Fields reads a mapping by its keys: it calls the function of each key with the
// value. expected says what should stand here, and keys which keys there are.
func (n Node) Fields(expected, keys string, fields map[string]func(Node) error) error {
	return n.Each(expected, func(key Key, value Node) error {
		read := fields[key.Name]
		if read == nil {
			return key.Fault("unknown key %q; expected %s", key.Name, keys)
		}
		return read(value)
	})
}

// Into returns a function that stores in to what read returns.
func Into[T any](to *T, read func(Node) (T, error)) func(Node) error {
	return func(n Node) (err error) {
		*to, err = read(n)
		return err
	}
}

// Each calls do for every entry of a mapping, in the order of the file, and
// returns all errors of do, joined, so that one reading reports every fault of a
// file. A key that comes twice, and anything that is no mapping with plain keys,
// is a fault; expected says what should stand here.
func (n Node) Each(expected string, do func(key Key, value Node) error) error {
	m, ok := n.node.(ast.MapNode)
	if !ok {
		return n.Expected(expected)
	}
	seen := map[string]bool{}
	var faults []error
	for it := m.MapRange(); it.Next(); {
		key := Key{Node: Node{n.file, it.Key()}}
		if it.Key() == nil || it.Value() == nil {
			return n.Expected(expected)
		}
		key.Name, ok = key.Scalar()
		switch {
		case !ok:
			faults = append(faults, key.Expected("a plain key"))
		case seen[key.Name]:
			faults = append(faults, key.Fault("%q a second time; expected it once", key.Name))
		default:
			seen[key.Name] = true
			faults = append(faults, do(key, Node{n.file, it.Value()}))
		}
	}
	return errors.Join(faults...)
}
