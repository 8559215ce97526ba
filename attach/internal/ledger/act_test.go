// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// newActing runs a source with a net of a place and a transition, whose instance 7 has an incident and
// whose instance 8 has none. It returns what asks it.
func newActing(t *testing.T, acting Acting) (ask func(kind, body string) (answer string)) {
	t.Helper()
	server := natstest.Run(t)
	def := NewDefinition("queue", "")
	place, transition := def.Place("job/in", ""), def.Transition("job", "")
	def.Arc("job/in", "job")
	l := New(def, Presence)
	cfg := configOf(t, func(context.Context) error {
		wait := func(r stats.Reason) []stats.Wait {
			return []stats.Wait{{Transition: int32(transition), Place: stats.NoPlace, Reason: r}}
		}
		l.Present([]Token{{ID: "t7", Place: place, Instance: "7", Since: 1, Waits: wait(stats.ReasonIncident)}, {ID: "t8", Place: place, Instance: "8", Since: 1, Waits: wait(stats.ReasonEnabled)}})
		return nil
	})
	subjects, err := telemetry.NewSubjects("petrinet.v1")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Conn, cfg.Subjects, cfg.Acting = natstest.Connect(t, server), subjects, acting
	s := sourceOf(t, cfg)
	s.Add(l)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	client := natstest.Connect(t, server)
	return func(kind, body string) string {
		m := nats.NewMsg("petrinet.v1." + kind + ".queue.s")
		m.Data, m.Header = []byte(body), telemetry.Who{By: "kim"}.Header()
		for {
			answer, err := client.RequestMsg(m, 10*time.Second)
			if errors.Is(err, nats.ErrNoResponders) { // before the first poll
				time.Sleep(time.Millisecond)
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			return string(answer.Data)
		}
	}
}

func TestOnlyAnIncidentIsRetried(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		var retried []string
		var kept []telemetry.Action
		ask := newActing(t, Acting{
			Retry: func(_ context.Context, token *Token) error {
				retried = append(retried, token.ID)
				if len(retried) > 1 {
					return errors.New("it is gone")
				}
				return nil
			},
			Audit: func(a telemetry.Action) error {
				kept = append(kept, a)
				return nil
			},
		})
		for _, c := range []struct{ what, kind, body, want string }{
			{"an incident", "fire", `{"instance":"7","transition":"job"}`, `{"ok":true}`},
			{"what the engine refuses", "fire", `{"instance":"7","transition":"job"}`, `{"error":"it is gone"}`},
			{"what is none", "fire", `{"instance":"8","transition":"job"}`, `no token of \"8\" is an incident`},
			{"another transition", "fire", `{"instance":"7","transition":"x"}`, `no token of \"7\" is an incident at \"x\"`},
			{"tokens", "inject", `{"instance":"7","place":"job/in","tokens":1}`, `pnagent can only retry an incident`},
			{"data", "fire", `{"instance":"7","transition":"job","data":{}}`, `pnagent can only retry an incident`},
			{"an outcome", "fire", `{"instance":"7","transition":"job","outcome":"k"}`, `pnagent can only retry an incident`},
			{"another field", "fire", `{"job":"7"}`, `unknown field \"job\"; expected {`},
			{"no JSON", "fire", `7`, `expected {`},
			{"too much", "fire", `{"instance":"` + strings.Repeat("7", maxRequest) + `"}`, `expected at most 65536`},
		} {
			if got := ask(c.kind, c.body); !strings.Contains(got, c.want) {
				t.Errorf("%s: %s; expected %s", c.what, got, c.want)
			}
		}
		if want := "t7 t7"; strings.Join(retried, " ") != want {
			t.Errorf("retried %q; expected %s", retried, want)
		}
		if a := kept[0]; !a.OK || a.By != "kim" || a.Source != "s" || a.Net != "queue" || a.Instance != "7" || a.Transition != "job" || a.Kind != "fire" {
			t.Errorf("the first action is %+v", a)
		}
		if a := kept[1]; len(kept) != 10 || a.OK || a.Error != "it is gone" {
			t.Errorf("%d actions, the second %+v", len(kept), a)
		}
	})
}

func TestARetryThatTakesTooLongIsNotKnown(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		ask := newActing(t, Acting{Retry: func(ctx context.Context, _ *Token) error {
			<-ctx.Done()
			return ctx.Err()
		}})
		var answer struct {
			Error   string
			Unknown bool
		}
		if err := json.Unmarshal([]byte(ask("fire", `{"instance":"7","transition":"job"}`)), &answer); err != nil || !answer.Unknown || answer.Error == "" {
			t.Errorf("%+v, %v", answer, err)
		}
	})
}
