// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/natstest"
)

// While nothing is received and nothing changes, Views are rare; what arrives, what is
// forgotten, and what a reader needs is shown in time.
func TestACollectorRestsWhileNothingArrives(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		const forget = 60 * time.Second
		server := natstest.Run(t)
		c, _ := run(t, Config{Conn: natstest.Connect(t, server), Interval: time.Second, Rules: merge.Rules{ForgetAfter: forget}})
		views := func(d time.Duration) uint64 {
			before := c.View().Generation
			time.Sleep(d)
			synctest.Wait()
			return c.View().Generation - before
		}
		views(10 * time.Second)
		if n := views(40 * time.Second); n != 10 {
			t.Errorf("%d Views in 40 s without a source; want one in %d s", n, restIntervals)
		}
		ofEngine := natstest.Connect(t, server)
		var fired atomic.Uint64
		fired.Store(3)
		p := publishing(t, ofEngine, "a", lineNet("order", 2, 1), fired.Load)
		defer func() { _ = p.Close(t.Context()) }() // it has no connection
		begun := time.Now()
		until(t, c, "up", func(v *merge.View) bool { return states(v) == "a=up" })
		if took := time.Since(begun); took > 3*time.Second {
			t.Errorf("a source is shown after %v; want three intervals at most: its message, its definition and its rows", took)
		}
		if n := views(20 * time.Second); n != 20 {
			t.Errorf("%d Views in 20 s with a source; want one each second", n)
		}
		fired.Add(1000)
		views(2 * time.Second)
		ofEngine.Close()
		ended := time.Now()
		until(t, c, "stale", func(v *merge.View) bool { return states(v) == "a=stale" })
		if took := time.Since(ended); took > time.Duration(merge.LeastPatience)*time.Microsecond+c.cfg.Interval {
			t.Errorf("it is stale after %v", took)
		}
		views(10 * time.Second) // the rates of the last seconds fall to 0
		if r := c.View().Nets[0].Rates.Firings; r.Now != 0 || r.Min15 == 0 {
			t.Errorf("the rates are %+v; want one over 15 minutes that still falls", r)
		}
		if n := views(40 * time.Second); n != 10 {
			t.Errorf("%d Views in 40 s with a source that is silent; want one in %d s", n, restIntervals)
		}
		until(t, c, "gone", func(v *merge.View) bool { return states(v) == "a=gone" })
		if took := time.Since(ended); took < forget || took > forget+2*c.cfg.Interval {
			t.Errorf("it is forgotten after %v; want %v", took, forget)
		}
		views(10 * time.Second)
		time.Sleep(time.Until(time.Now().Truncate(4 * time.Second).Add(4*time.Second + time.Millisecond)))
		synctest.Wait()
		needed := c.View().At + (2 * time.Second).Microseconds()
		c.Need(needed)
		if n := views(2500 * time.Millisecond); n == 0 || c.View().At < needed {
			t.Errorf("no merge.View at the time at which one was needed, but %d before", n)
		}
		c.Need(0)
		if v := c.View(); v.Interrupted {
			t.Error("a rest is taken for a break")
		}
	})
}

// At rest too, a server that answers no more is a break, and so is a pause of the process.
//
//promise:evidence dark pause
func TestABreakIsNoticedAtRest(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		server := natstest.Run(t)
		nc := natstest.Connect(t, server)
		c, _ := run(t, Config{Conn: nc, Interval: time.Second})
		time.Sleep(20 * time.Second)
		if c.View().Interrupted {
			t.Fatal("interrupted without a break")
		}
		nc.Close()
		ended := time.Now()
		until(t, c, "interrupted", func(v *merge.View) bool { return v.Interrupted })
		if took, most := time.Since(ended), brokenAfter+(restIntervals+2)*c.cfg.Interval; took > most {
			t.Errorf("the break is shown after %v; want %v at most", took, most)
		}
	})
}

// What has not changed is not kept again, but after a failure.
func TestNothingIsKeptAgainWithoutAChange(t *testing.T) {
	url := startServer(t)
	var kept atomic.Int64
	var works atomic.Bool
	works.Store(true)
	c, _ := run(t, Config{Conn: connect(t, url), Keep: func(merge.Frame) bool { kept.Add(1); return works.Load() }})
	views := func(n uint64) {
		t.Helper()
		from := c.View().Generation
		until(t, c, "more Views", func(v *merge.View) bool { return v.Generation >= from+n })
	}
	views(3)
	before := kept.Load()
	views(20)
	if kept.Load() != before {
		t.Errorf("kept %d times in 20 Views without a change", kept.Load()-before)
	}
	defer stop(t, publish(t, connect(t, url), "a", lineNet("order", 2, 1), 3))
	until(t, c, "kept with the source", func(v *merge.View) bool { return states(v) == "a=up" && kept.Load() > before })
	works.Store(false)
	defer stop(t, publish(t, connect(t, url), "b", lineNet("order", 2, 1), 3))
	until(t, c, "both", func(v *merge.View) bool { return states(v) == "a=up b=up" })
	before = kept.Load()
	views(5)
	if kept.Load() < before+4 {
		t.Errorf("kept %d times in 5 Views while the disk fails", kept.Load()-before)
	}
}
