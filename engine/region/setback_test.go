// SPDX-License-Identifier: Apache-2.0

package region_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/engine/region"
	"github.com/pnagent/pnagent/internal/natstest"
)

// lines is a log that several members write.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lines) has(parts ...string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.b.String()) {
		all := true
		for _, p := range parts {
			all = all && strings.Contains(line, p)
		}
		if all {
			return true
		}
	}
	return false
}

// shop is a ring whose part one is owned by x and followed by z, and part two is
// owned by y.
type shop struct {
	*world
	sources *published
	logged  lines
}

func newShop(t *testing.T) *shop {
	s := &shop{world: newWorld(t, 1, 3)}
	s.sources = s.published()
	s.base.Log = slog.New(slog.NewTextHandler(&s.logged, nil))
	s.slow()
	s.begin()
	until(t, "z follows part one, and both are played", func() bool {
		all := s.statuses()
		one := all["one"]
		return one.Owner == "x" && len(one.Standbys) == 1 && one.Commits > 20 && all["two"].Owner == "y"
	})
	return s
}

// begin starts x, and the others after it.
func (s *shop) begin() {
	s.stops = nil
	s.member("x", "one")
	s.member("y", "two")
	time.Sleep(3 * time.Second)
	s.member("z", "one")
}

// stopsOne checks that no member owns part one, now and after more time, and
// that its log stays as it is. It returns the reason.
func (s *shop) stopsOne(with string) string {
	s.t.Helper()
	until(s.t, "part one is stopped", func() bool {
		one := s.statuses()["one"]
		return one.Owner == "" && strings.Contains(one.Stopped, with)
	})
	exists, first := s.logs.Exists("one"), s.logs.First("one")
	s.member("q", "one") // knows nothing, and asks
	// That is longer than a member waits for a log.
	for range 12 {
		time.Sleep(time.Second)
		if one := s.statuses()["one"]; one.Owner != "" || !strings.Contains(one.Stopped, with) {
			s.t.Fatalf("%+v; want no owner, and the reason", one)
		}
	}
	if s.logs.Exists("one") != exists || s.logs.First("one") != first {
		s.t.Error("the log has changed")
	}
	reason := s.statuses()["one"].Stopped
	if !s.logged.has("level=ERROR", "the part is stopped", "part=one") {
		s.t.Errorf("no error is logged: %s", s.logged.b.String())
	}
	return reason
}

// continues checks that part one is played with Again, and then also by members
// without it.
func (s *shop) continues() {
	s.t.Helper()
	s.stopAll()
	time.Sleep(time.Second)
	s.base.Again = true
	s.begin()
	plays := func(when string) {
		s.t.Helper()
		at := uint64(0)
		until(s.t, "both parts are played "+when, func() bool {
			all := s.statuses()
			one, two := all["one"], all["two"]
			at, one.Commits = one.Commits, one.Commits-min(at, one.Commits)
			return one.Owner == "x" && len(one.Standbys) == 1 && one.Commits > 0 && one.Stopped == "" && two.Owner == "y" && two.Stopped == ""
		})
	}
	plays("with Again")
	s.stopAll()
	time.Sleep(time.Second)
	s.base.Again = false
	s.begin()
	plays("without it")
}

func TestALogIsNotBegunAgainWhileAMemberKnowsWhatItHeld(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		s := newShop(t)
		s.logs.Remove("one")
		reason := s.stopsOne(`"x" had confirmed commit`)
		if !strings.Contains(reason, "it does not exist") || !strings.Contains(reason, `the log of "one"`) || !strings.Contains(reason, "--journal.again") {
			t.Errorf("the reason is %q", reason)
		}
		if now := s.sources.last("x/one"); now.State == nil || now.State.Stopped != reason || now.State.Position < 20 {
			t.Errorf("x publishes %+v; want the commit that it had, and the reason", now.State)
		}
		s.continues()
		if s.logs.First("one") != 1 {
			t.Error("the log did not begin again")
		}
	})
}

// All members that may play the part end one after the other, and others take
// their place: that of another part still knows.
func TestAMemberOfAnotherPartKnowsWhatALogHeld(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		s := newShop(t)
		s.stops[0]()
		s.stops[2]()
		s.logs.Remove("one")
		s.member("r", "one")
		s.stopsOne("had confirmed commit")
	})
}

// A member of the part downstream begins before it has received what the others know.
func TestAMemberDownstreamDoesNotBeginALogThatWasLost(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		s := newShop(t)
		s.logs.Remove("one")
		s.member("v", "two")
		s.stopsOne("it does not exist")
		s.continues()
	})
}

