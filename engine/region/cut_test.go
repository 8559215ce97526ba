// SPDX-License-Identifier: Apache-2.0

package region

import (
	"fmt"
	"testing"
	"time"
)

// fleet is three members of a net with a clock that the test sets: m1, which
// watches the part "one", m2, which owns it, and m3.
type fleet struct {
	m     *Member
	w     watch
	now   time.Time
	beats map[string]func(time.Time) bool // by member: reports whether a beat that it sends now reaches m1
}

func newFleet(t *testing.T) *fleet {
	f := &fleet{m: memberOf(t, "m1"), now: time.Unix(1000, 0), beats: map[string]func(time.Time) bool{}}
	for _, source := range []string{"m1", "m2", "m3"} {
		f.beats[source] = func(time.Time) bool { return true }
	}
	return f
}

// play advances the clock until m1 would take the part over. It returns how
// long that took.
func (f *fleet) play(d time.Duration) (took time.Duration, over bool) {
	for began := f.now; f.now.Sub(began) < d; f.now = f.now.Add(checkEvery) {
		if f.now.UnixMilli()%beatEvery.Milliseconds() == 0 {
			for source, arrives := range f.beats {
				if arrives(f.now) {
					b := offer(source, "one", "two")
					if source == "m2" {
						b.Parts[0].Role, b.Parts[0].Epoch = Owner, 1
					}
					f.m.roster.receive(b, f.now)
				}
			}
			f.m.arrange(f.now)
		}
		if f.m.replicas[0].takesOver(&f.w, f.now) {
			return f.now.Sub(began), true
		}
	}
	return d, false
}

// lose loses the beats of some members for a while.
func (f *fleet) lose(d time.Duration, sources ...string) {
	from, to := f.now, f.now.Add(d)
	for _, s := range sources {
		f.beats[s] = func(now time.Time) bool { return now.Before(from) || !now.Before(to) }
	}
}

func (f *fleet) kill(source string) { f.beats[source] = func(time.Time) bool { return false } }

//promise:owner cut
func TestThreeSecondsAfterACutHealedADeadOwnerIsReplacedAtOnce(t *testing.T) {
	for _, cut := range []struct {
		who     string
		sources []string
	}{
		{"this member", []string{"m1", "m2", "m3"}},
		{"a member that owns nothing", []string{"m3"}},
		{"the owner", []string{"m2"}},
		{"both others", []string{"m2", "m3"}},
	} {
		for _, ms := range []int{60, 150, 190, 300, 500, 700, 900, 1100, 2000, 3000, 10_000, 70_000} {
			d := time.Duration(ms) * time.Millisecond
			t.Run(fmt.Sprintf("%s for %v", cut.who, d), func(t *testing.T) {
				f := newFleet(t)
				if at, over := f.play(time.Second); over {
					t.Fatalf("m1 takes over after %v from an owner whose beats arrive", at)
				}
				f.lose(d, cut.sources...)
				for end := f.now.Add(d + 3*time.Second); f.now.Before(end); {
					if _, over := f.play(end.Sub(f.now)); over && len(cut.sources) != 2 && cut.sources[0] != "m2" {
						t.Fatalf("m1 takes over %v before the owner ends", end.Sub(f.now))
					}
					f.now = f.now.Add(checkEvery)
				}
				f.w = watch{} // m1 follows the present owner of the part
				f.play(checkEvery)
				f.kill("m2")
				if took, over := f.play(10 * time.Second); !over || took > 450*time.Millisecond {
					t.Errorf("m1 takes over: %t, after %v; want at most 450 ms", over, took)
				}
			})
		}
	}
}

// The beats that a stopped process missed do not count as late.
//
//promise:owner pause
func TestAMemberThatWasStoppedSuspectsNoOwner(t *testing.T) {
	for _, d := range []time.Duration{300 * time.Millisecond, 900 * time.Millisecond, 5 * time.Second} {
		f := newFleet(t)
		f.play(time.Second)
		f.now = f.now.Add(d)
		if at, over := f.play(time.Second); over {
			t.Errorf("after it was stopped for %v it takes over after %v", d, at)
		}
		if p := f.m.roster.silenceLimit(f.now); p > 300*time.Millisecond {
			t.Errorf("after it was stopped for %v its silence limit is %v; want at most 300 ms", d, p)
		}
	}
}

// If all beats are repeatedly late, a suspicion would only add load.
//
//promise:owner messages load
func TestAnOwnerWhoseBeatsAreLateAgainAndAgainIsNotSuspected(t *testing.T) {
	for _, late := range []time.Duration{150 * time.Millisecond, 180 * time.Millisecond} {
		f, step := newFleet(t), late.Milliseconds()
		f.beats["m2"] = func(now time.Time) bool { return now.UnixMilli()/50*50%step < 50 }
		f.play(2 * time.Second)
		f.beats["m2"] = func(now time.Time) bool { return now.UnixMilli()/50*50%(2*step) < 50 }
		if at, over := f.play(20 * time.Second); over {
			t.Errorf("beats every %v, then every %v: m1 takes over after %v", late, 2*late, at)
		}
	}
}
