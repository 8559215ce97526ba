// SPDX-License-Identifier: Apache-2.0

package textnet

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

// same ignores positions in a source.
var same = cmp.Options{cmpopts.IgnoreTypes(petri.Pos{}), cmpopts.IgnoreFields(petri.Net{}, "File"), cmpopts.EquateEmpty()}

// tinaText has every declaration of the format that is read.
const tinaText = `# a comment
net {my net}
pl free (3)
pl {a \{ b\\} : {waiting room} (2K)
tr begin : {Begin it} [0,w[ free*2 {a \{ b\\}?3 done?-4 -> busy
tr end busy -> free*2 done
pl done end -> clear*5
tr tr1 ->
lb begin Started
lb done {all done}
`

func TestReadingTina(t *testing.T) {
	got, warnings, err := ReadTina(strings.NewReader(tinaText), "x.net", Limits{})
	want := &petri.Net{ID: "my net",
		Places:      []petri.Place{{ID: "free", Initial: 3}, {ID: `a { b\`, Name: "waiting room", Initial: 2000}, {ID: "done", Name: "all done"}, {ID: "busy"}},
		Transitions: []petri.Transition{{ID: "begin", Name: "Started"}, {ID: "end"}, {ID: "clear"}, {ID: "tr1"}},
		Arcs: []petri.Arc{{Source: "free", Target: "begin", Weight: 2}, {Source: `a { b\`, Target: "begin", Kind: petri.Read, Weight: 3}, {Source: "done", Target: "begin", Kind: petri.Inhibitor, Weight: 4},
			{Source: "begin", Target: "busy", Weight: 1}, {Source: "busy", Target: "end", Weight: 1}, {Source: "end", Target: "free", Weight: 2}, {Source: "end", Target: "done", Weight: 1},
			{Source: "end", Target: "done", Weight: 1}, {Source: "done", Target: "clear", Weight: 5}}}
	if d := cmp.Diff(want, got, same); d != "" || err != nil || warnings != nil {
		t.Errorf("%v, %v\n%s", err, warnings, d)
	}
}

func TestWhatReadersIgnore(t *testing.T) {
	for _, c := range []struct {
		name, file, text string
		want             []string
	}{
		{"times, priorities and notes", "x.net", "tr a [2,5] p -> \ntr b ]0,w[ p ->\npr a > b\nnt n1 0 {a note}", []string{
			"x.net:1:6: ignored the time interval of a transition: its firing is not delayed (2 times, first here)",
			"x.net:3:1: ignored priorities of transitions (pr)", "x.net:4:1: ignored a note (nt)"}},
		{"bounds and fairness", "x.lola", "PLACE SAFE 1: a; SAFE: b;\nMARKING;\nTRANSITION t STRONG FAIR CONSUME a; PRODUCE b;", []string{
			"x.lola:1:7: ignored SAFE: the bounds of places are not checked (2 times, first here)", "x.lola:3:14: ignored the fairness of a transition"}},
		{"a question about the net", "x.lola", "PLACE a;\nMARKING;\nTRANSITION t CONSUME a; PRODUCE;\nFORMULA ( a = 0 )\n", []string{
			"x.lola:4:1: ignored what LoLA is asked about the net (FORMULA), and what follows"}},
	} {
		_, warnings, err := read(c.file, c.text)
		var got []string
		for i := range warnings {
			got = append(got, warnings[i].Error())
		}
		if d := cmp.Diff(c.want, got); d != "" || err != nil {
			t.Errorf("%s: %v\n%s", c.name, err, d)
		}
	}
}

// read reads a text in the format that the name of its file ends in.
func read(file, text string) (*petri.Net, []petri.Fault, error) {
	if strings.HasSuffix(file, ".lola") {
		return ReadLoLA(strings.NewReader(text), file, Limits{})
	}
	return ReadTina(strings.NewReader(text), file, Limits{})
}

func TestReadingLoLA(t *testing.T) {
	text := "{ places\n of it } PLACE p.1, 2, c; d; // more\nMARKING p.1: 2, 2;\nTRANSITION t1\nCONSUME p.1: 2, c;\nPRODUCE 2:3;\nTRANSITION t2 CONSUME; PRODUCE c;\n"
	got, warnings, err := ReadLoLA(strings.NewReader(text), "dir/x.lola", Limits{})
	want := &petri.Net{ID: "x", Places: []petri.Place{{ID: "p.1", Initial: 2}, {ID: "2", Initial: 1}, {ID: "c"}, {ID: "d"}}, Transitions: []petri.Transition{{ID: "t1"}, {ID: "t2"}},
		Arcs: []petri.Arc{{Source: "p.1", Target: "t1", Weight: 2}, {Source: "c", Target: "t1", Weight: 1}, {Source: "t1", Target: "2", Weight: 3}, {Source: "t2", Target: "c", Weight: 1}}}
	if d := cmp.Diff(want, got, same); d != "" || err != nil || warnings != nil {
		t.Errorf("%v, %v\n%s", err, warnings, d)
	}
}

func TestFaultsHaveAPosition(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"x.net", "# a\n hello", `x.net:2:2: "hello"; expected net, tr, pl, lb, pr or nt`},
		{"x.net", "tr", "x.net:1:3: the end of the file; expected the name of a transition"},
		{"x.net", "tr a p*0 ->", `x.net:1:6: the weight 0 of the arc from "p" to "a"; expected 1 or more`},
		{"x.net", "tr a p!2 ->", `x.net:1:7: a stopwatch arc; expected an arc without time: *, ? or ?-`},
		{"x.net", "tr a -> p?2", `x.net:1:10: "?" on an arc from a transition to a place; expected * or no sign`},
		{"x.net", "tr a -> p -> q", `x.net:1:14: a second ->; expected one`},
		{"x.net", "pl p (5G)", `x.net:1:7: "5G"; expected the marking, a whole number of at most 4294967295`},
		{"x.net", "pl p (1)\npl p (2)", `x.net:2:4: a second marking of place "p"; expected one`},
		{"x.net", "pl p ({1})", `x.net:1:7: "1"; expected the marking, a whole number of at most 4294967295`},
		{"x.net", "pl p (1", `x.net:1:8: the end of the file; expected ")"`},
		{"x.net", "pl a\n  tr a", `x.net:2:6: "a" is a place, at line 1; expected a transition`},
		{"x.net", "tr a\npl a", `x.net:2:4: "a" is a transition, at line 1; expected a place`},
		{"x.net", "tr {a\nb", `x.net:1:4: a name that begins with { and does not end; expected }`},
		{"x.net", "tr {a{", `x.net:1:6: a { in a name in braces; expected \{`},
		{"x.net", "tr {}", `x.net:1:4: a name without a character; expected one or more`},
		{"x.net", "tr a [1;2]", `x.net:1:6: the time interval [1;2]; expected one such as [0,4] or [0,w[`},
		{"x.net", "tr a [0,tr b", `x.net:1:9: "tr"; expected a time interval such as [0,w[`},
		{"x.net", "lb a b", `x.net:1:4: "a" is no place or transition; expected one that was declared before`},
		{"x.net", "tr a\xff", "x.net:1:5: a byte that is not UTF-8, or a NUL; expected text in UTF-8"},
		{"x.lola", "TRANSITION t", `x.lola:1:1: "TRANSITION"; expected PLACE, as of a place/transition net`},
		{"x.lola", "PLACE a, a;", `x.lola:1:10: a second place "a"; expected every place once`},
		{"x.lola", "PLACE a: 3;", `x.lola:1:8: ":"; expected "," or ";"`},
		{"x.lola", "PLACE a;", `x.lola:1:9: the end of the file; expected MARKING`},
		{"x.lola", "PLACE a; MARKING b;", `x.lola:1:18: "b" is not a place; expected one of PLACE`},
		{"x.lola", "PLACE a; MARKING a, a;", `x.lola:1:21: a second marking of place "a"; expected one`},
		{"x.lola", "PLACE a; MARKING a: x;", `x.lola:1:21: "x"; expected a number of tokens, a whole number of at most 4294967295`},
		{"x.lola", "PLACE a; MARKING; TRANSITION t CONSUME a; TRANSITION", `x.lola:1:43: "TRANSITION"; expected "PRODUCE"`},
		{"x.lola", "PLACE a; MARKING; TRANSITION a CONSUME; PRODUCE;", `x.lola:1:30: "a" is a place, at line 1; expected a transition`},
		{"x.lola", "PLACE a; MARKING; TRANSITION t CONSUME; PRODUCE; TRANSITION t", `x.lola:1:61: a second transition "t"; expected every transition once`},
		{"x.lola", "PLACE { a;", "x.lola:1:7: a comment that begins with { and does not end; expected }"},
	} {
		if n, _, err := read(c.file, c.text); err == nil || err.Error() != c.want || n != nil {
			t.Errorf("%s: %v\nwant %s", c.text, err, c.want)
		}
	}
}

func TestFilesAreBounded(t *testing.T) {
	for _, c := range []struct {
		lim  Limits
		want string
	}{
		{Limits{Bytes: 20}, "x.net: the file has more than 20 bytes"},
		{Limits{Nodes: 3}, "x.net:1:11: more than 3 places, transitions and arcs"},
	} {
		if _, _, err := ReadTina(strings.NewReader("tr a p -> q\ntr b q -> p\n"), "x.net", c.lim); !errors.Is(err, ErrLimit) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v; want %s", err, c.want)
		}
	}
	gone := errors.New("gone")
	if _, _, err := ReadTina(iotest.ErrReader(gone), "x.net", Limits{}); !errors.Is(err, gone) {
		t.Errorf("%v", err)
	}
}

// carried returns a net that Tina's format can carry: no reset arcs and no priorities.
func carried(n *petri.Net) *petri.Net {
	n.Arcs = slices.DeleteFunc(n.Arcs, func(a petri.Arc) bool { return a.Kind == petri.Reset })
	for i := range n.Transitions {
		n.Transitions[i].Priority = 0
	}
	return n
}

func TestWhatIsWrittenForTinaIsReadAgain(t *testing.T) {
	for seed := range seeds.Of(100, 5000) {
		n := carried(petritest.RandomNet(rand.New(rand.NewPCG(8, seed))))
		n.Places[0].Name, n.Transitions[0].Name = `a {"name"} \ of ü`, "tr"
		var first, second bytes.Buffer
		if left, err := WriteTina(&first, n); err != nil || slices.ContainsFunc(left, func(s string) bool { return !strings.HasPrefix(s, "ids of arcs") }) {
			t.Fatalf("seed %d: %v, %v", seed, left, err)
		}
		got, warnings, err := ReadTina(bytes.NewReader(first.Bytes()), "x.net", Limits{})
		if err != nil || warnings != nil {
			t.Fatalf("seed %d: %v, %v\n%s", seed, err, warnings, first.Bytes())
		}
		if d := cmp.Diff(n.Places, got.Places, same) + cmp.Diff(n.Transitions, got.Transitions, same); d != "" || got.ID != n.ID {
			t.Fatalf("seed %d: %s", seed, d)
		}
		was, is := petritest.Compile(t, n), petritest.Compile(t, got)
		for tr := range n.Transitions {
			if d := cmp.Diff(was.Conds(tr), is.Conds(tr)) + cmp.Diff(was.Effects(tr), is.Effects(tr)); d != "" {
				t.Fatalf("seed %d: transition %d: %s\n%s", seed, tr, d, first.Bytes())
			}
		}
		if left, err := WriteTina(&second, got); err != nil || left != nil || second.String() != first.String() {
			t.Fatalf("seed %d: %v, %v, written again:\n%s\nfirst:\n%s", seed, left, err, second.String(), first.String())
		}
	}
}

func TestWhatTinaCannotCarryIsRefusedOrNamed(t *testing.T) {
	n := func(change func(n *petri.Net)) *petri.Net {
		n := &petri.Net{ID: "n", File: "f", Places: []petri.Place{{ID: "p", Initial: 1}, {ID: "q"}}, Transitions: []petri.Transition{{ID: "t"}},
			Arcs: []petri.Arc{{Source: "p", Target: "t", Weight: 1}, {Source: "t", Target: "q", Weight: 1}}}
		change(n)
		return n
	}
	for _, c := range []struct {
		net  *petri.Net
		want string
	}{
		{n(func(n *petri.Net) { n.Arcs[0].Kind = petri.Reset }), `f: the reset arc from "p" to "t"; expected normal, read and inhibitor arcs, for Tina's .net`},
		{n(func(n *petri.Net) { n.Arcs[1].Kind = petri.Branch }), `f: the branch arc from "t" to "q"; expected normal, read and inhibitor arcs, for Tina's .net`},
		{n(func(n *petri.Net) {
			n.Places[1].ID, n.Arcs[1].Target = "a\nb", "a\nb"
		}), `f: the id "a\nb" of a place has a control character; expected none, for Tina's .net`},
		{n(func(n *petri.Net) { n.ID = "" }), "f: a net without an id; expected one"},
		{n(func(n *petri.Net) { n.Arcs[0].Weight = 0 }), `f: arc "" has weight 0; expected 1 or more`},
	} {
		var out bytes.Buffer
		if _, err := WriteTina(&out, c.net); err == nil || err.Error() != c.want || out.Len() > 0 {
			t.Errorf("%v, %q\nwant %s", err, out.String(), c.want)
		}
	}
	rich := n(func(n *petri.Net) {
		n.Name, n.Doc, n.Model, n.FinalMarkings = "Net", "about", &petri.Model{Kind: petri.ModelBPMN}, []petri.Marking{{"q": 1}}
		n.Decisions = []*petri.Decision{{}, {}}
		n.Places[1].Name, n.Places[1].Role, n.Places[1].At, n.Places[1].Open = "two\nlines", petri.RoleState, &petri.Point{}, true
		n.Transitions[0] = petri.Transition{ID: "t", Priority: 1, Guard: "ok", Trigger: petri.Trigger{Kind: petri.TriggerDelay, Micros: 1}, Silent: true, Preempts: true, Throws: petri.Event{Kind: petri.EventSignal, Name: "s"}}
		n.Arcs[1].ID = "a"
	})
	var out bytes.Buffer
	left, err := WriteTina(&out, rich)
	want := "decisions (2), documentation (1), events that are thrown (1), final markings (1), guards (1), ids of arcs (1), marks of silent transitions (1), " +
		"names with control characters (1), open places (1), positions (1), preemption (1), priorities (1), roles (1), the file of the process (1), the name of the net (1), triggers (1)"
	if left.String() != want || err != nil {
		t.Errorf("%v, %v; want %s", left, err, want)
	}
	if d := cmp.Diff("net n\npl p (1)\npl q\ntr t p -> q\n", out.String()); d != "" {
		t.Error(d)
	}
	if got := LeftByPNML(rich).String(); got != "decisions (2), final markings (1), marks of silent transitions (1)" {
		t.Error(got)
	}
}

func TestAGraphForGraphviz(t *testing.T) {
	n := &petri.Net{ID: `my "net"`, Name: "Net", Places: []petri.Place{{ID: "p", Initial: 2}, {ID: `q\`, Name: "Queue", Role: petri.RoleData}}, Transitions: []petri.Transition{{ID: "t", Guard: "a > 1"}, {ID: "u", Role: petri.RoleState}}, Arcs: []petri.Arc{
		{Source: "p", Target: "t", Weight: 3}, {Source: "t", Target: `q\`, Weight: 1}, {Source: "p", Target: "u", Kind: petri.Inhibitor, Weight: 2}, {Source: `q\`, Target: "u", Kind: petri.Read, Weight: 1},
		{Source: "p", Target: "u", Kind: petri.Reset}, {Source: "u", Target: "p", Kind: petri.Branch, Weight: 1, Default: true}, {Source: "u", Target: `q\`, Kind: petri.Branch, Weight: 1, Guard: "ok"}}}
	var out bytes.Buffer
	left, err := WriteDOT(&out, n)
	want := `digraph "my \"net\"" {
  rankdir=LR;
  label="Net";
  "p" [shape=circle, label="p\n2"];
  "q\\" [shape=circle, label="Queue", color=gray, fontcolor=gray];
  "t" [shape=box, label="t\n[a > 1]"];
  "u" [shape=box, label="u", color=gray, fontcolor=gray];
  "p" -> "t" [label="3"];
  "t" -> "q\\";
  "p" -> "u" [arrowhead=odot, label="2"];
  "q\\" -> "u" [arrowhead=none, style=dashed];
  "p" -> "u" [arrowhead=normalnormal];
  "u" -> "p" [arrowhead=empty, label="default"];
  "u" -> "q\\" [arrowhead=empty, label="ok"];
}
`
	if d := cmp.Diff(want, out.String()); d != "" || err != nil || left != nil {
		t.Errorf("%v, %v\n%s", left, err, d)
	}
}

// fuzz reads any text: it is refused, or read as a valid net that is written for Tina and read again.
func fuzz(f *testing.F, file string, texts ...string) {
	for _, text := range texts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, _, err := read(file, text)
		if (err == nil) != (n != nil) {
			t.Fatalf("%v, %v", n, err)
		}
		if err != nil {
			if !strings.HasPrefix(err.Error(), file) {
				t.Fatalf("%v does not begin with %s", err, file)
			}
			return
		}
		var first, second bytes.Buffer
		if _, err := WriteTina(&first, n); err != nil {
			return // a control character in an id, or parallel arcs that weigh too much
		}
		again, _, err := ReadTina(bytes.NewReader(first.Bytes()), "x.net", Limits{})
		if err != nil {
			t.Fatalf("%v\n%s", err, first.Bytes())
		}
		if _, err := WriteTina(&second, again); err != nil || second.String() != first.String() {
			t.Fatalf("%v\n%s\n%s", err, first.Bytes(), second.Bytes())
		}
	})
}

func FuzzReadTina(f *testing.F) {
	fuzz(f, "x.net", tinaText, "tr a [2,5] p?-1 -> q*2K", "pl p : l (1) t -> u?2 v!3", "pr a b < c", "lb a {b}")
}

func FuzzReadLoLA(f *testing.F) {
	fuzz(f, "x.lola", "PLACE SAFE 1: a, b; c; MARKING a: 2; {x} TRANSITION t WEAK FAIR CONSUME a: 2, b; PRODUCE c; // y")
}
