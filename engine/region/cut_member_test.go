// SPDX-License-Identifier: Apache-2.0

package region_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/engine/region"
	"github.com/pnagent/pnagent/internal/natstest"
)

// beatEvery is how often a member sends a beat.
const beatEvery = 50 * time.Millisecond

// stopped is a log that a process can be cut off from: then it accepts nothing.
type stopped struct {
	region.Log
	cut *atomic.Bool
}

func (l stopped) Append(ctx context.Context, last uint64, commits ...[]byte) (uint64, error) {
	if l.cut.Load() {
		return last, journal.ErrStopped
	}
	return l.Log.Append(ctx, last, commits...)
}

// cutOff starts a member, and returns a function that cuts it off from the
// other members and from all logs.
func (w *world) cutOff(source string, parts ...string) (cut func()) {
	way, gone, base := natstest.NewWay(w.t, w.nats), &atomic.Bool{}, w.base
	w.base.Conn = natstest.Connect(w.t, way)
	w.base.Open = func(ctx context.Context, part string, create bool, keep func() uint64) (region.Log, error) {
		log, err := base.Open(ctx, part, create, keep)
		return stopped{log, gone}, err
	}
	w.member(source, parts...)
	w.base = base
	return func() {
		gone.Store(true)
		way.Set(natstest.Hold, natstest.Hold)
	}
}

// A standby that was cut off for two seconds replaces an owner that stops
// three seconds later as quickly as any other standby.
//
//promise:owner cut
func TestAStandbyThatWasCutOffTakesOverAsFastAsEver(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, 1, 3)
		w.slow()
		w.member("y", "two")
		first := w.cutOff("x1", "one")
		until(t, "x1 owns one", func() bool { return w.statuses()["one"].Owner == "x1" })
		way := natstest.NewWay(t, w.nats)
		second := w.base
		second.Conn, second.Engine.Source, second.Parts = natstest.Connect(t, way), "x2", second.Parts[:1]
		run(t, second)
		until(t, "x2 stands by", func() bool { return len(w.statuses()["one"].Standbys) == 1 })
		way.Set(natstest.Hold, natstest.Hold)
		time.Sleep(2 * time.Second)
		way.Set(natstest.Pass, natstest.Pass)
		time.Sleep(3 * time.Second)
		first()
		stopped := time.Now()
		log := w.logs.Open("one", nil)
		found := errors.New("x2 has written")
		if err := log.Follow(t.Context(), log.Last()+1, func(journal.Commit) error { return found }); !errors.Is(err, found) {
			t.Fatal(err)
		}
		if took := time.Since(stopped); took > 250*time.Millisecond+2*beatEvery {
			t.Errorf("the part was taken over after %v; want at most 250 ms after the last beat", took)
		}
	})
}
