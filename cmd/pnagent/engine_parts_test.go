// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/engine/journal/stream"
	"github.com/pnagent/pnagent/engine/region"
	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/telemetry"
)

// What --journal.group says is how many firings a commit of every part may hold,
// whichever way the net is cut.
func TestPartsWriteAsManyFiringsIntoACommitAsIsAsked(t *testing.T) {
	tables, err := petri.Compile(&petri.Net{ID: "n", Places: []petri.Place{{ID: "a"}, {ID: "b"}},
		Transitions: []petri.Transition{{ID: "t1"}, {ID: "t2"}},
		Arcs:        []petri.Arc{{ID: "1", Source: "a", Target: "t1", Weight: 1}, {ID: "2", Source: "b", Target: "t2", Weight: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	regions, err := engine.ReadBindings(strings.NewReader("nets: {n: {regions: {one: [t1], two: [t2]}}}"), "b.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]*engineCmd{
		"partitions":   {Instances: 8, Parts: partFlags{Partitions: 2, Group: 3}, bindings: regions},
		"all regions":  {Instances: 1, Parts: partFlags{Group: 3}, bindings: regions},
		"some regions": {Instances: 1, Parts: partFlags{Region: []string{"two"}, Group: 3}, bindings: regions},
	} {
		parts, err := c.parts(tables)
		if err != nil || len(parts) == 0 {
			t.Fatalf("%s: %d parts, %v", name, len(parts), err)
		}
		for _, p := range parts {
			if p.Group != 3 {
				t.Errorf("%s: part %q writes %d firings into a commit; want 3", name, p.Name, p.Group)
			}
		}
	}
}

// A stream with limits exists already, so that a second attempt would fail, too.
func TestAStreamThatCannotHoldALogEndsTheProcess(t *testing.T) {
	s := natstest.Run(t, natstest.Listen, fmt.Sprintf("jetstream: {store_dir: %q}", t.TempDir()))
	nc, err := nats.Connect(s.ClientURL(), nats.Timeout(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	name, err := stream.NameOf(telemetry.DefaultPrefix + "/n/one")
	if err != nil {
		t.Fatal(err)
	}
	js, err := jetstream.New(nc)
	if err == nil {
		_, err = js.CreateStream(t.Context(), jetstream.StreamConfig{Name: name, Subjects: []string{"x"}, MaxAge: time.Hour})
	}
	if err != nil {
		t.Fatal(err)
	}
	open := (&engineCmd{}).opener(nc, telemetry.Subjects{}, "n", slog.New(slog.DiscardHandler))
	if log, err := open(t.Context(), "one", true, nil); !errors.Is(err, region.ErrUnusable) || !strings.Contains(err.Error(), "max age") || log != nil {
		t.Errorf("%v, %v; want that it can not be used, and why", log, err)
	}
}
