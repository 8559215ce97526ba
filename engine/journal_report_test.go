// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

// A journal is reported by its form; with its net, its commits are replayed; with a net
// that cannot have done them, the fault is reported with the last sound commit.
func TestReportOfAJournal(t *testing.T) {
	net := &petri.Net{ID: "n", Places: []petri.Place{{ID: "a", Initial: 1}, {ID: "b"}}, Transitions: []petri.Transition{{ID: "t"}, {ID: "u"}},
		Arcs: []petri.Arc{{Source: "a", Target: "t", Weight: 1}, {Source: "t", Target: "b", Weight: 1}, {Source: "b", Target: "u", Weight: 1}, {Source: "u", Target: "a", Weight: 1}}}
	with := func(source string, instances int) Config {
		return Config{Source: source, Nets: []NetConfig{{Tables: petritest.Compile(t, net)}}, Instances: instances, Workers: 1}
	}
	dir := t.TempDir() + "/journal"
	cfg := with("berlin", 2)
	cfg.Journal, cfg.Firings = openJournal(t, dir), 7
	e, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(e.Run(t.Context()), cfg.Journal.(interface{ Close() error }).Close()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		nets  func(instances int) (Config, error)
		fault string
		want  []string
	}{
		{"the form", nil, "", []string{"journal   shown\n", "owner     berlin", "net       n", "2 instances", "the form of each commit was checked"}},
		{"replayed", func(n int) (Config, error) { return with("check", n), nil }, "", []string{"each commit was replayed"}},
		{"without its net", func(int) (Config, error) { return Config{}, errors.New("no such file") }, "no such file", []string{"sound     up to commit 0", "fault     no such file"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, fault, err := CheckJournal(t.Context(), dir, "shown", c.nets)
			if err != nil || (fault != nil) != (c.fault != "") || r.Fault != c.fault || r.Replayed != (c.nets != nil) {
				t.Fatalf("%+v, %v, %v", r, fault, err)
			}
			var out strings.Builder
			if err := r.Write(&out); err != nil {
				t.Fatal(err)
			}
			for _, want := range c.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q in:\n%s", want, out.String())
				}
			}
		})
	}
	if _, _, err := CheckJournal(t.Context(), dir, "shown", func(int) (Config, error) { return Config{}, nil }); !errors.Is(err, ErrConfig) {
		t.Errorf("without a net: %v; want ErrConfig", err)
	}
	if _, _, err := CheckJournal(t.Context(), t.TempDir(), "shown", nil); err == nil {
		t.Error("a report of an empty directory")
	}
}
