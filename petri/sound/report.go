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
		Fire: Transitions{Holds: s.Live, Dead: e.transitions(s.Dead)}, Bounded: Bounded{Holds: s.Bounded, Others: s.Others && len(s.Unbounded) > 0}, Ignored: s.Ignored}
	if g := r.Graph; g != nil {
		out.Completion.Way, out.Proper.Way = e.way(g, s.Stuck), e.way(g, s.Over)
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
	var lines, open []string
	no := func(format string, args ...any) { lines = append(lines, "not sound: "+fmt.Sprintf(format, args...)) }
	switch c := &r.Completion; {
	case c.Never:
		no("no instance can end")
	case c.Holds == No:
		no("an instance can come to where it can no longer end; a shortest way: %q", c.Path)
	case c.Holds == Undecided:
		open = append(open, "whether every instance can end")
	}
	switch p := &r.Proper; {
	case p.Twice != nil:
		no("%q is reached more than once by an instance; %s", p.Twice, after("a shortest way", p.Path))
	case p.Holds == No:
		no("an end leaves tokens behind; %s", after("a shortest way", p.Path))
	case p.Holds == Undecided:
		open = append(open, "whether an end leaves tokens behind")
	}
	switch f := &r.Fire; f.Holds {
	case No:
		no("%s can never fire: %q", count(len(f.Dead), "transition"), f.Dead)
	case Undecided:
		open = append(open, "which transitions can never fire")
	}
	switch b := &r.Bounded; b.Holds {
	case No:
		no("%s", b.sentence())
	case Undecided:
		open = append(open, "whether a place grows without bound")
	}
	if r.Sound == Yes {
		lines = append(lines, "sound: every instance can end, no end leaves tokens behind, every transition can fire, no place grows without bound")
	}
	if open != nil {
		lines = append(lines, "undecided: "+strings.Join(open, ", "))
	}
	if r.Ignored != nil && r.Sound != Undecided {
		lines = append(lines, "ignored: "+strings.Join(r.Ignored, ", ")+"; every choice that they leave open was followed")
	}
	return lines
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
