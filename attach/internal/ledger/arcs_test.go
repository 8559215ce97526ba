// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"testing"
	"time"

	"github.com/pnagent/pnagent/collector"
	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/telemetry"
)

// TestANetThatOnlyGetsAnArcIsPublishedAgain adds an arc once the net is shown without it,
// and then counts an arrival.
func TestANetThatOnlyGetsAnArcIsPublishedAgain(t *testing.T) {
	nc := natstest.Connect(t, natstest.Run(t))
	subjects, err := telemetry.NewSubjects("petrinet.v1")
	if err != nil {
		t.Fatal(err)
	}
	n := NewDefinition("n", "")
	l, shown := New(n, Presence|Flow), make(chan struct{})
	place := n.Place("p", "")
	n.Transition("t", "")
	l.Arrive(place, 1)
	cfg := configOf(t, func(context.Context) error {
		select {
		case <-shown:
			if !n.HasArc("p", "t") {
				n.Arc("p", "t")
				l.Arrive(place, 2)
			}
		default:
		}
		return nil
	})
	cfg.Conn, cfg.Subjects, cfg.Interval = nc, subjects, 100*time.Millisecond
	s := sourceOf(t, cfg)
	s.Add(l)
	c, err := collector.New(collector.Config{Conn: nc, Subjects: subjects, Interval: 100 * time.Millisecond, PNML: pnml.DefaultLimits(), Log: cfg.Log})
	if err != nil {
		t.Fatal(err)
	}
	views := c.Subscribe()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ended := make(chan error, 2)
	for _, run := range []func(context.Context) error{s.Run, c.Run} {
		go func() { ended <- run(ctx) }()
	}
	for arcs := 0; arcs < 2; {
		select {
		case v := <-views:
			if net := v.Net("n"); net != nil && len(net.Def.Arcs) == arcs && net.Rows.Places[place].Arrivals == uint64(1+arcs) {
				if arcs++; arcs == 1 {
					close(shown)
				}
			}
		case <-ctx.Done():
			t.Fatalf("no view with %d arcs and %d arrivals", arcs, 1+arcs)
		}
	}
	cancel()
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}
