// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/telemetry"
)

// A disk fails under a request. Its answer and its record have the key, and not
// where the journal is; the next engine answers for it.
func TestTheAnswerToARequestWhoseOutcomeIsNotKnownHasAKey(t *testing.T) {
	for _, how := range faults {
		t.Run(how, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T) { theAnswerHasAKey(t, how) })
		})
	}
}

func theAnswerHasAKey(t *testing.T, how string) {
	nc := natstest.Client(t)
	dir := t.TempDir()
	file, _, err := journal.Open(dir, journal.Options{Mode: journal.SyncAlways})
	if err != nil {
		t.Fatal(err)
	}
	log := &brokenDisk{Log: file, dir: dir, how: how, limit: journal.MaxCommit}
	log.until.Store(1 << 20)
	cfg := outcomeConfig(t, log, 1)
	var mu sync.Mutex
	var kept telemetry.Action
	cfg.Audit = func(a telemetry.Action) error {
		mu.Lock()
		defer mu.Unlock()
		kept = a
		return nil
	}
	ask := func(body string) (answer struct {
		OK, Unknown, Done bool
		Error, Key        string
	}) {
		t.Helper()
		m, err := nc.Request("petrinet.v1.fire.n.s", []byte(body), patience)
		if err == nil {
			err = json.Unmarshal(m.Data, &answer)
		}
		if err != nil || strings.Contains(string(m.Data), dir) {
			t.Fatalf("%s: %s, %v", body, m.Data, err)
		}
		return answer
	}
	end := serve(t, cfg, nc)
	if a := ask(`{"instance":1,"transition":"t"}`); !a.OK {
		t.Fatalf("before the disk fails: %+v", a)
	}
	log.until.Store(0)
	unknown := ask(`{"instance":2,"transition":"t"}`)
	// The disk may have failed under what the engine wrote before the request.
	earlier := !unknown.Unknown && strings.Contains(unknown.Error, "was not executed")
	if !earlier && (unknown.OK || !unknown.Unknown || unknown.Key == "" || !strings.Contains(unknown.Error, "outcome is not known")) {
		t.Errorf("%+v; want that the outcome is not known, and a key", unknown)
	}
	mu.Lock()
	if kept.OK || kept.Unknown == earlier || kept.Key != unknown.Key || kept.Error != unknown.Error {
		t.Errorf("the record is %+v", kept)
	}
	mu.Unlock()
	if later := ask(`{"instance":3,"transition":"t"}`); later.OK || later.Unknown || !strings.Contains(later.Error, "was not executed") {
		t.Errorf("after the failure: %+v; want that it was not executed", later)
	}
	end()
	file.Close() // it may have stopped
	file, _, err = journal.Open(dir, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	t.Cleanup(serve(t, outcomeConfig(t, file, 1), nc))
	done := false
	if !earlier {
		a := ask(`{"outcome":"` + unknown.Key + `"}`)
		done = a.Done
		if !a.OK || done && (how == faults[0] || how == faults[1]) {
			t.Errorf("%+v; want to know whether it was done", a)
		}
	}
	if again := ask(`{"instance":2,"transition":"t"}`); again.OK == done {
		t.Errorf("the request is repeated with %+v, and was done: %t", again, done)
	}
}

// serve runs an engine that takes requests, and returns what ends it.
func serve(t *testing.T, cfg Config, nc *nats.Conn) (end func()) {
	t.Helper()
	e, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	stop := alive(t, e)
	leave, err := Serve(e, nc, telemetry.Subjects{}, time.Hour, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		stop()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := leave(ctx); err != nil && !errors.Is(err, journal.ErrStopped) {
			t.Error(err)
		}
	}
}
