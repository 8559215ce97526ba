// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/web/api"
)

// strangers are invented sources of a net: a few report a small definition with other
// names, and a few one with many rows. Each sends five messages a second, until end.
func strangers(t *testing.T, nc *nats.Conn, net string, each int) (end func()) {
	t.Helper()
	const small, large = 3, 3000
	canary, few := hostileNet(net, "POISONED", small)
	flood, many := hostileNet(net, "POISONED", large)
	answerDefinition(t, nc, net, few, canary)
	answerDefinition(t, nc, net, many, flood)
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for seq := uint64(1); ; seq++ {
			for i := range each {
				_ = nc.PublishMsg(packed(t, hostileRows(net, few, fmt.Sprint("canary-", i), seq, small))) // the server may refuse it
				_ = nc.PublishMsg(packed(t, hostileRows(net, many, fmt.Sprint("flood-", i), seq, large)))
			}
			select {
			case <-ended:
				return
			case <-tick.C:
			}
		}
	}()
	return func() { close(ended); <-done }
}

// Invented sources are the majority of a net that is some seconds old and has one engine.
// They rename nothing, and add what the bound permits. An alarm is raised for the others,
// and all of it is over in the documented times after the attack.
func TestInventedSourcesDoNotTakeAYoungNet(t *testing.T) {
	t.Parallel()
	url := kit.StartNATS(t)
	const gone, leave, cleared = time.Second, 4 * time.Second, 10 * time.Second
	side := kit.Serve(t, url, "--mib-dir", t.TempDir(), "--forget-after", gone.String(), "--forget-nets-after", leave.String())
	kit.RunEngine(t, url, "good", "--bindings", kit.Write(t, "bindings.yaml", kit.StuckBindings), kit.Write(t, "claims.pnml", kit.StuckNet))
	calm := side.UntilView(t, "the engine is shown", func(v kit.View) error { return v.Shows("claims") })
	nc := kit.Connect(t, url)
	end := strangers(t, nc, "claims", 5)
	defer func() {
		if end != nil {
			end()
		}
	}()
	bounded := func(v kit.View) error {
		if got, want := namesOf(v), namesOf(calm); got != want || len(v.Nets[0].Places) > len(calm.Nets[0].Places)+3 {
			t.Fatalf("got %s and %d places; want %s, and at most 3 more than %d", got, len(v.Nets[0].Places), want, len(calm.Nets[0].Places))
		}
		return nil
	}
	side.UntilView(t, "five invented sources are shown, and five refused", func(v kit.View) error {
		up, refused := 0, 0
		for _, s := range v.Sources {
			switch {
			case strings.HasPrefix(s.Name, "canary-") && s.State == "up":
				up++
			case strings.HasPrefix(s.Name, "flood-") && s.State == "refused":
				refused++
			}
		}
		if up != 5 || refused != 5 {
			return errors.Join(bounded(v), fmt.Errorf("%d up, %d refused", up, refused))
		}
		return bounded(v)
	})
	of := func() (held []api.Alarm) {
		for _, one := range side.Alarms(t) {
			if one.Alarm == "sourceRefused" && strings.HasPrefix(one.Source, "flood-") {
				held = append(held, one)
			}
		}
		return held
	}
	kit.Until(t, "alarms are raised for the sources that are refused", func() error {
		if held := of(); len(held) != 5 {
			return fmt.Errorf("%+v", held)
		}
		return bounded(side.View(t))
	})
	for _, one := range of() {
		within(t, "the alarm is raised", 10*time.Second, at(one.Since.Time()), one.Raised.Time())
	}
	side.Alarmed(t, "PnagentMessagesRejected", "pnagent_messages_rejected_total")
	side.Alarmed(t, "PetrinetSourceRefused", "petrinet_alarm_active")
	if state := side.View(t).Source("claims", "good"); state != "up" {
		t.Errorf("the engine is %s; want up", state)
	}
	end()
	end = nil
	ended := flushed(t, nc, side.Process)
	v := side.UntilView(t, "the rows have left", func(v kit.View) error {
		if n := len(v.Nets[0].Places); n != len(calm.Nets[0].Places) {
			return fmt.Errorf("%d places", n)
		}
		return bounded(v)
	})
	within(t, "the rows leave", gone+leave, ended, v.At.Time())
	kit.Until(t, "the alarms are cleared", func() error {
		if held := of(); len(held) > 0 {
			return fmt.Errorf("%+v", held)
		}
		return nil
	})
	within(t, "the alarms are cleared", time.Minute+cleared, ended, time.Now())
	if v := side.View(t); namesOf(v) != namesOf(calm) || v.Source("claims", "good") != "up" {
		t.Errorf("got %s, the engine %s; want %s, and up", namesOf(v), v.Source("claims", "good"), namesOf(calm))
	}
}

