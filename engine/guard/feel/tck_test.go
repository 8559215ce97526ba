// SPDX-License-Identifier: Apache-2.0

package feel

import (
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/engine/guard/scan"
	"github.com/woodsbury/decimal128"
)

// xmlElement is any XML element.
type xmlElement struct {
	XMLName xml.Name
	Attrs   []xml.Attr    `xml:",any,attr"`
	Text    string        `xml:",chardata"`
	Kids    []*xmlElement `xml:",any"`
}

func (e *xmlElement) attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func (e *xmlElement) kid(path ...string) *xmlElement {
	for _, name := range path {
		if e == nil {
			return nil
		}
		i := slices.IndexFunc(e.Kids, func(k *xmlElement) bool { return k.XMLName.Local == name })
		if i < 0 {
			return nil
		}
		e = e.Kids[i]
	}
	return e
}

func (e *xmlElement) all(name string) (out []*xmlElement) {
	for _, k := range e.Kids {
		if k.XMLName.Local == name {
			out = append(out, k)
		}
	}
	return out
}

// model is a DMN file of the kit, of which only literal expressions are evaluated.
type model struct {
	byID  map[string]*xmlElement
	types []*xmlElement // that the file defines
}

var errNoFEEL = errors.New("not a FEEL expression by itself")

// variables returns the values that a decision requires.
func (m *model) variables(of *xmlElement, inputs map[string]any) (map[string]any, error) {
	out := map[string]any{}
	for _, k := range of.Kids {
		for _, ref := range k.Kids {
			if k.XMLName.Local != "informationRequirement" && k.XMLName.Local != "knowledgeRequirement" {
				continue
			}
			to := m.byID[strings.TrimPrefix(ref.attr("href"), "#")]
			if to == nil {
				return nil, errNoFEEL
			}
			name := to.attr("name")
			if v, ok := inputs[name]; ok {
				out[name] = v
				continue
			}
			v, err := m.value(to, inputs)
			if err != nil {
				return nil, err
			}
			out[name] = v
		}
	}
	return out, nil
}

// value returns the value of a decision, an input or a business knowledge model.
func (m *model) value(e *xmlElement, inputs map[string]any) (any, error) {
	var text string
	switch e.XMLName.Local {
	case "inputData":
		return nil, nil
	case "decision":
		l := e.kid("literalExpression", "text")
		if l == nil || e.kid("literalExpression").attr("expressionLanguage") != "" {
			return nil, errNoFEEL
		}
		text = l.Text
	case "businessKnowledgeModel":
		f := e.kid("encapsulatedLogic")
		l := f.kid("literalExpression", "text")
		if l == nil || f.attr("kind") != "" && f.attr("kind") != "FEEL" {
			return nil, errNoFEEL
		}
		var params []string
		for _, p := range f.all("formalParameter") {
			param := p.attr("name")
			if ref := p.attr("typeRef"); ref != "" {
				t, err := m.typeText(ref, 0)
				if err != nil {
					return nil, err
				}
				param += ": " + t
			}
			params = append(params, param)
		}
		text = "function(" + strings.Join(params, ", ") + ") " + l.Text
	default:
		return nil, errNoFEEL
	}
	vars, err := m.variables(e, inputs)
	if err != nil {
		return nil, err
	}
	var names []string
	for n := range vars {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) })
	p, err := Compile(text, names...)
	if err != nil {
		return nil, err
	}
	v, err := p.Eval(time.Unix(0, 0), func(name string) (any, bool) { v, ok := vars[name]; return v, ok })
	if err != nil {
		return nil, err
	}
	return m.typed(e, v)
}

// typed returns a value as the type that a decision or a function declares has it.
func (m *model) typed(of *xmlElement, v any) (any, error) {
	for _, at := range []*xmlElement{of.kid("literalExpression"), of.kid("encapsulatedLogic", "literalExpression"), of.kid("variable")} {
		if at == nil || at.attr("typeRef") == "" {
			continue
		}
		t, err := m.typeOf(at.attr("typeRef"))
		if err != nil {
			return nil, err
		}
		if f, ok := v.(*Function); ok && of.XMLName.Local == "businessKnowledgeModel" {
			body := f.body
			f.body = func(r *run) any { v, _ := t.coerce(r, body(r)); return v }
			continue
		}
		v, _ = t.coerce(&run{left: MaxSteps}, v)
	}
	return v, nil
}

// typeOf returns a type of FEEL or of the file.
func (m *model) typeOf(ref string) (*typ, error) {
	text, err := m.typeText(ref, 0)
	if err != nil {
		return nil, err
	}
	return newParser(text, nil).typeName(), nil
}

func (m *model) typeText(ref string, depth int) (string, error) {
	_, ref, _ = strings.Cut(":"+ref, ":")
	in := newParser(ref, nil)
	if slices.ContainsFunc(typeNames, func(n string) bool { return in.spelt(n) == len(ref) }) {
		return ref, nil
	}
	i := slices.IndexFunc(m.types, func(d *xmlElement) bool { return d.attr("name") == ref })
	if i < 0 || depth > 20 {
		return "", errNoFEEL
	}
	return m.itemText(m.types[i], depth+1)
}

func (m *model) itemText(d *xmlElement, depth int) (text string, err error) {
	if d.kid("allowedValues") != nil || d.kid("typeConstraint") != nil || d.kid("functionItem") != nil {
		return "", errNoFEEL
	}
	if of := d.kid("typeRef"); of != nil {
		text, err = m.typeText(strings.TrimSpace(of.Text), depth)
	} else {
		var parts []string
		for _, c := range d.all("itemComponent") {
			t, err := m.itemText(c, depth)
			if err != nil {
				return "", err
			}
			parts = append(parts, c.attr("name")+": "+t)
		}
		text = "context<" + strings.Join(parts, ", ") + ">"
	}
	if d.attr("isCollection") == "true" {
		text = "list<" + text + ">"
	}
	return text, err
}

