// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/stats"
)

// A source says in which way people act on its instances, and where to ask for them.
func TestSourcesAreDiscovered(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		s := natstest.Run(t)
		nc := natstest.Connect(t, s)
		other, err := NewSubjects("elsewhere.v1")
		if err != nil {
			t.Fatal(err)
		}
		begin := func(source, acts, tool string, subjects Subjects) {
			conn := natstest.Connect(t, s)
			p, err := Start(Config{Conn: conn, Subjects: subjects, Source: source, Log: slog.New(slog.DiscardHandler),
				Nets: []SourceNet{{ID: "order", PNML: []byte("the net of " + source), Places: 1}},
				Rows: func(int, int64, *stats.Rows) error { return nil },
				Acts: acts, Tool: tool,
				Instance: func(_ int, name string) (*Instance, error) {
					if name != source+"/1" {
						return nil, ErrNoInstance
					}
					return &Instance{Instance: name}, nil
				}})
			if err != nil {
				t.Fatal(err)
			}
			if err := conn.Flush(); err != nil { // the server has its subscriptions then
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := p.Close(context.Background()); err != nil {
					t.Error(err)
				}
			})
		}
		begin("berlin", "berlin", "", Subjects{})
		begin("camunda", "", "Camunda Cockpit", Subjects{})
		begin("far", "far", "", other)
		got := map[string]Discovered{}
		if err := Discover(t.Context(), nc, Subjects{}, func(d Discovered) bool { got[d.Source] = d; return true }); err != nil {
			t.Fatal(err)
		}
		want := map[string]Discovered{
			"berlin":  {Source: "berlin", Nets: map[string]string{"order": Digest([]byte("the net of berlin"))}},
			"camunda": {Source: "camunda", Tool: "Camunda Cockpit", Nets: map[string]string{"order": Digest([]byte("the net of camunda"))}},
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		n := 0
		if err := Discover(t.Context(), nc, Subjects{}, func(Discovered) bool { n++; return false }); err != nil || n != 1 {
			t.Errorf("found %d sources, %v; want that the first one ends it", n, err)
		}
		for source, want := range map[string][2]string{"berlin": {"berlin", ""}, "camunda": {"", "Camunda Cockpit"}} {
			i, err := AskInstance(t.Context(), nc, Subjects{}, "order", source, source+"/1")
			if err != nil || i.Acts != want[0] || i.Tool != want[1] {
				t.Errorf("%s answers %+v, %v; want acts and tool %q", source, i, err, want)
			}
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := Discover(ended, nc, Subjects{}, func(Discovered) bool { return true }); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v; want that the context ended", err)
		}
	})
}

func TestDiscoverWithoutSourcesFindsNone(t *testing.T) {
	nc := natstest.Client(t)
	if err := Discover(t.Context(), nc, Subjects{}, func(Discovered) bool { t.Error("found one"); return true }); err != nil {
		t.Error(err)
	}
}

func TestAToolThatIsNoTextIsRefused(t *testing.T) {
	for _, cfg := range []Config{{Source: "s", Acts: "a\nb"}, {Source: "s", Tool: strings.Repeat("x", stats.MaxWhat+1)}} {
		if err := cfg.check(); err == nil || !strings.Contains(err.Error(), "acts or tool") {
			t.Errorf("%+v: got %v", cfg, err)
		}
	}
}
