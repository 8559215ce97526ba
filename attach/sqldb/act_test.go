// SPDX-License-Identifier: Apache-2.0

//go:build peers

package sqldb

import (
	"context"
	"fmt"
	"log/slog"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/act"
	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/telemetry"
)

// act does what the adapter says that one does about an instance, in a shell.
func (w *watch) act(net, instance string, environment ...string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	found, err := telemetry.AskInstance(ctx, w.nc, w.subjects, net, "adapter", instance)
	if err != nil {
		w.t.Fatal(err)
	}
	line := found.Tokens[0].Waits[0].Command
	cmd := exec.CommandContext(ctx, "bash", "-c", line)
	cmd.Env = append(cmd.Environ(), environment...)
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("%s: %v: %s", line, err, out)
	}
}

// retry retries the job of an instance as pnagent retry does, or is refused.
func (w *watch) retry(net, instance, refused string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	client := act.Client{Conn: w.nc, Subjects: w.subjects, By: "kim"}
	out, err := client.Do(ctx, act.Request{Verb: act.Retry, Net: net, Instance: instance, Element: "job"})
	if out.Unknown || out.OK == (refused != "") || !out.OK && !strings.Contains(err.Error(), refused) {
		w.t.Fatalf("retry of %s: %+v, %v; expected it to be refused: %q", net, out, err, refused)
	}
}

// audits are the actions that an adapter keeps.
type audits struct {
	mu   sync.Mutex
	kept []string
}

func (a *audits) add(x telemetry.Action) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.kept = append(a.kept, fmt.Sprintf("%s %s %s %t", x.Net, x.Instance, x.Transition, x.OK))
	return nil
}

func (a *audits) are(t *testing.T, want ...string) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	if d := cmp.Diff(want, a.kept); d != "" {
		t.Error(d)
	}
}

// looks reports how a look of its own at the engine differs from what is published.
func (w *watch) looks(cfg Config) string {
	w.t.Helper()
	cfg.Polling = ledger.Polling{Source: "once", Interval: time.Second, Timeout: time.Minute, Log: slog.New(slog.NewTextHandler(w.t.Output(), nil))}
	a, err := New(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	found, err := a.Look(w.t.Context(), 10)
	if err != nil {
		w.t.Fatal(err)
	}
	var seen []held
	for _, place := range found {
		for _, s := range place.Oldest {
			seen = append(seen, held{net: place.Net, instance: s.Instance, node: strings.TrimSuffix(s.Place, "/in"), since: s.Injected / 1000})
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return agree(seen, w.held())
}
