// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/snmp/snmptest"
)

// house is the whole path: a NATS server, a sidecar, and two networks'
// management: a snmpd that it is a subagent of, and a Prometheus.
type house struct {
	nats string
	side *sidecar
	noc  snmptest.Client
	prom prometheus
}

func startHouse(t *testing.T) *house {
	t.Helper()
	need(t, "prometheus", "prometheus")
	snmpd := snmptest.Start(t, snmptest.Config{})
	h := &house{nats: startNATS(t), noc: snmpd.Client}
	h.side = serve(t, h.nats, "--agentx", snmpd.AgentX, "--mib-dir", t.TempDir())
	h.prom = startPrometheus(t, h.side.web)
	return h
}

// everyFaceShows waits until all faces show these numbers.
func (h *house) everyFaceShows(t *testing.T, want numbers) {
	t.Helper()
	for _, face := range []struct {
		name string
		look func() numbers
	}{
		{"the view", func() numbers { return h.side.view(t).numbers() }},
		{"/metrics", func() numbers { return h.side.scrape(t).numbers() }},
		{"Prometheus", func() numbers { return h.prom.numbers(t) }},
		{"a walk through snmpd", func() numbers { return walk(t, h.noc).numbers() }},
		{"pnagent dump", func() numbers { return dump(t, h.side.web).numbers() }},
	} {
		until(t, face.name+" shows the numbers", func() error {
			if diff := cmp.Diff(want, face.look()); diff != "" {
				return errors.New("-want +got\n" + diff)
			}
			return nil
		})
	}
}

// dump is the view that "pnagent dump" prints.
func dump(t *testing.T, w web) view {
	t.Helper()
	r := pnagent(t, "dump", "--url", w.url)
	v, err := parseView([]byte(r.out))
	if r.code != 0 || err != nil {
		t.Fatalf("pnagent dump: %+v, %v", r, err)
	}
	return v
}

// claims returns the numbers of stuckNet after a number of claims were taken up and a
// number of them answered.
func claims(taken, answered uint64) numbers {
	return numbers{
		Tokens: map[key]uint64{{"claims", "inbox"}: 0, {"claims", "review"}: 0,
			{"claims", "awaiting answer"}: taken - answered, {"claims", "paid €"}: answered},
		Firings: map[key]uint64{{"claims", "take"}: taken, {"claims", "ask"}: taken,
			{"claims", "answer"}: answered, {"claims", "archive"}: 0},
	}
}

func TestThreeEnginesAddUpToTheSameInEveryFaceAndToWhatTheyReport(t *testing.T) {
	t.Parallel()
	h := startHouse(t)
	nc := connect(t, h.nats)
	net, bindings := write(t, "claims.pnml", stuckNet), write(t, "bindings.yaml", stuckBindings)
	var engines []*engine
	for i, source := range []string{"berlin", "osaka", "lima 3"} {
		engines = append(engines, runEngine(t, h.nats, source, "--bindings", bindings, "--instances", strconv.Itoa(i+1), net))
	}
	h.everyFaceShows(t, claims(6*40, 0))

	request(t, nc, "inject", "claims", "osaka", `{"instance":1,"place":"inbox","tokens":5}`)
	for range 3 {
		request(t, nc, "fire", "claims", "lima 3", `{"instance":2,"transition":"answer"}`)
	}
	request(t, nc, "fire", "claims", "berlin", `{"instance":0,"transition":"answer"}`)
	atRest := claims(6*40+5, 4)
	h.everyFaceShows(t, atRest)
	promtoolIsSilent(t, h.side.scrape(t).text)

	reported := atRest.zero()
	for _, e := range engines {
		e.signal(t, syscall.SIGTERM)
		reported.add(e.end(t))
	}
	if diff := cmp.Diff(atRest, reported); diff != "" {
		t.Errorf("-shown before +reported on exit\n%s", diff)
	}
	// The tokens of a source leave the sums with its bye; its counters stay. Without any
	// source, no output has a number of tokens, not even 0.
	h.everyFaceShows(t, numbers{map[key]uint64{}, atRest.Firings})
	h.side.stop(t, syscall.SIGTERM)
}

