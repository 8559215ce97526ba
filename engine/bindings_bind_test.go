// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/engine/action"
	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/engine/ready"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/bpmn"
	"github.com/pnagent/pnagent/petri/petritest"
)

// office is a net that says itself how some of its transitions fire.
func office() *petri.Net {
	n := &petri.Net{ID: "n", File: "n.bpmn", Places: []petri.Place{{ID: "in", Initial: 1}, {ID: "a"}, {ID: "b"}}, Transitions: []petri.Transition{
		{ID: "event", Pos: petri.Pos{Line: 10, Column: 1}, Trigger: petri.Trigger{Kind: petri.TriggerEvent}},
		{ID: "delay", Pos: petri.Pos{Line: 11, Column: 1}, Trigger: petri.Trigger{Kind: petri.TriggerDelay, Micros: 5e6}},
		{ID: "time", Pos: petri.Pos{Line: 12, Column: 1}, Trigger: petri.Trigger{Kind: petri.TriggerTime, Micros: 7e6}},
		{ID: "work", Pos: petri.Pos{Line: 13, Column: 1}, Trigger: petri.Trigger{Kind: petri.TriggerWork, Name: "w"}},
		{ID: "guarded", Pos: petri.Pos{Line: 14, Column: 1}, Guard: "!(x > 1) && (y)"},
		{ID: "split", Pos: petri.Pos{Line: 15, Column: 1}},
		{ID: "source", Pos: petri.Pos{Line: 16, Column: 1}},
	}}
	for _, tr := range n.Transitions[:6] {
		n.Arcs = append(n.Arcs, petri.Arc{ID: "to-" + tr.ID, Source: "in", Target: tr.ID, Weight: 1})
	}
	n.Arcs = append(n.Arcs,
		petri.Arc{ID: "to-a", Source: "split", Target: "a", Kind: petri.Branch, Weight: 1, Guard: "x > 1", Pos: petri.Pos{Line: 20, Column: 2}},
		petri.Arc{ID: "to-b", Source: "split", Target: "b", Kind: petri.Branch, Weight: 1, Default: true},
		petri.Arc{ID: "from-source", Source: "source", Target: "in", Weight: 1})
	return n
}

func bindOf(t *testing.T, n *petri.Net, lines ...string) (NetConfig, error) {
	t.Helper()
	text := "nets:\n  n:\n    transitions:\n      " + strings.Join(lines, "\n      ") + "\n"
	if len(lines) == 0 {
		text = ""
	}
	b, err := ReadBindings(strings.NewReader(text), "b.yaml")
	if err != nil {
		return NetConfig{}, err
	}
	return b.Bind(petritest.Compile(t, n), action.Peers{})
}

func at(net NetConfig, id string) *Transition {
	i, _ := net.Tables.TransitionIndex(id)
	return &net.Transitions[i]
}

// holds asks a guard about one token.
func holds(g coloured.Guard, data string) bool {
	return g([]coloured.Placed{{Token: coloured.Token{Data: []byte(data)}}}, 0).OK
}

