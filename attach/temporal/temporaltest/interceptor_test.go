// SPDX-License-Identifier: Apache-2.0

package temporaltest

import (
	"context"
	"fmt"
	"testing"
	"time"

	flow "github.com/pnagent/pnagent/examples/attach/temporal"
	"github.com/pnagent/pnagent/telemetry"
)

// The example interceptor counts each activity of a worker once, and those that fail
// without a firing.
func TestTheInterceptorCountsActivities(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	c := s.client("default")
	f := newFaces(t)
	i, err := flow.New(telemetry.Attachment{URL: "nats://" + f.nats, Source: "worker", Interval: 200 * time.Millisecond}, "activities", "Quick", "Fails")
	if err != nil {
		t.Fatal(err)
	}
	stop := work(t, c, i)
	begin(t, c, "Pay", "one-Pay")
	for n := range 5 {
		id := fmt.Sprint("order-", n)
		run := begin(t, c, "Order", id)
		if err := c.SignalWorkflow(t.Context(), id, "", "paid", "Ada"); err != nil {
			t.Fatal(err)
		}
		if err := run.Get(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "an activity has failed", func() string {
		if n := s.attempt("one-Pay"); n < 2 {
			return fmt.Sprint("attempt ", n)
		}
		return ""
	})
	stop()
	failed := float64(s.attempt("one-Pay") - 1)
	for _, want := range []struct {
		family, label, of string
		n                 float64
	}{
		{"petrinet_transition_firings_total", "transition", "Quick", 10},
		{"petrinet_place_arrivals_total", "place", "Quick/running", 10},
		{"petrinet_place_departures_total", "place", "Quick/running", 10},
		{"petrinet_transition_firings_total", "transition", "Fails", 0},
		{"petrinet_place_departures_total", "place", "Fails/running", failed},
		{"petrinet_place_tokens", "place", "Fails/running", 0},
	} {
		until(t, want.family+" of "+want.of, func() string {
			if n, ok := f.metric(want.family, "activities", want.label, want.of); !ok || n != want.n {
				return fmt.Sprintf("%v; expected %v", n, want.n)
			}
			return ""
		})
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := i.Close(ctx); err != nil {
		t.Error(err)
	}
}
