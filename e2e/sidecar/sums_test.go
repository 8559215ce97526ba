// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pnagent/pnagent/e2e/kit"
)

//promise:faces stop
func TestThreeEnginesAddUpToTheSameInEveryFaceAndToWhatTheyReport(t *testing.T) {
	t.Parallel()
	h := kit.StartHouse(t)
	nc := kit.Connect(t, h.NATS)
	net, bindings := kit.Write(t, "claims.pnml", kit.StuckNet), kit.Write(t, "bindings.yaml", kit.StuckBindings)
	var engines []*kit.Engine
	for i, source := range []string{"berlin", "osaka", "lima 3"} {
		engines = append(engines, kit.RunEngine(t, h.NATS, source, "--bindings", bindings, "--instances", strconv.Itoa(i+1), net))
	}
	h.EveryFaceShows(t, kit.Claims(6*40, 0))

	kit.Request(t, nc, "inject", "claims", "osaka", `{"instance":1,"place":"inbox","tokens":5}`)
	for range 3 {
		kit.Request(t, nc, "fire", "claims", "lima 3", `{"instance":2,"transition":"answer"}`)
	}
	kit.Request(t, nc, "fire", "claims", "berlin", `{"instance":0,"transition":"answer"}`)
	atRest := kit.Claims(6*40+5, 4)
	h.EveryFaceShows(t, atRest)
	kit.PromtoolIsSilent(t, h.Side.Scrape(t).Text)

	reported := zeroed(atRest)
	for _, e := range engines {
		e.Signal(t, syscall.SIGTERM)
		addReport(reported, e.End(t))
	}
	if diff := cmp.Diff(atRest, reported); diff != "" {
		t.Errorf("-shown before +reported on exit\n%s", diff)
	}
	// The tokens of a source leave the sums with its bye; its counters stay. Without any
	// source, no output has a number of tokens, not even 0.
	h.EveryFaceShows(t, kit.Numbers{Tokens: map[kit.Key]uint64{}, Firings: atRest.Firings})
	h.Side.Stop(t, syscall.SIGTERM)
}

func TestFiringsOfThreeEnginesAtFullSpeedAreThoseTheyReport(t *testing.T) {
	t.Parallel()
	h := kit.StartHouse(t)
	net := kit.Write(t, "ring.pnml", kit.RingNet)
	// Some milliseconds of work: the sidecar has to get to know the net from
	// engines that are about to leave.
	const firings = 300_000
	var engines []*kit.Engine
	for i, source := range []string{"one", "two", "three"} {
		engines = append(engines, kit.RunEngine(t, h.NATS, source, "--firings", fmt.Sprint(firings+i), "--instances", "3", net))
	}
	reported := kit.NewNumbers()
	for _, id := range []string{"ab", "bc", "bc too", "ca"} {
		reported.Firings[kit.Key{Net: "ring", ID: id}] = 0 // reports leave out what never fired
	}
	for i, e := range engines {
		r := e.End(t)
		if r.Firings != uint64(firings+i) {
			t.Errorf("engine %s reports %d firings, want %d", e.Source, r.Firings, firings+i)
		}
		addReport(reported, r)
	}
	var sum uint64
	for _, n := range reported.Firings {
		sum += n
	}
	if sum != 3*firings+3 {
		t.Errorf("the transitions' firings add up to %d, want %d", sum, 3*firings+3)
	}
	clear(reported.Tokens) // they left with their engines
	h.EveryFaceShows(t, reported)
}

// watch samples the counters and tokens until it is stopped.
type watch struct {
	stop, stopped chan struct{}
	once          sync.Once
	samples       int
	faults        []string
}

// watchCounters watches /metrics: no firing is taken back, and no number of
// tokens falls below least.
func watchCounters(t *testing.T, w kit.Web, least map[kit.Key]uint64) *watch {
	t.Helper()
	s := &watch{stop: make(chan struct{}), stopped: make(chan struct{})}
	before := w.Scrape(t).Numbers()
	go func() {
		defer close(s.stopped)
		for {
			select {
			case <-s.stop:
				return
			case <-time.After(kit.PollEvery): // the sidecar is to have the processor
			}
			page, err := w.ReadMetrics()
			if err != nil {
				s.faults = append(s.faults, err.Error())
				return
			}
			now := page.Numbers()
			s.samples++
			for k, n := range before.Firings {
				if now.Firings[k] < n {
					s.faults = append(s.faults, fmt.Sprintf("firings of %v fell from %d to %d", k, n, now.Firings[k]))
				}
			}
			for k, n := range least {
				if now.Tokens[k] < n {
					s.faults = append(s.faults, fmt.Sprintf("tokens of %v fell to %d, below %d", k, now.Tokens[k], n))
				}
			}
			before = now
		}
	}()
	t.Cleanup(s.end)
	return s
}

func (s *watch) end() {
	s.once.Do(func() { close(s.stop) })
	<-s.stopped
}

// check ends the watch and says what it saw.
func (s *watch) check(t *testing.T) {
	t.Helper()
	s.end()
	if s.samples == 0 {
		t.Error("got no sample; want some")
	}
	for _, f := range s.faults {
		t.Error(f)
	}
}

