// SPDX-License-Identifier: Apache-2.0

package textnet

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// Left is what a format cannot carry of a net, with how often it is there: "guards (3)".
type Left []string

// String returns it for messages.
func (l Left) String() string { return strings.Join(l, ", ") }

// left counts what is left out.
type left map[string]int

func (l left) note(what string, is bool) {
	if is {
		l[what]++
	}
}

func (l left) decisions(n *petri.Net) {
	for range n.Decisions {
		l.note("decisions", true)
	}
}

func (l left) list() (out Left) {
	for what, times := range l {
		out = append(out, fmt.Sprintf("%s (%d)", what, times))
	}
	slices.Sort(out)
	return out
}

// LeftByPNML returns what pnml.Write leaves out.
func LeftByPNML(n *petri.Net) Left {
	l := left{}
	for i := range n.Transitions {
		l.note("marks of silent transitions", n.Transitions[i].Silent)
	}
	l.note("final markings", len(n.FinalMarkings) > 0)
	l.decisions(n)
	return l.list()
}

// beside counts what neither of the text formats carries. A picture has the conditions of
// transitions and arcs, and the roles.
func beside(n *petri.Net, picture bool) left {
	l := left{}
	l.note("documentation", n.Doc != "")
	l.note("the file of the process", n.Model != nil)
	l.note("final markings", len(n.FinalMarkings) > 0)
	l.decisions(n)
	for i := range n.Scopes {
		l.note("scopes", true)
		l.note("loops", n.Scopes[i].Loop != nil)
	}
	for i := range n.Places {
		p := &n.Places[i]
		l.note("documentation", p.Doc != "")
		l.note("positions", p.At != nil)
		l.note("roles", p.Role != petri.RoleWork && !picture)
		l.note("open places", p.Open)
	}
	for i := range n.Transitions {
		t := &n.Transitions[i]
		l.note("documentation", t.Doc != "")
		l.note("positions", t.At != nil)
		l.note("roles", t.Role != petri.RoleWork && !picture)
		l.note("priorities", t.Priority != 0)
		l.note("guards", t.Guard != "" && !picture)
		l.note("triggers", t.Trigger != petri.Trigger{})
		l.note("events that are thrown", t.Throws != petri.Event{})
		l.note("marks of silent transitions", t.Silent)
		l.note("preemption", t.Preempts)
	}
	for i := range n.Arcs {
		a := &n.Arcs[i]
		l.note("ids of arcs", a.ID != "")
	}
	return l
}

// WriteTina writes a net in Tina's .net format, in UTF-8: places, then transitions with their arcs, in the
// order of the net. Names are labels. It returns what it left out. It returns an error before it
// writes anything, if the net is invalid, or has what the format cannot carry and its token game needs:
// reset arcs, inclusive gateways, and ids with control characters.
func WriteTina(w io.Writer, n *petri.Net) (Left, error) {
	merged, err := mergedArcs(n)
	if err != nil {
		return nil, err
	}
	out, lost := bufio.NewWriter(w), beside(n, false)
	put := func(format string, args ...any) { fmt.Fprintf(out, format, args...) }
	label := func(name string) string {
		if name == "" || !printable(name) {
			lost.note("names with control characters", name != "")
			return ""
		}
		return " : " + tinaName(name)
	}
	put("net %s\n", tinaName(n.ID))
	lost.note("the name of the net", n.Name != "" && n.Name != n.ID)
	for i := range n.Places {
		p := &n.Places[i]
		put("pl %s%s", tinaName(p.ID), label(p.Name))
		if p.Initial > 0 {
			put(" (%d)", p.Initial)
		}
		put("\n")
	}
	for i := range n.Transitions {
		t := &n.Transitions[i]
		put("tr %s%s", tinaName(t.ID), label(t.Name))
		ins, outs := merged.of(t.ID)
		if len(ins)+len(outs) > 0 {
			put("%s ->%s", ins, outs)
		}
		put("\n")
	}
	return lost.list(), out.Flush()
}

// tinaName returns a name as in Tina's format: in braces, unless it has letters, digits and _ only and
// begins with no digit.
func tinaName(name string) string {
	plain := !keyword(name) && (name[0] < '0' || name[0] > '9')
	for i := range len(name) {
		plain = plain && name[i] < 0x80 && plainName(name[i])
	}
	if plain {
		return name
	}
	return "{" + strings.NewReplacer(`\`, `\\`, "{", `\{`, "}", `\}`).Replace(name) + "}"
}

// printable reports whether a text is UTF-8 without control characters.
func printable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// tinaArcs are the arcs of transitions, as texts.
type tinaArcs struct{ in, out map[string]string }

func (a tinaArcs) of(transition string) (ins, outs string) {
	return a.in[transition], a.out[transition]
}

// mergedArcs returns the arcs of a valid net with each of a kind between two nodes once, as
// petri.Compile combines them.
func mergedArcs(n *petri.Net) (tinaArcs, error) {
	t, err := petri.Compile(n)
	if err != nil {
		return tinaArcs{}, err
	}
	errs := refused(n)
	type pair struct {
		place, transition string
		kind              petri.ArcKind
		in                bool
	}
	weights, order := map[pair]uint32{}, []pair{}
	for i := range n.Arcs {
		a := &n.Arcs[i]
		_, in := t.PlaceIndex(a.Source)
		k := pair{a.Target, a.Source, a.Kind, in}
		if in {
			k.place, k.transition = a.Source, a.Target
		}
		has, known := weights[k]
		if !known {
			order = append(order, k)
		}
		weights[k] = has + a.Weight
		if k.kind == petri.Inhibitor && known {
			weights[k] = min(has, a.Weight)
		}
	}
	out := tinaArcs{map[string]string{}, map[string]string{}}
	for _, k := range order {
		text := " " + tinaName(k.place)
		switch weight := strconv.FormatUint(uint64(weights[k]), 10); {
		case k.kind == petri.Inhibitor:
			text += "?-" + weight
		case k.kind == petri.Read:
			text += "?" + weight
		case weight != "1":
			text += "*" + weight
		}
		if k.in {
			out.in[k.transition] += text
		} else {
			out.out[k.transition] += text
		}
	}
	return out, errors.Join(errs...)
}

// refused returns what Tina's format cannot carry of a net, and its token game needs.
func refused(n *petri.Net) (errs []error) {
	no := func(pos petri.Pos, format string, args ...any) {
		errs = append(errs, &petri.Fault{File: n.File, Pos: pos, Msg: fmt.Sprintf(format, args...)})
	}
	id := func(pos petri.Pos, what, id string) {
		if !printable(id) {
			no(pos, "the id %s of a %s has a control character; expected none, for Tina's .net", xmlscan.Quote(id), what)
		}
	}
	if n.ID == "" {
		no(n.Pos, "a net without an id; expected one")
	}
	id(n.Pos, "net", n.ID)
	for i := range n.Places {
		id(n.Places[i].Pos, "place", n.Places[i].ID)
	}
	for i := range n.Transitions {
		id(n.Transitions[i].Pos, "transition", n.Transitions[i].ID)
	}
	for i := range n.Arcs {
		a := &n.Arcs[i]
		if a.Kind != petri.Normal && a.Kind != petri.Inhibitor && a.Kind != petri.Read {
			no(a.Pos, "the %s arc from %s to %s; expected normal, read and inhibitor arcs, for Tina's .net", a.Kind, xmlscan.Quote(a.Source), xmlscan.Quote(a.Target))
		}
	}
	return errs[:min(len(errs), petri.MaxFaults)]
}