// kitValue returns a value of a test of the kit.
func kitValue(e *xmlElement) any {
	if l := e.kid("list"); l != nil {
		out := []any{}
		for _, item := range l.all("item") {
			out = append(out, kitValue(item))
		}
		return out
	}
	if cs := e.all("component"); len(cs) > 0 {
		c := NewContext()
		for _, k := range cs {
			c.Set(k.attr("name"), kitValue(k))
		}
		return c
	}
	v := e.kid("value")
	if v == nil || v.attr("nil") == "true" {
		return nil
	}
	switch _, t, _ := strings.Cut(v.attr("type"), ":"); t {
	case "boolean":
		return v.Text == "true"
	case "decimal", "double", "integer":
		return parseNumber(strings.TrimSpace(v.Text))
	case "date":
		return parseDate(v.Text)
	case "time":
		return parseTime(v.Text)
	case "dateTime":
		return parseDateTime(v.Text)
	case "duration":
		return parseDuration(v.Text)
	}
	return v.Text
}

// near compares values; numbers may differ after eight digits.
func near(a, b any) bool {
	switch x := a.(type) {
	case decimal128.Decimal:
		y, ok := b.(decimal128.Decimal)
		if !ok {
			return false
		}
		return x.Sub(y).CmpAbs(y.Mul(decimal128.New(1, -8))).LessOrEqual()
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !near(x[i], y[i]) {
				return false
			}
		}
		return true
	case *Context:
		y, ok := b.(*Context)
		if !ok || len(x.keys) != len(y.keys) {
			return false
		}
		for _, k := range x.keys {
			if v, ok := y.values[k]; !ok || !near(x.values[k], v) {
				return false
			}
		}
		return true
	}
	return fmt.Sprintf("%T %v", a, a) == fmt.Sprintf("%T %v", b, b) || a != nil && b != nil && equal(&run{left: MaxSteps}, a, b) == true
}

func parseXML(t *testing.T, file string) *xmlElement {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var e xmlElement
	if err := xml.Unmarshal(content, &e); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return &e
}

func (m *model) index(e *xmlElement) {
	if id := e.attr("id"); id != "" {
		m.byID[id] = e
	}
	for _, k := range e.Kids {
		m.index(k)
	}
}

// What the DMN Technology Compatibility Kit expects of FEEL. A case is right, refused, or
// wrong; none may be wrong in a group that docs/design/expressions.md claims.
func TestCompatibilityKit(t *testing.T) {
	dir := os.Getenv("PNAGENT_DMN_TCK")
	if dir == "" {
		t.Skip("PNAGENT_DMN_TCK is not the directory TestCases of the DMN Technology Compatibility Kit")
	}
	var total [4]int
	for _, level := range []string{"compliance-level-2", "compliance-level-3"} {
		groups, err := filepath.Glob(filepath.Join(dir, level, "*"))
		if err != nil || len(groups) == 0 {
			t.Fatalf("no groups in %s: %v", dir, err)
		}
		for _, group := range groups {
			if s, err := os.Stat(group); err != nil || !s.IsDir() {
				continue
			}
			n := kitGroup(t, group)
			for i := range total {
				total[i] += n[i]
			}
			if n[0]+n[1]+n[2] > 0 {
				t.Logf("| %s | %d | %d | %d |", filepath.Base(group), n[0], n[1], n[2])
			}
		}
	}
	t.Logf("right %d, refused %d, wrong %d, no expressions of FEEL by themselves %d", total[0], total[1], total[2], total[3])
}

// kitGroup returns how many cases of a directory are right, refused and wrong, and how
// many are not of FEEL alone.
func kitGroup(t *testing.T, dir string) (n [4]int) {
	tests, _ := filepath.Glob(filepath.Join(dir, "*test*.xml"))
	for _, file := range tests {
		kit := parseXML(t, file)
		m := &model{byID: map[string]*xmlElement{}}
		root := parseXML(t, filepath.Join(dir, strings.TrimSpace(kit.kid("modelName").Text)))
		m.index(root)
		m.types = root.all("itemDefinition")
		decisions := map[string]*xmlElement{}
		for _, d := range root.all("decision") {
			decisions[d.attr("name")] = d
		}
		for _, c := range kit.all("testCase") {
			inputs := map[string]any{}
			for _, in := range c.all("inputNode") {
				inputs[in.attr("name")] = kitValue(in)
			}
			for _, want := range c.all("resultNode") {
				d := decisions[want.attr("name")]
				if d == nil || c.attr("invocableName") != "" {
					n[3]++
					continue
				}
				var e *scan.Error
				got, err := m.value(d, inputs)
				expected := kitValue(want.kid("expected"))
				switch {
				case errors.Is(err, errNoFEEL):
					n[3]++
				case errors.As(err, &e) && e.Line > 0 && want.attr("errorResult") == "true":
					n[0]++
				case err != nil:
					n[1]++
					if testing.Verbose() {
						t.Logf("%s %s: refused: %v\n    %s", filepath.Base(dir), c.attr("id"), err, d.kid("literalExpression", "text").Text)
					}
				case near(got, expected):
					n[0]++
				default:
					n[2]++
					t.Errorf("%s %s: %s\n    got %s, want %s", filepath.Base(dir), c.attr("id"), d.kid("literalExpression", "text").Text, show(got), show(expected))
				}
			}
		}
	}
	return n
}

func show(v any) string { return string((&run{left: MaxSteps}).appendText(nil, v)) }