func TestFiringsOfThreeEnginesAtFullSpeedAreThoseTheyReport(t *testing.T) {
	t.Parallel()
	h := startHouse(t)
	net := write(t, "ring.pnml", ringNet)
	// Some milliseconds of work: the sidecar has to get to know the net from
	// engines that are about to leave.
	const firings = 300_000
	var engines []*engine
	for i, source := range []string{"one", "two", "three"} {
		engines = append(engines, runEngine(t, h.nats, source, "--firings", fmt.Sprint(firings+i), "--instances", "3", net))
	}
	reported := newNumbers()
	for _, id := range []string{"ab", "bc", "bc too", "ca"} {
		reported.Firings[key{"ring", id}] = 0 // reports leave out what never fired
	}
	for i, e := range engines {
		r := e.end(t)
		if r.Firings != uint64(firings+i) {
			t.Errorf("engine %s reports %d firings, want %d", e.source, r.Firings, firings+i)
		}
		reported.add(r)
	}
	var sum uint64
	for _, n := range reported.Firings {
		sum += n
	}
	if sum != 3*firings+3 {
		t.Errorf("the transitions' firings add up to %d, want %d", sum, 3*firings+3)
	}
	clear(reported.Tokens) // they left with their engines
	h.everyFaceShows(t, reported)
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
func watchCounters(t *testing.T, w web, least map[key]uint64) *watch {
	t.Helper()
	s := &watch{stop: make(chan struct{}), stopped: make(chan struct{})}
	before := w.scrape(t).numbers()
	go func() {
		defer close(s.stopped)
		for {
			select {
			case <-s.stop:
				return
			default:
			}
			page, err := w.readMetrics()
			if err != nil {
				s.faults = append(s.faults, err.Error())
				return
			}
			now := page.numbers()
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

func TestAKilledEngineGoesStaleAndItsReturnCountsNothingTwice(t *testing.T) {
	t.Parallel()
	h := startHouse(t)
	nc := connect(t, h.nats)
	net, bindings := write(t, "claims.pnml", stuckNet), write(t, "bindings.yaml", stuckBindings)
	run := func(source string) *engine { return runEngine(t, h.nats, source, "--bindings", bindings, net) }
	berlin, osaka, lima := run("berlin"), run("osaka"), run("lima")
	request(t, nc, "inject", "claims", "osaka", `{"instance":0,"place":"inbox","tokens":7}`)
	h.everyFaceShows(t, claims(3*40+7, 0))

	seen := watchCounters(t, h.side.web, map[key]uint64{{"claims", "awaiting answer"}: 3 * 40})
	osaka.kill(t)
	until(t, "its source is stale", func() error {
		if state := h.side.view(t).source("claims", "osaka"); state != "stale" {
			return fmt.Errorf("it is %s", state)
		}
		return nil
	})
	up, _ := h.side.scrape(t).value("petrinet_source_up", "net", "claims", "source", "osaka")
	if others, _ := h.side.scrape(t).value("petrinet_source_up", "net", "claims", "source", "lima"); up != 0 || others != 1 {
		t.Errorf("petrinet_source_up of osaka is %v, want 0; of lima %v, want 1", up, others)
	}
	// Its counters stay, and the others continue.
	request(t, nc, "inject", "claims", "berlin", `{"instance":0,"place":"inbox","tokens":2}`)
	h.everyFaceShows(t, claims(3*40+9, 0))

	osaka = run("osaka")
	until(t, "its source is up again", func() error {
		if state := h.side.view(t).source("claims", "osaka"); state != "up" {
			return fmt.Errorf("it is %s", state)
		}
		return nil
	})
	// The new process has the 40 tokens of its net, the 47 of the old one are
	// gone with it. What the old one fired stays counted, and the new one fired
	// for its own 40.
	back := claims(4*40+9, 0)
	back.Tokens[key{"claims", "awaiting answer"}] = 3*40 + 2
	h.everyFaceShows(t, back)
	seen.check(t)
	for k, n := range h.prom.query(t, "resets(petrinet_transition_firings_total[5m])", "transition") {
		if n != 0 {
			t.Errorf("Prometheus saw the firings of %v fall %d times", k, n)
		}
	}

	reported := back.zero()
	for _, e := range []*engine{berlin, osaka, lima} {
		e.signal(t, syscall.SIGTERM)
		reported.add(e.end(t))
	}
	killed := map[key]uint64{{"claims", "take"}: 47, {"claims", "ask"}: 47}
	for k, n := range maps.All(killed) {
		reported.Firings[k] += n
	}
	if diff := cmp.Diff(back, reported); diff != "" {
		t.Errorf("-shown before +reported, with what the killed one had reached\n%s", diff)
	}
}

func TestAHundredNewNetsAtOnceAreAllShown(t *testing.T) {
	t.Parallel()
	url := startNATS(t)
	side := serve(t, url, "--mib-dir", "")
	var paths, ids []string
	for i := range 100 {
		id := fmt.Sprint("claims of office ", i)
		ids = append(ids, id)
		paths = append(paths, write(t, "claims.pnml", strings.Replace(stuckNet, `net id="claims"`, `net id="`+id+`"`, 1)))
	}
	runEngine(t, url, "head office", paths...)
	until(t, "every net's firings are shown", func() error {
		shown := side.view(t).numbers().Firings
		for _, id := range ids {
			if n := shown[key{id, "archive"}]; n != 40 {
				return fmt.Errorf("%d of the 40 firings in net %q", n, id)
			}
		}
		return nil
	})
	side.stop(t, syscall.SIGTERM)
}
