// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"io"
	"slices"
	"strings"

	"github.com/pnagent/pnagent/petri/yamlfile"
	"github.com/pnagent/pnagent/stats"
)

// Bounds of a mapping.
const (
	maxNetMaps   = 100
	maxRowMaps   = 1000 // of one net
	maxSelectors = 100  // of one column of one row
)

// Mapping maps metrics to columns of places and transitions. It is immutable.
type Mapping struct {
	Name  string // its file, or the name of a shipped one
	About string // one line for users
	nets  []netMap
}

// netMap is a net, or one for each value of the labels in its id.
type netMap struct {
	id   template
	name string
	rows [2][]rowMap // by table
}

// rowMap is a place or transition, or one for each value of the labels in its
// id.
type rowMap struct {
	id       template
	name     template
	from, to []template   // of a transition: ids of places
	reason   stats.Reason // of a place: why its tokens wait; ReasonUnknown if the mapping does not say
	values   [numColumns]*value
	table    table
}

// explained reports whether the mapping says why the tokens of the place wait.
func (r *rowMap) explained() bool {
	return r.reason != stats.ReasonUnknown || r.values[consumers] != nil
}

// value is the source of a column's numbers.
type value struct {
	selectors []selector
	micros    float64 // microseconds in one unit of the metric; of times only
	timestamp bool    // a time since the Unix epoch, not an age
	observed  bool    // derived from other columns of the row where no series gives it
	never     bool    // always 0
	always    bool    // always 1
	zero      bool    // no series means 0
}

