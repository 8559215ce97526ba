// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package main

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/internal/racetest"
	"github.com/pnagent/pnagent/stats"
)

// Half an hour of the claims of one engine: they come and end, some payments fail and are
// done again, some claims are left lying, and none permanently.
func TestClaimsOfTheDemoBeginAndEndAllTheTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const instances = 50
		part := uint64(1) // of half an hour
		if racetest.UnderRace {
			part = 5
		}
		long := 30 * time.Minute / time.Duration(part)
		e, o := claims(t, instances)
		ctx, stop := context.WithTimeout(t.Context(), long)
		defer stop()
		done := make(chan error, 2)
		go func() { done <- e.Run(ctx) }()
		go func() { done <- o.run(ctx, e, instances) }()
		worst := watchClaims(ctx, t, e, o)
		for range 2 {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		rows := rowsOf(t, e, o)
		net, pay, remind := rows.Net, rows.Transitions[index(t, o, "pay")], rows.Transitions[index(t, o, "remind")]
		if begun := net.Created - instances; begun < 1600/part || begun > 2000/part {
			t.Errorf("%d claims began in %v; expected about one a second", begun, long)
		}
		if net.Finished < net.Created-instances || net.Deadlocked > 0 || net.Failed < 5/part {
			t.Errorf("%+v; expected that nearly all finish, and that some wait for a clerk as incidents", net)
		}
		if remind.Firings < 100/part || pay.Failures < 100/part || pay.Retries < 100/part {
			t.Errorf("%d reminders, %d failed payments, %d of them tried again; expected some", remind.Firings, pay.Failures, pay.Retries)
		}
		if worst < time.Minute || worst > 10*time.Minute {
			t.Errorf("the oldest token that is not at an end was %v old; expected more than the minute after which it is stuck, and fewer than ten", worst)
		}
	})
}

func claims(t *testing.T, instances int) (*engine.Engine, *office) {
	t.Helper()
	tables, err := exampleNets()
	if err != nil {
		t.Fatal(err)
	}
	o := newOffice(1)
	nets, err := bindExamples(tables, o)
	if err != nil {
		t.Fatal(err)
	}
	var only []engine.NetConfig
	for _, n := range nets {
		if n.Tables.Net.ID == claimNet {
			only = append(only, n)
		}
	}
	e, err := engine.New(engine.Config{Source: "berlin", Nets: only, Instances: instances, Workers: 1, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return e, o
}

// watchClaims returns how old a token became that is not at an end.
func watchClaims(ctx context.Context, t *testing.T, e *engine.Engine, o *office) (worst time.Duration) {
	t.Helper()
	for tick := time.Tick(5 * time.Second); ; {
		select {
		case <-ctx.Done():
			return worst
		case now := <-tick:
			for i, p := range rowsOf(t, e, o).Places {
				if p.Oldest != 0 && !o.tables.Final(i) {
					worst = max(worst, now.Sub(time.UnixMicro(p.Oldest)))
				}
			}
		}
	}
}

func rowsOf(t *testing.T, e *engine.Engine, o *office) *stats.Rows {
	t.Helper()
	rows := stats.NewRows(o.tables.Places(), o.tables.Transitions())
	if err := e.Rows(context.Background(), 0, time.Now().UnixMicro(), rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

func index(t *testing.T, o *office, transition string) int {
	t.Helper()
	i, ok := o.tables.TransitionIndex(transition)
	if !ok {
		t.Fatalf("no transition %q", transition)
	}
	return i
}

// The log of the demo names the server that it has started.
func TestTheDemoNamesItsServer(t *testing.T) {
	ns, err := startNATS("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { ns.Shutdown(); ns.WaitForShutdown() }()
	link, err := inProcess(ns, "test", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer link.Close()
	if got := link.State(); !got.Connected || got.Server != ns.ClientURL() {
		t.Errorf("connected to %q: %t; want %q", got.Server, got.Connected, ns.ClientURL())
	}
}
