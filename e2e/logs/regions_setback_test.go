// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/engine/region"
	"github.com/pnagent/pnagent/telemetry"
)

// streamOf returns the log of a part.
func (f *fleet) streamOf(part string) jetstream.Stream {
	f.t.Helper()
	js, err := jetstream.New(f.conn)
	if err != nil {
		f.t.Fatal(err)
	}
	var found jetstream.Stream
	for name := range js.StreamNames(f.t.Context()).Name() {
		if strings.HasPrefix(name, "pnagent-log-") && strings.HasSuffix(name, "_2F"+part) {
			found, err = js.Stream(f.t.Context(), name)
			if err != nil {
				f.t.Fatal(err)
			}
		}
	}
	if found == nil {
		f.t.Fatalf("part %q has no log", part)
	}
	return found
}

// stops waits until no process owns a part, and all publish the reason.
func (f *fleet) stops(part, with string) (reason string) {
	f.t.Helper()
	kit.Until(f.t, part+" is stopped", func() error {
		s := f.statuses()[part]
		reason = s.Stopped
		if s.Owner != "" || !strings.Contains(reason, with) {
			return fmt.Errorf("%+v", s)
		}
		return nil
	})
	return reason
}

// awaits waits until a process publishes that it knows why a part is stopped.
func (f *fleet) awaits(part, source string) {
	f.t.Helper()
	beats, err := f.conn.SubscribeSync(region.Subject(telemetry.Subjects{}, f.id()))
	if err != nil {
		f.t.Fatal(err)
	}
	defer func() { _ = beats.Unsubscribe() }() // fails only where the connection is closed
	ctx, cancel := context.WithTimeout(f.t.Context(), kit.Patience)
	defer cancel()
	for {
		m, err := beats.NextMsgWithContext(ctx)
		if err != nil {
			f.t.Fatalf("waiting for a beat of %s in which %s is stopped: %v", source, part, err)
		}
		var b region.Beat
		if err := json.Unmarshal(m.Data, &b); err != nil {
			f.t.Fatal(err)
		}
		if b.Source == source && slices.ContainsFunc(b.Parts, func(p region.BeatPart) bool {
			return p.Part == part && p.Role == region.Away && p.Stopped != ""
		}) {
			return
		}
	}
}

// alarmed waits until a sidecar has the alarm regionStopped about a part.
func (f *fleet) alarmed(side *kit.Sidecar, part string) {
	f.t.Helper()
	kit.Until(f.t, "regionStopped is raised for "+part, func() error {
		for line := range strings.Lines(string(side.Page(f.t, "/metrics"))) {
			if strings.HasPrefix(line, "petrinet_alarm_active{") && strings.Contains(line, `"regionStopped"`) && strings.Contains(line, `"`+part+`"`) {
				return nil
			}
		}
		return errors.New("it is not")
	})
}

// An admin removes the stream of a part that is played. The processes that know
// what it held do not begin it again, whether or not they are the same ones,
// until the operator accepts the loss.
//
//promise:notempty lostlog
func TestAPartWhoseStreamIsRemovedIsStoppedUntilTheLossIsAccepted(t *testing.T) {
	t.Parallel()
	js := startJetStream(t, nil)
	f := newFleet(t, func() string { return js.url }, circle(), 5, 0)
	side := kit.Serve(t, js.url)
	x := f.start("x")
	f.goesOn()
	y := f.start("y")
	f.agrees(f.parts()...)
	part := f.parts()[0]
	had := f.statuses()[part]
	manager, err := jetstream.New(f.conn)
	if err != nil {
		t.Fatal(err)
	}
	if err := manager.DeleteStream(t.Context(), f.streamOf(part).CachedInfo().Config.Name); err != nil {
		t.Fatal(err)
	}
	reason := f.stops(part, "had confirmed commit")
	if !strings.Contains(reason, "it does not exist") || had.Commits == 0 {
		t.Errorf("the reason is %q after %+v", reason, had)
	}
	f.alarmed(side, part)
	z := f.start("z") // it knows nothing
	f.awaits(part, "z")
	x.Kill(t)
	y.Stop(t, syscall.SIGTERM)
	w := f.start("w")
	f.awaits(part, "w")
	f.stops(part, "had confirmed commit")
	for name := range manager.StreamNames(t.Context()).Name() {
		if strings.HasPrefix(name, "pnagent-log-") && strings.HasSuffix(name, "_2F"+part) {
			t.Errorf("the log was created again: %q", name)
		}
	}
	z.Stop(t, syscall.SIGTERM)
	w.Stop(t, syscall.SIGTERM)
	plain := f.args
	f.args = append(slices.Clone(plain), "--journal.again")
	again := f.start("x")
	f.goesOn()
	f.args = plain
	next := f.start("y")
	f.agrees(f.parts()...)
	again.Stop(t, syscall.SIGTERM)
	f.goesOn()
	next.Stop(t, syscall.SIGTERM)
}

// An admin purges the stream of a part that is played. Its owner has the state,
// and saves it as a snapshot when another process needs it. If no process has
// the state any more, the part is stopped. Partitions send no tokens to each other, so
// none is removed before its receiver has read it.
func TestAPartWhoseStreamIsPurged(t *testing.T) {
	t.Parallel()
	js := startJetStream(t, nil)
	f := newFleet(t, func() string { return js.url }, circle(), 10, 2)
	x := f.start("x")
	f.goesOn()
	part := f.parts()[0]
	if err := f.streamOf(part).Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	y := f.start("y")
	f.agrees(part)
	x.Kill(t)
	if now := f.plays(part, "y"); now.Epoch != 2 {
		t.Errorf("%+v; want y to continue where x was", now)
	}
	y.Kill(t)
	s := f.streamOf(part)
	if err := s.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	z := f.start("z")
	if reason := f.stops(part, "lost commits"); strings.Contains(reason, "replaced by a snapshot") {
		t.Errorf("the reason is %q", reason)
	}
	z.Stop(t, syscall.SIGTERM)
	f.args = append(f.args, "--journal.again")
	f.start("z")
	f.goesOn()
}
