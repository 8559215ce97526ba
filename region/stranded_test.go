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

// A log that has lost commits of its newest snapshot is played by no process, and
// does not begin anew where it has lost all. Its last owner says so to sidecars and
// members, in the epoch in which they know it, also after it was restarted.
func TestAPartWhoseSnapshotIsNewerThanItsLogStandsStillAndSaysSo(t *testing.T) {
	for name, left := range map[string]uint64{"some commits are left": 5, "no commit is left": 0} {
		t.Run(name, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T) { strandedPart(t, left) })
		})
	}
}

func strandedPart(t *testing.T, left uint64) {
	w := newWorld(t, 1, 3)
	w.base.Engine.SnapshotAfter = 1
	heard := w.published()
	w.slow()
	w.member("y", "two")
	first := w.member("x", "one")
	until(t, "there is a snapshot of a played part", func() bool { return w.logs.Covered("one") > 20 })
	time.Sleep(2 * time.Second) // that was published
	synctest.Wait()             // for a snapshot that is being saved
	before, snapshot := heard.last("x/one"), w.logs.Covered("one")
	w.logs.Lose("one", left)
	// The owner finds out when it writes.
	if err := natstest.Connect(t, w.nats).Publish("petrinet.v1.inject.ring.one", []byte(`{"instance":0,"place":"a"}`)); err != nil {
		t.Fatal(err)
	}
	check := func(when string) {
		t.Helper()
		until(t, when+": the part stands still", func() bool { return w.statuses()["one"].Stopped != "" })
		time.Sleep(5 * time.Second)
		s := w.statuses()["one"]
		if s.Owner != "" || !strings.Contains(s.Stopped, "lost commits that its newest snapshot holds") {
			t.Errorf("%s: the members say %+v; want no owner and the reason", when, s)
		}
		now := heard.last("x/one")
		if now.State == nil || now.State.Stopped != s.Stopped || now.State.Position != snapshot || now.Fence != before.Fence || now.Region != "one" || now.Since != before.Since {
			t.Errorf("%s: %q with fence %d since %d is published with %+v; want part one with fence %d since %d at commit %d with the reason",
				when, now.Region, now.Fence, now.Since, now.State, before.Fence, before.Since, snapshot)
		}
		if after := w.logs.Open("one", nil).Last(); after != left {
			t.Errorf("%s: the log has %d commits; want the %d that were left", when, after, left)
		}
	}
	w.member("z", "one") // a stand-by, which never owned it
	check("the owner")
	first()
	w.member("x", "one")
	check("the owner that was restarted")
	if other := heard.last("z/one"); other.Source != "" {
		t.Errorf("z, which never owned the part, publishes %+v", other)
	}
}