//promise:counters kill
func TestAKilledEngineGoesStaleAndItsReturnCountsNothingTwice(t *testing.T) {
	t.Parallel()
	h := kit.StartHouse(t)
	nc := kit.Connect(t, h.NATS)
	net, bindings := kit.Write(t, "claims.pnml", kit.StuckNet), kit.Write(t, "bindings.yaml", kit.StuckBindings)
	run := func(source string) *kit.Engine { return kit.RunEngine(t, h.NATS, source, "--bindings", bindings, net) }
	berlin, osaka, lima := run("berlin"), run("osaka"), run("lima")
	kit.Request(t, nc, "inject", "claims", "osaka", `{"instance":0,"place":"inbox","tokens":7}`)
	h.EveryFaceShows(t, kit.Claims(3*40+7, 0))

	seen := watchCounters(t, h.Side.Web, map[kit.Key]uint64{{Net: "claims", ID: "awaiting answer"}: 3 * 40})
	osaka.Kill(t)
	kit.Until(t, "its source is stale", func() error {
		if state := h.Side.View(t).Source("claims", "osaka"); state != "stale" {
			return fmt.Errorf("it is %s", state)
		}
		return nil
	})
	up, _ := h.Side.Scrape(t).Value("petrinet_source_up", "net", "claims", "source", "osaka")
	if others, _ := h.Side.Scrape(t).Value("petrinet_source_up", "net", "claims", "source", "lima"); up != 0 || others != 1 {
		t.Errorf("petrinet_source_up of osaka is %v, want 0; of lima %v, want 1", up, others)
	}
	// Its counters stay, and the others continue.
	kit.Request(t, nc, "inject", "claims", "berlin", `{"instance":0,"place":"inbox","tokens":2}`)
	h.EveryFaceShows(t, kit.Claims(3*40+9, 0))

	osaka = run("osaka")
	kit.Until(t, "its source is up again", func() error {
		if state := h.Side.View(t).Source("claims", "osaka"); state != "up" {
			return fmt.Errorf("it is %s", state)
		}
		return nil
	})
	// The new process has the 40 tokens of its net, the 47 of the old one are
	// gone with it. What the old one fired stays counted, and the new one fired
	// for its own 40.
	back := kit.Claims(4*40+9, 0)
	back.Tokens[kit.Key{Net: "claims", ID: "awaiting answer"}] = 3*40 + 2
	h.EveryFaceShows(t, back)
	seen.check(t)
	for k, n := range h.Prom.Query(t, "resets(petrinet_transition_firings_total[5m])", "transition") {
		if n != 0 {
			t.Errorf("Prometheus saw the firings of %v fall %d times", k, n)
		}
	}

	reported := zeroed(back)
	for _, e := range []*kit.Engine{berlin, osaka, lima} {
		e.Signal(t, syscall.SIGTERM)
		addReport(reported, e.End(t))
	}
	killed := map[kit.Key]uint64{{Net: "claims", ID: "take"}: 47, {Net: "claims", ID: "ask"}: 47}
	for k, n := range maps.All(killed) {
		reported.Firings[k] += n
	}
	if diff := cmp.Diff(back, reported); diff != "" {
		t.Errorf("-shown before +reported, with what the killed one had reached\n%s", diff)
	}
}

func TestAHundredNewNetsAtOnceAreAllShown(t *testing.T) {
	t.Parallel()
	url := kit.StartNATS(t)
	side := kit.Serve(t, url, "--mib-dir", "")
	var paths, ids []string
	for i := range 100 {
		id := fmt.Sprint("claims of office ", i)
		ids = append(ids, id)
		paths = append(paths, kit.Write(t, "claims.pnml", strings.Replace(kit.StuckNet, `net id="claims"`, `net id="`+id+`"`, 1)))
	}
	kit.RunEngine(t, url, "head office", paths...)
	kit.Until(t, "every net's firings are shown", func() error {
		shown := side.View(t).Numbers().Firings
		for _, id := range ids {
			if n := shown[kit.Key{Net: id, ID: "archive"}]; n != 40 {
				return fmt.Errorf("%d of the 40 firings in net %q", n, id)
			}
		}
		return nil
	})
	side.Stop(t, syscall.SIGTERM)
}

// addReport adds what an engine reports. It leaves out what is 0, so it wants the
// names from numbers that have them.
func addReport(n kit.Numbers, r kit.Report) {
	for net, did := range r.Nets {
		for id, v := range did.Tokens {
			n.Tokens[kit.Key{Net: net, ID: id}] += v
		}
		for id, v := range did.Transitions {
			n.Firings[kit.Key{Net: net, ID: id}] += v
		}
	}
}

// zeroed has the names of n and counts nothing.
func zeroed(n kit.Numbers) kit.Numbers {
	z := kit.NewNumbers()
	for k := range n.Tokens {
		z.Tokens[k] = 0
	}
	for k := range n.Firings {
		z.Firings[k] = 0
	}
	return z
}
