// SPDX-License-Identifier: Apache-2.0

package act

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/engine/action"
	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

func TestMain(m *testing.M) { natstest.Main(m) }

// order is a net with a transition for each reason for which a token waits. Each takes a
// token from its own place.
func order() *petri.Net {
	n := &petri.Net{ID: "order", Name: "Order fulfilment"}
	arc := func(from, to string, kind petri.ArcKind) {
		n.Arcs = append(n.Arcs, petri.Arc{ID: from + " " + to, Source: from, Target: to, Kind: kind, Weight: 1})
	}
	n.Places = []petri.Place{{ID: "done", Name: "Done"}, {ID: "empty", Name: "Nothing"}, {ID: "window", Name: "Window", Initial: 1}}
	for _, id := range []string{"sign", "later", "never", "short", "held", "work", "slow"} {
		n.Places = append(n.Places, petri.Place{ID: "for-" + id, Name: "For " + id, Initial: 1})
		n.Transitions = append(n.Transitions, petri.Transition{ID: id, Name: "Do " + id})
		arc("for-"+id, id, petri.Normal)
		arc(id, "done", petri.Normal)
	}
	arc("empty", "short", petri.Normal)
	arc("window", "held", petri.Inhibitor)
	n.Transitions = append(n.Transitions, petri.Transition{ID: "again", Name: "Twice"}, petri.Transition{ID: "again-2", Name: "Twice"})
	arc("empty", "again", petri.Normal)
	arc("empty", "again-2", petri.Normal)
	n.Transitions = append(n.Transitions, petri.Transition{ID: "begin"})
	arc("begin", "for-sign", petri.Normal)
	return n
}

// bindings make the transitions wait. work fails until it may succeed.
const bindings = `nets: {order: {transitions: {
  sign: manual, short: manual, held: manual, again: manual, again-2: manual, begin: manual,
  later: {delay: 1h}, never: {guard: "false"},
  work: {nats: {subject: act.work}, timeout: 30s, retry: {first: 1ms, attempts: 1}},
  slow: {nats: {subject: act.slow, timeout: 1h}, timeout: 1h}}}}`

// world is a NATS server with an engine.
type world struct {
	*engine.Engine
	server  natstest.Server
	client  *Client
	succeed atomic.Bool // the action of work
}

// newWorld starts an engine of order, named berlin, with 12 instances.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{server: natstest.Run(t)}
	peer := natstest.Connect(t, w.server)
	subscribe(t, peer, "act.work", func(m *nats.Msg) {
		if w.succeed.Load() {
			_ = m.Respond([]byte(`{}`))
			return
		}
		_ = m.Respond([]byte(`{"error":"no paper"}`))
	})
	subscribe(t, peer, "act.slow", func(*nats.Msg) {})
	bound, err := engine.ReadBindings(strings.NewReader(bindings), "b.yaml")
	if err != nil {
		t.Fatal(err)
	}
	nc := natstest.Connect(t, w.server)
	net, err := bound.Bind(petritest.Compile(t, order()), action.Peers{NATS: nc})
	if err != nil {
		t.Fatal(err)
	}
	if w.Engine, err = engine.New(engine.Config{Source: "berlin", Nets: []engine.NetConfig{net}, Instances: 12, Workers: 2, Actions: 100}); err != nil {
		t.Fatal(err)
	}
	run(t, w.Engine)
	end, err := engine.Serve(w.Engine, nc, telemetry.Subjects{}, time.Hour, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil { // the server has the subscriptions
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := end(context.Background()); err != nil {
			t.Error(err)
		}
	})
	w.client = &Client{Conn: natstest.Connect(t, w.server), By: "kim@desk"}
	w.until(t, "work", "incident")
	w.until(t, "slow", "running")
	return w
}

func run(t *testing.T, e *engine.Engine) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := e.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
}

func subscribe(t *testing.T, nc *nats.Conn, subject string, answer nats.MsgHandler) {
	t.Helper()
	if _, err := nc.Subscribe(subject, answer); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
}

// until waits until a token of berlin/07 waits for a transition for a reason.
func (w *world) until(t *testing.T, transition, reason string) {
	t.Helper()
	for ; ; w.pause() {
		i, err := w.Instance(t.Context(), "order", "berlin/07")
		if err != nil {
			t.Fatal(err)
		}
		for _, token := range i.Tokens {
			if slices.ContainsFunc(token.Waits, func(wait telemetry.InstanceWait) bool { return wait.Transition == transition && wait.Reason == reason }) {
				return
			}
		}
	}
}

// pause lets the engine work between two looks.
func (w *world) pause() { <-time.After(time.Millisecond) }

