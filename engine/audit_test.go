// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/internal/lograte"
	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/telemetry"
)

// Each request is kept before its answer, and published, with what it was about.
func TestRequestsAreAudited(t *testing.T) { natstest.Bubble(t, requestsAreAudited) }

func requestsAreAudited(t *testing.T) {
	nc := natstest.Client(t)
	published, err := nc.SubscribeSync(telemetry.Subjects{}.Audits())
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var kept []telemetry.Action
	keep := func(a telemetry.Action) error {
		mu.Lock()
		defer mu.Unlock()
		if a.At.IsZero() {
			t.Error("an action has no time")
		}
		a.At = time.Time{}
		kept = append(kept, a)
		if a.Comment == "fails" {
			return errors.New("disk full")
		}
		return nil
	}
	var logged bytes.Buffer
	log := slog.New(slog.NewTextHandler(&logged, nil))
	e := newEngine(t, Config{Source: "s 1", Audit: keep, Log: log, Nets: []NetConfig{{Tables: petritest.Compile(t, line(2)), Transitions: fire(plain.Mode{Kind: plain.Manual}, plain.Mode{Kind: plain.Manual})}}, Instances: 12, Workers: 2})
	stop := start(t, e)
	end, err := Serve(e, nc, telemetry.Subjects{}, time.Hour, log)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		stop()
		if err := end(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	kim := telemetry.Who{By: "kim@desk", Comment: "by mail"}
	for _, c := range []struct {
		kind, body string
		who        telemetry.Who
		want       telemetry.Action
	}{
		{"fire", `{"instance":"s 1/07","transition":"t0"}`, kim, telemetry.Action{Instance: "s 1/07", Transition: "t0", OK: true}},
		{"inject", `{"instance":7,"place":"p1","tokens":2}`, telemetry.Who{}, telemetry.Action{Instance: "s 1/07", Place: "p1", Tokens: 2, OK: true}},
		{"inject", `{"instance":7,"place":"p1"}`, telemetry.Who{By: "kim", Comment: "fails"}, telemetry.Action{Instance: "s 1/07", Place: "p1", Tokens: 1, OK: true}},
		{"fire", `{"instance":"s 1/7","transition":"t0"}`, kim, telemetry.Action{Transition: "t0", Error: `no such instance: "s 1/7"; expected a name such as "s 1/00"`}},
		{"fire", `{"instance":3,"transition":"x"}`, kim, telemetry.Action{Instance: "s 1/03", Transition: "x", Error: `net "line", transition "x": no such transition`}},
		{"fire", `garbage`, telemetry.Who{}, telemetry.Action{Error: `invalid character 'g' looking for beginning of value; expected {"instance":0,"transition":"id","data":{}}`}},
	} {
		c.want.Source, c.want.Kind, c.want.Net, c.want.Who = "s 1", c.kind, "line", c.who
		answer, err := nc.RequestMsg(&nats.Msg{Subject: "petrinet.v1." + c.kind + ".line.s=201", Header: c.who.Header(), Data: []byte(c.body)}, patience)
		if err != nil || strings.HasPrefix(string(answer.Data), `{"ok":true`) != c.want.OK {
			t.Fatalf("%s: got %s, %v", c.body, answer.Data, err)
		}
		mu.Lock()
		if d := cmp.Diff(c.want, kept[len(kept)-1]); d != "" {
			t.Errorf("%s: kept (-want +got):\n%s", c.body, d)
		}
		mu.Unlock()
		m, err := published.NextMsg(patience)
		if err != nil {
			t.Fatal(err)
		}
		a, err := telemetry.ReadAction(telemetry.Subjects{}, m)
		if since := time.Since(a.At); since < 0 || since > time.Minute {
			t.Errorf("%s: done %v ago", c.body, since)
		}
		a.At = (time.Time{})
		if err != nil || cmp.Diff(c.want, a) != "" {
			t.Errorf("%s: published %v (-want +got):\n%s", c.body, err, cmp.Diff(c.want, a))
		}
	}
	if got := logged.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, `audit log not written`) || !strings.Contains(got, "by=kim") || !strings.Contains(got, "s 1/07") {
		t.Errorf("got the log\n%s\nwant the action that was not kept", got)
	}
}

