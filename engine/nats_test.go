// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/engine/action"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/telemetry"
)

func ask(t *testing.T, nc *nats.Conn, subject, body string) string {
	t.Helper()
	m, err := nc.Request(subject, []byte(body), patience)
	if err != nil {
		t.Fatal(err)
	}
	return string(m.Data)
}

// An engine on NATS: what goes in by request comes out in snapshots, and the
// last snapshot has all of it.
func TestServeTakesRequestsAndPublishesWhatTheyDid(t *testing.T) {
	natstest.Bubble(t, serveTakesRequestsAndPublishesWhatTheyDid)
}

func serveTakesRequestsAndPublishesWhatTheyDid(t *testing.T) {
	nc := natstest.Client(t)
	subjects := telemetry.Subjects{}
	byes, err := nc.SubscribeSync(subjects.Byes())
	if err != nil {
		t.Fatal(err)
	}
	e := newEngine(t, Config{Source: "s 1", Nets: []NetConfig{{Tables: petritest.Compile(t, line(2)), Transitions: fire(plain.Mode{Kind: plain.Manual}, plain.Mode{Kind: plain.Manual})}}, Instances: 2, Workers: 2})
	stop := start(t, e)
	var logged bytes.Buffer
	end, err := Serve(e, nc, subjects, time.Hour, slog.New(slog.NewTextHandler(&logged, nil)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ subject, body, want string }{
		{"petrinet.v1.inject.line.s=201", `{"instance":1,"place":"p1","tokens":2}`, `{"ok":true}`},
		{"petrinet.v1.inject.line.s=201", `{"instance":"s 1/1","place":"p1","tokens":1}`, `{"ok":true}`},
		{"petrinet.v1.fire.line.s=201", `{"instance":0,"transition":"t0"}`, `{"ok":true}`},
		{"petrinet.v1.fire.line.s=201", `{"instance":0,"transition":"t0"}`, `place \"p0\" holds 0 tokens`},
		{"petrinet.v1.fire.line.s=201", `{"instance":7,"transition":"t0"}`, `no such instance`},
		{"petrinet.v1.fire.line.s=201", `{"instance":"elsewhere/0","transition":"t0"}`, `expected a name such as`},
		{"petrinet.v1.fire.line.s=201", `{"instance":true,"transition":"t0"}`, `expected a number, or a name such as`},
		{"petrinet.v1.inject.line.s=201", `{"place":"x"}`, `no such place`},
		{"petrinet.v1.inject.line.s=201", `{"place":"p0","color":"red"}`, `unknown field`},
		{"petrinet.v1.inject.line.s=201", `{"place":"p0","tokens":4000000000}`, `4000000000 tokens in one request; expected at most 10000`},
		{"petrinet.v1.inject.line.s=201", `{"place":"p0","tokens":40000000000}`, `40000000000 tokens in one request; expected at most 10000`},
		{"petrinet.v1.inject.line.s=201", `{"place":"p0","tokens":-1}`, `number -1`},
		{"petrinet.v1.inject.line.s=201", `{"instance":1,"place":"p1","data":null}`, `{"ok":true}`},
		{"petrinet.v1.inject.line.s=201", `{"place":"p0","data":{"order":7}}`, `tokens of this net carry no data`},
		{"petrinet.v1.inject.line.s=201", `nonsense`, `expected {\"instance\"`},
		{"petrinet.v1.inject.line.s=201", strings.Repeat(" ", maxRequest+1), `request of 65537 bytes`},
	} {
		if got := ask(t, nc, c.subject, c.body); !strings.Contains(got, c.want) {
			t.Errorf("%s %s: got %s, want %s", c.subject, c.body, got, c.want)
		}
	}
	stop()
	if err := end(context.Background()); err != nil {
		t.Fatal(err)
	}
	m, err := byes.NextMsg(patience)
	if err != nil {
		t.Fatal(err)
	}
	var d telemetry.Decoder
	var s telemetry.Snapshot
	if err := d.DecodeMsg(subjects, m, &s); err != nil {
		t.Fatal(err)
	}
	if !s.Bye || s.Source != "s 1" || s.Rows.Places[0].Tokens != 1 || s.Rows.Places[1].Tokens != 5 || s.Rows.Transitions[0].Firings != 1 {
		t.Errorf("last snapshot %+v", s)
	}
	if logged.Len() > 0 {
		t.Errorf("logged %s", &logged)
	}
}

// What a request says about tokens is what guards see.
func TestRequestsCarryData(t *testing.T) { natstest.Bubble(t, requestsCarryData) }

func requestsCarryData(t *testing.T) {
	nc := natstest.Client(t)
	bindings, err := ReadBindings(strings.NewReader(`nets: {line: {transitions: {t0: {guard: "amount > 5"}, t1: {manual: true, guard: "!paid"}}}}`), "b.yaml")
	if err != nil {
		t.Fatal(err)
	}
	net := line(2)
	net.Places[0].Initial = 0
	bound, err := bindings.Bind(petritest.Compile(t, net), action.Peers{})
	if err != nil {
		t.Fatal(err)
	}
	e := newEngine(t, Config{Source: "s", Nets: []NetConfig{bound}, Instances: 1, Workers: 1})
	stop := start(t, e)
	defer stop()
	end, err := Serve(e, nc, telemetry.Subjects{}, time.Hour, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := end(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	for _, c := range []struct{ subject, body, want string }{
		{"petrinet.v1.inject.line.s", `{"place":"p0","data":{"amount":3}}`, `{"ok":true}`},
		{"petrinet.v1.fire.line.s", `{"transition":"t1"}`, `not enabled`},
		{"petrinet.v1.inject.line.s", `{"place":"p0","data":{"amount":7}}`, `{"ok":true}`},
		{"petrinet.v1.fire.line.s", `{"transition":"t1","data":{"by":"clerk"}}`, `{"ok":true}`},
		{"petrinet.v1.fire.line.s", `{"transition":"t1"}`, `not enabled`},
	} {
		got := ask(t, nc, c.subject, c.body)
		for c.want == `{"ok":true}` && strings.Contains(got, "not enabled") && t.Context().Err() == nil { // the worker has not played it yet
			got = ask(t, nc, c.subject, c.body)
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s %s: got %s, want %s", c.subject, c.body, got, c.want)
		}
	}
	if m, err := e.Marking(t.Context(), "line", 0); err != nil || m[0] != 1 {
		t.Errorf("marking %v, %v; expected the small amount to be where it was", m, err)
	}
}
