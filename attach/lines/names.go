// SPDX-License-Identifier: Apache-2.0

package lines

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/yamlfile"
)

// Table maps the names in events to nets, transitions and places. ReadTable
// reads it from a YAML file; the zero Table has no entries.
type Table struct {
	nets map[string]*tableNet
}

type tableNet struct {
	node                yamlfile.Node
	aliases, ignore     []target
	transitions, places map[string]target
	silent              []target // nil if the file does not list them
}

// target is an id in the table.
type target struct {
	id   string
	node yamlfile.Node
}

// ReadTable reads a table:
//
//	nets:
//	  ORDERS:                          # id of a net
//	    aliases: [orders, order-flow]  # other names in events
//	    transitions: {"Pick it": pick} # name in events: id
//	    places: {"inbox": p1}
//	    ignore: [heartbeat]            # transitions in lines that are not events
//	    silent: [gateway]              # ids of transitions without events
//
// Errors have the form file:line:column.
func ReadTable(r io.Reader, file string) (*Table, error) {
	root, err := yamlfile.Read(r, file)
	if err != nil {
		return nil, err
	}
	t := &Table{nets: map[string]*tableNet{}}
	if root.IsEmpty() {
		return t, nil
	}
	return t, root.Fields("a mapping with the key nets", "nets", map[string]func(yamlfile.Node) error{"nets": func(nets yamlfile.Node) error {
		return nets.Each("a mapping from net ids", func(key yamlfile.Key, value yamlfile.Node) error {
			n := &tableNet{node: key.Node}
			t.nets[key.Name] = n
			const keys = "aliases, transitions, places, ignore or silent"
			return value.Fields("a mapping with "+keys, keys, map[string]func(yamlfile.Node) error{
				"aliases":     yamlfile.Into(&n.aliases, items("name")),
				"ignore":      yamlfile.Into(&n.ignore, items("name")),
				"silent":      yamlfile.Into(&n.silent, items("transition id")),
				"transitions": yamlfile.Into(&n.transitions, targets),
				"places":      yamlfile.Into(&n.places, targets),
			})
		})
	}})
}

// items returns a function that reads a list of what is called so.
func items(what string) func(yamlfile.Node) ([]target, error) {
	return func(value yamlfile.Node) ([]target, error) {
		list, ok := value.List()
		if !ok {
			return nil, value.Expected("a list of " + what + "s")
		}
		out := []target{}
		for _, e := range list {
			s, ok := e.Scalar()
			if !ok {
				return nil, e.Expected("a " + what)
			}
			out = append(out, target{s, e})
		}
		return out, nil
	}
}

func targets(value yamlfile.Node) (map[string]target, error) {
	out := map[string]target{}
	err := value.Each("a mapping from names in events to ids", func(key yamlfile.Key, value yamlfile.Node) error {
		id, ok := value.Scalar()
		if !ok {
			return value.Expected("an id")
		}
		out[key.Name] = target{id, value}
		return nil
	})
	return out, err
}

// names resolves the names in events. The constant ignored stands for a
// transition that the table ignores.
type names struct {
	nets                map[string]int32
	only                int32              // the net of an event without one; -1 if an event must have one
	others              int32              // the net of an event with an unknown one; -1 if that is refused, or meant decides
	transitions, places []map[string]int32 // by net; a transition from their number on is an element of labels
	labels              [][]label          // by net: the names that several transitions have
}

// label is a name that several transitions have. Those without events are not among
// the transitions.
type label struct {
	name        string
	transitions []int32
}

const ignored int32 = -2

// newNames returns names that resolves by table, by id, and by name: that of a net or a place
// if it is unique, that of transitions also if several have it. Otherwise it resolves what is
// the same as an identifier. only is the id of the net of events without one, or with an
// unknown one; "" is the only net for the former, and none for the latter.
func newNames(nets []*petri.Tables, table *Table, only string) (*names, error) {
	n := &names{only: -1, others: -1}
	whole := make([]node, len(nets))
	for k, t := range nets {
		whole[k] = node{t.Net.ID, t.Net.Name}
	}
	n.nets = index(whole, nil)
	var errs []error
	for k, t := range nets {
		ts, ps := make([]node, len(t.Net.Transitions)), make([]node, len(t.Net.Places))
		for i := range ts {
			ts[i] = node{t.Net.Transitions[i].ID, t.Net.Transitions[i].Name}
		}
		for i := range ps {
			ps[i] = node{t.Net.Places[i].ID, t.Net.Places[i].Name}
		}
		silent, err := table.silent(t)
		errs = append(errs, err)
		n.places, n.labels = append(n.places, index(ps, nil)), append(n.labels, nil)
		n.transitions = append(n.transitions, index(ts, func(name string, all []int32) (int32, bool) {
			l := label{name: name}
			for _, i := range all {
				if silent == nil || !silent[i] {
					l.transitions = append(l.transitions, i)
				}
			}
			n.labels[k] = append(n.labels[k], l)
			return int32(t.Transitions() + len(n.labels[k]) - 1), len(l.transitions) > 0
		}))
	}
	for id, entry := range table.nets {
		k, ok := n.net(nets, id)
		if !ok {
			errs = append(errs, entry.node.Expected("the id of a replayed net"))
			continue
		}
		errs = append(errs, n.apply(k, nets[k], entry))
	}
	if len(nets) == 1 {
		n.only = 0
	}
	if only != "" {
		k, ok := n.net(nets, only)
		if !ok {
			errs = append(errs, fmt.Errorf("no net %q; expected the id of a replayed net", only))
		}
		n.only, n.others = k, k
	}
	identifiers(n.nets)
	for k := range nets {
		identifiers(n.transitions[k])
		identifiers(n.places[k])
	}
	return n, errors.Join(errs...)
}

