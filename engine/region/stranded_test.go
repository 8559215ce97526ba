// SPDX-License-Identifier: Apache-2.0

package region_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/telemetry"
)

// published keeps the last snapshot of each source.
type published struct {
	mu sync.Mutex
	of map[string]telemetry.Snapshot
}

func (w *world) published() *published {
	p := &published{of: map[string]telemetry.Snapshot{}}
	_, err := natstest.Connect(w.t, w.nats).Subscribe(telemetry.Subjects{}.Snapshots(), func(m *nats.Msg) {
		var s telemetry.Snapshot
		if err := new(telemetry.Decoder).Decode(m.Data, &s); err != nil {
			w.t.Error(err)
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.of[s.Source] = s
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

func (p *published) last(source string) telemetry.Snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.of[source]
}

func TestAnOwnerPublishesItsStandbysAndTheirLag(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, 1, 3)
		sources := w.published()
		w.slow()
		for source, part := range map[string]string{"y": "two", "x": "one"} {
			w.member(source, part)
		}
		until(t, "x owns one", func() bool { return w.statuses()["one"].Owner == "x" })
		w.member("z", "one")
		until(t, "z stands by", func() bool { return len(w.statuses()["one"].Standbys) == 1 })
		from := w.logs.Open("one", nil).Last()
		time.Sleep(2 * time.Second) // that commit was published
		s, last := sources.last("x/one").State, w.logs.Open("one", nil).Last()
		if s == nil || s.Position <= from || s.Position > last || s.Standbys != 1 || s.Lag == nil || *s.Lag > 100 || s.Stopped != "" {
			t.Errorf("%+v; want a commit after %d, up to %d, and one standby, at most 100 commits behind", s, from, last)
		}
	})
}

// If the log has lost commits of its newest snapshot, no process plays it. If
// all commits are lost, no process starts it again. The last owner publishes
// that to sidecars and members, in the last epoch that they saw, also after a
// restart.
//
//promise:notempty lostlog
func TestAPartWhoseSnapshotIsNewerThanItsLogIsStoppedWithAReason(t *testing.T) {
	for name, left := range map[string]uint64{"some commits are left": 5, "no commit is left": 0} {
		t.Run(name, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T) { strandedPart(t, left) })
		})
	}
}

func strandedPart(t *testing.T, left uint64) {
	w := newWorld(t, 1, 3)
	w.base.Engine.SnapshotAfter = 1
	sources := w.published()
	w.slow()
	w.member("y", "two")
	first := w.member("x", "one")
	until(t, "there is a snapshot of a played part", func() bool { return w.logs.Covered("one") > 20 })
	time.Sleep(2 * time.Second) // that commit was published
	synctest.Wait()             // for a snapshot that is being saved
	before, snapshot, last := sources.last("x/one"), w.logs.Covered("one"), w.logs.Open("one", nil).Last()
	w.logs.Lose("one", left)
	// The owner finds out when it writes.
	if err := natstest.Connect(t, w.nats).Publish("petrinet.v1.inject.ring.one", []byte(`{"instance":0,"place":"a"}`)); err != nil {
		t.Fatal(err)
	}
	check := func(when string, position uint64) {
		t.Helper()
		until(t, when+": the part is stopped", func() bool { return w.statuses()["one"].Stopped != "" })
		time.Sleep(5 * time.Second)
		s := w.statuses()["one"]
		if s.Owner != "" || !strings.Contains(s.Stopped, "lost commits that its newest snapshot holds") {
			t.Errorf("%s: the members publish %+v; want no owner and the reason", when, s)
		}
		now := sources.last("x/one")
		if now.State == nil || now.State.Stopped != s.Stopped || now.State.Position != position || now.Fence != before.Fence || now.Region != "one" || now.Since != before.Since {
			t.Errorf("%s: %q with fence %d since %d is published with %+v; want part one with fence %d since %d at commit %d with the reason",
				when, now.Region, now.Fence, now.Since, now.State, before.Fence, before.Since, position)
		}
		if after := w.logs.Open("one", nil).Last(); after != left {
			t.Errorf("%s: the log has %d commits; want the %d that were left", when, after, left)
		}
	}
	w.member("z", "one")     // a standby, which never owned it
	check("the owner", last) // as it has played
	first()
	w.member("x", "one")
	check("the owner that was restarted", snapshot)
	if other := sources.last("z/one"); other.Source != "" {
		t.Errorf("z, which never owned the part, publishes %+v", other)
	}
}
