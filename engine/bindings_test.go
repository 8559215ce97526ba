// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/engine/action"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

func netWith(transitions ...string) *petri.Net {
	n := &petri.Net{ID: "n"}
	for _, id := range transitions {
		n.Transitions = append(n.Transitions, petri.Transition{ID: id})
	}
	return n
}

func TestBindingsOfEveryForm(t *testing.T) {
	b, err := ReadBindings(strings.NewReader(`
nets:
  other: {transitions: {x: manual}}
  n:
    transitions:
      check:  immediate
      pay:    {delay: {exponential: 2s}}    # mean
      pack:   {delay: {uniform: [1s, 5s]}}
      ship:
        delay: {normal: [4s, 500ms]}
      010: {delay: 100ms}
      arrive: {rate: 30/m}
      "cancel it": manual
`), "b.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tables := petritest.Compile(t, netWith("check", "pay", "pack", "ship", "010", "arrive", "cancel it", "unnamed"))
	bound, err := b.Bind(tables, action.Peers{})
	if err != nil {
		t.Fatal(err)
	}
	got := make([]plain.Mode, len(bound.Transitions))
	for i := range got {
		got[i] = bound.Transitions[i].Mode
	}
	delayed := func(s plain.Shape, a, b float64) plain.Mode {
		return plain.Mode{Kind: plain.Delayed, Delay: plain.Delay{Shape: s, A: a, B: b}}
	}
	want := []plain.Mode{{}, delayed(plain.Exponential, 2e6, 0), delayed(plain.Uniform, 1e6, 5e6), delayed(plain.Normal, 4e6, 5e5),
		delayed(plain.Fixed, 1e5, 0), delayed(plain.Exponential, 2e6, 0), {Kind: plain.Manual}, {}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if f := b.Unused([]*petri.Net{{ID: "n"}, {ID: "other"}}); f != nil {
		t.Error(f)
	}
	if f := b.Unused([]*petri.Net{{ID: "n"}}); len(f) != 1 || f[0].Error() != `b.yaml:3:3: bindings for net "other"; expected one of ["n"]` {
		t.Errorf("bindings for a net that is not there: %v", f)
	}
}

func TestBindingsFaultsNamePositionAndExpectation(t *testing.T) {
	in := func(line string) string { return "nets:\n  n:\n    transitions:\n      " + line + "\n" }
	for _, c := range []struct{ name, text, want string }{
		{"not a mapping", "[1]", "b.yaml:1:1: found a sequence; expected a mapping with the key nets"},
		{"unknown key", "net: {}", `b.yaml:1:1: unknown key "net"; expected nets`},
		{"unknown mode", in("t: sometimes"), `b.yaml:4:10: found "sometimes"; expected immediate, manual`},
		{"unknown kind", in("t: {after: 1s}"), `b.yaml:4:11: unknown key "after"; expected delay, rate, at`},
		{"no unit", in("t: {delay: 5}"), `b.yaml:4:18: found "5"; expected a duration`},
		{"negative", in("t: {delay: -5s}"), `b.yaml:4:18: found "-5s"; expected a duration of 0 or more`},
		{"unknown distribution", in("t: {delay: {gamma: 1s}}"), `b.yaml:4:19: unknown distribution "gamma"`},
		{"end before start", in("t: {delay: {uniform: [2s, 1s]}}"), `b.yaml:4:28: the end is before the start`},
		{"one of two", in("t: {delay: {uniform: [2s]}}"), `b.yaml:4:28: found a sequence; expected a list of two durations`},
		{"rate without unit", in("t: {rate: 5}"), `b.yaml:4:17: found "5"; expected a rate such as`},
		{"rate of nothing", in("t: {rate: 0/s}"), `b.yaml:4:17: found "0/s"; expected a rate such as`},
		{"both", in("t: {rate: 1/s, delay: 1s}"), `b.yaml:4:22: a second key "delay"`},
		{"null", in("t:"), `b.yaml:4:10: found a null; expected immediate`},
		{"not YAML", "nets: {a: [}", `b.yaml:1:`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadBindings(strings.NewReader(c.text), "b.yaml")
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s…", err, c.want)
			}
		})
	}
}

func TestBindingsReportEveryFault(t *testing.T) {
	_, err := ReadBindings(strings.NewReader("nets:\n  n: {transitions: {t: {delay: x}, u: {kind: 1}}, foo: 2}\nbar: 2\n"), "b.yaml")
	if err == nil {
		t.Fatal("bindings with four faults were read")
	}
	at := []string{"b.yaml:2:32: ", "b.yaml:2:40: ", "b.yaml:2:51: ", "b.yaml:3:1: "}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != len(at) {
		t.Fatalf("%d faults, want %d:\n%v", len(lines), len(at), err)
	}
	for i, line := range lines {
		if !strings.HasPrefix(line, at[i]) {
			t.Errorf("%s; want a fault at %s", line, at[i])
		}
	}
}

func TestBindingsNameOnlyTransitionsOfTheNet(t *testing.T) {
	b, err := ReadBindings(strings.NewReader("nets: {n: {transitions: {x: manual, t: manual}}}"), "b.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.Bind(petritest.Compile(t, netWith("t")), action.Peers{})
	if want := `b.yaml:1:26: net "n" has no transition "x"; expected the id of one of its 1 transitions`; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func FuzzReadBindings(f *testing.F) {
	f.Add([]byte("nets: {n: {transitions: {t: {delay: {normal: [4s, 500ms]}}}}}"))
	f.Add([]byte("nets:\n  n:\n    transitions:\n      t: {rate: 5/s}\n"))
	f.Add([]byte("a: &x [1]\nb: *x\n<<: {c: d}"))
	f.Add([]byte("nets: {n: {transitions: {t: {at: '17:30 UTC', guard: 'x > 1', retry: {first: 1s, max: 1m, factor: 2, attempts: 5}}}, priority: 3, instances: {0-99: 7}, bound: 9}}"))
	f.Add([]byte("nets: {n: {transitions: {t: {command: {args: [sh, -c], dir: /, timeout: 1s}, manual: true}}}}"))
	f.Add([]byte("nets: {n: {transitions: {t: {http: {url: 'http://a', method: PUT, headers: {A: {env: B}, C: d}}, rate: 1/s, timeout: 1m}}}}"))
	f.Add([]byte("nets: {n: {transitions: {t: {nats: {subject: a.b, timeout: 1s}}}}}"))
	net := netWith("t")
	net.Places = []petri.Place{{ID: "p"}}
	net.Arcs = []petri.Arc{{ID: "a", Source: "p", Target: "t", Weight: 1}}
	tables := petritest.Compile(f, net)
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := ReadBindings(strings.NewReader(string(text)), "f")
		if b == nil && err == nil {
			t.Fatal("neither bindings nor an error")
		}
		n, more := b.Bind(tables, action.Peers{})
		if err == nil && more == nil && CheckTransitions(tables, n.Transitions) != nil {
			t.Fatal(CheckTransitions(tables, n.Transitions))
		}
	})
}
