// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/pnagent/pnagent/game"
	"github.com/pnagent/pnagent/petri"
)

// MaxBindingsSize bounds a bindings file, in bytes.
const MaxBindingsSize = 1 << 20

// maxYAMLDepth bounds how deep the brackets of a bindings file nest.
const maxYAMLDepth = 100

// Bindings say how the transitions of nets fire, by the ids of net and
// transition. A transition that is not named is immediate.
type Bindings struct {
	file string
	nets map[string]map[string]binding
	pos  map[string]petri.Pos // of the nets' names
}

type binding struct {
	mode game.Mode
	pos  petri.Pos
}

// ReadBindings reads bindings from YAML:
//
//	nets:
//	  order-fulfilment:
//	    transitions:
//	      check:  immediate
//	      pay:    {delay: {exponential: 2s}}    # mean
//	      pack:   {delay: {uniform: [1s, 5s]}}
//	      ship:   {delay: {normal: [4s, 500ms]}}  # mean, standard deviation
//	      bill:   {delay: 100ms}
//	      arrive: {rate: 5/s}                   # 5 a second on average, also /m and /h
//	      cancel: manual                        # only from outside
//
// Faults are of the form file:line:column: what was found; what was expected.
func ReadBindings(r io.Reader, file string) (*Bindings, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxBindingsSize+1))
	if err != nil {
		return nil, fmt.Errorf("reading bindings %s: %w", file, err)
	}
	b := &bindingsReader{Bindings{file: file, nets: map[string]map[string]binding{}, pos: map[string]petri.Pos{}}}
	if len(text) > MaxBindingsSize {
		return nil, b.fault(petri.Pos{}, "bindings of more than %d bytes", MaxBindingsSize)
	}
	if err := b.read(text); err != nil {
		return nil, err
	}
	return &b.Bindings, nil
}