func (w *world) marking(t *testing.T, number int) []uint32 {
	t.Helper()
	m, err := w.Marking(t.Context(), "order", number)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A dry run says what the engine then does, and changes nothing.
func TestADryRunSaysWhatTheEngineDoes(t *testing.T) { natstest.Bubble(t, aDryRunSaysWhatTheEngineDoes) }

func aDryRunSaysWhatTheEngineDoes(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		r      Request
		reason string // for which the token waits
		fault  string // "" if the engine does it
	}{
		{Request{Verb: Fire, Element: "sign"}, "manual", ""},
		{Request{Verb: Fire, Element: "Do sign"}, "", "no token waits for it"}, // it has fired
		{Request{Verb: Fire, Element: "later"}, "delayed", ""},
		{Request{Verb: Fire, Element: "begin"}, "", ""},
		{Request{Verb: Fire, Element: "never"}, "guarded", "the guard is false"},
		{Request{Verb: Fire, Element: "short"}, "missing", "waits for a token in Nothing"},
		{Request{Verb: Fire, Element: "held"}, "inhibited", "a token in Window must go first"},
		{Request{Verb: Fire, Element: "slow"}, "running", "the action is running"},
		{Request{Verb: Retry, Element: "work"}, "incident", ""},
		{Request{Verb: Inject, Element: "done", Tokens: 3}, "", ""},
		{Request{Verb: Inject, Element: "Nothing", Tokens: 1}, "", ""},
	} {
		c.r.Net, c.r.Instance, c.r.DryRun = "order", "berlin/07", true
		before := w.marking(t, 7)
		dry, err := w.client.Do(t.Context(), c.r)
		if c.fault == "" && err != nil || c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)) {
			t.Errorf("dry run: %s %s: got %v; want %q", c.r.Verb, c.r.Element, err, c.fault)
		}
		if dry.OK != (err == nil) || !dry.DryRun || dry.Net != "order" || dry.Source != "berlin" || dry.Unknown {
			t.Errorf("dry run: %s %s: %+v", c.r.Verb, c.r.Element, dry)
		}
		if c.reason != "" && (len(dry.Held) != 1 || dry.Held[0].Wait.Reason != c.reason) {
			t.Errorf("dry run: %s %s: held %+v; want one that is %s", c.r.Verb, c.r.Element, dry.Held, c.reason)
		}
		if d := cmp.Diff(before, w.marking(t, 7)); d != "" {
			t.Errorf("the dry run of %s %s changed the marking: %s", c.r.Verb, c.r.Element, d)
		}
		c.r.DryRun = false
		done, err := w.client.Do(t.Context(), c.r)
		if done.OK != dry.OK {
			t.Errorf("%s %s: got %v; the dry run said %v, %q", c.r.Verb, c.r.Element, err, dry.OK, dry.Error)
		}
	}
}

func TestTokensAreInjectedAndFired(t *testing.T) { natstest.Bubble(t, tokensAreInjectedAndFired) }

func tokensAreInjectedAndFired(t *testing.T) {
	w := newWorld(t)
	before := w.marking(t, 3)
	out, err := w.client.Do(t.Context(), Request{Verb: Inject, Net: "Order fulfilment", Instance: "berlin/03", Element: "Done", Tokens: 5})
	if err != nil {
		t.Fatal(err)
	}
	want := &Outcome{Verb: Inject, Net: "order", Instance: "berlin/03", Source: "berlin", Place: "done", Tokens: 5, OK: true, Held: []Held{}}
	if d := cmp.Diff(want, out); d != "" {
		t.Error(d)
	}
	if _, err := w.client.Do(t.Context(), Request{Verb: Fire, Net: "order", Instance: "berlin/03", Element: "sign"}); err != nil {
		t.Fatal(err)
	}
	after := w.marking(t, 3)
	if got := after[0] - before[0]; got != 6 {
		t.Errorf("%d tokens arrived in done, want 6", got)
	}
}

// Why a transition has failed is with the tokens of a place and with those of an instance, which
// the page and the command line show.
func TestAnIncidentHasItsReason(t *testing.T) { natstest.Bubble(t, anIncidentHasItsReason) }

func anIncidentHasItsReason(t *testing.T) {
	w := newWorld(t)
	var def bytes.Buffer
	if err := pnml.Write(&def, order()); err != nil {
		t.Fatal(err)
	}
	found, err := NewTokens(w.client.Conn, telemetry.Subjects{}).Oldest(t.Context(), "order", "berlin", telemetry.Digest(def.Bytes()), "for-work", &stats.Query{Limit: 1, Name: "berlin/07"})
	want := []telemetry.InstanceWait{{Transition: "work", Reason: "incident", What: "no paper"}}
	if err != nil || len(found.Tokens) != 1 || !slices.Equal(found.Tokens[0].Waits, want) {
		t.Errorf("%+v, %v; expected one token with %+v", found, err, want)
	}
	in, err := w.Instance(t.Context(), "order", "berlin/07")
	if err != nil || !slices.ContainsFunc(in.Tokens, func(k telemetry.InstanceToken) bool { return slices.Equal(k.Waits, want) }) {
		t.Errorf("%+v, %v; expected a token with %+v", in, err, want)
	}
}

