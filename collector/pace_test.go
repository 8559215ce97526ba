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
		next, announce := p.decide(int64(busy), now, false)
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
	p.decide(0, t0, false)
	for i, want := range []time.Duration{time.Second, 2 * time.Second, 3 * time.Second} {
		if got, announce := p.decide(0, t0+int64(i+1)*1e6, true); got != want || !announce {
			t.Errorf("after %d s: %v, announced %t; want %v", i+1, got, announce, want)
		}
	}
}

func TestAPaceIsRepeatedBeforeSourcesForgetIt(t *testing.T) {
	p := &pace{}
	p.decide(0, t0, false)
	p.decide(0, t0+1e6, true)
	announced, last := 0, t0+1e6
	for s := int64(2); s < 600; s++ {
		now := t0 + s*1e6
		if _, announce := p.decide(s*3e8, now, false); announce {
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

// A collector that had to drop messages of a source asks for rarer ones; the source follows,
// and says so in its next message.
func TestASourceFollowsACollectorThatHasTooMuchWork(t *testing.T) {
	url := startServer(t)
	p := publish(t, connect(t, url), "a", lineNet("order", 2, 1), 3)
	c, book := run(t, Config{Conn: connect(t, url)})
	until(t, c, "up", func(v *merge.View) bool { return states(v) == "a=up" && v.Sources[0].Interval == 20*time.Millisecond })
	c.inbox.mu.Lock()
	c.inbox.dropped++
	c.inbox.mu.Unlock()
	until(t, c, "the source follows", func(v *merge.View) bool {
		return v.Pace == time.Second && states(v) == "a=up" && v.Sources[0].Interval == time.Second
	})
	if want := `msg="asked sources to publish at another interval, because of the work that their messages make" interval=1s before=0s`; !strings.Contains(book.String(), want) {
		t.Errorf("expected %s in\n%s", want, book)
	}
	stop(t, p)
}
