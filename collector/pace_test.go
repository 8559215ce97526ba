// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/telemetry"
)

// fleetLoad is what a fleet makes of a collector: how busy it is at one message a second of
// each source.
type fleetLoad struct {
	own  time.Duration // interval of the sources, if no collector asks for another one
	each float64       // load at an interval of a second
}

// runPace lets sources follow a pace for some minutes, and returns the intervals it asked for.
func runPace(p *pace, f func(minute int) fleetLoad, minutes int) (asked []time.Duration) {
	now, busy, interval := t0, 0.0, time.Duration(0)
	for second := range minutes * 60 {
		fleet := f(second / 60)
		now += 1e6
		busy += min(fleet.each/max(interval, fleet.own).Seconds(), 1) * 1e9
		next, announce := p.decide(int64(busy), 0, now, nothing)
		if announce && next != interval {
			asked = append(asked, next)
			interval = next
		}
	}
	return asked
}

func TestSourcesAreAskedForTheIntervalThatTheLoadNeeds(t *testing.T) {
	for name, test := range map[string]struct {
		fleet fleetLoad
		last  time.Duration // 0: never asked
		most  int           // changes
	}{
		"a small fleet":                 {fleetLoad{time.Second, 0.05}, 0, 0},
		"a fleet that is just bearable": {fleetLoad{time.Second, 0.49}, 0, 0},
		"too many sources":              {fleetLoad{time.Second, 0.9}, 5 * time.Second, 1},
		"far too many sources":          {fleetLoad{time.Second, 5}, 20 * time.Second, 3},
		"more than can be borne":        {fleetLoad{time.Second, 100}, telemetry.MaxPace, 3},
		"rare messages by themselves":   {fleetLoad{10 * time.Second, 4}, 0, 0},
	} {
		asked := runPace(&pace{}, func(int) fleetLoad { return test.fleet }, 10)
		last := time.Duration(0)
		if len(asked) > 0 {
			last = asked[len(asked)-1]
		}
		if last != test.last || len(asked) > test.most {
			t.Errorf("%s: asked for %v, want %v in at most %d steps", name, asked, test.last, test.most)
		}
	}
}

func TestSourcesMayPublishAsTheyLikeAgainAfterTheLoad(t *testing.T) {
	asked := runPace(&pace{}, func(minute int) fleetLoad {
		if minute < 3 {
			return fleetLoad{time.Second, 3}
		}
		return fleetLoad{time.Second, 0.1}
	}, 10)
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
		if _, announce := p.decide(s*3e8, 0, now, nothing); announce {
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
// rarest: until the sources follow, what waits says nothing. If it still waits then, they are
// asked for rarer ones, whatever the load was.
func TestWorkThatWaitsIsAnsweredEarly(t *testing.T) {
	p := &pace{}
	p.decide(0, 0, t0, nothing)
	for i, tick := range []struct {
		busy, ahead float64 // seconds
		want        time.Duration
	}{
		{0.7, 1.5, 10 * time.Second},
		{1.6, 1.2, 10 * time.Second},
		{2.5, 0.3, 10 * time.Second},
		{2.8, 0, 10 * time.Second},
	} {
		if got, announce := p.decide(int64(tick.busy*1e9), int64(tick.ahead*1e9), t0+int64(i+1)*1e6, nothing); got != tick.want || announce != (i == 0) {
			t.Errorf("after %d s: %v, announced %t; want %v", i+1, got, announce, tick.want)
		}
	}
	if got, announce := p.decide(3e9, 6e8, t0+25e6, nothing); got != 20*time.Second || !announce {
		t.Errorf("with work that waits still: %v, announced %t; want 20s", got, announce)
	}
	if got, announce := p.decide(31e8, 0, t0+36e6, nothing); got >= 20*time.Second || !announce {
		t.Errorf("after it: %v, announced %t; want less", got, announce)
	}
	longer := paceSteps[p.step+1]
	if got, announce := p.decide(32e8, 0, t0+60e6, someReplaced); got != longer || !announce {
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
			for begin := threadTime(); threadTime() == begin; { // at least one tick of it
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