// ReadMapping reads a mapping file. The error is a *petri.Fault: file, line and
// column, what was found and what was expected.
func ReadMapping(r io.Reader, file string) (*Mapping, error) {
	root, err := yamlfile.Read(r, file)
	if err != nil {
		return nil, err
	}
	const expected = "a mapping of about and nets"
	m := &Mapping{Name: file}
	if root.IsEmpty() {
		return nil, root.Expected(expected)
	}
	err = root.Fields(expected, "about or nets", map[string]func(yamlfile.Node) error{"about": yamlfile.Into(&m.About, text), "nets": m.readNets})
	if err == nil && len(m.nets) == 0 {
		err = root.Fault("no nets; expected nets with at least one")
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

func (m *Mapping) readNets(v yamlfile.Node) error {
	return v.Each("a mapping of nets by their ids", func(key yamlfile.Key, v yamlfile.Node) error {
		if len(m.nets) == maxNetMaps {
			return key.Fault("more than %d nets", maxNetMaps)
		}
		n := netMap{}
		if err := readTemplate(key.Node, key.Name, &n.id); err != nil {
			return err
		}
		err := v.Fields("a mapping of name, places and transitions", "name, places or transitions", map[string]func(yamlfile.Node) error{
			"name":        yamlfile.Into(&n.name, text),
			"places":      func(v yamlfile.Node) error { return n.readRows(v, places) },
			"transitions": func(v yamlfile.Node) error { return n.readRows(v, transitions) },
		})
		if err == nil && len(n.rows[places])+len(n.rows[transitions]) == 0 {
			err = key.Fault("net %q has neither places nor transitions; expected at least one", key.Name)
		}
		if err == nil {
			err = n.checkArcs(key)
		}
		m.nets = append(m.nets, n)
		return err
	})
}

func (n *netMap) readRows(v yamlfile.Node, of table) error {
	return v.Each("a mapping of rows by their ids", func(key yamlfile.Key, v yamlfile.Node) error {
		if len(n.rows[of]) == maxRowMaps {
			return key.Fault("more than %d rows", maxRowMaps)
		}
		r := rowMap{table: of}
		if err := readTemplate(key.Node, key.Name, &r.id); err != nil {
			return err
		}
		err := v.Each("a mapping of columns to metrics", func(key yamlfile.Key, v yamlfile.Node) error {
			return r.readKey(key, v)
		})
		if err == nil {
			err = n.checkRow(key, &r)
		}
		n.rows[of] = append(n.rows[of], r)
		return err
	})
}

func (r *rowMap) readKey(key yamlfile.Key, v yamlfile.Node) error {
	if c, ok := columnNamed(key.Name, r.table); ok {
		var err error
		r.values[c], err = readValue(v, specOf(c))
		return err
	}
	switch {
	case key.Name == "name":
		name, err := text(v)
		if err != nil {
			return err
		}
		return readTemplate(v, name, &r.name)
	case r.table == places && key.Name == "reason":
		return r.readReason(v)
	case r.table == transitions && key.Name == "from":
		return readTemplates(v, &r.from)
	case r.table == transitions && key.Name == "to":
		return readTemplates(v, &r.to)
	}
	return key.Expected(keysOf(r.table))
}

// keysOf lists the keys of a row, for messages.
func keysOf(of table) string {
	list := "name, reason, "
	if of == transitions {
		list = "name, from, to, "
	}
	return list + strings.Join(columnsOf(of), ", ")
}

// checkRow returns a fault for a row that cannot be published: its columns
// differ from those of the other rows of its table, or lack what they need.
func (n *netMap) checkRow(key yamlfile.Key, r *rowMap) error {
	first := r
	if rows := n.rows[r.table]; len(rows) > 0 {
		first = &rows[0]
	}
	any := false
	for c := range numColumns {
		s, has := specOf(c), r.values[c] != nil
		if s.fills == 0 {
			continue
		}
		any = any || has
		if has != (first.values[c] != nil) {
			with, without := key.Name, first.id.text
			if !has {
				with, without = without, with
			}
			return key.Fault("%q has %s and %q has not; expected it for all %s of a net or for none; put the row into a net of its own if its columns differ",
				with, s.key, without, tableName(r.table))
		}
		if has && r.values[s.needs] == nil {
			return key.Fault("%q has %s without %s; expected both", key.Name, s.key, specOf(s.needs).key)
		}
		if !has {
			continue
		}
		if c == oldest && r.values[c].observed && r.values[arrivals] == nil && r.values[departures] == nil {
			return key.Fault("%q has an observed oldest token without arrivals or departures; expected one of them", key.Name)
		}
		if c == lastFiring && r.values[c].observed && r.values[firings] == nil {
			return key.Fault("%q has an observed last firing without firings; expected them", key.Name)
		}
	}
	if r.explained() && r.values[oldest] == nil {
		return key.Fault("%q has a reason without the age of its oldest token; expected tokens and oldest", key.Name)
	}
	if !any {
		return key.Fault("%q has no column; expected one of %s", key.Name, keysOf(r.table))
	}
	return nil
}

func tableName(of table) string {
	if of == places {
		return "places"
	}
	return "transitions"
}

// checkArcs returns a fault for an arc to a place that the net does not have.
func (n *netMap) checkArcs(at yamlfile.Key) error {
	for i := range n.rows[transitions] {
		t := &n.rows[transitions][i]
		for _, end := range slices.Concat(t.from, t.to) {
			is := func(p rowMap) bool { return p.id.shape() == end.shape() }
			if !slices.ContainsFunc(n.rows[places], is) {
				return at.Fault("transition %q has an arc with place %q, which net %q does not have; expected the id of a place; its labels may differ", t.id.text, end.text, at.Name)
			}
		}
	}
	for i := range n.rows[places] {
		if p := &n.rows[places][i]; p.explained() && len(n.takers(p)) == 0 {
			return at.Fault("place %q of net %q has a reason or consumers, and no transition is from it; expected the transition that its tokens wait for, with the same labels", p.id.text, at.Name)
		}
	}
	return nil
}

// takers returns the transitions that take tokens from a place and have its labels.
func (n *netMap) takers(p *rowMap) (out []*rowMap) {
	for i := range n.rows[transitions] {
		t := &n.rows[transitions][i]
		takes := func(from template) bool { return from.text == p.id.text }
		if slices.ContainsFunc(t.from, takes) && t.id.within(&p.id) {
			out = append(out, t)
		}
	}
	return out
}

// unended returns the ids of places that are no end and from which no transition of the
// mapping takes tokens.
func (n *netMap) unended() (ids []string) {
	for i := range n.rows[places] {
		p := &n.rows[places][i]
		takes := func(t rowMap) bool {
			return slices.ContainsFunc(t.from, func(from template) bool { return from.shape() == p.id.shape() })
		}
		if p.values[end] == nil && !slices.ContainsFunc(n.rows[transitions], takes) {
			ids = append(ids, p.id.text)
		}
	}
	return ids
}

// readReason reads why the tokens of a place wait.
func (r *rowMap) readReason(v yamlfile.Node) error {
	word, _ := v.Scalar()
	r.reason = stats.ReasonNamed(word)
	if r.reason == stats.ReasonUnknown {
		return v.Expected("a reason, such as running, delayed, manual or incident")
	}
	return nil
}

func text(v yamlfile.Node) (string, error) {
	s, ok := v.Scalar()
	if !ok {
		return "", v.Expected("text")
	}
	return s, nil
}

func readTemplate(at yamlfile.Node, s string, into *template) error {
	t, err := parseTemplate(s)
	if err != nil {
		return at.Fault("%v", err)
	}
	if s == "" {
		return at.Expected("a name")
	}
	*into = t
	return nil
}

func readTemplates(v yamlfile.Node, into *[]template) error {
	list, ok := v.List()
	if !ok {
		list = []yamlfile.Node{v}
	}
	for _, e := range list {
		s, ok := e.Scalar()
		if !ok {
			return e.Expected("the id of a place")
		}
		var t template
		if err := readTemplate(e, s, &t); err != nil {
			return err
		}
		*into = append(*into, t)
	}
	return nil
}
