// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"testing"
	"time"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/natstest"
)

// The connection to the server loses all data, and sources continue to publish to
// it. Their messages do not arrive, but that is no silence of theirs.
//
//promise:evidence dark
func TestNoSourceIsSilentWhileTheCollectorReceivesNothing(t *testing.T) {
	natstest.Bubble(t, noSourceIsSilentWhileTheCollectorReceivesNothing)
}

func noSourceIsSilentWhileTheCollectorReceivesNothing(t *testing.T) {
	s := natstest.Run(t)
	way := natstest.NewWay(t, s)
	p := publish(t, natstest.Connect(t, s), "a", lineNet("order", 2, 1), 3)
	t.Cleanup(func() { stop(t, p) })
	c, _ := run(t, Config{Conn: natstest.Connect(t, way)})
	until(t, c, "up", func(v *merge.View) bool { return states(v) == "a=up" })
	way.Set(natstest.Hold, natstest.Hold)
	until(t, c, "a was not received for longer than it may be silent", func(v *merge.View) bool {
		if states(v) != "a=up" {
			t.Fatalf("%s, %d us after it was received", states(v), v.At-v.Sources[0].LastMessage)
		}
		return v.At-v.Sources[0].LastMessage > merge.LeastPatience+1_000_000
	})
}

// Messages that the server delivered before it answered a ping count as received
// only after they were processed.
func TestDeliveredMessagesCountOnceTheyAreProcessed(t *testing.T) {
	q := &proofs{subs: []*subscription{{}}}
	var received []proof
	receivedUntil := func(want int64) {
		t.Helper()
		for p := q.processed(0, 0); p != nil; p = q.processed(0, 0) {
			received = append(received, *p)
		}
		if got := received[len(received)-1].at; got != want {
			t.Errorf("received until %d, want %d", got, want)
		}
	}
	q.take(&proof{at: 0, unbroken: true, came: []int64{0}})
	receivedUntil(0)
	q.take(&proof{at: 1, unbroken: true, came: []int64{5}})
	q.take(&proof{at: 2, unbroken: false, came: []int64{6}})
	q.take(&proof{at: 3, unbroken: true, came: []int64{7}})
	receivedUntil(0)
	q.subs[0].taken.Add(5)
	receivedUntil(1)
	q.subs[0].taken.Add(1)
	receivedUntil(1) // the second proof made room for the third
	q.subs[0].taken.Add(1)
	receivedUntil(3)
	if last := received[len(received)-1]; last.unbroken {
		t.Error("no break until 3; want one, because the second proof reported a break")
	}
}

func TestACollectorThatStartsAgainCountsNoSilenceFromBefore(t *testing.T) {
	url := startServer(t)
	nc := connect(t, url)
	p := publish(t, nc, "a", lineNet("order", 2, 1), 3)
	var state []byte
	kept := make(chan []byte, 1)
	c, _ := run(t, Config{Conn: connect(t, url), Keep: func(f merge.Frame) bool {
		select {
		case kept <- f.Records:
		default:
		}
		return false
	}})
	until(t, c, "up", func(v *merge.View) bool {
		state = <-kept
		return states(v) == "a=up"
	})
	state = <-kept
	stop(t, p)
	next, err := New(Config{Conn: nc, Log: c.cfg.Log, State: [][]byte{state}})
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
		until(t, c, "up", func(v *merge.View) bool { return states(v) == "a=up" })
		ofEngine.Close()
		ended := time.Now()
		until(t, c, "stale", func(v *merge.View) bool { return states(v) == "a=stale" })
		patience := time.Duration(merge.LeastPatience) * time.Microsecond
		if took := time.Since(ended); took < patience || took > patience+2*proveEvery {
			t.Errorf("it was stale after %v; want %v and the time between two proofs at most", took, patience)
		}
	})
}
