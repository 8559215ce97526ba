// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/telemetry"
)

// onNATS runs an engine of nets on NATS until the returned function is called.
func onNATS(t *testing.T, nc *nats.Conn, source string, instances int, nets ...*petri.Net) (e *Engine, stop func()) {
	t.Helper()
	e = newEngine(t, Config{Source: source, Nets: eventNets(t, nets...), Instances: instances, Workers: 1})
	end, err := Serve(e, nc, telemetry.Subjects{}, time.Hour, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	halt := start(t, e)
	stop = sync.OnceFunc(func() {
		halt()
		if err := end(context.Background()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	flush(t, nc) // the server has its subscriptions
	return e, stop
}

func TestServeTakesMessagesAndSignals(t *testing.T) { natstest.Bubble(t, serveTakesMessagesAndSignals) }

func serveTakesMessagesAndSignals(t *testing.T) {
	nc := natstest.Client(t)
	e, stop := onNATS(t, nc, "s 1", 2, eventNet("orders", "begun: > y catches message new", "paid: w > x catches message paid id", "stop: x > z catches signal stop"))
	for _, c := range []struct{ subject, body, want string }{
		{"petrinet.v1.message.paid.s=201", `{"key":7}`, `{"error":"message \"paid\": no catcher waits for it"}`},
		{"petrinet.v1.inject.orders.s=201", `{"instance":1,"place":"w","data":{"id":7}}`, `{"ok":true}`},
		{"petrinet.v1.message.paid.s=201", ``, `{"error":"message \"paid\": no catcher waits for it"}`},
		{"petrinet.v1.message.paid.s=201", `{"key":"8"}`, `{"error":"message \"paid\": no catcher waits for it"}`},
		{"petrinet.v1.message.paid.s=201", `{"key":"7","data":{"id":7,"sum":3}}`, `{"ok":true,"net":"orders","instance":"s 1/1","transition":"paid"}`},
		{"petrinet.v1.message.new=20order.s=201", `{}`, `{"error":"message \"new order\": no catcher waits for it"}`},
		{"petrinet.v1.message.new.s=201", `{"data":[1]}`, `{"ok":true,"net":"orders","instance":"s 1/0","transition":"begun","begun":true}`},
		{"petrinet.v1.message.new.s=201", `{"key":{"a":1}}`, `{"error":"the key {\"a\":1}; expected a text, a number, true or false"}`},
		{"petrinet.v1.message.new.s=201", `nonsense`, `expected {\"key\":\"text\",\"data\":{}}`},
		{"petrinet.v1.message.new.s=201", `{"name":"x"}`, `unknown field`},
		{"petrinet.v1.message.new.s=201", `{"data":"` + strings.Repeat(" ", maxRequest) + `"}`, `expected at most 65536`},
		{"petrinet.v1.message.=zz.s=201", `{}`, `is not an escaped name`},
		{"petrinet.v1.signal.stop", `{}`, `{"ok":true,"caught":1}`},
		{"petrinet.v1.signal.stop", ``, `{"ok":true,"caught":0}`},
		{"petrinet.v1.signal.stop", `{"data":`, `expected {\"data\":{}}`},
	} {
		if got := ask(t, nc, c.subject, c.body); !strings.Contains(got, c.want) {
			t.Errorf("%s %.50s: got %s, want %s", c.subject, c.body, got, c.want)
		}
	}
	stop()
	want := EventReport{Messages: 2, Signals: 2, Caught: 3, Refused: map[string]uint64{"no catcher": 4, "invalid request": 6}}
	r, err := e.Report(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(&want, r.Events); d != "" {
		t.Error(d)
	}
}

// A signal that one engine throws reaches the catchers of the other, once, and
// those of its own once.
func TestASignalReachesOtherEngines(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		server := natstest.Run(t)
		defer natstest.Stop(server)
		one, two, watch := natstest.Connect(t, server), natstest.Connect(t, server), natstest.Connect(t, server)
		sent, err := watch.SubscribeSync("petrinet.v1.signal.>")
		if err != nil {
			t.Fatal(err)
		}
		thrower := eventNet("a", "armed=1", "t: p > q throws signal all.clear", "own: ?armed > seen catches signal all.clear")
		catcher := eventNet("b", "armed=1", "c: armed > armed seen catches signal all.clear")
		_, stopOne := onNATS(t, one, "one", 1, thrower)
		_, stopTwo := onNATS(t, two, "two", 2, catcher)
		for range 3 {
			if got := ask(t, watch, "petrinet.v1.inject.a.one", `{"place":"p"}`); got != `{"ok":true}` {
				t.Fatal(got)
			}
		}
		synctest.Wait()
		var bodies []string
		for range 3 {
			m, err := sent.NextMsg(time.Second)
			if err != nil {
				t.Fatal(err)
			}
			bodies = append(bodies, m.Subject+" "+string(m.Data))
		}
		const body = `petrinet.v1.signal.all=2Eclear {"source":"one"}`
		if d := cmp.Diff([]string{body, body, body}, bodies); d != "" {
			t.Error(d)
		}
		for _, c := range []struct{ net, source, instance, want string }{
			{"a", "one", "one/0", "armed q=3 seen=3"},
			{"b", "two", "two/0", "armed seen=3"},
			{"b", "two", "two/1", "armed seen=3"},
		} {
			if got := inside(t, watch, c.net, c.source, c.instance); got != c.want {
				t.Errorf("%s has %s; expected %s", c.instance, got, c.want)
			}
		}
		stopOne()
		stopTwo()
	})
}

// inside returns the tokens of an instance, as its engine answers.
func inside(t *testing.T, nc *nats.Conn, net, source, instance string) string {
	t.Helper()
	var in telemetry.Instance
	if err := json.Unmarshal([]byte(ask(t, nc, telemetry.Subjects{}.Instances(net, source), `{"instance":"`+instance+`"}`)), &in); err != nil {
		t.Fatal(err)
	}
	n, count := &petri.Net{}, []uint32{}
	for _, tok := range in.Tokens {
		n.Places, count = append(n.Places, petri.Place{ID: tok.Place}), append(count, uint32(tok.Tokens))
	}
	return named(n, count)
}

func flush(t *testing.T, nc *nats.Conn) {
	t.Helper()
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
}
