// SPDX-License-Identifier: Apache-2.0

package sound

import (
	"fmt"
	"strings"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/explore"
)

// Report is what was found of a net, by the ids of its elements.
type Report struct {
	Sound      Verdict     `json:"sound"`
	Completion Completion  `json:"optionToComplete"`
	Proper     Proper      `json:"properCompletion"`
	Fire       Transitions `json:"transitions"`
	Live       *Live       `json:"live,omitempty"` // of a net without an end
	Bounded    Bounded     `json:"bounded"`
	Ignored    []string    `json:"ignored,omitempty"` // see Ignored
}

// Way is a shortest way to a marking.
type Way struct {
	Path     []string          `json:"path,omitempty"`
	Branches [][]string        `json:"branches,omitempty"` // by step: the places that an inclusive split chose
	Marking  map[string]uint32 `json:"marking,omitempty"`  // empty places left out
}

// Completion is whether every instance can end.
type Completion struct {
	Holds Verdict `json:"holds"`
	Never bool    `json:"never,omitempty"` // no instance can end
	Way           // to a marking from which no end can be reached
}

// Proper is whether no end leaves tokens behind.
type Proper struct {
	Holds Verdict  `json:"holds"`
	Twice []string `json:"twice,omitempty"` // ends of a process that an instance reaches more than once
	Way            // to a marking that has an end and tokens besides
}

// Transitions is whether every transition can fire.
type Transitions struct {
	Holds Verdict  `json:"holds"`
	Dead  []string `json:"dead,omitempty"` // those that never fire
}

// Live is whether every transition can fire again from every marking.
type Live struct {
	Holds Verdict  `json:"holds"`
	Last  []string `json:"last,omitempty"` // those that can fire, and from some marking never again
	Way            // to a marking from which one of these can never fire again
}

// Bounded is whether no place grows without bound.
type Bounded struct {
	Holds  Verdict  `json:"holds"`
	Places []string `json:"places,omitempty"` // those that do
	Others bool     `json:"others,omitempty"` // there may be more of them
	Way             // to a marking from which Round can be repeated forever
	// Round is transitions, and Grows what they add each time.
	Round         []string          `json:"round,omitempty"`
	RoundBranches [][]string        `json:"roundBranches,omitempty"`
	Grows         map[string]uint32 `json:"grows,omitempty"`
	Shortest      bool              `json:"shortest,omitempty"` // no way with its round is shorter
}

// ReportOf returns the report of a net that was judged, after the visit r.
func ReportOf(t *petri.Tables, s *Soundness, r *explore.Result) *Report {
	e := elements{t.Net}
	out := &Report{Sound: s.Sound(), Completion: Completion{Holds: s.Completes, Never: s.Stuck == 0}, Proper: Proper{Holds: s.Proper},
		Fire: Transitions{Holds: s.Fires, Dead: e.transitions(s.Dead)}, Bounded: Bounded{Holds: s.Bounded, Others: s.Others && len(s.Unbounded) > 0}, Ignored: s.Ignored}
	if s.Live != Inapplicable {
		out.Live = &Live{Holds: s.Live, Last: e.transitions(s.Last)}
	}
	if g := r.Graph; g != nil {
		out.Completion.Way, out.Proper.Way = e.way(g, s.Stuck), e.way(g, s.Over)
		if out.Live != nil {
			out.Live.Way = e.way(g, s.Lost)
		}
	}
	for _, p := range s.Twice {
		out.Proper.Twice = append(out.Proper.Twice, t.Net.Places[p].ID)
	}
	for _, p := range s.Unbounded {
		out.Bounded.Places = append(out.Bounded.Places, t.Net.Places[p].ID)
	}
	if p := s.Pump; p != nil {
		b := &out.Bounded
		b.Path, b.Branches, b.Round, b.RoundBranches = e.transitions(p.Way), e.branches(p.WayBranches), e.transitions(p.Round), e.branches(p.RoundBranches)
		b.Grows, b.Shortest = e.marking(p.Grows), p.Shortest
	}
	return out
}

// elements names the elements of a net.
type elements struct{ net *petri.Net }

func (e elements) transitions(path []int) (ids []string) {
	for _, tr := range path {
		ids = append(ids, e.net.Transitions[tr].ID)
	}
	return ids
}

