// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/telemetry"
)

// An instance is asked for by its name, plain or with data, wherever in the
// engine it is played.
func TestAnInstanceListsItsTokensAndWhatTheyWaitFor(t *testing.T) {
	nc := natstest.Client(t)
	manual := func(n *petri.Net) NetConfig {
		return NetConfig{Tables: petritest.Compile(t, n), Transitions: fire(plain.Mode{Kind: plain.Manual}, plain.Mode{Kind: plain.Manual})}
	}
	guarded := line(2)
	guarded.ID, guarded.Transitions[1].Guard = "guarded", "data.ok == true"
	e := newEngine(t, Config{Source: "s 1", Nets: []NetConfig{manual(line(2)), {Tables: petritest.Compile(t, guarded)}}, Instances: 12, Workers: 2})
	stop := start(t, e)
	end, err := Serve(e, nc, telemetry.Subjects{}, time.Hour, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now().UnixMicro()
	for _, net := range []string{"line", "guarded"} {
		if err := e.Inject(t.Context(), net, 7, "p1", 3); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string]*telemetry.Instance{}
	for _, net := range []string{"line", "guarded"} {
		found, err := telemetry.AskInstance(t.Context(), nc, telemetry.Subjects{}, net, "s 1", "s 1/07")
		if err != nil {
			t.Fatal(err)
		}
		if found.At < began {
			t.Errorf("%s is as of %d, before %d", net, found.At, began)
		}
		found.At = 0
		for i := range found.Tokens {
			found.Tokens[i].Injected = 0
		}
		got[net] = found
	}
	want := map[string]*telemetry.Instance{
		"line": {Instance: "s 1/07", Acts: "s 1", Tokens: []telemetry.InstanceToken{
			{Place: "p0", Tokens: 1, Waits: []telemetry.InstanceWait{{Transition: "t0", Reason: "manual"}}},
			{Place: "p1", Tokens: 3, Waits: []telemetry.InstanceWait{{Transition: "t1", Reason: "manual"}}}}},
	}
	if d := cmp.Diff(want["line"], got["line"]); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	total := uint64(0)
	for _, h := range got["guarded"].Tokens {
		total += h.Tokens
		if len(h.Waits) == 0 {
			t.Errorf("a token with data waits for nothing: %+v", h)
		}
	}
	if total != 4 {
		t.Errorf("%d tokens, want 4: %+v", total, got["guarded"])
	}
	for _, name := range []string{"s 1/12", "s 1/7", "s 1/007", "other/07", "s 1/-1", "", "s 1/99999999999999999999"} {
		if _, err := e.Instance(t.Context(), "line", name); !errors.Is(err, telemetry.ErrNoInstance) {
			t.Errorf("instance %q: %v", name, err)
		}
	}
	stop()
	if err := end(context.Background()); err != nil {
		t.Error(err)
	}
}