func TestAnIncidentIsRetried(t *testing.T) { natstest.Bubble(t, anIncidentIsRetried) }

func anIncidentIsRetried(t *testing.T) {
	w := newWorld(t)
	r := Request{Verb: Retry, Net: "order", Instance: "berlin/07", Element: "work"}
	before := w.marking(t, 7)
	if out, err := w.client.Do(t.Context(), r); err != nil || out.Transition != "work" || out.Held[0].Wait.Reason != "incident" || out.Held[0].Wait.What != "no paper" {
		t.Fatalf("%+v, %v", out, err)
	}
	w.until(t, "work", "incident") // it fails again
	w.succeed.Store(true)
	if _, err := w.client.Do(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	for w.marking(t, 7)[0] != before[0]+1 { // until it is done
		w.pause()
	}
	if _, err := w.client.Do(t.Context(), r); err == nil || !strings.Contains(err.Error(), `transition "work" of berlin/07 is no incident: no token waits for it`) {
		t.Errorf("got %v", err)
	}
}

// What is wrong with a name is said with what is there.
func TestErrorsNameWhatIsThere(t *testing.T) { natstest.Bubble(t, errorsNameWhatIsThere) }

func errorsNameWhatIsThere(t *testing.T) {
	w := newWorld(t)
	other := publish(t, w.server, telemetry.Config{Source: "osaka", Acts: "osaka", Instance: nothing})
	other("bills")
	ok := Request{Verb: Fire, Net: "order", Instance: "berlin/07", Element: "sign"}
	for _, c := range []struct {
		change func(r *Request)
		want   string
	}{
		{func(r *Request) { r.Net = "ordr" }, `no source runs net "ordr"; near it: "order"`},
		{func(r *Request) { r.Net = "x" }, `no source runs net "x"; expected one of "bills", "order"`},
		{func(r *Request) { r.Instance = "berlin/99" }, `source "berlin": no such instance: "berlin/99"; expected "berlin/00" to "berlin/11"`},
		{func(r *Request) { r.Instance = "berlin/7" }, `no such instance: "berlin/7"; expected a name such as "berlin/00"`},
		{func(r *Request) { r.Instance = "berlim/07" }, `source "berlim" does not answer; near it: "berlin"`},
		{func(r *Request) { r.Instance = "7" }, `expected a name such as "berlin/00"`},
		{func(r *Request) { r.Source = "tokyo" }, `source "tokyo" does not run net "order"; expected one of "berlin"`},
		{func(r *Request) { r.Source = "osaka" }, `source "osaka" does not run net "order"`},
		{func(r *Request) { r.Element = "sing" }, `net "order" has no transition "sing"; near it: "sign"`},
		{func(r *Request) { r.Element = "Done" }, `net "order": "Done" is no transition; expected one of "again"`},
		{func(r *Request) { r.Element = "Twice" }, `2 transitions are named "Twice": "again", "again-2"; expected an id`},
		{func(r *Request) { r.Verb, r.Element, r.Tokens = Inject, "sign", 1 }, `"sign" is no place; near it: "for-sign"`},
		{func(r *Request) { r.Verb, r.Element = Inject, "done" }, `0 tokens; expected 1 or more`},
		{func(r *Request) { r.Element = "" }, `name of 0 bytes; expected 1 to 255`},
		{func(r *Request) { r.Data = []byte("{") }, `data "{"; expected JSON`},
		{func(r *Request) { r.Data = []byte(`"` + strings.Repeat("x", MaxRequest) + `"`) }, `bytes; expected at most 65536`},
		{func(r *Request) { r.Comment = "a\nb" }, `comment: `},
	} {
		r := ok
		c.change(&r)
		if out, err := w.client.Do(t.Context(), r); err == nil || !strings.Contains(err.Error(), c.want) || out.OK || out.Error != err.Error() {
			t.Errorf("%+v:\ngot  %v\nwant %s", r, err, c.want)
		}
	}
	if got := w.marking(t, 7); got[0] != 0 {
		t.Errorf("marking %v", got)
	}
}

func nothing(int, string) (*telemetry.Instance, error) { return nil, telemetry.ErrNoInstance }
