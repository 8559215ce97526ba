// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// Two sidecars are a pair: a station receives everything once.

// pair is a station that is notified too, and sidecars that show a net.
type pair struct {
	station
	sink  *snmptest.Snmptrapd
	flags []string
	sent  int // notifications so far
}

func startPair(t *testing.T, flags ...string) *pair {
	t.Helper()
	sink := snmptest.StartTrapd(t)
	return &pair{station: *startStation(t, snmptest.Config{Lines: []string{"trap2sink " + sink.Addr + " public"}}), sink: sink, flags: flags}
}

func (p *pair) sidecar(t *testing.T, priority int) *kit.Sidecar {
	t.Helper()
	side := kit.Serve(t, p.natsURL, append([]string{"--agentx", p.AgentX, "--agentx.priority", strconv.Itoa(priority), "--mib-dir", ""}, p.flags...)...)
	side.Registered(t)
	return side
}

// notified waits until every sidecar shows a number of alarms, and checks that the station
// has received exactly one more notification.
func (p *pair) notified(t *testing.T, want kit.Notice, active int, sidecars ...*kit.Sidecar) {
	t.Helper()
	for _, side := range sidecars {
		kit.Until(t, "a sidecar has seen the change", func() error {
			if n := len(side.Alarms(t)); n != active {
				return fmt.Errorf("%d alarms are active, want %d", n, active)
			}
			return nil
		})
	}
	p.sent++
	all := p.notifications(t, p.sent)
	got := kit.NoticeOf(all[len(all)-1])
	got.Alarm = ""
	if len(all) != p.sent || got != want {
		t.Fatalf("the station was notified %d times, last of %+v, want %d times and %+v", len(all), got, p.sent, want)
	}
}

// notifications are those of ours that have come, at least n.
func (p *pair) notifications(t *testing.T, n int) (ours []snmptest.Notification) {
	t.Helper()
	kit.Until(t, fmt.Sprintf("the station has been notified %d times", n), func() error {
		ours = slices.DeleteFunc(p.sink.Wait(t, n), func(n snmptest.Notification) bool {
			return !strings.HasPrefix(kit.NoticeOf(n).Notification, kit.OIDRoot)
		})
		if len(ours) < n {
			return fmt.Errorf("%d times", len(ours))
		}
		return nil
	})
	return ours
}

// rests waits until the last notification is too old to be repeated by a take-over.
func rests(t *testing.T) {
	t.Helper()
	since := time.Now()
	kit.Until(t, "the last notification is some seconds old", func() error {
		if time.Since(since) < 3*time.Second {
			return errors.New("not yet")
		}
		return nil
	})
}

func TestOfTwoSidecarsOneNotifies(t *testing.T) {
	t.Parallel()
	rules := kit.Write(t, "alarms.yaml", strings.Replace(kit.Impatient, "settle: 0s", "settle: 7s", 1))
	p := startPair(t, "--alarms", rules)
	primary, standby := p.sidecar(t, 100), p.sidecar(t, 127)
	kit.OnDuty(t, primary, standby)
	kit.RunEngine(t, p.natsURL, "berlin", "--bindings", kit.Write(t, "bindings.yaml", kit.StuckBindings), kit.Write(t, "claims.pnml", kit.StuckNet))
	nc := kit.Connect(t, p.natsURL)
	answer := func() {
		for range 40 {
			kit.Request(t, nc, "fire", "claims", "berlin", `{"instance":0,"transition":"answer"}`)
		}
	}
	inject := func() {
		for range 40 {
			kit.Request(t, nc, "inject", "claims", "berlin", `{"instance":0,"place":"inbox","tokens":1}`)
		}
	}
	stuck, moving := kit.Notice{Notification: kit.TokenStuck, Net: "claims", Place: "awaiting answer", Alarm: ""}, kit.Notice{Notification: kit.TokenMoving, Net: "claims", Place: "awaiting answer", Alarm: ""}

	p.notified(t, stuck, 1, primary, standby)
	rests(t)
	primary.Kill(t) // no sidecar is there to notify of changes at this time
	answer()
	p.notified(t, moving, 0, standby)
	kit.OnDuty(t, standby)
	inject()
	p.notified(t, stuck, 1, standby)

	primary = p.sidecar(t, 100) // finds the stuck tokens again, and notifies of nothing
	kit.OnDuty(t, primary, standby)
	answer()
	p.notified(t, moving, 0, primary, standby)

	rests(t)
	primary.Stop(t, syscall.SIGTERM) // hands over at once
	kit.OnDuty(t, standby)
	inject()
	p.notified(t, stuck, 1, standby)
	kit.Until(t, "the standby tells what it did", func() error {
		m := standby.Scrape(t)
		sent, _ := m.Value("pnagent_notifications_sent_total", "sink", "agentx")
		times, _ := m.Value("pnagent_sidecar_takeovers_total")
		skipped, _ := m.Value("pnagent_notifications_skipped_total", "reason", "standby")
		if sent != 3 || times != 2 || skipped == 0 {
			return fmt.Errorf("it has sent %v notifications, took the duty %v times, skipped %v", sent, times, skipped)
		}
		return nil
	})
}

