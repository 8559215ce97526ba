// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// An instance is asked for by its name, plain or with data, wherever in the
// engine it is played.
func TestAnInstanceListsItsTokensAndWhatTheyWaitFor(t *testing.T) {
	natstest.Bubble(t, anInstanceListsItsTokensAndWhatTheyWaitFor)
}

func anInstanceListsItsTokensAndWhatTheyWaitFor(t *testing.T) {
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

// All tokens of a place are found, not only those that a row names, with the fields of
// their data that are shown.
func TestTokensAreFoundByNameAndData(t *testing.T) { natstest.Bubble(t, tokensAreFoundByNameAndData) }

func tokensAreFoundByNameAndData(t *testing.T) {
	nc := natstest.Client(t)
	n := working(t, "n", 0, manual)
	n.Transitions[0].Guard = always
	plainNet := line(2)
	cfg := Config{Source: "s", Nets: []NetConfig{n, {Tables: petritest.Compile(t, plainNet), Transitions: fire(plain.Mode{Kind: plain.Manual}, plain.Mode{Kind: plain.Manual})}},
		Instances: 2*foundAtOnce + 500, Workers: 2, ShowData: []string{"order", "amount"}}
	e := newEngine(t, cfg)
	stop := start(t, e)
	defer stop()
	end, err := Serve(e, nc, telemetry.Subjects{}, time.Hour, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for i := range cfg.Instances {
		data := fmt.Appendf(nil, `{"secret":"Kim","amount":%d.50,"order":"A-%d"}`, i, i)
		if err := e.InjectData(t.Context(), "n", i, "in", 1, data); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Inject(t.Context(), "line", 3, "p0", 4); err != nil {
		t.Fatal(err)
	}
	digest := map[string]string{}
	for _, net := range e.cfg.Nets {
		var text bytes.Buffer
		if err := pnml.Write(&text, net.Tables.Net); err != nil {
			t.Fatal(err)
		}
		digest[net.Tables.Net.ID] = telemetry.Digest(text.Bytes())
	}
	find := func(net string, q stats.Query) stats.Found {
		t.Helper()
		found, err := telemetry.AskOldest(t.Context(), nc, telemetry.Subjects{}, net, "s", digest[net], 0, &q)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if found := find("n", stats.Query{Limit: 50, Data: "order=a-4321"}); found.Matches != 1 || found.Tokens[0].Instance != "s/4321" || found.Tokens[0].Data != `{"order":"A-4321","amount":4321.50}` {
		t.Errorf("got %+v; want the token of the order, without what is not shown", found)
	}
	if found := find("n", stats.Query{Limit: 50, Data: "kim"}); found.Matches != 0 {
		t.Errorf("got %+v; want nothing by data that is not shown", found)
	}
	if found := find("n", stats.Query{Limit: 50, Name: "S/432"}); found.Matches != 10 || len(found.Tokens[0].Waits) != 1 || found.Tokens[0].Waits[0].Reason != stats.ReasonManual {
		t.Errorf("got %+v; want the tokens of ten instances, and what they wait for", found)
	}
	pages, seen := stats.Query{Limit: telemetry.MaxFound}, map[string]bool{}
	for more := true; more; {
		found := find("n", pages)
		if found.Matches != uint64(cfg.Instances) {
			t.Fatalf("%d tokens match; want %d", found.Matches, cfg.Instances)
		}
		last := found.Tokens[len(found.Tokens)-1]
		for _, token := range found.Tokens {
			seen[token.Instance] = true
		}
		more, pages.From, pages.FromName = found.More, last.Injected, last.Instance
	}
	if len(seen) != cfg.Instances {
		t.Errorf("pages have %d of %d instances", len(seen), cfg.Instances)
	}
	if found := find("line", stats.Query{Limit: 50, Name: "s/0003"}); found.Matches != 5 || found.Tokens[0].Data != "" {
		t.Errorf("got %+v; want the five tokens of the instance in one place", found)
	}
	inside, err := e.Instance(t.Context(), "n", "s/0017")
	if err != nil || string(inside.Tokens[0].Data) != `{"order":"A-17","amount":17.50}` {
		t.Errorf("got %+v, %v; want the data that is shown", inside, err)
	}
	if err := end(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestAFewFieldsOfDataAreShownEachOnce(t *testing.T) {
	var many []string
	for i := range MaxShown + 1 {
		many = append(many, fmt.Sprint("field-", i))
	}
	for _, names := range [][]string{{""}, {"a", "b", "a"}, many} {
		cfg := Config{Source: "s", Nets: []NetConfig{working(t, "n", 0, manual)}, Instances: 1, Workers: 1, ShowData: names}
		if _, err := New(cfg); !errors.Is(err, ErrConfig) {
			t.Errorf("%q: got %v; want ErrConfig", names, err)
		}
	}
}
