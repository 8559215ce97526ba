// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/busytest"
	"github.com/pnagent/pnagent/internal/proxytest"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// comesBack is how long everything may take to continue, after a server answers again
// or another one of the list does, beside the time for which it waits for a processor.
const comesBack = 10 * time.Second

// quick has a sidecar without a connection raise its alarm after a second.
const quick = "defaults: {nats: {for: 1s}}\n"

// dark is one of each NATS client, behind a proxy that can drop everything.
type dark struct {
	side   *kit.Sidecar
	shop   kit.Attached
	at     kit.Web // of shop
	ring   *fleet
	member *kit.Process
	engine *kit.Engine
	calm   time.Duration // that everything takes to continue while the servers answer
	late   bool          // whether it took longer than that allows, with the time for which it waited for a processor
}

func startDark(t *testing.T, js *jetStream, urls string) *dark {
	t.Helper()
	d := &dark{side: kit.Serve(t, urls, "--alarms", kit.Write(t, "alarms.yaml", quick)), ring: newFleet(t, func() string { return js.url }, circle(), 5, 0)}
	events := kit.Write(t, "events.json", kit.OrderEvent(time.Now(), "a", "browse"))
	d.shop = kit.AttachLines(t, urls, "--follow", events)
	d.at = d.shop.Web(t)
	d.member = d.ring.startAt(urls, "member")
	d.engine = kit.RunEngine(t, urls, "plain", kit.Write(t, "claims.pnml", kit.StuckNet))
	d.ring.goesOn()
	kit.Until(t, "all is received", func() error {
		if received := d.side.View(t); !received.NATS.Connected || len(received.Sources) != 2+len(d.ring.parts()) {
			return fmt.Errorf("%+v", received)
		}
		return nil
	})
	d.calm = d.goesOn(t)
	return d
}

// comesBack checks that everything continues in time.
func (d *dark) comesBack(t *testing.T) {
	t.Helper()
	waited := busytest.Since(d.side.Cmd.Process.Pid, d.shop.Cmd.Process.Pid, d.member.Cmd.Process.Pid, d.engine.Cmd.Process.Pid)
	took, most := d.goesOn(t), comesBack+3*d.calm
	starved := waited() // these, and this one with the NATS server
	d.late = took > most
	if took-starved > most {
		t.Errorf("it took %s, %s of it without a processor, and %s before; want at most %s", took, starved, d.calm, most)
	}
}

// lostNothing checks that no source was called lost. Where all waited long for a processor,
// one may have been silent for so long that it was.
func (d *dark) lostNothing(t *testing.T) {
	t.Helper()
	if err := d.side.Has("pnagent_alarms_raised_total", 0, "alarm", "sourceLost"); err != nil && !d.late {
		t.Error(err)
	}
}

// goesOn waits until every source has published from now on, and the regions continue
// to fire. It returns how long that took.
func (d *dark) goesOn(t *testing.T) time.Duration {
	t.Helper()
	since := time.Now()
	before := d.ring.statuses()
	kit.Until(t, "everything continues", func() error {
		received := d.side.View(t)
		for _, s := range received.Sources {
			if s.State != "up" || s.LastMessage.Time().Before(since) {
				return fmt.Errorf("source %s is %s, received at %s, %+v", s.Name, s.State, s.LastMessage.Time(), received.NATS)
			}
		}
		now := d.ring.glance()
		for _, part := range d.ring.parts() {
			if now[part].Commits <= before[part].Commits {
				return fmt.Errorf("region %q: %+v", part, now[part])
			}
		}
		return d.at.Has("pnagent_nats_connected", 1)
	})
	return time.Since(since)
}

// A server goes dark: nothing is closed, nothing passes, and who connects gets no
// answer. Then it answers those that connect.
//
//promise:durable dark
func TestEverythingContinuesWhenADarkServerAnswersAgain(t *testing.T) {
	t.Parallel()
	js := startJetStream(t, nil)
	way := proxytest.New(t, strings.TrimPrefix(js.url, "nats://"))
	d := startDark(t, js, "nats://"+way.Addr)
	way.Dark()
	const lost = "connection to NATS lost, retrying.*has not answered 2 pings"
	for _, p := range []*kit.Process{d.side.Process, d.shop.Process, d.member, d.engine.Process} {
		p.Says(t, lost)
	}
	kit.Until(t, "the sidecar shows the loss", func() error {
		received := d.side.View(t)
		status, ready, err := d.side.Get("/-/ready")
		alarms := d.side.Alarms(t)
		if received.NATS.Connected || err != nil || status != 503 || !strings.Contains(string(ready), received.NATS.Reason) || len(alarms) != 1 {
			return errors.Join(err, fmt.Errorf("%+v, ready %d %q, %+v", received.NATS, status, ready, alarms))
		}
		return errors.Join(d.side.Has("pnagent_nats_connected", 0), d.at.Has("pnagent_nats_connected", 0))
	})
	for _, s := range d.side.View(t).Sources {
		if s.State != "unknown" {
			t.Errorf("got source %s as %s while the sidecar receives nothing", s.Name, s.State)
		}
	}
	way.Light()
	d.comesBack(t)
	kit.Until(t, "the alarm is over", func() error {
		return errors.Join(d.side.Has("pnagent_alarms_cleared_total", 1, "alarm", "natsDisconnected"), d.side.Has("pnagent_nats_disconnects_total", 1))
	})
	d.lostNothing(t)
}

// A server goes dark, and another one of the list answers.
func TestEverythingContinuesAtAnotherServerOfTheList(t *testing.T) {
	t.Parallel()
	js := startJetStream(t, nil)
	to := strings.TrimPrefix(js.url, "nats://")
	one, other := proxytest.New(t, to), proxytest.New(t, to)
	other.Dark() // so that all begin at the one
	d := startDark(t, js, "nats://"+one.Addr+",nats://"+other.Addr)
	other.Light()
	one.Dark()
	d.comesBack(t)
	if received := d.side.View(t); received.NATS.Server != "nats://"+other.Addr {
		t.Errorf("got %+v; want server %s", received.NATS, other.Addr)
	}
	d.lostNothing(t)
}

// A sidecar that is cut off for itself notifies of it, though no other one can be
// asked whether it does.
//
//promise:clears cut
func TestASidecarThatIsCutOffNotifies(t *testing.T) {
	t.Parallel()
	sink := snmptest.StartTrapd(t)
	js := startJetStream(t, nil)
	side := kit.Serve(t, js.url, "--alarms", kit.Write(t, "alarms.yaml", quick), "--snmp.trap-sink", sink.Addr)
	kit.Until(t, "connected", func() error { return side.Has("pnagent_nats_connected", 1) })
	js.stop()
	if got, want := kit.NoticeOf(sink.Wait(t, 1)[0]), kit.OIDRoot+".1.0.14"; got.Notification != want || got.Net+got.Place != "" {
		t.Errorf("%+v, want %s", got, want)
	}
	js.start()
	if got, want := kit.NoticeOf(sink.Wait(t, 2)[1]), kit.OIDRoot+".1.0.15"; got.Notification != want {
		t.Errorf("%+v, want %s", got, want)
	}
}