// A sidecar that hangs is silent like a killed one, but continues with its old state: it
// must not repeat what the other one has sent meanwhile.
//
//promise:clears pause
func TestASidecarThatHungNotifiesOfNothingTwice(t *testing.T) {
	t.Parallel()
	rules := kit.Write(t, "alarms.yaml", strings.Replace(kit.Impatient, "settle: 0s", "settle: 7s", 1))
	p := startPair(t, "--alarms", rules)
	primary, standby := p.sidecar(t, 100), p.sidecar(t, 127)
	kit.OnDuty(t, primary, standby)
	kit.RunEngine(t, p.natsURL, "berlin", "--bindings", kit.Write(t, "bindings.yaml", kit.StuckBindings), kit.Write(t, "claims.pnml", kit.StuckNet))
	nc := kit.Connect(t, p.natsURL)
	stuck, moving := kit.Notice{Notification: kit.TokenStuck, Net: "claims", Place: "awaiting answer", Alarm: ""}, kit.Notice{Notification: kit.TokenMoving, Net: "claims", Place: "awaiting answer", Alarm: ""}
	p.notified(t, stuck, 1, primary, standby)
	rests(t)

	primary.Pause(t)
	for range 40 { // no sidecar is on duty
		kit.Request(t, nc, "fire", "claims", "berlin", `{"instance":0,"transition":"answer"}`)
	}
	p.notified(t, moving, 0, standby)
	kit.OnDuty(t, standby)
	for range 40 {
		kit.Request(t, nc, "inject", "claims", "berlin", `{"instance":0,"place":"inbox","tokens":1}`)
	}
	p.notified(t, stuck, 1, standby)
	rests(t)

	primary.Resume(t)
	kit.OnDuty(t, primary, standby)
	for range 40 {
		kit.Request(t, nc, "fire", "claims", "berlin", `{"instance":0,"transition":"answer"}`)
	}
	p.notified(t, moving, 0, primary, standby) // fails if anything else was sent
}

// The row of the answering sidecar, and the time since which differences are valid.
const (
	roleName    = kit.OIDRoot + ".1.1.1.3.0"
	sinceColumn = kit.OIDRoot + ".1.1.2.1.19"
)

// read is one value, as text.
func (s *station) read(t *testing.T, name string) (value string) {
	t.Helper()
	kit.Until(t, "the station reads "+name, func() error {
		out, err := s.Run(t.Context(), "snmpget", []string{"-t", "1", "-r", "0"}, name)
		_, text, ok := strings.Cut(strings.TrimSpace(out), " = ")
		if err != nil || !ok || strings.HasPrefix(text, "No Such") {
			return errors.Join(err, fmt.Errorf("it reads %q", out))
		}
		value = text
		return nil
	})
	return value
}

