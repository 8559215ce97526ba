// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"github.com/pnagent/pnagent/snmp/snmptest"
)

const tickingNet = `<pnml><net id="ticker" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="g">
  <place id="p"/><transition id="tick"/><transition id="take"/>
  <arc id="1" source="tick" target="p"/><arc id="2" source="p" target="take"/></page></net></pnml>`

// poller reads a counter again and again, as a station does that draws a line:
// differences count only while the discontinuity time is the same.
type poller struct {
	noc snmptest.Client

	mu      sync.Mutex
	last    uint64
	since   string // the discontinuity time of last; "" before the first reading
	sum     uint64 // of the differences since the discontinuity time changed
	changes int    // of the discontinuity time
	fault   string
}

var firingsAndSince = regexp.MustCompile(`Counter64: (\d+)\n.*Hex-STRING: (.+?)\s*$`)

// run polls until ctx ends. What is not answered is asked again.
func (p *poller) run(ctx context.Context) {
	for ctx.Err() == nil {
		out, err := p.noc.Run(ctx, "snmpget", []string{"-t", "1", "-r", "0"}, oidRoot+".1.1.2.1.15.1", oidRoot+".1.1.2.1.19.1")
		m := firingsAndSince.FindStringSubmatch(out)
		if err != nil || m == nil {
			continue
		}
		n, _ := strconv.ParseUint(m[1], 10, 64)
		p.mu.Lock()
		switch {
		case p.since != m[2]:
			p.since, p.sum, p.changes = m[2], n, p.changes+1
		case n < p.last:
			p.fault = fmt.Sprintf("the counter fell from %d to %d", p.last, n)
		default:
			p.sum += n - p.last
		}
		p.last = n
		p.mu.Unlock()
	}
}

// reads waits until the station has counted a number of firings since the last
// discontinuity.
func (p *poller) reads(t *testing.T, want uint64) {
	t.Helper()
	until(t, fmt.Sprintf("the station has counted %d firings", want), func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.sum != want || p.last != want {
			return fmt.Errorf("it has counted %d, the counter is %d", p.sum, p.last)
		}
		return nil
	})
}

// Engines that end, are killed and come back under their names, and a sidecar
// that restarts: the sums of a station never decrease and count nothing twice.
func TestDifferencesOfCountersAreNeverNegativeNorDouble(t *testing.T) {
	t.Parallel()
	snmpd := snmptest.Start(t, snmptest.Config{})
	natsURL, dir := startNATS(t), t.TempDir()
	net := write(t, "ticker.pnml", tickingNet)
	bindings := write(t, "ticker.yaml", "nets: {ticker: {transitions: {tick: {rate: 500/s}}}}")
	side := serve(t, natsURL, "--agentx", snmpd.AgentX, "--mib-dir", dir, net)
	side.registered(t)
	ctx, stop := context.WithCancel(t.Context())
	p := &poller{noc: snmpd.Client}
	var polling sync.WaitGroup
	polling.Go(func() { p.run(ctx) })
	defer polling.Wait()
	defer stop()

	run := func() *engine {
		return runEngine(t, natsURL, "clock", "--bindings", bindings, net)
	}
	ends := func(e *engine) uint64 {
		e.signal(t, syscall.SIGTERM)
		return e.end(t).Firings
	}
	moves := func(past uint64) {
		t.Helper()
		until(t, "the counter moves", func() error {
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.last <= past {
				return fmt.Errorf("it is %d", p.last)
			}
			return nil
		})
	}
	var sum uint64
	for range 3 { // the same name, a new life: what it did before stays, what it does comes on top
		e := run()
		moves(sum + 100)
		sum += ends(e)
		p.reads(t, sum)
	}

	killed := run()
	moves(sum + 100)
	killed.kill(t)
	until(t, "the killed engine is silent", func() error {
		if state := side.view(t).source("ticker", "clock"); state != "stale" {
			return errors.New(state)
		}
		return nil
	})
	var before uint64 // including what the killed one had published
	for _, n := range side.view(t).numbers().Firings {
		before += n
	}
	p.reads(t, before)
	e := run()
	moves(before + 100)
	e0 := ends(e)
	p.reads(t, before+e0)

	before += e0
	for _, end := range []func(){
		func() { side.stop(t, syscall.SIGTERM) },
		func() { side.kill(t) },
	} {
		e = run()
		moves(before + 100)
		end()
		side = serve(t, natsURL, "--agentx", snmpd.AgentX, "--mib-dir", dir, net)
		side.registered(t)
		before += ends(e) // what it did while there was no sidecar included
		p.reads(t, before)
	}
	if p.changes != 1 {
		t.Errorf("the station saw %d discontinuities", p.changes-1)
	}
	if p.fault != "" {
		t.Error(p.fault)
	}
}
