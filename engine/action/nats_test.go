// SPDX-License-Identifier: Apache-2.0

package action

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/internal/natstest"
)

// serve answers requests to a subject with a message, and returns what it got.
func serve(t *testing.T, nc *nats.Conn, subject string, reply *nats.Msg) <-chan string {
	t.Helper()
	got := make(chan string, 10)
	sub, err := nc.Subscribe(subject, func(m *nats.Msg) {
		got <- string(m.Data)
		if reply != nil {
			_ = m.RespondMsg(reply)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sub.Unsubscribe() })
	return got
}

func TestNATSAsksAndTakesTheReplyAsOutcome(t *testing.T) {
	nc := natstest.Client(t)
	asked := serve(t, nc, "pay.card", &nats.Msg{Data: []byte(`{"data": {"paid": true}}`)})
	f, err := NATS{Subject: "pay.card"}.Func(Peers{NATS: nc})
	if err != nil {
		t.Fatal(err)
	}
	o, err := f(t.Context(), run())
	if d := cmp.Diff(coloured.Outcome{Data: []byte(`{"paid": true}`)}, o); d != "" || err != nil {
		t.Error(d, err)
	}
	if d := cmp.Diff(runAsJSON+"\n", <-asked); d != "" {
		t.Error(d)
	}
}

func TestNATSFailures(t *testing.T) { natstest.Bubble(t, natsFailures) }

func natsFailures(t *testing.T) {
	nc := natstest.Client(t)
	serve(t, nc, "silent", nil)
	serve(t, nc, "garbled", &nats.Msg{Data: []byte("fired")})
	serve(t, nc, "broken", &nats.Msg{Data: []byte(`{}`), Header: nats.Header{"Nats-Service-Error": {"no funds"}, "Nats-Service-Error-Code": {"402"}}})
	for _, c := range []struct{ subject, want string }{
		{"unserved", "asking unserved: nats: no responders"},
		{"silent", "asking silent: no reply in time"},
		{"garbled", "asking garbled: no valid answer"},
		{"broken", "asking broken: the service answers 402 no funds"},
	} {
		f, err := NATS{Subject: c.subject, Timeout: 200 * time.Millisecond}.Func(Peers{NATS: nc})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f(t.Context(), run()); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

func TestNATSEndsWithItsContext(t *testing.T) {
	nc := natstest.Client(t)
	asked := serve(t, nc, "silent", nil)
	f, err := NATS{Subject: "silent", Timeout: time.Hour}.Func(Peers{NATS: nc})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	if _, err := f(ctx, run()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestNATSNeedsASubjectAndAConnection(t *testing.T) {
	for _, subject := range []string{"", "a.*", "a.>", "a b", "a..b", ".a", "a.", "a\n", strings.Repeat("a", 256)} {
		if _, err := (NATS{Subject: subject}).Func(Peers{NATS: &nats.Conn{}}); err == nil || !strings.Contains(err.Error(), "expected one") {
			t.Errorf("%q: %v", subject, err)
		}
	}
	if _, err := (NATS{Subject: "a"}).Func(Peers{}); err == nil || !strings.Contains(err.Error(), "expected the URL of a NATS server") {
		t.Error(err)
	}
}
