// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/telemetry"
)

// held is an instance with a token in due, which waits for pay.
func held(acts, tool string) *telemetry.Instance {
	return &telemetry.Instance{Instance: "host-1/07", At: 60 * second, Acts: acts, Tool: tool, Tokens: []telemetry.InstanceToken{{Place: "due", Tokens: 1, Injected: 30 * second,
		Waits: []telemetry.InstanceWait{{Transition: "pay", Reason: "manual"}}}}}
}

func withCommand(of *telemetry.Instance, line string) *telemetry.Instance {
	of.Tokens[0].Waits[0].Command = line
	return of
}

// The drawers of an instance and of a place have the command lines of package act, or name
// what acts on the engine.
func TestDrawersHaveTheCommandLine(t *testing.T) {
	for name, c := range map[string]struct {
		of       *telemetry.Instance
		commands any
		tool     any
	}{
		"an engine":     {held("host-1", ""), []any{"pnagent fire orders host-1/07 pay"}, nil},
		"an adapter":    {held("", "Camunda Cockpit"), nil, "Camunda Cockpit"},
		"with commands": {withCommand(held("", "Camunda Cockpit"), "cockpit retry 7"), []any{"cockpit retry 7"}, "Camunda Cockpit"},
		"not running":   {nil, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			st := newStage(t, func(cfg *Config) {
				cfg.Ask = answers{"host-1": func(context.Context) (*telemetry.Instance, error) {
					if c.of == nil {
						return nil, telemetry.ErrNoInstance
					}
					return c.of, nil
				}}.ask
			})
			st.show(orders())
			for _, path := range []string{"/api/v1/instance?net=orders&instance=host-1/07", "/api/v1/place?net=orders&place=due"} {
				doc := st.document(t, path)
				if d := cmp.Diff([]any{c.commands, c.tool}, []any{doc["commands"], doc["tool"]}); d != "" {
					t.Errorf("%s: %s", path, d)
				}
			}
			if doc := st.document(t, "/api/v1/place?net=orders&place=paid"); doc["commands"] != nil || doc["tool"] != nil {
				t.Errorf("a place without a stuck token: %v", doc)
			}
		})
	}
}

// The source that an instance is named after is asked alone; others only if it does not
// have it.
func TestTheOwnerOfAnInstanceIsAskedFirst(t *testing.T) {
	for has, alone := range map[string]bool{"host-1": true, "host-2": false} {
		t.Run(has, func(t *testing.T) {
			var mu sync.Mutex
			var asked []string
			st := newStage(t, func(cfg *Config) {
				cfg.Ask = func(_ context.Context, _, source, _ string) (*telemetry.Instance, error) {
					mu.Lock()
					defer mu.Unlock()
					asked = append(asked, source)
					if source == has {
						return held(source, ""), nil
					}
					return nil, telemetry.ErrNoInstance
				}
			})
			st.show(orders())
			if doc := st.document(t, "/api/v1/instance?net=orders&instance=host-1/07"); doc["source"] != has {
				t.Errorf("got %v", doc)
			}
			mu.Lock()
			defer mu.Unlock()
			if asked[0] != "host-1" || alone != (len(asked) == 1) || !slices.Contains(asked, has) {
				t.Errorf("asked %q", asked)
			}
		})
	}
}

// Each part of a net has some of the tokens of an instance. Their ages do not depend on
// the clocks of the parts.
func TestTokensOfAllPartsAreShown(t *testing.T) {
	left, right := held("left", ""), held("right", "")
	right.At, right.LeftOut, right.Tokens[0].Place = right.At+3600*second, 2, "paid"
	right.Tokens[0].Injected += 3600*second + 10*second
	right.Tokens[0].Waits[0].Until = right.At + second
	st := newStage(t, func(cfg *Config) {
		cfg.Ask = answers{"host-1": func(context.Context) (*telemetry.Instance, error) { return left, nil },
			"host-2": func(context.Context) (*telemetry.Instance, error) { return right, nil }}.ask
	})
	st.show(orders())
	doc := st.document(t, "/api/v1/instance?net=orders&instance=orders/07")
	ages, until := map[any]any{}, any(nil)
	for _, held := range doc["now"].([]any) {
		h := held.(map[string]any)
		ages[h["place"]] = h["age_seconds"]
		if u := h["waits"].([]any)[0].(map[string]any)["until"]; u != nil {
			until = u
		}
	}
	if d := cmp.Diff(map[any]any{"due": 30.0, "paid": 20.0}, ages); d != "" {
		t.Errorf("ages (-want +got):\n%s", d)
	}
	if want := st.now.Add(time.Second).UTC().Format("2006-01-02T15:04:05.000000Z"); until != want || doc["left_out"] != 2.0 {
		t.Errorf("until %v, left out %v; want %v, 2", until, doc["left_out"], want)
	}
	if d := cmp.Diff([]any{"pnagent fire orders host-1/07 pay"}, doc["commands"]); d != "" {
		t.Error(d)
	}
}

// What people did is shown of all, of a net, and with the instance.
func TestActionsAreShown(t *testing.T) {
	did := telemetry.Action{At: noon, Source: "host-1", Kind: "fire", Who: telemetry.Who{By: "kim@desk", Comment: "by mail"}, Net: "orders", Instance: "host-1/07", Transition: "pay", OK: true}
	var asked [][2]string
	st := newStage(t, func(cfg *Config) {
		cfg.Audit = func(net, instance string) []telemetry.Action {
			asked = append(asked, [2]string{net, instance})
			return []telemetry.Action{did}
		}
	})
	st.show(orders())
	const want = `{"at":"2026-03-01T12:00:00.000000Z","source":"host-1","kind":"fire","by":"kim@desk","comment":"by mail","net":"orders","instance":"host-1/07","transition":"pay","ok":true}`
	equal(t, st.document(t, "/api/v1/actions"), `{"actions":[`+want+`]}`)
	equal(t, st.document(t, "/api/v1/actions?net=orders&instance=x"), `{"actions":[`+want+`]}`)
	doc := st.document(t, "/api/v1/instance?net=orders&instance=host-1/07")
	equal(t, map[string]any{"actions": doc["actions"]}, `{"actions":[`+want+`]}`)
	if d := cmp.Diff([][2]string{{"", ""}, {"orders", "x"}, {"orders", "host-1/07"}}, asked); d != "" {
		t.Error(d)
	}
	equal(t, newStage(t, func(*Config) {}).document(t, "/api/v1/actions"), `{"actions":[]}`)
}
