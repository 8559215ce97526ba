// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"testing"
	"time"

	"github.com/pnagent/pnagent/internal/natstest"
)

// The connection to the server loses all data, and sources continue to publish to
// it. Their messages do not arrive, but that is no silence of theirs.
func TestNoSourceIsSilentWhileTheCollectorReceivesNothing(t *testing.T) {
	natstest.Bubble(t, noSourceIsSilentWhileTheCollectorReceivesNothing)
}

func noSourceIsSilentWhileTheCollectorReceivesNothing(t *testing.T) {
	s := natstest.Run(t)
	way := natstest.NewWay(t, s)
	p := publish(t, natstest.Connect(t, s), "a", lineNet("order", 2, 1), 3)
	t.Cleanup(func() { stop(t, p) })
	c, _ := run(t, Config{Conn: natstest.Connect(t, way)})
	until(t, c, "up", func(v *View) bool { return states(v) == "a=up" })
	way.Set(natstest.Hold, natstest.Hold)
	until(t, c, "a was not received for longer than it may be silent", func(v *View) bool {
		if states(v) != "a=up" {
			t.Fatalf("%s, %d us after it was received", states(v), v.At-v.Sources[0].LastMessage)
		}
		return v.At-v.Sources[0].LastMessage > leastPatience+1_000_000
	})
}

// Messages that the server delivered before it answered a ping count as received
// only after they were processed.
func TestDeliveredMessagesCountOnceTheyAreProcessed(t *testing.T) {
	m := NewMerger(Rules{}, t0)
	m.ReceivedUntil(t0, true)
	c := &Collector{merger: m, proofs: proofs{subs: []*subscription{{}}, late: brokenAfter.Microseconds()}}
	receivedUntil := func(want int64) {
		t.Helper()
		c.look(t.Context(), m.reception.until) // each View has what was taken in by then
		if got := m.reception.until - t0; got != want {
			t.Errorf("received until %d, want %d", got, want)
		}
	}
	c.proofs.take(&proof{at: t0 + 1, unbroken: true, came: []int64{5}})
	c.proofs.take(&proof{at: t0 + 2, unbroken: false, came: []int64{6}})
	c.proofs.take(&proof{at: t0 + 3, unbroken: true, came: []int64{7}})
	receivedUntil(0)
	c.proofs.subs[0].taken.Add(5)
	receivedUntil(1)
	c.proofs.subs[0].taken.Add(1)
	receivedUntil(1) // the second proof made room for the third
	c.proofs.subs[0].taken.Add(1)
	receivedUntil(3)
	if m.reception.since != t0+3 {
		t.Errorf("got no break since %d; want 3, because the second proof reported a break", m.reception.since-t0)
	}
}

func TestACollectorThatStartsAgainCountsNoSilenceFromBefore(t *testing.T) {
	url := startServer(t)
	nc := connect(t, url)
	p := publish(t, nc, "a", lineNet("order", 2, 1), 3)
	var state []byte
	kept := make(chan []byte, 1)
	c, _ := run(t, Config{Conn: connect(t, url), Keep: func(s []byte, _ bool) bool {
		select {
		case kept <- s:
		default:
		}
		return false
	}})
	until(t, c, "up", func(v *View) bool {
		state = <-kept
		return states(v) == "a=up"
	})
	state = <-kept
	stop(t, p)
	next, err := New(Config{Conn: nc, Log: c.cfg.Log, State: state})
	if err != nil {
		t.Fatal(err)
	}
	later := time.Now().UnixMicro() + (20 * time.Minute).Microseconds()
	if v, _ := next.merger.Tick(later); states(v) != "a=up" {
		t.Errorf("%s before anything could be received", states(v))
	}
}

// A source that ends without a bye is stale after its patience, by proofs that the
// collector could have received its messages.
func TestASourceThatFallsSilentIsStale(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		server := natstest.Run(t)
		ofEngine := natstest.Connect(t, server)
		p := publish(t, ofEngine, "a", lineNet("order", 2, 1), 3)
		defer func() { _ = p.Close(t.Context()) }() // it has no connection
		c, _ := run(t, Config{Conn: natstest.Connect(t, server)})
		until(t, c, "up", func(v *View) bool { return states(v) == "a=up" })
		ofEngine.Close()
		ended := time.Now()
		until(t, c, "stale", func(v *View) bool { return states(v) == "a=stale" })
		patience := time.Duration(leastPatience) * time.Microsecond
		if took := time.Since(ended); took < patience || took > patience+2*proveEvery {
			t.Errorf("it was stale after %v; want %v and the time between two proofs at most", took, patience)
		}
	})
}
