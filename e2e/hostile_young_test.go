// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/telemetry"
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

// named is the name of a net, and of those of its places that an engine reports, and how
// many more there are.
func (v view) named() string {
	var b strings.Builder
	b.WriteString(v.Nets[0].Name)
	for _, p := range v.Nets[0].Places {
		if !strings.HasPrefix(p.ID, "x") {
			b.WriteString(", " + p.ID + " " + p.Name)
		}
	}
	return b.String()
}

// Invented sources are the majority of a net that is some seconds old and has one engine.
// They rename nothing, and add what the bound permits. An alarm is raised for the others,
// and all of it is over in the documented times after the attack.
func TestInventedSourcesDoNotTakeAYoungNet(t *testing.T) {
	t.Parallel()
	url := startNATS(t)
	const gone, leave, cleared = time.Second, 4 * time.Second, 10 * time.Second
	side := serve(t, url, "--mib-dir", t.TempDir(), "--forget-after", gone.String(), "--forget-nets-after", leave.String())
	runEngine(t, url, "good", "--bindings", write(t, "bindings.yaml", stuckBindings), write(t, "claims.pnml", stuckNet))
	calm := side.untilView(t, "the engine is shown", func(v view) error { return v.shows("claims") })
	nc := connect(t, url)
	end := strangers(t, nc, "claims", 5)
	defer func() {
		if end != nil {
			end()
		}
	}()
	bounded := func(v view) error {
		if got, want := v.named(), calm.named(); got != want || len(v.Nets[0].Places) > len(calm.Nets[0].Places)+3 {
			t.Fatalf("got %s and %d places; want %s, and at most 3 more than %d", got, len(v.Nets[0].Places), want, len(calm.Nets[0].Places))
		}
		return nil
	}
	side.untilView(t, "five invented sources are shown, and five refused", func(v view) error {
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
	of := func() (held []activeAlarm) {
		for _, one := range side.alarms(t) {
			if one.Alarm == "sourceRefused" && strings.HasPrefix(one.Source, "flood-") {
				held = append(held, one)
			}
		}
		return held
	}
	until(t, "alarms are raised for the sources that are refused", func() error {
		if held := of(); len(held) != 5 {
			return fmt.Errorf("%+v", held)
		}
		return bounded(side.view(t))
	})
	for _, one := range of() {
		within(t, "the alarm is raised", 10*time.Second, one.time(t, one.Since), one.time(t, one.Raised))
	}
	side.alarmed(t, "PnagentMessagesRejected", "pnagent_messages_rejected_total")
	side.alarmed(t, "PetrinetSourceRefused", "petrinet_alarm_active")
	if state := side.view(t).source("claims", "good"); state != "up" {
		t.Errorf("the engine is %s; want up", state)
	}
	end()
	end = nil
	ended := flushed(t, nc)
	v := side.untilView(t, "the rows have left", func(v view) error {
		if n := len(v.Nets[0].Places); n != len(calm.Nets[0].Places) {
			return fmt.Errorf("%d places", n)
		}
		return bounded(v)
	})
	within(t, "the rows leave", gone+leave, ended, v.At)
	until(t, "the alarms are cleared", func() error {
		if held := of(); len(held) > 0 {
			return fmt.Errorf("%+v", held)
		}
		return nil
	})
	within(t, "the alarms are cleared", time.Minute+cleared, ended, time.Now())
	if v := side.view(t); v.named() != calm.named() || v.source("claims", "good") != "up" {
		t.Errorf("got %s, the engine %s; want %s, and up", v.named(), v.source("claims", "good"), calm.named())
	}
}

// With the permissions nats-server refuses each message of the invented sources.
func TestThePermissionsKeepInventedSourcesFromAYoungNet(t *testing.T) {
	t.Parallel()
	p := permit(t, nil, "--source", "good,other", "--net", "claims")
	side := serve(t, p.url("sidecar"), "--mib-dir", "")
	runEngine(t, p.url("good"), "good", "--bindings", write(t, "bindings.yaml", stuckBindings), write(t, "claims.pnml", stuckNet))
	calm := side.untilView(t, "the engine is shown", func(v view) error { return v.shows("claims") })
	refused := make(chan error, 1000)
	nc, err := nats.Connect(p.url("other"), nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
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
	v := side.untilView(t, "the engine is received again", func(v view) error {
		if !v.At.After(time.Now().Add(-time.Second)) {
			return errors.New("the view is old")
		}
		return v.shows("claims")
	})
	if v.named() != calm.named() || len(v.Sources) != 1 || len(v.Nets[0].Places) != len(calm.Nets[0].Places) {
		t.Errorf("got %s, %d places and sources %+v; want %s and the engine alone", v.named(), len(v.Nets[0].Places), v.Sources, calm.named())
	}
	for _, one := range side.scrape(t).all("pnagent_messages_rejected_total") {
		if one.value != 0 {
			t.Errorf("got %v messages rejected as %v; want that none arrives", one.value, one.labels)
		}
	}
}

// Sources whose definition no client knows fill their part of the table. They leave it a
// minute after their last message, and a source of another net that is not known is shown.
func TestUnknownSourcesLeaveAMinuteAfterTheirLastMessage(t *testing.T) {
	t.Parallel()
	url := startNATS(t)
	const sources, room = 30, 10
	side := serve(t, url, "--mib-dir", "", "--collect.max-sources", fmt.Sprint(4*room))
	runEngine(t, url, "good", "--bindings", write(t, "bindings.yaml", stuckBindings), write(t, "claims.pnml", stuckNet))
	side.untilView(t, "the engine is shown", func(v view) error { return v.shows("claims") })
	nc := connect(t, url)
	begun := time.Now()
	for i := range sources {
		if err := nc.PublishMsg(packed(t, hostileRows("unknown", telemetry.Digest([]byte("unknown")), fmt.Sprint("stranger-", i), 1, 1))); err != nil {
			t.Fatal(err)
		}
	}
	ended := flushed(t, nc)
	unknown := func(v view) (n int) {
		for _, s := range v.Sources {
			if strings.HasPrefix(s.Name, "stranger-") {
				n++
			}
		}
		return n
	}
	side.untilView(t, "some are shown, and the others refused", func(v view) error {
		if n := unknown(v); n != room || v.Traffic.Rejected["too_many_sources"] != sources-room {
			return fmt.Errorf("%d sources, rejected %v", n, v.Traffic.Rejected)
		}
		return nil
	})
	side.alarmed(t, "PnagentMessagesRejected", "pnagent_messages_rejected_total")
	runEngine(t, url, "late", "--instances", "1", theNet(t))
	v := side.untilView(t, "they are gone from the page", func(v view) error {
		if n := unknown(v); n > 0 {
			return fmt.Errorf("%d", n)
		}
		return nil
	})
	within(t, "unknown sources leave", time.Minute, ended, v.At)
	if took := v.At.Sub(begun); took < time.Minute {
		t.Errorf("unknown sources left after %v; want a minute", took)
	}
	if text := string(side.page(t, "/metrics")); strings.Contains(text, "stranger-") {
		t.Error("got series of a source that left; want none")
	}
	v = side.untilView(t, "a source that was kept out is shown", func(v view) error { return v.shows(shopNet) })
	within(t, "a source that was kept out is shown", time.Minute, ended, v.At)
	if state := v.source("claims", "good"); state != "up" {
		t.Errorf("the engine is %s; want up", state)
	}
}