// With the permissions nats-server refuses each message of the invented sources.
func TestThePermissionsKeepInventedSourcesFromAYoungNet(t *testing.T) {
	t.Parallel()
	p := kit.Permit(t, nil, "--source", "good,other", "--net", "claims")
	side := kit.Serve(t, p.URL("sidecar"), "--mib-dir", "")
	kit.RunEngine(t, p.URL("good"), "good", "--bindings", kit.Write(t, "bindings.yaml", kit.StuckBindings), kit.Write(t, "claims.pnml", kit.StuckNet))
	calm := side.UntilView(t, "the engine is shown", func(v kit.View) error { return v.Shows("claims") })
	refused := make(chan error, 1000)
	nc, err := nats.Connect(p.URL("other"), nats.Timeout(kit.Patience), nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
		select {
		case refused <- err:
		default: // enough of them
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	end := strangers(t, nc, "claims", 5)
	for seen := map[string]bool{}; len(seen) < 10; {
		err := <-refused
		if !errors.Is(err, nats.ErrPermissionViolation) {
			t.Fatalf("got %v; want %v", err, nats.ErrPermissionViolation)
		}
		for i := range 5 {
			for _, kind := range []string{"canary-", "flood-"} {
				if source := fmt.Sprint(kind, i); strings.Contains(err.Error(), telemetry.Subjects{}.Snapshot("claims", source)) {
					seen[source] = true
				}
			}
		}
	}
	end()
	flushed(t, nc)
	v := side.UntilView(t, "the engine is received again", func(v kit.View) error {
		if !v.At.Time().After(time.Now().Add(-time.Second)) {
			return errors.New("the view is old")
		}
		return v.Shows("claims")
	})
	if namesOf(v) != namesOf(calm) || len(v.Sources) != 1 || len(v.Nets[0].Places) != len(calm.Nets[0].Places) {
		t.Errorf("got %s, %d places and sources %+v; want %s and the engine alone", namesOf(v), len(v.Nets[0].Places), v.Sources, namesOf(calm))
	}
	for _, one := range side.Self(t).All("pnagent_messages_rejected_total") {
		if one.Value != 0 {
			t.Errorf("got %v messages rejected as %v; want that none arrives", one.Value, one.Labels)
		}
	}
}

// Sources whose definition no client knows fill their part of the table, and no more: a
// source that is shown stays up. That they leave it a minute after their last message is
// a test of package collector.
func TestUnknownSourcesHaveAPartOfTheTable(t *testing.T) {
	t.Parallel()
	url := kit.StartNATS(t)
	const sources, room = 30, 10
	side := kit.Serve(t, url, "--mib-dir", "", "--collect.max-sources", fmt.Sprint(4*room))
	kit.RunEngine(t, url, "good", "--bindings", kit.Write(t, "bindings.yaml", kit.StuckBindings), kit.Write(t, "claims.pnml", kit.StuckNet))
	side.UntilView(t, "the engine is shown", func(v kit.View) error { return v.Shows("claims") })
	nc := kit.Connect(t, url)
	for i := range sources {
		if err := nc.PublishMsg(packed(t, hostileRows("unknown", telemetry.Digest([]byte("unknown")), fmt.Sprint("stranger-", i), 1, 1))); err != nil {
			t.Fatal(err)
		}
	}
	v := side.UntilView(t, "some are shown, and the others refused", func(v kit.View) error {
		unknown := 0
		for _, s := range v.Sources {
			if strings.HasPrefix(s.Name, "stranger-") {
				unknown++
			}
		}
		if unknown != room || v.Traffic.Rejected["too_many_sources"] != sources-room {
			return fmt.Errorf("%d sources, rejected %v", unknown, v.Traffic.Rejected)
		}
		return nil
	})
	if state := v.Source("claims", "good"); state != "up" {
		t.Errorf("the engine is %s; want up", state)
	}
	side.Alarmed(t, "PnagentMessagesRejected", "pnagent_messages_rejected_total")
	late := kit.RunEngine(t, url, "late", shop(t)...)
	late.Says(t, "collector rejects snapshots.*too_many_sources")
}

// namesOf is the name of a net, and of those of its places that an engine reports, and how
// many more there are.
func namesOf(v kit.View) string {
	var b strings.Builder
	b.WriteString(v.Nets[0].Name)
	for _, p := range v.Nets[0].Places {
		if !strings.HasPrefix(p.ID, "x") {
			b.WriteString(", " + p.ID + " " + p.Name)
		}
	}
	return b.String()
}
