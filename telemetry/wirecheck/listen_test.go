// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

func TestMain(m *testing.M) { natstest.Main(m) }

// A source that publishes correctly has no findings; one whose messages cannot
// be decoded has. Listen asks all sources for a full snapshot.
func TestListenChecksWhatSourcesPublish(t *testing.T) {
	for _, c := range []struct {
		name    string
		garbage bool
	}{{"a good source", false}, {"garbage beside it", true}} {
		t.Run(c.name, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T) {
				s := natstest.Run(t)
				engine, checker := natstest.Connect(t, s), natstest.Connect(t, s)
				var subjects telemetry.Subjects
				hellos, err := checker.SubscribeSync(subjects.Hello())
				if err != nil {
					t.Fatal(err)
				}
				const pnml = `<pnml><net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="g"><place id="p"/></page></net></pnml>`
				p, err := telemetry.Start(telemetry.Config{Conn: engine, Subjects: subjects, Source: "s", Interval: 100 * time.Millisecond, Log: slog.New(slog.DiscardHandler),
					Nets: []telemetry.SourceNet{{ID: "n", PNML: []byte(pnml), Places: 1}},
					Rows: func(_ int, _ int64, into *stats.Rows) error {
						into.Places[0].Tokens, into.Columns = 1, stats.ColTokens
						return nil
					}})
				if err != nil {
					t.Fatal(err)
				}
				if c.garbage {
					if err := engine.Publish(subjects.Snapshot("n", "other"), []byte("garbage")); err != nil {
						t.Fatal(err)
					}
					done := make(chan struct{})
					defer close(done)
					go func() {
						for {
							select {
							case <-time.After(50 * time.Millisecond):
								_ = engine.Publish(subjects.Snapshot("n", "other"), []byte("garbage"))
							case <-done:
								return
							}
						}
					}()
				}
				r, err := Listen(t.Context(), checker, subjects, time.Second)
				if err != nil {
					t.Fatal(err)
				}
				if r.Right() == c.garbage {
					t.Errorf("right: %v; wrong: %q", r.Right(), r.Wrong)
				}
				var text strings.Builder
				if err := r.Write(&text); err != nil || !strings.Contains(text.String(), "answered and holds") {
					t.Errorf("the definition was not requested: %v\n%s", err, text.String())
				}
				if m, err := hellos.NextMsg(time.Second); err != nil {
					t.Errorf("no hello was published: %v, %v", m, err)
				}
				if err := p.Close(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestListenReportsAServerThatIsNotThere(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		s := natstest.Run(t)
		nc := natstest.Connect(t, s, nats.NoReconnect())
		natstest.Stop(s)
		if r, err := Listen(t.Context(), nc, telemetry.Subjects{}, time.Second); err == nil {
			t.Errorf("listened to a server that has stopped: %+v", slices.Clone(r.Wrong))
		}
	})
}
