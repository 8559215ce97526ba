// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
)

// Names of functions that the patcher calls, and of what pnagent.age and pnagent.now
// find without a map of their own. No expression can contain them.
const (
	truthName = "truth of"
	shortName = "short text"
	roundName = "next round"
	ageName   = "pnagent age"
	nowName   = "pnagent now"
)

// truth returns false for nil, and an error for values that are not true or
// false.
func truth(values ...any) (any, error) {
	switch v := values[0].(type) {
	case bool:
		return v, nil
	case nil:
		return false, nil
	default:
		return nil, fmt.Errorf("found %s; expected true or false", kind(v))
	}
}

// short returns an error for texts that have become too long.
func short(values ...any) (any, error) {
	if s, ok := values[0].(string); ok && len(s) > MaxData {
		return nil, fmt.Errorf("a text of %d bytes; expected at most %d", len(s), MaxData)
	}
	return values[0], nil
}

// rounds returns a function that passes on the results of a loop's body. It
// returns an error after the given number of calls.
func rounds(most int) func(...any) (any, error) {
	left := most
	return func(values ...any) (any, error) {
		if left--; left < 0 {
			return nil, fmt.Errorf("more than %d rounds of loops", most)
		}
		return values[0], nil
	}
}

// kind returns the kind of a value for messages.
func kind(v any) string {
	switch v.(type) {
	case nil:
		return "nothing"
	case string:
		return "a text"
	case int, float64:
		return "a number"
	case map[string]any:
		return "an object"
	case []any, []int:
		return "a list"
	}
	return fmt.Sprintf("a %T", v)
}

// patcher visits the tree of an expression once, from the leaves up. It inserts
// the calls that bound the expression and make nil count as false. It rejects
// everything whose result could differ each time, and records what the
// expression reads.
type patcher struct {
	fields, timed, loops bool
	names                []string // of variables that it uses
	all                  int      // how often it uses all of them, as $env
	offers               int      // how often it uses pnagent otherwise than for age and now
	age, now             bool     // it uses pnagent.age, pnagent.now
	tokens, ages         bool     // it uses all tokens, and a field that may be an age
	fault                *file.Error
}

// Visit is called for every node.
func (p *patcher) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		p.identifier(node, n)
	case *ast.MemberNode:
		p.member(node, n)
	case *ast.UnaryNode:
		if n.Operator == "!" || n.Operator == "not" {
			wrap(&n.Node, truthName)
		}
	case *ast.BinaryNode:
		p.binary(node, n)
	case *ast.ConditionalNode:
		wrap(&n.Cond, truthName)
	case *ast.BuiltinNode:
		p.loop(n)
	case *ast.CallNode:
		p.call(n)
	}
}

// identifier makes the names of functions names of variables.
func (p *patcher) identifier(node *ast.Node, n *ast.IdentifierNode) {
	switch {
	case n.Value == own: // what is used of it is known at its member
		p.offers++
	case n.Value == "$env":
		p.all++
	case slices.Contains(Functions(), n.Value):
		p.reads(n.Value)
		ast.Patch(node, &ast.MemberNode{Node: &ast.IdentifierNode{Value: "$env"}, Property: &ast.StringNode{Value: n.Value}})
	default:
		p.reads(n.Value)
	}
}

func (p *patcher) reads(name string) {
	p.fields = true
	p.names = append(p.names, name)
}

func (p *patcher) member(node *ast.Node, n *ast.MemberNode) {
	name, constant := n.Property.(*ast.StringNode)
	p.ages = p.ages || !constant || name.Value == "age"
	of, ok := n.Node.(*ast.IdentifierNode)
	if ok && of.Value == "$env" && constant && name.Value != own {
		p.all--
		p.reads(name.Value)
	}
	if !ok || of.Value != own {
		return
	}
	switch {
	case constant && name.Value == "age":
		p.direct(node, ageName, &p.age)
	case constant && name.Value == "now":
		p.direct(node, nowName, &p.now)
	case constant && name.Value == "token":
		p.fields = true
	case constant && name.Value == "tokens":
		p.fields, p.tokens = true, true
	default:
		p.unknown(n, own)
	}
}

// direct replaces a member of pnagent by a variable.
func (p *patcher) direct(node *ast.Node, name string, used *bool) {
	ast.Patch(node, &ast.IdentifierNode{Value: name})
	p.timed, *used = true, true
	p.offers--
}

func (p *patcher) binary(node *ast.Node, n *ast.BinaryNode) {
	switch n.Operator {
	case "&&", "||", "and", "or":
		wrap(&n.Left, truthName)
		wrap(&n.Right, truthName)
	case "+":
		if !isNumber(n.Left) && !isNumber(n.Right) {
			wrap(node, shortName)
		}
	}
}

// loop bounds the bodies of all, filter, count and similar functions. The
// library has no option to disable those with a body.
func (p *patcher) loop(n *ast.BuiltinNode) {
	if !slices.Contains(Functions(), n.Name) {
		p.unknown(n, n.Name)
	}
	for _, arg := range n.Arguments {
		if body, ok := arg.(*ast.PredicateNode); ok {
			p.loops = true
			if n.Name != "sum" {
				wrap(&body.Node, truthName)
			}
			wrap(&body.Node, roundName)
		}
	}
}

// call allows methods of times; data has no functions.
func (p *patcher) call(n *ast.CallNode) {
	var name string
	switch callee := n.Callee.(type) {
	case *ast.MemberNode:
		if s, ok := callee.Property.(*ast.StringNode); ok {
			if s.Value != "Local" { // the machine's time zone
				return
			}
			name = s.Value
		}
	case *ast.IdentifierNode:
		name = callee.Value
		if slices.Contains([]string{truthName, shortName, roundName}, name) {
			return
		}
	}
	p.unknown(n, name)
}

func (p *patcher) unknown(at ast.Node, function string) {
	if p.fault == nil {
		p.fault = &file.Error{Location: at.Location(), Message: fmt.Sprintf("unknown function %q", function)}
	}
}

// wrap replaces a node by a call of a function with the node as its argument.
func wrap(node *ast.Node, name string) {
	if name == truthName && isTruth(*node) {
		return
	}
	ast.Patch(node, &ast.CallNode{Callee: &ast.IdentifierNode{Value: name}, Arguments: []ast.Node{*node}})
}

func isNumber(node ast.Node) bool {
	switch node.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		return true
	}
	return false
}

// isTruth reports whether a node can only be true or false.
func isTruth(node ast.Node) bool {
	switch n := node.(type) {
	case *ast.UnaryNode:
		return n.Operator == "!" || n.Operator == "not"
	case *ast.BinaryNode:
		return slices.Contains([]string{"==", "!=", "<", "<=", ">", ">=", "&&", "||", "and", "or", "in", "matches", "contains", "startsWith", "endsWith"}, n.Operator)
	}
	return false
}