func TestWithoutBindingsANetIsAsItDeclaresItself(t *testing.T) {
	for name, bind := range map[string]func() (NetConfig, error){
		"an empty file": func() (NetConfig, error) { return bindOf(t, office()) },
		"no file": func() (NetConfig, error) {
			return (*Bindings)(nil).Bind(petritest.Compile(t, office()), action.Peers{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			n, err := bind()
			if err != nil {
				t.Fatal(err)
			}
			var modes []plain.Mode
			for _, tr := range n.Transitions {
				modes = append(modes, tr.Mode)
			}
			want := []plain.Mode{{Kind: plain.Manual}, {Kind: plain.Delayed, Delay: plain.Delay{A: 5e6}}, {Kind: plain.Delayed}, {}, {}, {}, {}}
			if d := cmp.Diff(want, modes); d != "" {
				t.Error(d)
			}
			if due := at(n, "time").Due; due(3e6) != 7e6 || due(8e6) != 8e6 {
				t.Error("due at", due(3e6), due(8e6))
			}
			if g := at(n, "guarded").Guard; !holds(g, `{"x":1,"y":true}`) || holds(g, `{"x":2,"y":true}`) || holds(g, `{"x":1}`) {
				t.Error("the guard of the net is not asked")
			}
			if b := at(n, "split").Branches; len(b) != 2 || b[1] != nil || !holds(b[0], `{"x":2}`) || holds(b[0], `{"x":1}`) {
				t.Error("the guards of the branches are not asked")
			}
			if n.Priority != nil || n.Bound != 0 || n.plain() {
				t.Errorf("%+v", n)
			}
		})
	}
}

func TestBindingsReplaceWhatTheNetDeclares(t *testing.T) {
	n, err := bindOf(t, office(),
		`event: immediate`,
		`delay: {guard: "x == 7"}                              # still after its delay`,
		`time:  {command: [sh], retry: {first: 2s, attempts: 3}} # at once`,
		`work:  {command: {args: [sh, -c, "exit 3"], dir: /}, delay: 1s, timeout: 9s, retry: {first: 1s, max: 1m, factor: 1.5}}`,
		`guarded: {manual: true, guard: "z"}`,
		`source: {at: "02:00 UTC"}`,
	)
	if err != nil {
		t.Fatal(err)
	}
	got := slicesOf(n.Transitions, func(tr Transition) any {
		return []any{tr.Mode, tr.Due != nil, tr.Guard != nil, tr.Action != nil, tr.Timeout, tr.Retry}
	})
	delay := func(a float64) plain.Mode { return plain.Mode{Kind: plain.Delayed, Delay: plain.Delay{A: a}} }
	want := []any{
		[]any{plain.Mode{}, false, false, false, time.Duration(0), Retry{}},
		[]any{delay(5e6), false, true, false, time.Duration(0), Retry{}},
		[]any{plain.Mode{}, false, false, true, time.Duration(0), Retry{First: 2 * time.Second, Attempts: 3}},
		[]any{delay(1e6), false, false, true, 9 * time.Second, Retry{First: time.Second, Max: time.Minute, Factor: 1.5}},
		[]any{plain.Mode{Kind: plain.Manual}, false, true, false, time.Duration(0), Retry{}},
		[]any{plain.Mode{}, false, false, false, time.Duration(0), Retry{}},
		[]any{delay(0), true, false, false, time.Duration(0), Retry{}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if !holds(at(n, "guarded").Guard, `{"x":2,"z":true}`) {
		t.Error("the guard of the net is asked, not that of the bindings")
	}
	if due := at(n, "source").Due(0); due != 2*3600e6 {
		t.Error("due at", due)
	}
	if _, err := at(n, "work").Action(t.Context(), &action.Run{}); err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Error(err)
	}
}

func slicesOf[T, U any](in []T, f func(T) U) (out []U) {
	for _, v := range in {
		out = append(out, f(v))
	}
	return out
}

func TestActionsOfEveryForm(t *testing.T) {
	read := func(text string) binding {
		t.Helper()
		b, err := ReadBindings(strings.NewReader("nets: {n: {transitions: {t: "+text+"}}}"), "b.yaml")
		if err != nil {
			t.Fatal(err)
		}
		return b.nets["n"].transitions["t"]
	}
	for text, want := range map[string]action.Performer{
		`{nats: {subject: pay.card, timeout: 5s}}`: action.NATS{Subject: "pay.card", Timeout: 5 * time.Second},
		`{nats: {subject: pay.card}, timeout: 7s}`: action.NATS{Subject: "pay.card", Timeout: 8 * time.Second},
		`{timeout: 7s, http: {url: "http://a/b"}}`: action.HTTP{URL: "http://a/b", Timeout: 8 * time.Second},
		`{http: {url: "http://a/b", method: PUT, timeout: 1m, headers: {A: b, C: {env: D}, E: {file: f}}}}`: action.HTTP{URL: "http://a/b", Method: "PUT", Timeout: time.Minute,
			Headers: map[string]action.Secret{"A": {Value: "b"}, "C": {Env: "D"}, "E": {File: "f"}}},
		`{command: [a, "b c", 010, true]}`:               action.Command{Args: []string{"a", "b c", "010", "true"}},
		`{command: {args: [a], dir: /srv, timeout: 1m}}`: action.Command{Args: []string{"a"}, Dir: "/srv", Timeout: time.Minute},
		`{guard: x}`: nil,
	} {
		if d := cmp.Diff(want, read(text).action); d != "" {
			t.Errorf("%s: %s", text, d)
		}
	}
}

func TestPrioritiesOfInstances(t *testing.T) {
	b, err := ReadBindings(strings.NewReader("nets: {n: {priority: 3, instances: {500: 5, 0-99: 7, 100-100: 0}, bound: 1000}}"), "b.yaml")
	if err != nil {
		t.Fatal(err)
	}
	n, err := b.Bind(petritest.Compile(t, netWith("t")), action.Peers{})
	if err != nil {
		t.Fatal(err)
	}
	for instance, want := range map[int]ready.Priority{0: 7, 99: 7, 100: 0, 101: 3, 499: 3, 500: 5, 501: 3} {
		if got := n.Priority(instance); got != want {
			t.Errorf("instance %d has %s, want %s", instance, got, want)
		}
	}
	if n.Bound != 1000 {
		t.Error(n.Bound)
	}
}

func TestFaultsInHowATransitionFires(t *testing.T) {
	for _, c := range []struct{ name, line, want string }{
		{"two modes", `work: {delay: 1s, manual: true}`, `4:25: a second key "manual" for when it fires`},
		{"manual is no yes", `work: {manual: yes}`, `4:22: found "yes"; expected true`},
		{"no time of day", `work: {at: noon}`, `4:18: found "noon"; expected a time of day`},
		{"no zone", `work: {at: "17:30 Mars/Olympus"}`, `4:18: found the time zone "Mars/Olympus"`},
		{"two actions", `work: {command: [a], nats: {subject: b}}`, `4:28: a second action "nats"`},
		{"an empty guard", `work: {guard: ""}`, `4:21: found ""; expected an expression`},
		{"a list for a guard", `work: {guard: [a]}`, `4:21: found a sequence; expected an expression`},
		{"an invalid guard", `work: {guard: "amount <"}`, `4:21: the guard: column 8: unexpected token EOF; expected an expression such as`},
		{"a guard without tokens", `source: {guard: "x"}`, `4:7: transition "source": a guard, but no input arc`},
		{"an empty mapping", `work: {}`, `4:13: found a mapping; expected immediate, manual, or a mapping`},
		{"no time to act in", `work: {command: [sh], timeout: 0s}`, `4:38: found "0s"; expected a duration above 0`},
		{"idempotent or not", `work: {command: [sh], idempotent: yes}`, `4:41: found "yes"; expected true`},
		{"idempotent without an action", `work: {idempotent: true}`, `4:7: transition "work": idempotent without an action`},
		{"a timeout of nothing", `work: {timeout: 1s}`, `4:7: transition "work": a time limit without an action`},
		{"a retry of nothing", `work: {retry: {first: 1s}}`, `4:7: transition "work": a retry without an action or a guard`},
		{"retries that get shorter", `work: {command: [sh], retry: {first: 1m, max: 1s}}`, `4:7: transition "work": retries after at most 1s, but first after 1m0s`},
		{"a factor below 1", `work: {retry: {factor: 0.5}}`, `4:30: found "0.5"; expected a number from 1`},
		{"no attempts", `work: {retry: {attempts: 0}}`, `4:32: found "0"; expected a whole number of 1 or more`},
		{"an unknown key of a retry", `work: {retry: {last: 1s}}`, `4:22: unknown key "last"; expected first, max, factor or attempts`},
		{"an unknown key of nats", `work: {nats: {topic: a}}`, `4:21: unknown key "topic"; expected subject or timeout`},
		{"an unknown key of http", `work: {http: {uri: a}}`, `4:21: unknown key "uri"; expected url, method`},
		{"an unknown key of a command", `work: {command: {cwd: a}}`, `4:24: unknown key "cwd"; expected args, dir or timeout`},
		{"an unknown key of a header", `work: {http: {headers: {A: {vault: b}}}}`, `4:35: unknown key "vault"; expected a value, {env: NAME}`},
		{"two sources of a header", `work: {http: {headers: {A: {env: b, file: c}}}}`, `4:43: a second key "file"`},
		{"a command in one text", `work: {command: "rm -rf"}`, `4:23: found "rm -rf"; expected a list of a program`},
		{"no command", `work: {command: []}`, `4:23: found a sequence; expected a list of a program`},
		{"a list in a command", `work: {command: [a, [b]]}`, `4:27: found a sequence; expected a text`},
		{"no subject", `work: {nats: {}}`, `4:14: found the subject ""; expected one without wildcards`},
		{"a subject with a wildcard", `work: {nats: {subject: pay.*}}`, `4:14: found the subject "pay.*"`},
		{"no connection", `work: {nats: {subject: pay}}`, `4:14: an action over NATS without a connection`},
		{"no URL", `work: {http: {url: pay}}`, `4:14: found no URL; expected one such as`},
		{"no program", `work: {command: [pnagent-no-such-program]}`, `4:14: no program "pnagent-no-such-program"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := bindOf(t, office(), c.line)
			if err == nil || !strings.HasPrefix(err.Error(), "b.yaml:"+c.want) {
				t.Errorf("got  %v\nwant b.yaml:%s…", err, c.want)
			}
		})
	}
}

func TestFaultsInPriorities(t *testing.T) {
	for text, want := range map[string]string{
		`priority: 8`:                 `b.yaml:1:20: found "8"; expected a priority from 0`,
		`priority: -1`:                `b.yaml:1:20: found "-1"; expected a priority from 0`,
		`bound: 0`:                    `b.yaml:1:17: found "0"; expected a whole number of 1 or more`,
		`instances: 7`:                `b.yaml:1:21: found "7"; expected a mapping from numbers`,
		`instances: {a: 7}`:           `b.yaml:1:22: found "a"; expected the number of an instance`,
		`instances: {9-1: 7}`:         `b.yaml:1:22: found "9-1"; expected the number of an instance`,
		`instances: {1: 9}`:           `b.yaml:1:25: found "9"; expected a priority`,
		`instances: {1-9: 7, 5: 1}`:   `b.yaml:1:30: instances 5 a second time`,
		`instances: {5: 1, 1-9: 7}`:   `b.yaml:1:28: instances 1-9 a second time`,
		`instances: {5-9: 1, 1-5: 7}`: `b.yaml:1:30: instances 1-5 a second time`,
		`colour: red`:                 `b.yaml:1:12: unknown key "colour"; expected transitions, priority, instances, bound, conditions, regions, merge or simulate`,
		`conditions: lenient`:         `b.yaml:1:13: found "lenient"; expected strict or coerced`,
	} {
		_, err := ReadBindings(strings.NewReader("nets: {n: {"+strings.TrimPrefix(text, " ")+"}}"), "b.yaml")
		if err == nil || !strings.HasPrefix(err.Error(), want[:9]) || !strings.Contains(err.Error(), strings.SplitN(want, ": ", 2)[1]) {
			t.Errorf("%s: got  %v\nwant %s", text, err, want)
		}
	}
}

func TestAllFaultsAreFoundAtOnce(t *testing.T) {
	n := office()
	n.Transitions[4].Guard = "1 +"
	n.Arcs[6].Guard = "x >"
	_, err := bindOf(t, n, `unknown: manual`, `work: {nats: {subject: a b}, guard: "("}`)
	if err == nil {
		t.Fatal("no fault")
	}
	want := []string{
		`n.bpmn:14:1: the guard of transition "guarded": column 3: `,
		`n.bpmn:20:2: the guard of arc "to-a": column 3: `,
		`b.yaml:4:7: net "n" has no transition "unknown"; expected the id of one of its 7 transitions`,
		`b.yaml:5:14: found the subject "a b"`,
		`b.yaml:5:43: the guard: column 1: `,
	}
	got := strings.Split(err.Error(), "\n")
	if len(got) != len(want) {
		t.Fatalf("got %d faults\n%v", len(got), err)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("got  %s\nwant %s…", got[i], want[i])
		}
	}
}

// A fault in one place of the file hides none in another place, and makes no second one.
func TestFaultsOfFormHideNoOthers(t *testing.T) {
	text := "nets:\n  n:\n    transitions:\n      unknown: {manual: yes}\n      work: {guard: \"(\", timeout: never}\n      guarded: {guard: \"x >\"}\n    priority: 9\n"
	b, err := ReadBindings(strings.NewReader(text), "b.yaml")
	if err == nil || b == nil {
		t.Fatalf("%v, %v", b, err)
	}
	_, more := b.Bind(petritest.Compile(t, office()), action.Peers{})
	want := []string{
		`b.yaml:4:25: found "yes"`, `b.yaml:5:35: found "never"`, `b.yaml:7:15: found "9"`,
		`b.yaml:4:7: net "n" has no transition "unknown"`, `b.yaml:5:21: the guard: `, `b.yaml:6:24: the guard: `,
	}
	got := strings.Split(errors.Join(err, more).Error(), "\n")
	if len(got) != len(want) {
		t.Fatalf("got %d faults\n%s", len(got), strings.Join(got, "\n"))
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("got  %s\nwant %s…", got[i], want[i])
		}
	}
}

func TestAGuardOfTheBindingsReplacesOneOfTheNetThatIsNone(t *testing.T) {
	n := office()
	n.Transitions[4].Guard = "as the manager says"
	if _, err := bindOf(t, n); err == nil || !strings.HasPrefix(err.Error(), `n.bpmn:14:1: the guard of transition "guarded"`) {
		t.Error(err)
	}
	if _, err := bindOf(t, n, `guarded: {guard: "x > 1"}`); err != nil {
		t.Error(err)
	}
}

func TestTransitionsInGoAreChecked(t *testing.T) {
	tables := petritest.Compile(t, office())
	good := func(t *testing.T) []Transition {
		t.Helper()
		all, err := Declared(tables)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	yes := func([]coloured.Placed, int64) coloured.Verdict { return coloured.Verdict{OK: true} }
	for _, c := range []struct {
		name string
		do   func([]Transition)
		want string
	}{
		{"nothing wrong", func([]Transition) {}, ""},
		{"no such kind", func(all []Transition) { all[0].Mode.Kind = 9 }, `n.bpmn:10:1: transition "event": kind 9`},
		{"due but not delayed", func(all []Transition) { all[2].Mode.Kind = plain.Immediate }, `n.bpmn:12:1: transition "time": a due time, but not delayed`},
		{"a negative delay", func(all []Transition) { all[1].Mode.Delay.A = -1 }, `n.bpmn:11:1: transition "delay": a delay of -1 and 0 µs`},
		{"a guard without tokens", func(all []Transition) { all[6].Guard = yes }, `n.bpmn:16:1: transition "source": a guard, but no input arc`},
		{"no guard for that of the net", func(all []Transition) { all[4].Guard = nil }, `n.bpmn:14:1: transition "guarded": no function is bound to its guard "!(x > 1) && (y)"`},
		{"no guards for branches", func(all []Transition) { all[5].Branches = nil }, `n.bpmn:15:1: transition "split": no function is bound to the guard "x > 1" of arc "to-a"`},
		{"a guard too few", func(all []Transition) { all[5].Branches = all[5].Branches[:1] }, `n.bpmn:15:1: transition "split": 1 guards of branches; expected 2`},
		{"a guard for the default", func(all []Transition) { all[5].Branches[1] = yes }, `n.bpmn:15:1: transition "split": a guard of arc "to-b", which is the default`},
		{"a negative time limit", func(all []Transition) { all[3].Timeout = -1 }, `n.bpmn:13:1: transition "work": a time limit of -1µs`},
		{"a negative retry", func(all []Transition) { all[4].Retry.First = -1 }, `n.bpmn:14:1: transition "guarded": retries after -1µs to 0s`},
		{"a small factor", func(all []Transition) { all[4].Retry.Factor = 0.1 }, `n.bpmn:14:1: transition "guarded": a retry factor of 0.1`},
		{"negative attempts", func(all []Transition) { all[4].Retry.Attempts = -1 }, `n.bpmn:14:1: transition "guarded": -1 attempts`},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := good(t)
			c.do(all)
			err := CheckTransitions(tables, all)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
	if err := CheckTransitions(tables, make([]Transition, 2)); err == nil || !strings.Contains(err.Error(), "2 bindings for the 7 transitions") {
		t.Error(err)
	}
}

func TestShortTimesAreNotNone(t *testing.T) {
	tr := Transition{Timeout: 1, Retry: Retry{First: time.Microsecond + 1, Max: time.Second}}
	if b := tr.binding(); b.Timeout != 1 || b.Retry.First != 2 || b.Retry.Max != 1e6 {
		t.Errorf("%+v", b)
	}
}

// Guards of files that people have drawn are expressions, or are refused where
// they stand.
func TestGuardsOfTheCorpus(t *testing.T) {
	files, _ := filepath.Glob("../../shared/corpus/bpmn/*.bpmn")
	if len(files) == 0 {
		t.Skip("the corpus is not here")
	}
	guards, refused := 0, 0
	for _, name := range files {
		r, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := bpmn.Read(r, filepath.Base(name), bpmn.DefaultLimits())
		r.Close()
		if err != nil {
			continue // what is not built is refused there
		}
		for _, n := range file.Nets {
			tables, err := petri.Compile(n)
			if err != nil {
				t.Fatal(err)
			}
			all, err := Declared(tables)
			if err != nil {
				if want := filepath.Base(name) + ":"; !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), ": the guard of transition ") {
					t.Errorf("%s: %v", name, err)
				}
				refused++ // words for people
				continue
			}
			for _, tr := range all {
				if tr.Guard != nil || tr.Branches != nil {
					guards++
				}
			}
		}
	}
	if guards == 0 || refused > 1 {
		t.Errorf("%d transitions with guards, %d nets refused, in %d files", guards, refused, len(files))
	}
}
