// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pnagent/pnagent/collector/alarm/alarmtest"
	"github.com/pnagent/pnagent/internal/seeds"
)

// raises returns raises of different alarms.
func raises(n int) (all []Change) {
	for i := range n {
		all = append(all, notice(i+1, fmt.Sprint("p", i), true))
	}
	return all
}

func notice(index int, subject string, raise bool) Change {
	return Change{Alarm{Index: uint32(index), Kind: TokenStuck, Net: "n", Subject: subject}, raise}
}

// The next process sends the clears that waited when a process ended.
//
//promise:clears stop
func TestClearsThatWaitSurviveARestart(t *testing.T) {
	const alarms = 200
	m := NewMachine(DefaultRules(), Saved{}, forgetAfter)
	for _, c := range m.Step(alarmtest.ViewOf(alarmtest.Wide("n", alarms, t0)), t0+601e6) {
		m.Confirm(c.Alarm.Index, true)
	}
	saved := m.Saved()
	begin := func(saved Saved) *Coordinator {
		return &Coordinator{machine: NewMachine(DefaultRules(), saved, forgetAfter), notes: newNotes(10)}
	}
	d := begin(saved)
	d.Turn(Duty{On: true}, t0)
	net := alarmtest.Moved(alarmtest.Wide("n", alarms, t0), t0+700e6)
	got := map[uint32]int{}
	send := func(d *Coordinator, due []Notification) {
		for _, n := range due {
			got[n.Alarm.Index]++
			if n.Raise || n.Suppressed != 0 {
				t.Fatalf("sent %+v", n)
			}
			d.machine.Confirm(n.Alarm.Index, n.Raise)
		}
	}
	at := t0 + 700e6
	for ; len(got) < 100; at += 1e6 {
		send(d, d.Notify(d.machine.Step(alarmtest.ViewOf(net), at), at))
	}
	text := d.machine.Saved()
	saved, err := ParseSaved(text.Text())
	over := slices.DeleteFunc(slices.Clone(saved.Alarms), func(e Entry) bool { return e.Phase.open() })
	if err != nil || len(over) != alarms-len(got) {
		t.Fatalf("%d alarms are kept as being cleared, %v; want %d", len(over), err, alarms-len(got))
	}
	next := begin(saved)
	send(next, next.Notify(next.Turn(Duty{On: true}, at), at))
	for range 60 {
		at += 1e6
		send(next, next.Notify(next.machine.Step(alarmtest.ViewOf(net), at), at))
	}
	for i := range uint32(alarms) {
		if got[i+1] != 1 {
			t.Errorf("the clear of alarm %d was sent %d times", i+1, got[i+1])
		}
	}
}

func TestClearsThatWaitLeaveRoomForRaises(t *testing.T) {
	var s limiter
	var recovery []Change
	for _, c := range raises(1000) {
		recovery = append(recovery, Change{c.Alarm, false})
	}
	s.pass(recovery, t0)
	at := t0 + 2e6
	sent := map[bool]int{} // by Raise
	for _, n := range s.pass(raises(20), at) {
		sent[n.Raise]++
	}
	if sent[true] != 20 || s.suppressed != 0 {
		t.Errorf("%d raises were sent, %d suppressed; want 20", sent[true], s.suppressed)
	}
	for range 100 { // a storm of raises does not hold back the clears forever, nor do they hold back the raises
		at += 1e6
		for _, n := range s.pass(raises(30), at) {
			if n.Suppressed == 0 {
				sent[n.Raise]++
			}
		}
	}
	if sent[true] < 300 || sent[false] < 300 || sent[true]+sent[false] > 100*perSecond+burst {
		t.Errorf("sent %d raises and %d clears in 100 s", sent[true], sent[false])
	}
}