// Modes returns the modes of a net's transitions. A transition that the net
// does not have is a fault.
func (b *Bindings) Modes(t *petri.Tables) ([]game.Mode, error) {
	modes := make([]game.Mode, t.Transitions())
	var faults []error
	if b == nil {
		return modes, nil
	}
	for id, bound := range b.nets[t.Net.ID] {
		i, ok := t.TransitionIndex(id)
		if !ok {
			faults = append(faults, &petri.Fault{File: b.file, Pos: bound.pos, Msg: fmt.Sprintf(
				"net %q has no transition %q; expected the id of one of its %d transitions", t.Net.ID, id, t.Transitions())})
			continue
		}
		modes[i] = bound.mode
	}
	slices.SortFunc(faults, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return modes, errors.Join(faults...)
}

// Unused returns a fault for each net of the bindings that is not among the
// given ones.
func (b *Bindings) Unused(nets []*petri.Net) []error {
	ids := make([]string, len(nets))
	for i, n := range nets {
		ids[i] = n.ID
	}
	var faults []error
	for id, pos := range b.pos {
		if !slices.Contains(ids, id) {
			faults = append(faults, &petri.Fault{File: b.file, Pos: pos, Msg: fmt.Sprintf("bindings for net %q; expected one of %q", id, ids)})
		}
	}
	slices.SortFunc(faults, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return faults
}

type bindingsReader struct{ Bindings }

func (b *bindingsReader) fault(pos petri.Pos, format string, args ...any) error {
	return &petri.Fault{File: b.file, Pos: pos, Msg: fmt.Sprintf(format, args...)}
}

func position(n ast.Node) petri.Pos {
	if t := n.GetToken(); t != nil && t.Position != nil {
		return petri.Pos{Line: t.Position.Line, Column: t.Position.Column}
	}
	return petri.Pos{}
}

func (b *bindingsReader) read(text []byte) error {
	if deep(text) {
		return b.fault(petri.Pos{}, "brackets nested more than %d deep", maxYAMLDepth)
	}
	f, err := parser.ParseBytes(text, 0)
	if err != nil {
		return b.syntax(err)
	}
	for _, doc := range f.Docs {
		if doc.Body == nil {
			continue
		}
		err := b.mapping(doc.Body, "a mapping with the key nets", func(key string, at petri.Pos, value ast.Node) error {
			if key != "nets" {
				return b.fault(at, "unknown key %q; expected nets", key)
			}
			return b.mapping(value, "a mapping from net ids", b.net)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// deep reports whether flow brackets nest deeper than the parser should go.
func deep(text []byte) bool {
	depth := 0
	for _, c := range text {
		switch c {
		case '[', '{':
			if depth++; depth > maxYAMLDepth {
				return true
			}
		case ']', '}':
			depth--
		}
	}
	return false
}

// syntax turns the parser's error into a fault with its position.
func (b *bindingsReader) syntax(err error) error {
	var e yaml.Error
	if !errors.As(err, &e) || e.GetToken() == nil || e.GetToken().Position == nil {
		return b.fault(petri.Pos{}, "not YAML: %v", err)
	}
	p := e.GetToken().Position
	return b.fault(petri.Pos{Line: p.Line, Column: p.Column}, "not YAML: %s", e.GetMessage())
}

// mapping calls each for every entry of a mapping with scalar keys.
func (b *bindingsReader) mapping(n ast.Node, expected string, each func(key string, at petri.Pos, value ast.Node) error) error {
	m, ok := n.(ast.MapNode)
	if !ok {
		return b.fault(position(n), "found %s; expected %s", describe(n), expected)
	}
	for it := m.MapRange(); it.Next(); {
		if it.Key() == nil || it.Value() == nil {
			return b.fault(position(n), "a key without a value; expected %s", expected)
		}
		key, ok := scalar(it.Key())
		if !ok {
			return b.fault(position(it.Key()), "found %s as a key; expected a plain one", describe(it.Key()))
		}
		if err := each(key, position(it.Key()), it.Value()); err != nil {
			return err
		}
	}
	return nil
}

// scalar returns the text of a scalar as it stands in the file, so that an id
// such as 010 or true stays what it is.
func scalar(n ast.Node) (string, bool) {
	switch v := n.(type) {
	case *ast.StringNode:
		return v.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, true
	}
	return "", false
}

func describe(n ast.Node) string {
	if s, ok := scalar(n); ok {
		return strconv.Quote(s)
	}
	return "a " + strings.ToLower(n.Type().String())
}

func (b *bindingsReader) net(id string, at petri.Pos, value ast.Node) error {
	if _, dup := b.nets[id]; dup {
		return b.fault(at, "net %q a second time; expected each net once", id)
	}
	transitions := map[string]binding{}
	b.nets[id], b.pos[id] = transitions, at
	return b.mapping(value, "a mapping with the key transitions", func(key string, at petri.Pos, value ast.Node) error {
		if key != "transitions" {
			return b.fault(at, "unknown key %q; expected transitions", key)
		}
		return b.mapping(value, "a mapping from transition ids", func(id string, at petri.Pos, value ast.Node) error {
			if _, dup := transitions[id]; dup {
				return b.fault(at, "transition %q a second time; expected each transition once", id)
			}
			mode, err := b.mode(value)
			transitions[id] = binding{mode, at}
			return err
		})
	})
}

const modeForms = "immediate, manual, {delay: …} or {rate: …}"

func (b *bindingsReader) mode(n ast.Node) (game.Mode, error) {
	if s, ok := scalar(n); ok {
		switch s {
		case "immediate":
			return game.Mode{}, nil
		case "manual":
			return game.Mode{Kind: game.Manual}, nil
		}
		return game.Mode{}, b.fault(position(n), "found %q; expected %s", s, modeForms)
	}
	mode := game.Mode{Kind: game.Delayed}
	entries := 0
	err := b.mapping(n, modeForms, func(key string, at petri.Pos, value ast.Node) (err error) {
		if entries++; entries > 1 {
			return b.fault(at, "a second key %q; expected one of delay and rate", key)
		}
		switch key {
		case "delay":
			mode.Delay, err = b.delay(value)
		case "rate":
			mode.Delay, err = b.rate(value)
		default:
			err = b.fault(at, "unknown key %q; expected delay or rate", key)
		}
		return err
	})
	if err == nil && entries == 0 {
		err = b.fault(position(n), "found nothing; expected %s", modeForms)
	}
	return mode, err
}

const delayForms = "a duration such as 500ms, {uniform: [from, to]}, {exponential: mean} or {normal: [mean, deviation]}"

func (b *bindingsReader) delay(n ast.Node) (game.Delay, error) {
	if _, ok := scalar(n); ok {
		a, err := b.duration(n)
		return game.Delay{Shape: game.Fixed, A: a}, err
	}
	var d game.Delay
	entries := 0
	err := b.mapping(n, delayForms, func(key string, at petri.Pos, value ast.Node) (err error) {
		if entries++; entries > 1 {
			return b.fault(at, "a second distribution %q; expected one", key)
		}
		switch key {
		case "exponential":
			d.Shape = game.Exponential
			d.A, err = b.duration(value)
		case "uniform":
			d.Shape = game.Uniform
			if d.A, d.B, err = b.pair(value); err == nil && d.B < d.A {
				err = b.fault(position(value), "the end is before the start; expected [from, to]")
			}
		case "normal":
			d.Shape = game.Normal
			d.A, d.B, err = b.pair(value)
		default:
			err = b.fault(at, "unknown distribution %q; expected %s", key, delayForms)
		}
		return err
	})
	if err == nil && entries == 0 {
		err = b.fault(position(n), "found nothing; expected %s", delayForms)
	}
	return d, err
}

func (b *bindingsReader) pair(n ast.Node) (x, y float64, err error) {
	s, ok := n.(*ast.SequenceNode)
	if !ok || len(s.Values) != 2 {
		return 0, 0, b.fault(position(n), "found %s; expected a list of two durations", describe(n))
	}
	if x, err = b.duration(s.Values[0]); err != nil {
		return 0, 0, err
	}
	y, err = b.duration(s.Values[1])
	return x, y, err
}

// duration returns microseconds.
func (b *bindingsReader) duration(n ast.Node) (float64, error) {
	s, _ := scalar(n)
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, b.fault(position(n), "found %s; expected a duration of 0 or more such as 500ms, 2s or 1h30m", describe(n))
	}
	return float64(d) / float64(time.Microsecond), nil
}

// rate returns exponential delays for a rate such as 5/s.
func (b *bindingsReader) rate(n ast.Node) (game.Delay, error) {
	s, _ := scalar(n)
	count, unit, _ := strings.Cut(s, "/")
	seconds := map[string]float64{"s": 1, "m": 60, "h": 3600}[unit]
	v, err := strconv.ParseFloat(count, 64)
	if err != nil || seconds == 0 || !(v > 0 && v <= 1e6) {
		return game.Delay{}, b.fault(position(n), "found %s; expected a rate such as 5/s, 30/m or 2/h, above 0 and at most a million", describe(n))
	}
	return game.Delay{Shape: game.Exponential, A: seconds * 1e6 / v}, nil
}
