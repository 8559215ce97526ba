// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/racetest"
	"github.com/pnagent/pnagent/telemetry"
)

// fleetLoad returns the load that a fleet makes of a collector that asks for an interval; 0 for none.
type fleetLoad func(asked time.Duration) float64

// alike returns the load of a fleet whose messages make as much work at each interval: each is the
// load at an interval of a second, own the interval of the sources if no collector asks for a longer one.
func alike(own time.Duration, each float64) fleetLoad {
	return func(asked time.Duration) float64 { return min(each/max(asked, own).Seconds(), 1) }
}

// ofRows returns the load of sources whose messages make work for themselves and for each of 100
// rows, in seconds. Of these a share changes in a second, and each tenth message has all.
func ofRows(sources int, own time.Duration, message, row, share float64) fleetLoad {
	return func(asked time.Duration) float64 {
		interval := max(asked, own).Seconds()
		rows := 100 * (1 - 0.9*math.Pow(1-share, interval))
		return min(float64(sources)*(message+row*rows)/interval, 1)
	}
}

// runPace lets sources follow a pace for some minutes, and returns the intervals it asked for and the
// minutes in which it did. The load of each second differs from that of the fleet by up to noise of it.
func runPace(p *pace, f func(minute int) fleetLoad, minutes int, noise float64) (asked []time.Duration, when []int) {
	now, busy, interval, r := t0, 0.0, time.Duration(0), rand.New(rand.NewPCG(1, 1))
	for second := range minutes * 60 {
		now += 1e6
		busy += f(second/60)(interval) * 1e9 * (1 + noise*(2*r.Float64()-1))
		next, announce := p.decide(int64(busy), 0, now, nothing)
		if announce && next != interval {
			asked, when, interval = append(asked, next), append(when, second/60), next
		}
	}
	return asked, when
}

func TestSourcesAreAskedForTheIntervalThatTheLoadNeeds(t *testing.T) {
	for name, test := range map[string]struct {
		fleet fleetLoad
		last  time.Duration // 0: never asked
		most  int           // changes
	}{
		"a small fleet":                       {alike(time.Second, 0.033), 0, 0},
		"a fleet that is just bearable":       {alike(time.Second, 0.096), 0, 0},
		"a little too much":                   {alike(time.Second, 0.108), 2 * time.Second, 1},
		"too many sources":                    {alike(time.Second, 0.36), 5 * time.Second, 1},
		"far too many sources":                {alike(time.Second, 2), 20 * time.Second, 3},
		"more than can be borne":              {alike(time.Second, 100), telemetry.MaxPace, 3},
		"rare messages by themselves":         {alike(10*time.Second, 0.8), 0, 0},
		"rare messages, and still too many":   {alike(10*time.Second, 1.6), 20 * time.Second, 4},
		"5,000 sources":                       {ofRows(5000, time.Second, 6e-6, 0.4e-6, 0.24), 0, 0},
		"10,000 sources":                      {ofRows(10_000, time.Second, 6e-6, 0.4e-6, 0.24), 5 * time.Second, 3},
		"10,000 sources, a faster processor":  {ofRows(10_000, time.Second, 4e-6, 0.24e-6, 0.24), 2 * time.Second, 1},
		"10,000 sources whose rows all move":  {ofRows(10_000, time.Second, 6e-6, 0.4e-6, 1), 5 * time.Second, 2},
		"10,000 sources of which little does": {ofRows(10_000, time.Second, 6e-6, 0.4e-6, 0.02), 2 * time.Second, 1},
	} {
		asked, _ := runPace(&pace{}, func(int) fleetLoad { return test.fleet }, 60, 0)
		last := time.Duration(0)
		if len(asked) > 0 {
			last = asked[len(asked)-1]
		}
		if last != test.last || len(asked) > test.most {
			t.Errorf("%s: asked for %v, want %v in at most %d steps", name, asked, test.last, test.most)
		}
		if load := test.fleet(last); load > paceHigh && last < telemetry.MaxPace {
			t.Errorf("%s: load %.2f at %v, want %.2f at most", name, load, last, paceHigh)
		}
	}
}

// Whatever makes the work, the interval comes to rest, although the load of each second varies by a
// third. Only where sources like to publish more often than once a second, which is tried again, it
// changes twice an hour in the end.
func TestTheIntervalDoesNotAlternate(t *testing.T) {
	const hours, settling = 12, 6
	upTo := 200_000
	if racetest.UnderRace {
		upTo = 2000
	}
	for _, share := range []float64{0.01, 0.1, 0.24, 0.5, 0.75, 1} {
		for sources := 1000; sources < upTo; sources += sources / 5 {
			for own, most := range map[time.Duration]int{time.Second / 10: 2 * (hours - settling), time.Second: 1, 7 * time.Second: 1} {
				fleet := ofRows(sources, own, 6e-6, 0.4e-6, share)
				asked, when := runPace(&pace{}, func(int) fleetLoad { return fleet }, hours*60, 0.3)
				late := slices.DeleteFunc(when, func(minute int) bool { return minute < settling*60 })
				if len(late) > most || len(asked) > 20+2*hours {
					t.Errorf("%d sources with an interval of %v, of whose rows %.0f %% change in a second: asked for %v, of these in minutes %v", sources, own, 100*share, asked, late)
				}
			}
		}
	}
}

func TestSourcesMayPublishAsTheyLikeAgainAfterTheLoad(t *testing.T) {
	asked, _ := runPace(&pace{}, func(minute int) fleetLoad {
		if minute < 3 {
			return alike(time.Second, 2)
		}
		return alike(time.Second, 0.033)
	}, 10, 0)
	if n := len(asked); n < 2 || asked[n-1] != 0 {
		t.Errorf("asked for %v, want 0 at the end", asked)
	}
}

