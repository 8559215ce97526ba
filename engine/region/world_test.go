// SPDX-License-Identifier: Apache-2.0

package region_test

import (
	"context"
	"testing"
	"time"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/engine/region"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/split"
)

// ring returns a net in which tokens circulate over two regions: t1 takes from
// a and puts to b, t2 takes from b and puts to a.
func ring(t testing.TB, tokens uint32) (*petri.Tables, []region.Part) {
	t.Helper()
	net := &petri.Net{ID: "ring",
		Places:      []petri.Place{{ID: "a", Initial: tokens}, {ID: "b"}},
		Transitions: []petri.Transition{{ID: "t1"}, {ID: "t2"}},
		Arcs: []petri.Arc{{ID: "1", Source: "a", Target: "t1", Weight: 1}, {ID: "2", Source: "t1", Target: "b", Weight: 1},
			{ID: "3", Source: "b", Target: "t2", Weight: 1}, {ID: "4", Source: "t2", Target: "a", Weight: 1}},
	}
	tables, err := petri.Compile(net)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := split.Split(tables, func(id string) string { return map[string]string{"t1": "one", "t2": "two"}[id] }, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tables, region.Regions(tables, plan)
}

// run starts a member, and returns a function that stops it and waits for its
// end.
func run(t testing.TB, cfg region.Config) (stop func() *region.Member) {
	t.Helper()
	m, err := region.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	stopped := false
	stop = func() *region.Member {
		if !stopped {
			stopped = true
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("member %q ended with %v", cfg.Engine.Source, err)
			}
		}
		return m
	}
	t.Cleanup(func() { stop() })
	return stop
}

// until waits for a condition.
func until(t testing.TB, what string, is func() bool) {
	t.Helper()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-deadline.C:
			t.Fatalf("not within a minute: %s", what)
		case <-tick.C:
		}
	}
}

func engineOf(tables *petri.Tables, source string, instances int) engine.Config {
	return engine.Config{Source: source, Nets: []engine.NetConfig{{Tables: tables}}, Instances: instances, Workers: 1}
}
