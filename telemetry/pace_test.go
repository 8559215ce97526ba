// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// sent is a message: when it came, and what it says about the next one.
type sent struct{ at, interval time.Duration }

// timesOf returns the messages of a Publisher over some time.
func timesOf(t *testing.T, l *fakeLink, d time.Duration) (all []sent) {
	t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if l.take() == "" {
			continue
		}
		var s Snapshot
		if err := new(Decoder).Decode(l.last[1], &s); err != nil {
			t.Fatal(err)
		}
		all = append(all, sent{time.Since(l.start), s.Interval})
	}
	return all
}

func pace(collector string, interval time.Duration) []byte {
	return fmt.Appendf(nil, `{"collector":%q,"interval":%d}`, collector, interval.Microseconds())
}

// A collector takes a source for silent after three of the intervals that its last message
// states, so no message may be later than one.
func TestAPublisherFollowsTheLongestPaceAndSaysSoBefore(t *testing.T) {
	story(t, testConfig("n"), func(t *testing.T, p *Publisher, l *fakeLink) {
		all := timesOf(t, l, 3*time.Second)
		hear := func(payload []byte, d time.Duration) []sent {
			if !p.paces.take(payload, time.Now()) {
				t.Fatalf("%s is no pace", payload)
			}
			next := timesOf(t, l, d)
			all = append(all, next...)
			return next
		}
		perMinute := func(name string, said []sent, least, most int) {
			t.Helper()
			if len(said) < least || len(said) > most {
				t.Errorf("%s: %d messages a minute, want %d to %d", name, len(said), least, most)
			}
		}
		perMinute("5 s", hear(pace("a", 5*time.Second), time.Minute), 12, 14)
		perMinute("another collector needs less", hear(pace("b", 2*time.Second), time.Minute), 11, 13)
		perMinute("the first one needs none", hear(pace("a", 0), time.Minute), 29, 32)
		perMinute("beyond the bound", hear(pace("a", time.Hour), time.Minute), 2, 4)
		next := timesOf(t, l, 3*time.Minute) // both are forgotten
		all = append(all, next...)
		perMinute("no collector asks", timesOf(t, l, time.Minute), 60, 60)
		for i := 1; i < len(all); i++ {
			if gap := all[i].at - all[i-1].at; gap > all[i-1].interval+20*time.Millisecond {
				t.Errorf("%v after a message that states %v", gap, all[i-1].interval)
			}
		}
	})
}

// A fleet that receives a pace at one moment spreads over the interval.
func TestAFleetSpreadsOverItsNewInterval(t *testing.T) {
	var perSecond [10]int
	for range 400 {
		now := time.Unix(1000, 0)
		r := rhythm{own: time.Second, interval: time.Second, due: now.Add(time.Second / 2)}
		r.follow(10*time.Second, now)
		r.passed(r.due)
		for r.due.Before(now.Add(60 * time.Second)) {
			r.passed(r.due)
		}
		perSecond[int(r.due.Sub(now)/time.Second)%10]++
	}
	for second, n := range perSecond {
		if n > 100 {
			t.Errorf("%d of 400 sources in second %d: %v", n, second, perSecond)
		}
	}
}

func TestWhatIsNoPaceIsARequestForAll(t *testing.T) {
	p := paces{changed: func() {}}
	for _, payload := range []string{"", "hi", "{}", `{"collector":"","interval":1}`, `{"collector":"a","interval":-1}`, `{"collector":"a","interval":1e99}`,
		`{"collector":"` + strings.Repeat("a", 1<<20) + `","interval":1}`} {
		if p.take([]byte(payload), time.Now()) {
			t.Errorf("%.40s is taken for a pace", payload)
		}
	}
	for i := range 2 * maxPacers {
		p.take(pace(fmt.Sprint("c", i), time.Duration(i)*time.Second), time.Unix(1, 0))
	}
	if longest := p.longest(time.Unix(2, 0)); longest != (maxPacers-1)*time.Second || len(p.wishes) != maxPacers {
		t.Errorf("%d collectors are remembered, the longest interval is %v", len(p.wishes), longest)
	}
	if longest := p.longest(time.Unix(1, 0).Add(PaceLasts)); longest != 0 || len(p.wishes) != 0 {
		t.Errorf("%v of %d collectors after they were silent", longest, len(p.wishes))
	}
}
