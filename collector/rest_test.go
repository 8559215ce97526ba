// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"bytes"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// content returns a whole state as of the last tick, without its time. Its bytes are sorted,
// because the sources that are forgotten have no order.
func (f *fleet) content() []byte {
	f.t.Helper()
	v := new(saver).begin(f.m)
	v.at = 1
	v.finish()
	state, err := v.state()
	if err != nil {
		f.t.Fatal(err)
	}
	slices.Sort(state)
	return state
}

// While the revision is the same, so is what a state has: sources that fall silent, come
// back, end, are forgotten, or are refused are changes, and silence alone is none.
func TestAStateChangesOnlyWithItsRevision(t *testing.T) {
	same := 0
	for seed := range uint64(20) {
		f := newFleet(t, seed, 4)
		f.m.forgetAfter = 60e6
		var last []byte
		var revision uint64
		for range 200 {
			switch f.r.IntN(8) {
			case 0:
				f.now += 1e6
				for _, e := range f.engines {
					e.play(f.r)
					_, _ = f.m.Take(e.all(f.now), 0, f.now) // it may be refused
				}
			case 1:
				e := f.engines[f.r.IntN(len(f.engines))]
				msg := e.all(f.now)
				msg.Bye = f.r.IntN(2) == 0
				_, _ = f.m.Take(msg, 0, f.now) // it may be refused
				e.start(msg.Source, f.now+1, f.rows)
			case 2:
				f.m.RejectFrom("n", "e0", bytes.ErrTooLarge, 9, f.now)
			default:
				f.now += int64(f.r.IntN(5)) * 1e6
			}
			f.m.Tick(f.now)
			now := f.content()
			if f.m.revision == revision {
				same++
				if !bytes.Equal(now, last) {
					t.Fatalf("seed %d: the state of revision %d changed", seed, revision)
				}
			}
			last, revision = now, f.m.revision
		}
	}
	if same < 500 {
		t.Errorf("%d ticks without a change; expected many", same)
	}
}

// What has not changed is not made again; a state is made once a minute, and after a failure.
func TestNothingIsKeptAgainWithoutAChange(t *testing.T) {
	url := startServer(t)
	var kept atomic.Int64
	var works atomic.Bool
	works.Store(true)
	c, _ := run(t, Config{Conn: connect(t, url), Keep: func([]byte, bool) bool { kept.Add(1); return works.Load() }})
	views := func(n uint64) {
		t.Helper()
		from := c.View().Generation
		until(t, c, "more Views", func(v *View) bool { return v.Generation >= from+n })
	}
	views(3)
	before := kept.Load()
	if views(20); kept.Load() != before {
		t.Errorf("kept %d times in 20 Views without a change", kept.Load()-before)
	}
	defer stop(t, publish(t, connect(t, url), "a", lineNet("order", 2, 1), 3))
	until(t, c, "kept with the source", func(v *View) bool { return states(v) == "a=up" && kept.Load() > before })
	works.Store(false)
	defer stop(t, publish(t, connect(t, url), "b", lineNet("order", 2, 1), 3))
	until(t, c, "both", func(v *View) bool { return states(v) == "a=up b=up" })
	before = kept.Load()
	if views(5); kept.Load() < before+4 {
		t.Errorf("kept %d times in 5 Views while the disk fails", kept.Load()-before)
	}
}

func TestAStateIsDueOnceAMinuteWithoutAChange(t *testing.T) {
	k := saver{size: saveRate, savedAt: t0}
	k.note(7, true)
	for after, due := range map[time.Duration][2]bool{time.Millisecond: {false, false}, time.Second: {false, true}, time.Minute: {true, true}} {
		if got := [2]bool{k.due(t0+after.Microseconds(), 7), k.due(t0+after.Microseconds(), 8)}; got != due {
			t.Errorf("after %s: due without and with a change: %v, want %v", after, got, due)
		}
	}
}
