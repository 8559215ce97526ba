// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// slowSource is a source of a net "n" with one place and one transition, which
// reports slowest instances.
type slowSource struct {
	t    *testing.T
	m    *Merger
	msg  telemetry.Snapshot
	skew int64
}

// noonT is the beginning of a minute.
const noonT = t0/minute*minute + minute

func newTeller(t *testing.T, m *Merger, name, digest string, places int) *slowSource {
	t.Helper()
	s := &slowSource{t: t, m: m, msg: telemetry.Snapshot{Source: name, Net: "n", Digest: digest, Epoch: 1, Interval: time.Second, Full: true,
		Rows: *stats.NewRows(places, 1)}}
	s.msg.Rows.Columns = stats.ColDwell | stats.ColDuration
	return s
}

// says sends a full snapshot with a slowest instance of the place and of the
// transition.
func (s *slowSource) says(now int64, place int, one stats.Slowest) {
	s.t.Helper()
	msg := clone(&s.msg)
	s.msg.Seq++
	msg.Seq, msg.SentAt = s.msg.Seq, now+s.skew
	if one.At != 0 {
		one.At += s.skew
	}
	msg.Rows.Places[place].Slowest, msg.Rows.Transitions[0].Slowest = one, one
	if _, err := s.m.Take(msg, 1, now); err != nil {
		s.t.Fatal(err)
	}
}

func slowSources(t *testing.T, names ...string) (*Merger, []*slowSource) {
	t.Helper()
	m := NewMerger(Rules{}, noonT)
	if _, err := m.Define(benchDigest, lineNet("n", 1, 1), noonT); err != nil {
		t.Fatal(err)
	}
	var all []*slowSource
	for _, name := range names {
		all = append(all, newTeller(t, m, name, benchDigest, 1))
	}
	return m, all
}

// shows checks the slowest instance of place 0 and of the transition.
func shows(t *testing.T, m *Merger, now int64, instance string) {
	t.Helper()
	view, _ := m.Tick(now)
	rows := view.Nets[0].Rows
	if p, tr := rows.Places[0].Slowest, rows.Transitions[0].Slowest; p.Instance != instance || tr != p {
		t.Errorf("%v after noon: place %+v, transition %+v, want %q", time.Duration(now-noonT)*time.Microsecond, p, tr, instance)
	}
}

func TestTheSlowestOfAllSourcesIsShown(t *testing.T) {
	m, s := slowSources(t, "a", "b")
	s[0].says(noonT+1e6, 0, stats.Slowest{Instance: "a/1", Micros: 5e6, At: noonT + 1e6})
	s[1].says(noonT+1e6, 0, stats.Slowest{Instance: "b/1", Micros: 9e6, At: noonT + 1e6})
	s[0].says(noonT+2e6, 0, stats.Slowest{Instance: "a/2", Micros: 7e6, At: noonT + 2e6})
	shows(t, m, noonT+2e6, "b/1")
}

// A source reports each instance once. A reader that polls once a minute sees each
// instance or a slower one.
func TestTheSlowestIsShownForTwoMinutesAtLeastAndThreeAtMost(t *testing.T) {
	for _, at := range []int64{0, 30e6, 59.9e6} {
		m, s := slowSources(t, "a")
		s[0].says(noonT+at, 0, stats.Slowest{Instance: "a/1", Micros: 5e6, At: noonT + at})
		for after := int64(0); after <= 120e6; after += 15e6 {
			now := noonT + at + after
			s[0].says(now, 0, stats.Slowest{})
			shows(t, m, now, "a/1")
		}
		s[0].says(noonT+180e6, 0, stats.Slowest{})
		shows(t, m, noonT+180e6, "")
	}
}

func TestALessSlowOneIsShownOnceTheSlowerIsForgotten(t *testing.T) {
	m, s := slowSources(t, "a")
	s[0].says(noonT, 0, stats.Slowest{Instance: "slow", Micros: 9e6, At: noonT})
	s[0].says(noonT+100e6, 0, stats.Slowest{Instance: "less", Micros: 5e6, At: noonT + 100e6})
	shows(t, m, noonT+179e6, "slow")
	shows(t, m, noonT+180e6, "less")
	shows(t, m, noonT+239e6, "less")
	shows(t, m, noonT+240e6, "")
}

// What happened stays, whatever becomes of its source.
func TestTheSlowestOfASourceThatWentIsShownUntilItsTimeIsOver(t *testing.T) {
	m, s := slowSources(t, "a")
	s[0].msg.Bye = true
	s[0].says(noonT, 0, stats.Slowest{Instance: "a/1", Micros: 5e6, At: noonT})
	shows(t, m, noonT+179e6, "a/1")
	shows(t, m, noonT+180e6, "")
}

