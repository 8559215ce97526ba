// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"fmt"
	"testing"
	"time"

	"github.com/pnagent/pnagent/internal/seeds"
)

// quieted is a fleet with silences, which reach every sidecar that is not cut off within a
// tick.
type quieted struct {
	*fleet
	silences []silenceNote
	raised   map[uint32]int64 // Alarm.Raised by index
	judged   int              // notifications of the station
}

// silence silences a place for a time.
func (q *quieted) silence(place string, length time.Duration) {
	now := q.now.UnixMicro()
	s := Silence{ID: fmt.Sprintf("%016x", len(q.silences)), From: now, Until: now + length.Microseconds(), By: "ada", Selection: Selection{Place: place}}
	q.silences = append(q.silences, silenceNote{Silence: s, at: now})
	q.diary = append(q.diary, fmt.Sprintf("%v %s is silent for %v", q.now.Sub(time.UnixMicro(t0)), place, length))
}

// after does what each tick needs, and checks that no sidecar sends a raise during a silence
// that it has, if the alarm was raised during the silence.
func (q *quieted) after() {
	q.watch()
	now := q.now.UnixMicro()
	for _, m := range q.members {
		if m.dead || m.paused {
			continue
		}
		if !m.cut {
			m.desk.notes.merge(Noted{silences: q.silences}, now, always)
		}
		m.desk.notes.expire(now)
		for index, e := range m.desk.machine.book.entries {
			if q.raised[index] == 0 {
				q.raised[index] = e.Raised
			}
		}
	}
	for ; q.judged < len(q.station); q.judged++ {
		h := q.station[q.judged]
		if there := q.there[h.from]; !h.raise || there.IsZero() || q.now.Sub(there) < time.Second {
			continue
		}
		for _, s := range q.silences {
			const margin = int64(time.Second / time.Microsecond)
			if at := h.at.UnixMicro(); s.Place == h.subject && s.From+margin < q.raised[h.index] && at < s.Until {
				q.t.Fatalf("%s sends the raise of %s during a silence: %s", h.from, h.subject, q.story(h.index))
			}
		}
	}
}

// fault repairs a sidecar, or applies a fault if the other one has been there for a while.
// Two sidecars that are cut off from each other both notify, each by what it has, and one
// that starts alone has what its file has.
func (q *quieted) fault(m *member) {
	if m.dead || m.paused {
		q.randomly(m)
		return
	}
	for _, o := range q.members {
		if there := q.there[o.name]; there.IsZero() || q.now.Sub(there) < 10*time.Second {
			return
		}
	}
	q.inject(m, []string{"kill", "stop", "pause"}[q.rng.IntN(3)])
}

// sent checks that the station has the raise of every active alarm.
func (q *quieted) sent() {
	has := map[uint32]bool{}
	for _, h := range q.station {
		has[h.index] = has[h.index] || h.raise
	}
	for _, a := range q.members[0].desk.machine.State(0).Active {
		if !has[a.Index] {
			q.t.Fatalf("the silences are over, and the raise of %s was not sent: %s", a.Subject, q.story(a.Index))
		}
	}
}

// Whatever befalls one sidecar of a connected pair, no raise is sent during the silence in which its alarm was
// raised, each is sent after it if the alarm is still active, and the station gets a clear for
// each raise and for nothing else.
func TestSilencesHoldUnderRandomFaults(t *testing.T) {
	held, raises := uint64(0), 0
	for seed := range seeds.Of(5, 200, 81, 65, 60, 143, 147, 31, 50, 62) {
		q := &quieted{fleet: newFleet(t, seed), raised: map[uint32]int64{}}
		q.diary = append(q.diary, fmt.Sprintf("seed %d", seed))
		q.start("a", 100)
		q.start("b", 127)
		q.run(10*time.Second, nil)
		for range 40 {
			for range q.rng.IntN(4) {
				place := fmt.Sprintf("p%d", q.rng.IntN(pairPlaces))
				if q.rng.IntN(2) == 0 {
					q.silence(place, time.Duration(1+q.rng.IntN(20))*time.Second)
				}
				q.run(time.Duration(q.rng.IntN(2000))*time.Millisecond, q.after)
				q.flip(place)
				q.run(time.Duration(q.rng.IntN(2000))*time.Millisecond, q.after)
			}
			if q.rng.IntN(2) == 0 {
				q.fault(q.members[q.rng.IntN(len(q.members))])
			}
			q.run(time.Duration(q.rng.IntN(12))*time.Second, q.after)
			if q.rng.IntN(4) == 0 {
				q.repair()
				q.run(45*time.Second, q.after)
				q.lists()
				q.sent()
			}
			for _, m := range q.members {
				held = max(held, m.desk.skipped().Silenced)
			}
		}
		q.repair()
		clear(q.wrong)
		q.run(60*time.Second, q.after)
		q.lists()
		q.judge()
		raises += len(q.station)
	}
	if held == 0 || raises == 0 {
		t.Errorf("%d notifications, and at most %d were held back; want some of both", raises, held)
	}
	t.Logf("%d notifications; up to %d were held back by one sidecar", raises, held)
}
