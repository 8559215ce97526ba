// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/stats"
)

func TestNetsMetAtRunTimeAreNumberedPermanently(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mibs", LockFile)
	a := build(t, newBuilder(t, path), viewOf(netOf(sizedNet("late", 2, 2), stats.NewRows(2, 2))), now0)
	view := orderView()
	view.Nets = append(view.Nets, netOf(sizedNet("late", 2, 2), stats.NewRows(2, 2)))
	b := build(t, newBuilder(t, path), view, now0)
	names := petrinetOIDs(testRoot(t))
	for _, table := range []*smi.Table{a, b} {
		if got := get(t, table, names, "pnNetName", 1); got != smi.OctetString("late") {
			t.Errorf("net 1 is %v", got)
		}
	}
	if got := get(t, b, names, "pnNetName", 2); got != smi.OctetString("orderFulfilment") {
		t.Errorf("net 2 is %v", got)
	}
}

func TestALockThatCannotBeSavedIsReportedAndTriedAgain(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "mibs", LockFile)
	b := newBuilder(t, path)
	if err := os.WriteFile(filepath.Join(dir, "mibs"), nil, 0o600); err != nil { // in the way
		t.Fatal(err)
	}
	names := petrinetOIDs(testRoot(t))
	table, err := b.Build(orderView(), nil, now0)
	if err == nil || get(t, table, names, "pnNetName", 1) != smi.OctetString("orderFulfilment") {
		t.Errorf("error %v, and net 1 is %v", err, get(t, table, names, "pnNetName", 1))
	}
	if err := os.Remove(filepath.Join(dir, "mibs")); err != nil {
		t.Fatal(err)
	}
	build(t, b, orderView(), now0+1e6)
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("tried again at once: %v", err)
	}
	build(t, b, orderView(), now0+61e6)
	lock, err := ReadLock(path)
	if err != nil || lock.Net("orderFulfilment") == nil {
		t.Errorf("not saved: %v", err)
	}
}

// Numbers in use win over a file that says otherwise: OIDs never move.
func TestNumbersInUseAreNotChangedByTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), LockFile)
	b := newBuilder(t, path)
	build(t, b, orderView(), now0)
	if err := os.WriteFile(path, []byte("net 1 \"other\" OTHER-PN-MIB other\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	view := orderView()
	view.Nets = append(view.Nets, netOf(sizedNet("late", 2, 2), stats.NewRows(2, 2)))
	table, err := b.Build(view, nil, now0+1e6)
	if !errors.Is(err, ErrLock) {
		t.Errorf("error %v", err)
	}
	names := petrinetOIDs(testRoot(t))
	for number, want := range map[uint32]string{1: "orderFulfilment", 2: "late"} {
		if got := get(t, table, names, "pnNetName", number); got != smi.OctetString(want) {
			t.Errorf("net %d is %v, want %s", number, got, want)
		}
	}
}

// What has not been reported for a minute has no number yet: a row that was added to a net,
// and the rest of many new nets after the first names.
func TestOnlySettledRowsAreNumbered(t *testing.T) {
	path := filepath.Join(t.TempDir(), LockFile)
	b := newBuilder(t, path)
	net := netOf(sizedNet("old", 3, 2), stats.NewRows(3, 2))
	net.Recent = &merge.RowSet{Places: []bool{false, true, false}, Transitions: []bool{false, true}}
	build(t, b, viewOf(net), now0)
	numbers := func(id string) (out []uint32) {
		t.Helper()
		lock, err := ReadLock(path)
		if err != nil {
			t.Fatal(err)
		}
		n := lock.Net(id)
		if n == nil {
			return nil
		}
		for _, e := range append(n.Places(), n.Transitions()...) {
			out = append(out, e.Number)
		}
		return out
	}
	if got := numbers("old"); !slices.Equal(got, []uint32{1, 2, 1}) {
		t.Errorf("got %v; want two places and a transition", got)
	}
	settledNet := *net
	settledNet.Recent = nil
	names := petrinetOIDs(testRoot(t))
	table := build(t, b, viewOf(&settledNet), now0+60e6)
	if got := numbers("old"); !slices.Equal(got, []uint32{1, 2, 3, 1, 2}) {
		t.Errorf("got %v; want all rows, the settled ones last", got)
	}
	if got := get(t, table, names, "pnPlaceName", 1, 3); got != smi.OctetString("Waiting 1") {
		t.Errorf("place 3 is %v", got)
	}

	many := netOf(sizedNet("many", maxAhead-100, 1), stats.NewRows(maxAhead-100, 1))
	more := netOf(sizedNet("more", 200, 1), stats.NewRows(200, 1))
	many.Unsettled, more.Unsettled = true, true
	build(t, b, viewOf(&settledNet, many, more), now0+61e6)
	if len(numbers("many")) != maxAhead-99 || numbers("more") != nil {
		t.Errorf("got %d and %d numbers of new nets; want %d and none", len(numbers("many")), len(numbers("more")), maxAhead-99)
	}
	if diff := cmp.Diff([]Waiting{{Net: "more", Names: 202}}, b.Waiting()); diff != "" {
		t.Errorf("nets without rows: -want +got\n%s", diff)
	}
	later := *more
	later.Unsettled = false
	build(t, b, viewOf(&settledNet, many, &later), now0+62e6)
	if got := b.Waiting(); len(got) != 0 {
		t.Errorf("nets without rows: %v, want none", got)
	}
	if n := len(numbers("more")); n != 201 {
		t.Errorf("got %d numbers of a settled net; want 201", n)
	}
}
