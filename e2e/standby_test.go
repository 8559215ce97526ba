// SPDX-License-Identifier: Apache-2.0

package e2e

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

func (p *pair) sidecar(t *testing.T, priority int) *sidecar {
	t.Helper()
	side := serve(t, p.natsURL, append([]string{"--agentx", p.AgentX, "--agentx.priority", strconv.Itoa(priority), "--mib-dir", ""}, p.flags...)...)
	side.registered(t)
	return side
}

// onDuty waits until one sidecar says that it notifies, and all others that they
// do not.
func onDuty(t *testing.T, one *sidecar, others ...*sidecar) {
	t.Helper()
	until(t, "the right sidecar is on duty", func() error {
		for i, side := range append([]*sidecar{one}, others...) {
			s := side.scrape(t)
			duty, _ := s.value("pnagent_sidecar_on_duty")
			peers, _ := s.value("pnagent_sidecar_peers")
			if (duty == 1) != (i == 0) || int(peers) != len(others) {
				return fmt.Errorf("sidecar %d: on duty %v, peers %v", i, duty, peers)
			}
		}
		return nil
	})
}

// notified waits until every sidecar shows a number of alarms, and checks that the station
// has received exactly one more notification.
func (p *pair) notified(t *testing.T, want notice, active int, sidecars ...*sidecar) {
	t.Helper()
	for _, side := range sidecars {
		until(t, "a sidecar has seen the change", func() error {
			if n := len(side.alarms(t)); n != active {
				return fmt.Errorf("%d alarms are active, want %d", n, active)
			}
			return nil
		})
	}
	p.sent++
	all := p.notifications(t, p.sent)
	got := noticeOf(all[len(all)-1])
	got.alarm = ""
	if len(all) != p.sent || got != want {
		t.Fatalf("the station was notified %d times, last of %+v, want %d times and %+v", len(all), got, p.sent, want)
	}
}

