// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pnagent/pnagent/engine/action"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/petri/pnml"
)

// netOf reads the places, transitions and arcs of a net called n.
func netOf(t *testing.T, nodes string) *petri.Tables {
	t.Helper()
	text := `<pnml><net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="page">` + nodes + `</page></net></pnml>`
	f, err := pnml.Read(strings.NewReader(text), "n.pnml", pnml.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	return petritest.Compile(t, f.Nets[0])
}

const (
	placeP = `<place id="p"><initialMarking><text>%d</text></initialMarking></place><place id="q"/><transition id="t"/>`
	out    = `<arc id="out" source="t" target="q"/>`
)

func arc(id, weight string) string {
	return `<arc id="` + id + `" source="p" target="t"><inscription><text>` + weight + `</text></inscription></arc>`
}

// What Perpetuum, a generator of schedulers from Petri nets, gets wrong.
func TestKnownFaultsOfPerpetuumAreNotHere(t *testing.T) {
	for _, c := range []struct {
		fault, nodes string
		firings      uint64
	}{
		{"weight 2 on a marking of 1 is not enabled", fmt.Sprintf(placeP, 1) + arc("a", "2") + out, 0},
		{"weight 2 on a marking of 2 is", fmt.Sprintf(placeP, 2) + arc("a", "2") + out, 1},
		{"parallel arcs that are not neighbours in the file both count: too few", fmt.Sprintf(placeP, 1) + arc("a", "1") + out + arc("b", "1"), 0},
		{"parallel arcs that are not neighbours in the file both count: enough", fmt.Sprintf(placeP, 5) + arc("a", "1") + out + arc("b", "1"), 2},
		{"a weight over 255", fmt.Sprintf(placeP, 1199) + arc("a", "300") + out, 3},
		{"a name without graphics", `<place id="p"><name><text>In</text></name><initialMarking><text>1</text></initialMarking></place><place id="q"/>` +
			`<transition id="t"><name><text>Go</text></name></transition>` + arc("a", "1") + out, 1},
		{"ids that are not identifiers", `<place id="1 – größer"><initialMarking><text>1</text></initialMarking></place><transition id="Firm's *t"/>` +
			`<arc id="a" source="1 – größer" target="Firm's *t"/>`, 1},
	} {
		t.Run(c.fault, func(t *testing.T) {
			for _, machine := range []string{"plain", "coloured"} {
				net := NetConfig{Tables: netOf(t, c.nodes)}
				if machine == "coloured" {
					net.Transitions = []Transition{{Guard: always}}
				}
				e := newEngine(t, Config{Source: "s", Nets: []NetConfig{net}, Instances: 1, Workers: 1, Firings: 100})
				runToEnd(t, e)
				if r, err := e.Report(t.Context()); err != nil || r.Firings != c.firings {
					t.Errorf("%s: %d firings, %v; expected %d", machine, r.Firings, err, c.firings)
				}
			}
		})
	}
}

func TestRingsAreOfAnySize(t *testing.T) {
	const places = 20_000
	var nodes strings.Builder
	for i := range places {
		fmt.Fprintf(&nodes, `<place id="p%d">`, i)
		if i == 0 {
			nodes.WriteString(`<initialMarking><text>1</text></initialMarking>`)
		}
		fmt.Fprintf(&nodes, `</place><transition id="t%d"/><arc id="i%d" source="p%d" target="t%d"/><arc id="o%d" source="t%d" target="p%d"/>`,
			i, i, i, i, i, i, (i+1)%places)
	}
	e := newEngine(t, Config{Source: "s", Nets: []NetConfig{{Tables: netOf(t, nodes.String())}}, Instances: 1, Workers: 1, Firings: places + 7})
	runToEnd(t, e)
	if r, err := e.Report(t.Context()); err != nil || r.Marking["p7"] != 1 {
		t.Errorf("%v, marking %v; expected the token to have come round", err, r.Marking)
	}
}

// Something else that happens in an instance while a delay runs, and another
// delay that begins, leave it as it is.
func TestAPendingDelayIsNeverLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, err := ReadBindings(strings.NewReader(`nets: {n: {transitions: {slow: {delay: 10s}, quick: {delay: 3s}, other: manual}}}`), "b.yaml")
		if err != nil {
			t.Fatal(err)
		}
		net, err := b.Bind(netOf(t, `<place id="p"><initialMarking><text>1</text></initialMarking></place><place id="r"/><place id="q"/>
			<transition id="slow"/><transition id="quick"/><transition id="other"/>
			<arc id="1" source="p" target="slow"/><arc id="2" source="slow" target="q"/>
			<arc id="3" source="r" target="quick"/><arc id="4" source="other" target="r"/>`), action.Peers{})
		if err != nil {
			t.Fatal(err)
		}
		e := newEngine(t, Config{Source: "s", Nets: []NetConfig{net}, Instances: 1, Workers: 1})
		defer start(t, e)()
		for range 9 {
			time.Sleep(time.Second)
			if err := e.Fire(t.Context(), "n", 0, "other"); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if m, err := e.Marking(t.Context(), "n", 0); err != nil || m[0] != 1 {
			t.Errorf("%v, marking %v after 9 s; expected the token to be in p", err, m)
		}
		time.Sleep(time.Second + time.Millisecond)
		synctest.Wait()
		if m, err := e.Marking(t.Context(), "n", 0); err != nil || m[2] != 1 {
			t.Errorf("%v, marking %v after 10 s; expected the token to be in q", err, m)
		}
	})
}