// after is up to n variables after a name: one piece of a walk.
func (s *station) after(t *testing.T, name string, n int) (names []string, values map[string]string) {
	t.Helper()
	out, err := s.Run(t.Context(), "snmpbulkget", []string{"-t", "2", "-r", "1", "-Cn0", "-Cr" + strconv.Itoa(n)}, name)
	if err != nil {
		t.Fatalf("after %s: %v", name, err)
	}
	values = map[string]string{}
	for line := range strings.Lines(out) {
		if next, value, ok := strings.Cut(strings.TrimSpace(line), " = "); ok && strings.HasPrefix(next, "."+kit.OIDRoot+".") {
			names = append(names, strings.TrimPrefix(next, "."))
			values[names[len(names)-1]] = value
		}
	}
	return names, values
}

//promise:faces kill
//promise:counters kill
func TestATakeOverInTheMiddleOfAWalkAndOfACounter(t *testing.T) {
	t.Parallel()
	net := kit.Write(t, "ticker.pnml", kit.TickingNet)
	bindings := kit.Write(t, "ticker.yaml", "nets: {ticker: {transitions: {tick: {rate: 500/s}}}}")
	p := startPair(t, net)
	primary, standby := p.sidecar(t, 100), p.sidecar(t, 127)
	kit.OnDuty(t, primary, standby)
	// Both begin to add up in the same moment.
	engine := kit.RunEngine(t, p.natsURL, "clock", "--bindings", bindings, net)
	noc := &kit.Poller{NOC: p.Client}
	ctx, stop := context.WithCancel(t.Context())
	var polling sync.WaitGroup
	polling.Go(func() { noc.Run(ctx) })
	defer polling.Wait()
	defer stop()
	moves := func() {
		t.Helper()
		noc.Mu.Lock()
		before := noc.Last
		noc.Mu.Unlock()
		kit.Until(t, "the counter moves", func() error {
			noc.Mu.Lock()
			defer noc.Mu.Unlock()
			if noc.Last < before+500 {
				return fmt.Errorf("from %d to %d", before, noc.Last)
			}
			return nil
		})
	}
	moves()
	for _, side := range []*kit.Sidecar{primary, standby} {
		kit.Until(t, "both show the engine", func() error {
			if state := side.View(t).Source("ticker", "clock"); state != "up" {
				return errors.New(state)
			}
			return nil
		})
	}
	if role := p.read(t, roleName); role != "INTEGER: 1" {
		t.Errorf("the primary answers as %q", role)
	}
	atPrimary := p.read(t, sinceColumn+".1")

	names, _ := p.after(t, kit.OIDRoot, 15) // in the middle of the first scalars
	primary.Kill(t)
	values := map[string]string{}
	for {
		more, some := p.after(t, names[len(names)-1], 15)
		if len(more) == 0 {
			break
		}
		names = append(names, more...)
		for name, value := range some {
			values[name] = value
		}
	}
	var whole []string
	for _, v := range p.BulkWalk(t, 50, root(t)) {
		whole = append(whole, v.Name.String())
	}
	if diff := cmp.Diff(whole, names); diff != "" || len(names) < 100 {
		t.Errorf("walk after the change of sidecars, -whole +walked:\n%s", diff)
	}
	atStandby := p.read(t, sinceColumn+".1")
	if atStandby == atPrimary || values[sinceColumn+".1"] == atPrimary {
		t.Errorf("the discontinuity time stays %s, in the walk %s", atPrimary, values[sinceColumn+".1"])
	}
	if role := p.read(t, roleName); role != "INTEGER: 2" {
		t.Errorf("the standby answers as %q", role)
	}
	moves()

	p.sidecar(t, 100)
	moves()
	if again := p.read(t, sinceColumn+".1"); again == atPrimary || again == atStandby {
		t.Errorf("the discontinuity time is %s again, after %s and %s", again, atPrimary, atStandby)
	}
	if role := p.read(t, roleName); role != "INTEGER: 1" {
		t.Errorf("the primary that is back answers as %q", role)
	}
	engine.Signal(t, syscall.SIGTERM)
	noc.Reads(t, engine.End(t).Firings)
	if noc.Fault != "" {
		t.Error(noc.Fault)
	}
}