// net returns the net with an id.
func (n *names) net(nets []*petri.Tables, id string) (int32, bool) {
	k, ok := n.nets[id]
	return k, ok && nets[k].Net.ID == id
}

// identifiers adds each name as an identifier, unless that is taken or several names
// have it.
func identifiers(by map[string]int32) {
	const several int32 = -3
	added := map[string]int32{}
	for name, k := range by {
		id := identifier(name)
		if other, known := added[id]; known && other != k {
			k = several
		}
		added[id] = k
	}
	for id, k := range added {
		if _, taken := by[id]; !taken && k != several {
			by[id] = k
		}
	}
}

// identifier returns a name with _ for what an identifier of a programming language
// cannot have.
func identifier(name string) string {
	return strings.Map(func(c rune) rune {
		if c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c) {
			return c
		}
		return '_'
	}, name)
}

// find returns what a name in an event stands for.
func find(by map[string]int32, name []byte) (int32, bool) {
	k, ok := by[string(name)]
	if !ok {
		k, ok = by[identifier(string(name))]
	}
	return k, ok
}

type node struct{ id, name string }

// index maps the ids of nodes, and their names that are unique. several returns what a name stands for
// that several nodes have, in the order of the file; nil for nothing.
func index(nodes []node, several func(name string, all []int32) (int32, bool)) map[string]int32 {
	by, named := map[string]int32{}, map[string][]int32{}
	for i, n := range nodes {
		named[n.name] = append(named[n.name], int32(i))
	}
	for i, n := range nodes {
		switch all := named[n.name]; {
		case n.name == "" || all[0] != int32(i): // not the first with the name
		case len(all) == 1:
			by[n.name] = all[0]
		case several != nil:
			if k, ok := several(n.name, all); ok {
				by[n.name] = k
			}
		}
	}
	for i, n := range nodes {
		by[n.id] = int32(i)
	}
	return by
}

func (n *names) apply(k int32, t *petri.Tables, entry *tableNet) error {
	var errs []error
	for _, alias := range entry.aliases {
		if other, taken := n.nets[alias.id]; taken && other != k {
			errs = append(errs, entry.node.Fault("the alias %q is that of another net; expected a unique one", alias.id))
			continue
		}
		n.nets[alias.id] = k
	}
	for _, name := range entry.ignore {
		n.transitions[k][name.id] = ignored
	}
	add := func(to map[string]int32, names map[string]target, what string, index func(id string) (int, bool)) {
		for name, node := range names {
			i, ok := index(node.id)
			if !ok {
				errs = append(errs, node.node.Expected(fmt.Sprintf("the id of a %s of net %q", what, t.Net.ID)))
			}
			to[name] = int32(i)
		}
	}
	add(n.transitions[k], entry.transitions, "transition", t.TransitionIndex)
	add(n.places[k], entry.places, "place", t.PlaceIndex)
	return errors.Join(errs...)
}

// silent returns, by transition, which have no events. The table may list them.
// Otherwise they are those that the file marks as silent; those called tau, as in
// process mining; and in a net whose transitions have triggers (a BPMN process),
// those without a trigger.
func (t *Table) silent(of *petri.Tables) ([]bool, error) {
	silent := make([]bool, of.Transitions())
	if entry := t.nets[of.Net.ID]; entry != nil && entry.silent != nil {
		for _, s := range entry.silent {
			i, ok := of.TransitionIndex(s.id)
			if !ok {
				return nil, s.node.Expected(fmt.Sprintf("the id of a transition of net %q", of.Net.ID))
			}
			silent[i] = true
		}
		return silent, nil
	}
	triggers := isProcess(of.Net)
	for i, tr := range of.Net.Transitions {
		silent[i] = tr.Silent || triggers && tr.Trigger.Kind == petri.TriggerNone || isTau(tr.Name) || isTau(tr.ID)
	}
	return silent, nil
}

// isProcess reports whether a net is that of a BPMN process: its transitions have triggers.
func isProcess(n *petri.Net) bool {
	return slices.ContainsFunc(n.Transitions, func(t petri.Transition) bool { return t.Trigger.Kind != petri.TriggerNone })
}

func isTau(name string) bool {
	word, _, _ := strings.Cut(strings.ToLower(name), " ")
	return word == "tau" || word == "τ" || strings.HasPrefix(word, "tau_")
}