// A member looks for the log just before its owner begins it, and then receives a beat about a commit.
func TestALogThatBeganAfterAMemberLookedHasLostNothing(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		s := newShop(t)
		looked := false
		s.base.Open = func(ctx context.Context, part string, create bool, keep func() uint64) (region.Log, error) {
			if !looked {
				looked = true
				return nil, journal.ErrMissing
			}
			return s.open(ctx, part, create, keep)
		}
		s.member("late", "one")
		until(t, "it follows part one", func() bool {
			one := s.statuses()["one"]
			if one.Stopped != "" {
				t.Fatalf("%+v; want no reason to stop", one)
			}
			return one.Owner == "x" && len(one.Standbys) == 2
		})
		if s.logged.has("lost commits") || s.logs.First("one") != 1 {
			t.Errorf("a log is reported that has lost nothing, or it was replaced by a snapshot: %s", s.logged.b.String())
		}
	})
}

func TestAnOlderCopyOfALogIsNotPlayed(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		s := newShop(t)
		restore := s.logs.Copy("one")
		then := s.logs.Open("one", nil).Last() // or a few more: the part is played
		until(t, "more commits", func() bool { return s.logs.Open("one", nil).Last() > then+20 })
		time.Sleep(time.Second)
		whole := restore()
		had := s.logs.Open("one", nil).Last()
		if reason := s.stopsOne("had confirmed commit"); !strings.Contains(reason, "it ends with commit") {
			t.Errorf("the reason is %q", reason)
		}
		if now := s.logs.Open("one", nil).Last(); now != had {
			t.Errorf("the log has %d commits; want the %d of the copy", now, had)
		}
		whole() // the right one is restored
		until(t, "the part is played again", func() bool { one := s.statuses()["one"]; return one.Owner != "" && one.Stopped == "" })
		restore()
		s.stopsOne("had confirmed commit")
		s.continues()
		if now := s.logs.First("one"); now != 1 {
			t.Error("the part did not continue with the copy")
		}
	})
}

// A log is purged while its owner plays: the owner saves a snapshot for the
// member that needs what is gone, and nothing is lost.
//
//promise:notempty lostlog
func TestAPurgedLogIsReplacedByASnapshotOfItsOwner(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		s := newShop(t)
		s.logs.Purge("one")
		s.member("q", "one")
		until(t, "q follows", func() bool { return len(s.statuses()["one"].Standbys) == 2 })
		one := s.statuses()["one"]
		if one.Owner != "x" || one.Epoch != 1 || one.Stopped != "" || s.logs.Covered("one") == 0 {
			t.Errorf("%+v; want x to own the part as before, and a snapshot", one)
		}
	})
}

// A log is purged and no member that runs has its state.
func TestAPurgedLogIsNotPlayedUntilThatIsAccepted(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		s := newShop(t)
		s.stopAll()
		s.logs.Purge("one")
		time.Sleep(time.Second)
		s.member("y", "two")
		s.member("x", "one")
		reason := s.stopsOne("were removed, and no snapshot holds them")
		if !strings.Contains(reason, "from commit 1 of") || strings.Contains(reason, "replaced by") {
			t.Errorf("the reason is %q", reason)
		}
		s.continues()
	})
}

// A log whose newest snapshot is newer than its end continues with the snapshot
// once that is accepted; so does one of which commits after it were removed.
func TestALogContinuesWithItsSnapshotOnceThatIsAccepted(t *testing.T) {
	for name, lose := range map[string]func(*shop, uint64){
		"the log was removed":           func(s *shop, _ uint64) { s.logs.Lose("one", 0) },
		"the log is older":              func(s *shop, upTo uint64) { s.logs.Lose("one", upTo-10) },
		"the commits after it are gone": func(s *shop, _ uint64) { s.logs.Purge("one") },
	} {
		t.Run(name, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T) {
				s := newShop(t)
				s.stopAll()
				s.base.Engine.SnapshotAfter = 1
				s.begin()
				until(t, "there is a snapshot", func() bool { return s.logs.Covered("one") > 20 })
				s.stopAll()
				upTo := s.logs.Covered("one")
				time.Sleep(time.Second)
				lose(s, upTo)
				s.begin()
				s.stopsOne("lost commits")
				s.continues()
				if s.logs.Covered("one") < upTo || s.logs.Open("one", nil).Last() <= upTo {
					t.Errorf("the log ends with commit %d; want it to continue after the snapshot up to %d", s.logs.Open("one", nil).Last(), upTo)
				}
			})
		})
	}
}