// notifications are those of ours that have come, at least n.
func (p *pair) notifications(t *testing.T, n int) (ours []snmptest.Notification) {
	t.Helper()
	until(t, fmt.Sprintf("the station has been notified %d times", n), func() error {
		ours = slices.DeleteFunc(p.sink.Wait(t, n), func(n snmptest.Notification) bool {
			return !strings.HasPrefix(noticeOf(n).notification, oidRoot)
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
	until(t, "the last notification is some seconds old", func() error {
		if time.Since(since) < 3*time.Second {
			return errors.New("not yet")
		}
		return nil
	})
}

func TestOfTwoSidecarsOneNotifies(t *testing.T) {
	t.Parallel()
	rules := write(t, "alarms.yaml", strings.Replace(impatient, "settle: 0s", "settle: 7s", 1))
	p := startPair(t, "--alarms", rules)
	primary, standby := p.sidecar(t, 100), p.sidecar(t, 127)
	onDuty(t, primary, standby)
	runEngine(t, p.natsURL, "berlin", "--bindings", write(t, "bindings.yaml", stuckBindings), write(t, "claims.pnml", stuckNet))
	nc := connect(t, p.natsURL)
	answer := func() {
		for range 40 {
			request(t, nc, "fire", "claims", "berlin", `{"instance":0,"transition":"answer"}`)
		}
	}
	inject := func() {
		for range 40 {
			request(t, nc, "inject", "claims", "berlin", `{"instance":0,"place":"inbox","tokens":1}`)
		}
	}
	stuck, moving := notice{tokenStuck, "claims", "awaiting answer", ""}, notice{tokenMoving, "claims", "awaiting answer", ""}

	p.notified(t, stuck, 1, primary, standby)
	rests(t)
	primary.kill(t) // no sidecar is there to notify of changes at this time
	answer()
	p.notified(t, moving, 0, standby)
	onDuty(t, standby)
	inject()
	p.notified(t, stuck, 1, standby)

	primary = p.sidecar(t, 100) // finds the stuck tokens again, and notifies of nothing
	onDuty(t, primary, standby)
	answer()
	p.notified(t, moving, 0, primary, standby)

	rests(t)
	primary.stop(t, syscall.SIGTERM) // hands over at once
	onDuty(t, standby)
	inject()
	p.notified(t, stuck, 1, standby)
	until(t, "the standby tells what it did", func() error {
		m := standby.scrape(t)
		sent, _ := m.value("pnagent_notifications_sent_total", "sink", "agentx")
		times, _ := m.value("pnagent_sidecar_takeovers_total")
		skipped, _ := m.value("pnagent_notifications_skipped_total", "reason", "standby")
		if sent != 3 || times != 2 || skipped == 0 {
			return fmt.Errorf("it has sent %v notifications, took the duty %v times, skipped %v", sent, times, skipped)
		}
		return nil
	})
}

// A sidecar that hangs is silent like a killed one, but continues with its old state: it
// must not repeat what the other one has sent meanwhile.
func TestASidecarThatHungNotifiesOfNothingTwice(t *testing.T) {
	t.Parallel()
	rules := write(t, "alarms.yaml", strings.Replace(impatient, "settle: 0s", "settle: 7s", 1))
	p := startPair(t, "--alarms", rules)
	primary, standby := p.sidecar(t, 100), p.sidecar(t, 127)
	onDuty(t, primary, standby)
	runEngine(t, p.natsURL, "berlin", "--bindings", write(t, "bindings.yaml", stuckBindings), write(t, "claims.pnml", stuckNet))
	nc := connect(t, p.natsURL)
	stuck, moving := notice{tokenStuck, "claims", "awaiting answer", ""}, notice{tokenMoving, "claims", "awaiting answer", ""}
	p.notified(t, stuck, 1, primary, standby)
	rests(t)

	primary.pause(t)
	for range 40 { // no sidecar is on duty
		request(t, nc, "fire", "claims", "berlin", `{"instance":0,"transition":"answer"}`)
	}
	p.notified(t, moving, 0, standby)
	onDuty(t, standby)
	for range 40 {
		request(t, nc, "inject", "claims", "berlin", `{"instance":0,"place":"inbox","tokens":1}`)
	}
	p.notified(t, stuck, 1, standby)
	rests(t)

	primary.resume(t)
	onDuty(t, primary, standby)
	for range 40 {
		request(t, nc, "fire", "claims", "berlin", `{"instance":0,"transition":"answer"}`)
	}
	p.notified(t, moving, 0, primary, standby) // fails if anything else was sent
}

// The row of the answering sidecar, and the time since which differences are valid.
const (
	roleName    = oidRoot + ".1.1.1.3.0"
	sinceColumn = oidRoot + ".1.1.2.1.19"
)

// read is one value, as text.
func (s *station) read(t *testing.T, name string) (value string) {
	t.Helper()
	until(t, "the station reads "+name, func() error {
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
		if next, value, ok := strings.Cut(strings.TrimSpace(line), " = "); ok && strings.HasPrefix(next, "."+oidRoot+".") {
			names = append(names, strings.TrimPrefix(next, "."))
			values[names[len(names)-1]] = value
		}
	}
	return names, values
}

func TestATakeOverInTheMiddleOfAWalkAndOfACounter(t *testing.T) {
	t.Parallel()
	net := write(t, "ticker.pnml", tickingNet)
	bindings := write(t, "ticker.yaml", "nets: {ticker: {transitions: {tick: {rate: 500/s}}}}")
	p := startPair(t, net)
	primary, standby := p.sidecar(t, 100), p.sidecar(t, 127)
	onDuty(t, primary, standby)
	// Both begin to add up in the same moment.
	engine := runEngine(t, p.natsURL, "clock", "--bindings", bindings, net)
	noc := &poller{noc: p.Client}
	ctx, stop := context.WithCancel(t.Context())
	var polling sync.WaitGroup
	polling.Go(func() { noc.run(ctx) })
	defer polling.Wait()
	defer stop()
	moves := func() {
		t.Helper()
		noc.mu.Lock()
		before := noc.last
		noc.mu.Unlock()
		until(t, "the counter moves", func() error {
			noc.mu.Lock()
			defer noc.mu.Unlock()
			if noc.last < before+500 {
				return fmt.Errorf("from %d to %d", before, noc.last)
			}
			return nil
		})
	}
	moves()
	for _, side := range []*sidecar{primary, standby} {
		until(t, "both show the engine", func() error {
			if state := side.view(t).source("ticker", "clock"); state != "up" {
				return errors.New(state)
			}
			return nil
		})
	}
	if role := p.read(t, roleName); role != "INTEGER: 1" {
		t.Errorf("the primary answers as %q", role)
	}
	atPrimary := p.read(t, sinceColumn+".1")

	names, _ := p.after(t, oidRoot, 15) // in the middle of the first scalars
	primary.kill(t)
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
	engine.signal(t, syscall.SIGTERM)
	noc.reads(t, engine.end(t).Firings)
	if noc.fault != "" {
		t.Error(noc.fault)
	}
}
