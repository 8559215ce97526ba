// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// Engines that end, are killed and come back under their names, and a sidecar
// that restarts: the sums of a station never decrease and count nothing twice.
//
//promise:counters kill stop
func TestDifferencesOfCountersAreNeverNegativeNorDouble(t *testing.T) {
	t.Parallel()
	snmpd := snmptest.Start(t, snmptest.Config{})
	natsURL, dir := kit.StartNATS(t), t.TempDir()
	net := kit.Write(t, "ticker.pnml", kit.TickingNet)
	bindings := kit.Write(t, "ticker.yaml", "nets: {ticker: {transitions: {tick: {rate: 500/s}}}}")
	side := kit.Serve(t, natsURL, "--agentx", snmpd.AgentX, "--mib-dir", dir, net)
	side.Registered(t)
	ctx, stop := context.WithCancel(t.Context())
	p := &kit.Poller{NOC: snmpd.Client}
	var polling sync.WaitGroup
	polling.Go(func() { p.Run(ctx) })
	defer polling.Wait()
	defer stop()

	run := func() *kit.Engine {
		return kit.RunEngine(t, natsURL, "clock", "--bindings", bindings, net)
	}
	ends := func(e *kit.Engine) uint64 {
		e.Signal(t, syscall.SIGTERM)
		return e.End(t).Firings
	}
	moves := func(past uint64) {
		t.Helper()
		kit.Until(t, "the counter moves", func() error {
			p.Mu.Lock()
			defer p.Mu.Unlock()
			if p.Last <= past {
				return fmt.Errorf("it is %d", p.Last)
			}
			return nil
		})
	}
	var sum uint64
	for range 3 { // the same name, a new life: what it did before stays, what it does comes on top
		e := run()
		moves(sum + 100)
		sum += ends(e)
		p.Reads(t, sum)
	}

	killed := run()
	moves(sum + 100)
	killed.Kill(t)
	kit.Until(t, "the killed engine is silent", func() error {
		if state := side.View(t).Source("ticker", "clock"); state != "stale" {
			return errors.New(state)
		}
		return nil
	})
	var before uint64 // including what the killed one had published
	for _, n := range side.View(t).Numbers().Firings {
		before += n
	}
	p.Reads(t, before)
	e := run()
	moves(before + 100)
	e0 := ends(e)
	p.Reads(t, before+e0)

	before += e0
	for _, end := range []func(){
		func() { side.Stop(t, syscall.SIGTERM) },
		func() { side.Kill(t) },
	} {
		e = run()
		moves(before + 100)
		end()
		side = kit.Serve(t, natsURL, "--agentx", snmpd.AgentX, "--mib-dir", dir, net)
		side.Registered(t)
		before += ends(e) // what it did while there was no sidecar included
		p.Reads(t, before)
	}
	if p.Changes != 1 {
		t.Errorf("the station saw %d discontinuities", p.Changes-1)
	}
	if p.Fault != "" {
		t.Error(p.Fault)
	}
}