// A source that is silent says nothing new, and what it said gets old.
func TestTheSlowestOfASilentSourceIsForgotten(t *testing.T) {
	m, s := slowSources(t, "a")
	s[0].says(noonT, 0, stats.Slowest{Instance: "a/1", Micros: 5e6, At: noonT})
	shows(t, m, noonT+3600e6, "")
}

// The time is by the collector's clock, and never one that is to come.
func TestTheSlowestHasATimeOfTheCollectorsClock(t *testing.T) {
	for rule, c := range map[string]struct{ skew, at, want int64 }{
		"two hours behind":         {-7200e6, noonT - 3e6, noonT - 3e6},
		"two hours ahead":          {7200e6, noonT - 3e6, noonT - 3e6},
		"after its own snapshot":   {0, noonT + 100e6, noonT + 1e6},
		"older than three minutes": {0, noonT - 181e6, 0},
	} {
		m, s := slowSources(t, "a")
		s[0].skew = c.skew
		s[0].says(noonT+1e6, 0, stats.Slowest{Instance: "a/1", Micros: 5e6, At: c.at})
		view, _ := m.Tick(noonT + 1e6)
		if got := view.Nets[0].Rows.Places[0].Slowest.At; got != c.want {
			t.Errorf("%s: at noon %+d µs, want %+d", rule, got-noonT, c.want-noonT)
		}
	}
}

func TestAClockThatIsSetBackDropsTheSlowest(t *testing.T) {
	m, s := slowSources(t, "a")
	s[0].says(noonT, 0, stats.Slowest{Instance: "a/1", Micros: 5e6, At: noonT})
	shows(t, m, noonT-3600e6, "")
	s[0].says(noonT-3590e6, 0, stats.Slowest{Instance: "a/2", Micros: 1e6, At: noonT - 3590e6})
	shows(t, m, noonT-3580e6, "a/2")
}

// Sources with different definitions name places by their own columns.
func TestTheSlowestOfTwoDigestsMeetAtThePlacesId(t *testing.T) {
	m, s := slowSources(t, "a")
	other := lineNet("n", 2, 1)
	other.Places[0].ID, other.Places[1].ID = "p new", "p0"
	if _, err := m.Define("other", other, noonT); err != nil {
		t.Fatal(err)
	}
	s = append(s, newTeller(t, m, "b", "other", 2))
	s[0].says(noonT, 0, stats.Slowest{Instance: "a/1", Micros: 5e6, At: noonT})
	s[1].says(noonT, 1, stats.Slowest{Instance: "b/1", Micros: 6e6, At: noonT})
	shows(t, m, noonT, "b/1")
}

// A net that drops no instance and does not change stays the same.
func TestANetWithoutChangesOfItsSlowestStaysTheSame(t *testing.T) {
	m, s := slowSources(t, "a")
	s[0].msg.Interval = time.Hour
	s[0].says(noonT, 0, stats.Slowest{Instance: "a/1", Micros: 5e6, At: noonT})
	_, _ = m.Tick(noonT)
	first, _ := m.Tick(noonT + 1e6) // by when the rates are known
	later, _ := m.Tick(noonT + 179e6)
	last, _ := m.Tick(noonT + 180e6)
	if first.Nets[0] != later.Nets[0] || last.Nets[0] == later.Nets[0] {
		t.Error("got another net without a change, or the same after an instance was dropped")
	}
}

// The reference keeps every instance.
func TestTheSlowestAgreesWithTheReference(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 200 {
		m, s := slowSources(t, "a", "b", "c")
		var sent []stats.Slowest
		now := noonT
		for i := range 60 {
			now += r.Int64N(40e6)
			one := stats.Slowest{Instance: fmt.Sprint(i), Micros: 1 + r.Int64N(1e6), At: now - r.Int64N(200e6)}
			if r.IntN(5) == 0 && len(sent) > 0 {
				one = sent[r.IntN(len(sent))] // once more
			}
			m.Tick(now)
			sent = append(sent, one)
			s[r.IntN(len(s))].says(now, 0, one)
			var want stats.Slowest
			for _, one := range sent {
				if one.At/minute > now/minute-slowestFor {
					want.Merge(one)
				}
			}
			view, _ := m.Tick(now)
			if got := view.Nets[0].Rows.Places[0].Slowest; got != want {
				t.Fatalf("message %d: %+v, want %+v", i, got, want)
			}
		}
	}
}