// Messages and signals are kept, those of an engine under its name. Only those that are
// about a net are published.
func TestEventsAreAudited(t *testing.T) { natstest.Bubble(t, eventsAreAudited) }

func eventsAreAudited(t *testing.T) {
	nc := natstest.Client(t)
	var mu sync.Mutex
	var kept []telemetry.Action
	e := newEngine(t, Config{Source: "s", Audit: func(a telemetry.Action) error {
		mu.Lock()
		defer mu.Unlock()
		a.At = time.Time{}
		kept = append(kept, a)
		return nil
	}, Nets: eventNets(t, eventNet("events", "a=1", "b=1", "pay: a > c catches message paid", "stop: b > c catches signal stop")), Instances: 1, Workers: 1})
	stop := start(t, e)
	end, err := Serve(e, nc, telemetry.Subjects{}, time.Hour, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		stop()
		if err := end(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	for _, c := range []struct{ subject, body string }{
		{"message.paid.s", `{}`}, {"message.other.s", `{}`}, {"signal.stop", `{"source":"other"}`}, {"signal.stop", `{"source":"s"}`}, {"signal.stop", `{}`},
	} {
		ask(t, nc, "petrinet.v1."+c.subject, c.body)
	}
	mu.Lock()
	defer mu.Unlock()
	for i := range kept {
		if kept[i].Error != "" {
			kept[i].Error = "why"
		}
	}
	want := []telemetry.Action{
		{Source: "s", Kind: "message", Event: "paid", Net: "events", Instance: "s/0", Transition: "pay", OK: true},
		{Source: "s", Kind: "message", Event: "other", Error: "why"},
		{Source: "s", Kind: "signal", Event: "stop", Who: telemetry.Who{By: "source other"}, OK: true},
		{Source: "s", Kind: "signal", Event: "stop", OK: true},
	}
	if d := cmp.Diff(want, kept); d != "" {
		t.Error(d)
	}
}

// A client that sends requests without end that are refused does not fill the audit log: it
// has a hundred of them at once, and then one a second. What is done is kept in any case.
func TestRefusedRequestsAreAuditedAtABoundedRate(t *testing.T) {
	natstest.Bubble(t, refusedRequestsAreAuditedAtABoundedRate)
}

func refusedRequestsAreAuditedAtABoundedRate(t *testing.T) {
	nc := natstest.Client(t)
	var mu sync.Mutex
	var done, refused int
	keep := func(a telemetry.Action) error {
		mu.Lock()
		defer mu.Unlock()
		if a.OK {
			done++
		} else {
			refused++
		}
		return nil
	}
	log := slog.New(slog.DiscardHandler)
	e := newEngine(t, Config{Source: "s 1", Audit: keep, Log: log, Nets: []NetConfig{{Tables: petritest.Compile(t, line(2)), Transitions: fire(plain.Mode{Kind: plain.Manual}, plain.Mode{Kind: plain.Manual})}}, Instances: 12, Workers: 2})
	stop := start(t, e)
	end, err := Serve(e, nc, telemetry.Subjects{}, time.Hour, log)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		stop()
		if err := end(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	began := time.Now()
	for i, body := range append(slices.Repeat([]string{"garbage"}, 1000), `{"instance":7,"transition":"t0"}`) {
		answer, err := nc.Request("petrinet.v1.fire.line.s=201", []byte(body), time.Minute)
		if err != nil || strings.HasPrefix(string(answer.Data), `{"ok":true`) != (body != "garbage") {
			t.Fatalf("request %d: got %s, %v", i, answer.Data, err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if most := lograte.Burst + 1 + int(time.Since(began).Seconds()); done != 1 || refused < lograte.Burst || refused > most {
		t.Errorf("%d requests that were done and %d that were refused are kept; expected 1 and at most %d", done, refused, most)
	}
}