func (e elements) branches(steps [][]int32) (ids [][]string) {
	for _, places := range steps {
		chosen := []string{}
		for _, p := range places {
			chosen = append(chosen, e.net.Places[p].ID)
		}
		ids = append(ids, chosen)
	}
	return ids
}

func (e elements) marking(m []uint32) map[string]uint32 {
	out := map[string]uint32{}
	for p, n := range m {
		if n > 0 {
			out[e.net.Places[p].ID] = n
		}
	}
	return out
}

// way returns the way to a marking; none for -1.
func (e elements) way(g *explore.Graph, number int) Way {
	if number < 0 {
		return Way{}
	}
	path, branches := g.Path(number)
	return Way{e.transitions(path), e.branches(branches), e.marking(g.Marking(number))}
}

// Sentences returns what was found in words, a line each.
func (r *Report) Sentences() []string {
	w := words{not: "not sound: "}
	if r.Sound == Inapplicable {
		w.not = "not live: "
		w.lines = []string{"the net has no end, so that soundness does not apply: no place is final, and every transition puts tokens"}
	}
	switch c := &r.Completion; {
	case c.Never:
		w.no("no instance can end")
	case c.Holds == No:
		w.no("an instance can come to where it can no longer end; a shortest way: %q", c.Path)
	case c.Holds == Undecided:
		w.open = append(w.open, "whether every instance can end")
	}
	switch p := &r.Proper; {
	case p.Twice != nil:
		w.no("%q is reached more than once by an instance; %s", p.Twice, after("a shortest way", p.Path))
	case p.Holds == No:
		w.no("an end leaves tokens behind; %s", after("a shortest way", p.Path))
	case p.Holds == Undecided:
		w.open = append(w.open, "whether an end leaves tokens behind")
	}
	switch f := &r.Fire; f.Holds {
	case No:
		w.no("%s can never fire: %q", count(len(f.Dead), "transition"), f.Dead)
	case Undecided:
		w.open = append(w.open, "which transitions can never fire")
	}
	r.Live.words(&w)
	if r.Sound == Inapplicable {
		w.not = "not bounded: "
	}
	switch b := &r.Bounded; {
	case b.Holds == No:
		w.no("%s", b.sentence())
	case b.Holds == Undecided:
		w.open = append(w.open, "whether a place grows without bound")
	case r.Sound == Inapplicable:
		w.lines = append(w.lines, "bounded: no place grows without bound")
	}
	if r.Sound == Yes {
		w.lines = append(w.lines, "sound: every instance can end, no end leaves tokens behind, every transition can fire, no place grows without bound")
	}
	if w.open != nil {
		w.lines = append(w.lines, "undecided: "+strings.Join(w.open, ", "))
	}
	if r.Ignored != nil && r.Sound != Undecided {
		w.lines = append(w.lines, "ignored: "+strings.Join(r.Ignored, ", ")+"; every choice that they leave open was followed")
	}
	return w.lines
}

// words collects what was found: lines, and what is open. A line of what does not hold begins with not.
type words struct {
	not         string
	lines, open []string
}

func (w *words) no(format string, args ...any) {
	w.lines = append(w.lines, w.not+fmt.Sprintf(format, args...))
}

func (l *Live) words(w *words) {
	switch {
	case l == nil:
	case l.Last != nil:
		w.no("%s can fire, but from some marking never again: %q; %s", count(len(l.Last), "transition"), l.Last, after("a shortest way to one", l.Path))
	case l.Holds == Yes:
		w.lines = append(w.lines, "live: from every marking that can be reached, every transition can fire again")
	case l.Holds == Undecided:
		w.open = append(w.open, "whether every transition can fire again")
	}
}

func (b *Bounded) sentence() string {
	grow := fmt.Sprintf("these places grow without bound: %q", b.Places)
	if len(b.Places) == 1 {
		grow = fmt.Sprintf("place %q grows without bound", b.Places[0])
	}
	if b.Others {
		grow += ", perhaps others, too"
	}
	way := "a way"
	if b.Shortest {
		way = "a shortest way"
	}
	return fmt.Sprintf("%s; %s, then again and again %q", grow, after(way, b.Path), b.Round)
}

// after returns the way to a marking in words.
func after(way string, path []string) string {
	if len(path) == 0 {
		return way + ": from the initial marking"
	}
	return fmt.Sprintf("%s: %q", way, path)
}

func count(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}