// A station that knows an alarm by its subject must not take an old clear for the newer alarm.
func TestARaiseOvertakesNoClearOfItsCondition(t *testing.T) {
	var s limiter
	s.pass(raises(burst), t0) // the bucket is empty
	if got := s.pass([]Change{notice(1, "p0", false), notice(2, "p1", false)}, t0); got != nil {
		t.Errorf("sent %v", got)
	}
	if got := s.pass([]Change{notice(99, "p1", true)}, t0+100e3); got != nil || s.suppressed != 1 {
		t.Errorf("sent %v from a bucket with room for one; the clear must go first", got)
	}
	got := s.pass([]Change{notice(100, "p1", true)}, t0+200e3)
	if len(got) < 2 || got[0].Alarm.Index != 2 || got[0].Raise || got[1].Alarm.Index != 100 {
		t.Errorf("sent %v; want the clear of 2 and then the raise of 100", got)
	}
}

// Of an alarm that comes and goes in a storm nothing is sent; the report is of both.
func TestAFlutterInAStormIsSuppressedWhole(t *testing.T) {
	var s limiter
	s.pass(raises(burst+1), t0)
	if got := s.pass([]Change{notice(burst+1, "p50", false)}, t0+900e3); got != nil || s.suppressed != 2 || len(s.dropped) != 1 {
		t.Errorf("sent %v, %d suppressed; want only the count", got, s.suppressed)
	}
	// After the report a station may have read the list of alarms: the clear is sent.
	s = limiter{}
	s.pass(raises(burst+1), t0)
	if got := s.pass(nil, t0+1e6); len(got) != 1 || got[0].Suppressed != 1 {
		t.Errorf("reported %v", got)
	}
	if got := s.pass([]Change{notice(burst+1, "p50", false)}, t0+2e6); len(got) != 1 || got[0].Raise {
		t.Errorf("sent %v; want the clear", got)
	}
}

// In any storm: of each condition raise and clear alternate, each clear of a raise that was
// sent is sent, in time; no more than the bucket has; and the queue is bounded by the alarms.
//
//promise:clears load
//promise:bounds load
func TestTheLimiterKeepsItsPromisesInAnyStorm(t *testing.T) {
	for seed := range seeds.Of(3, 50, 7, 11) {
		r := rand.New(rand.NewPCG(seed, 5))
		var s limiter
		active, next := map[string]int{}, 0 // the index of the alarm of a subject
		raised := map[int]bool{}            // sent, and its clear was not
		shown := map[string]int{}           // what a station has
		at, sent := t0, 0
		for step := range 4000 {
			var changes []Change
			if step < 2000 {
				for range r.IntN(r.IntN(40) + 1) {
					subject := fmt.Sprint("p", r.IntN(60))
					if index, is := active[subject]; is {
						changes = append(changes, notice(index, subject, false))
						delete(active, subject)
						continue
					}
					next++
					active[subject] = next
					changes = append(changes, notice(next, subject, true))
				}
			}
			at += int64(r.IntN(200e3))
			for _, n := range s.pass(changes, at) {
				if n.Suppressed != 0 {
					continue
				}
				sent++
				index := int(n.Alarm.Index)
				if n.Raise {
					raised[index], shown[n.Alarm.Subject] = true, index
					continue
				}
				if on, is := shown[n.Alarm.Subject]; is && on != index {
					t.Fatalf("seed %d: the clear of %d came while the station has %d of %s", seed, index, on, n.Alarm.Subject)
				}
				delete(raised, index)
				delete(shown, n.Alarm.Subject)
			}
			if most := burst + int((at-t0)/100e3) + 1; sent > most {
				t.Fatalf("seed %d: %d sent; want at most %d", seed, sent, most)
			}
		}
		for _, index := range active {
			delete(raised, index)
		}
		if len(raised) > 0 || len(s.waiting) > 0 || len(s.waits) > 0 {
			t.Errorf("seed %d: %d raises never got their clear; %d clears wait", seed, len(raised), len(s.waiting))
		}
	}
}