func TestDroppedMessagesAreAnsweredAtOnce(t *testing.T) {
	p := &pace{}
	p.decide(0, 0, t0, nothing)
	for i, want := range []time.Duration{time.Second, 2 * time.Second, 3 * time.Second} {
		if got, announce := p.decide(0, 0, t0+int64(i+1)*1e6, someDropped); got != want || !announce {
			t.Errorf("after %d s: %v, announced %t; want %v", i+1, got, announce, want)
		}
	}
}

func TestAPaceIsRepeatedBeforeSourcesForgetIt(t *testing.T) {
	p := &pace{}
	p.decide(0, 0, t0, nothing)
	p.decide(0, 0, t0+1e6, someDropped)
	announced, last := 0, t0+1e6
	for s := int64(2); s < 600; s++ {
		now := t0 + s*1e6
		if _, announce := p.decide(s*9e7, 0, now, nothing); announce {
			if now-last >= telemetry.PaceLasts.Microseconds() {
				t.Errorf("not repeated for %d s", (now-last)/1e6)
			}
			announced, last = announced+1, now
		}
	}
	if p.step != 1 || announced < 9 {
		t.Errorf("announced %d times in 10 minutes, at step %d", announced, p.step)
	}
}

// Where many sources start at once, the first View asks for rarer messages, and not for the
// rarest: their first messages have all rows, and until the sources follow, what waits says nothing. If it still waits then, they are
// asked for rarer ones, whatever the load was.
func TestWorkThatWaitsIsAnsweredEarly(t *testing.T) {
	p := &pace{}
	p.decide(0, 0, t0, nothing)
	for i, tick := range []struct {
		busy, ahead float64 // seconds
		want        time.Duration
	}{
		{0.7, 1.5, 5 * time.Second},
		{1.6, 1.2, 5 * time.Second},
		{2.5, 0.3, 5 * time.Second},
		{2.8, 0, 5 * time.Second},
	} {
		if got, announce := p.decide(int64(tick.busy*1e9), int64(tick.ahead*1e9), t0+int64(i+1)*1e6, nothing); got != tick.want || announce != (i == 0) {
			t.Errorf("after %d s: %v, announced %t; want %v", i+1, got, announce, tick.want)
		}
	}
	if got, announce := p.decide(3e9, 6e8, t0+25e6, nothing); got != 10*time.Second || !announce {
		t.Errorf("with work that waits still: %v, announced %t; want 10s", got, announce)
	}
	if got, announce := p.decide(31e8, 0, t0+70e6, nothing); got >= 10*time.Second || !announce {
		t.Errorf("after it: %v, announced %t; want less", got, announce)
	}
	longer := paceSteps[p.step+1]
	if got, announce := p.decide(32e8, 0, t0+100e6, someReplaced); got != longer || !announce {
		t.Errorf("with messages that others replaced: %v, announced %t; want %v", got, announce, longer)
	}
	calm := &pace{}
	calm.decide(0, 0, t0, nothing)
	if got, announce := calm.decide(2e8, 3e8, t0+1e6, nothing); got != 0 || announce {
		t.Errorf("with little that waits: %v, announced %t; want nothing", got, announce)
	}
}

// What is refused is no work for which others publish less, neither when it is processed nor
// while it waits.
func TestRefusedMessagesAreNoWork(t *testing.T) {
	var m meter
	spin := func(taken int) func() int {
		return func() int {
			for begin := threadTime(); threadTime() == begin; { // until some time has passed
			}
			return taken
		}
	}
	m.do(10, false, spin(0))
	if m.busy.Load() != 0 || m.ahead(0, 100) != 0 {
		t.Errorf("%d ns of work, and %d ns ahead; want none", m.busy.Load(), m.ahead(0, 100))
	}
	m.do(10, false, spin(10))
	if m.busy.Load() == 0 || m.ahead(0, 100) != m.ahead(50, 0) || m.ahead(0, 100) == 0 {
		t.Errorf("%d ns of work, %d ns ahead for 100 messages of which half are taken, %d ns for 50 that are", m.busy.Load(), m.ahead(0, 100), m.ahead(50, 0))
	}
}

// A few messages at a time are as much work as all of them at once.
func TestWorkInShortStretchesIsMeasured(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var m meter
	begin := threadTime()
	for range 200 {
		m.do(1, true, func() int {
			for since := time.Now(); time.Since(since) < 100*time.Microsecond; {
			}
			return 1
		})
		time.Sleep(100 * time.Microsecond)
	}
	if all, measured := threadTime()-begin, time.Duration(m.busy.Load()); measured < all/2 || measured > all {
		t.Errorf("measured %v of work; the thread worked for %v, nearly all of it for messages", measured, all)
	}
}

// A collector that had to drop messages of a source asks for rarer ones; the source follows,
// and says so in its next message.
func TestASourceFollowsACollectorThatHasTooMuchWork(t *testing.T) {
	url := startServer(t)
	p := publish(t, connect(t, url), "a", lineNet("order", 2, 1), 3)
	c, book := run(t, Config{Conn: connect(t, url)})
	until(t, c, "up", func(v *merge.View) bool { return states(v) == "a=up" && v.Sources[0].Interval == 20*time.Millisecond })
	c.inbox.mu.Lock()
	c.inbox.shown.dropped++
	c.inbox.mu.Unlock()
	until(t, c, "the source follows", func(v *merge.View) bool {
		return v.Pace == time.Second && states(v) == "a=up" && v.Sources[0].Interval == time.Second
	})
	if want := `msg="asked sources to publish at another interval, because of the work that their messages make" interval=1s before=0s`; !strings.Contains(book.String(), want) {
		t.Errorf("expected %s in\n%s", want, book)
	}
	stop(t, p)
}
