// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

// chain is a net in which t0 puts for t1, which puts for t2, and so on.
func chain(transitions int) *petri.Net {
	n := line(transitions)
	n.ID, n.File = "chain", "chain.pnml"
	return n
}

// splitOf returns which transitions are in which region.
func splitOf(t *testing.T, text string) (map[string][]string, error) {
	t.Helper()
	b, err := ReadBindings(strings.NewReader(text), "b.yaml")
	if err != nil {
		return nil, err
	}
	tables := petritest.Compile(t, chain(4))
	plan, err := b.Split(tables)
	if err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for _, r := range plan.Regions {
		for tr, in := range r.Transitions {
			if in {
				out[r.Name] = append(out[r.Name], tables.Net.Transitions[tr].ID)
			}
		}
	}
	return out, nil
}

func TestRegionsOfTheBindings(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want map[string][]string
	}{
		"nothing said": {"", map[string][]string{"main": {"t0", "t1", "t2", "t3"}}},
		"two":          {"nets: {chain: {regions: {shop: [t0, t1], stock: [t2, t3]}}}", map[string][]string{"shop": {"t0", "t1"}, "stock": {"t2", "t3"}}},
		"and the rest": {"nets: {chain: {regions: {shop: [t1]}}}", map[string][]string{"main": {"t0", "t2", "t3"}, "shop": {"t1"}}},
		"merged":       {"nets: {chain: {regions: {shop: [t0], stock: [t1], bill: [t2, t3]}, merge: [[shop, bill]]}}", map[string][]string{"shop": {"t0", "t2", "t3"}, "stock": {"t1"}}},
		"all merged":   {"nets: {chain: {merge: [[a, b, main]], regions: {a: [t0], b: [t1]}}}", map[string][]string{"a": {"t0", "t1", "t2", "t3"}}},
		"another net":  {"nets: {other: {regions: {shop: [t0]}}}", map[string][]string{"main": {"t0", "t1", "t2", "t3"}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := splitOf(t, c.text)
			if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestFaultsInRegionsNamePositionAndExpectation(t *testing.T) {
	for name, c := range map[string]struct{ line, want string }{
		"no mapping":                     {"regions: [a]", `b.yaml:3:14: found a sequence; expected a mapping from region names to lists of transition ids`},
		"no list":                        {"regions: {a: t0}", `b.yaml:3:18: found "t0"; expected a list of transition ids, of a region with a name`},
		"an empty list":                  {"regions: {a: []}", `b.yaml:3:18: `},
		"a region without a name":        {`regions: {"": [t0]}`, `b.yaml:3:19: `},
		"no id":                          {"regions: {a: [[t0]]}", `b.yaml:3:19: found a sequence; expected a transition id`},
		"a transition twice":             {"regions: {a: [t0], b: [t1, t0]}", `b.yaml:3:32: transition "t0" is in region "a" and in "b"; expected one of them`},
		"a transition that there is not": {"regions: {a: [t0, t9]}", `b.yaml:3:23: region "a": net "chain" has no transition "t9"`},
		"no lists to merge":              {"merge: a", `b.yaml:3:12: found "a"; expected a list of lists of region names`},
		"one to merge":                   {"merge: [[a]]", `b.yaml:3:13: found a sequence; expected a list of two or more region names`},
		"no name to merge":               {"merge: [[a, [b]]]", `b.yaml:3:17: found a sequence; expected a region name`},
		"a region that there is not":     {"merge: [[main, b]]", `b.yaml:3:20: region "b" is merged with others, but no transition is in it; expected one of ["main"]`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := splitOf(t, "nets:\n  chain:\n    "+c.line+"\n")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s…", err, c.want)
			}
		})
	}
}
