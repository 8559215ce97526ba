// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// looped is a net with a place that is not work; before there were roles, if it has none.
func looped(role petri.Role) *petri.Net {
	return &petri.Net{ID: "loop", Places: []petri.Place{{ID: "a/list", Role: role}, {ID: "a/run"}}, Transitions: []petri.Transition{{ID: "a/begin", Role: role}, {ID: "a"}},
		Arcs: []petri.Arc{{Source: "a/begin", Target: "a/list", Weight: 1}, {Source: "a/begin", Target: "a/run", Weight: 1}, {Source: "a/run", Target: "a", Weight: 1}}}
}

// What is not work keeps the number that it has, becomes obsolete, and gets none if it is new.
func TestWhatIsNotWorkIsRetired(t *testing.T) {
	dir, before := generateTo(t, looped(petri.RoleWork))
	numbers := func(l *Lock) (out []Locked) {
		for _, e := range l.Net("loop").members() {
			out = append(out, Locked{ID: e.ID, Number: e.Number, Descriptor: e.Descriptor})
		}
		return out
	}
	next := looped(petri.RoleState)
	next.Places = append(next.Places, petri.Place{ID: "a/count", Role: petri.RoleData}, petri.Place{ID: "b"})
	next.Arcs = append(next.Arcs, petri.Arc{Source: "a", Target: "b", Weight: 1})
	after := generateInto(t, dir, testNow().Add(time.Hour), next)
	if got, want := numbers(after), numbers(before); !slices.Equal(slices.DeleteFunc(got, func(e Locked) bool { return e.ID == "b" }), want) {
		t.Errorf("the numbers are %v; want %v", got, want)
	}
	n := after.Net("loop")
	if n.Place("a/count") != nil || n.Place("b").Number != 3 || !n.Place("a/list").Obsolete || !n.Transition("a/begin").Obsolete || n.Place("a/run").Obsolete || n.Transition("a").Obsolete {
		t.Errorf("the lock has %+v", numbers(after))
	}
	text, err := os.ReadFile(filepath.Join(dir, n.Module+".mib"))
	if err != nil || !strings.Contains(string(text), "It is bookkeeping of the net, which has no") || strings.Contains(string(text), "not in the net") {
		t.Errorf("%v; the module has\n%s", err, text)
	}
	if out := smilint(t, dir, n.Module); out != "" {
		t.Error(out)
	}
	path := filepath.Join(dir, LockFile)
	if _, err := Generate(dir, path, testRoot(t), []*petri.Net{next}, Options{Objects: LevelAll}, testNow().Add(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	all, err := ReadLock(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := all.Net("loop"); n.Place("a/list").Obsolete || n.Place("a/list").Number != 1 || n.Place("a/count") == nil || n.Transition("a/begin").Obsolete {
		t.Errorf("with all objects the lock has %+v", numbers(all))
	}
}

// Each alarm, each object and each token is of an element that the author drew.
func TestAlarmsObjectsAndTokensAreOfTheDrawing(t *testing.T) {
	var files []string
	for _, pattern := range []string{"../examples/*.bpmn", "../petri/bpmn/testdata/*.bpmn", "../../shared/corpus/bpmn/*.bpmn", "../../shared/cases/*.bpmn"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 0 {
			t.Logf("no files at %s", pattern)
		}
		files = append(files, found...)
	}
	nets, aside := 0, 0
	for _, path := range files {
		all := readNets(t, path)
		if len(all) == 0 {
			continue
		}
		ids := drawn(t, path)
		for _, def := range all {
			nets++
			aside += len(def.Places) - len(def.Work().Places)
			judged(t, path, def, func(what, id string) {
				calls, element := petri.ElementOf(id)
				for _, e := range append(calls, element) {
					if !ids[e] {
						t.Errorf("%s: %s %q of net %q is of no element of the file", path, what, id, def.ID)
					}
				}
			})
		}
	}
	if nets < 3 || aside == 0 {
		t.Errorf("%d nets with %d places that are not work were read", nets, aside)
	}
}

// judged has an hour-old token in each place and each transition enabled, and calls of for each
// alarm, object and place with a token.
func judged(t *testing.T, path string, def *petri.Net, of func(what, id string)) {
	t.Helper()
	rows := stats.NewRows(len(def.Places), len(def.Transitions))
	rows.Columns = stats.AllColumns
	for i := range rows.Places {
		rows.Places[i] = stats.Place{Tokens: 1, Oldest: now0}
	}
	for i := range rows.Transitions {
		rows.Transitions[i] = stats.Transition{Enabled: 1, EnabledSince: now0}
	}
	now := now0 + time.Hour.Microseconds()
	view := (&merge.View{At: now, Nets: []*merge.NetView{{Name: def.ID, Def: def, Final: def.FinalPlaces(), Rows: rows, Up: 1}}}).Sum()
	for _, c := range alarm.NewMachine(alarm.DefaultRules(), alarm.Saved{}, time.Hour).Step(view, now) {
		of(c.Alarm.Kind.String(), c.Alarm.Subject)
	}
	b := newBuilder(t, "")
	if _, err := b.Build(view, nil, now); err != nil {
		t.Fatal(path, err)
	}
	for _, e := range b.numbers.lock.Net(def.ID).members() {
		of("the objects of", e.ID)
	}
	shown := view.Present().Nets[0]
	for i := range shown.Def.Places {
		of("a token in", shown.Def.Places[i].ID)
	}
	if int(shown.Tokens) != len(shown.Def.Places) {
		t.Errorf("%s: net %q has %d tokens in %d places", path, def.ID, shown.Tokens, len(shown.Def.Places))
	}
}

// drawn returns the ids in a file. A sequence flow without one is called by its ends.
func drawn(t *testing.T, path string) map[string]bool {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d := xml.NewDecoder(f)
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	ids := map[string]bool{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return ids
		}
		if err != nil {
			t.Fatal(path, err)
		}
		start, is := token.(xml.StartElement)
		if !is {
			continue
		}
		has := map[string]string{}
		for _, a := range start.Attr {
			if a.Name.Space == "" {
				has[a.Name.Local] = a.Value
			}
		}
		if has["id"] == "" && start.Name.Local == "sequenceFlow" {
			has["id"] = has["sourceRef"] + "-" + has["targetRef"]
		}
		ids[has["id"]] = true
	}
}
