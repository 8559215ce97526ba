// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

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
		if got := get(t, table, names, "netName", 1); got != smi.OctetString("late") {
			t.Errorf("net 1 is %v", got)
		}
	}
	if got := get(t, b, names, "netName", 2); got != smi.OctetString("orderFulfilment") {
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
	if err == nil || get(t, table, names, "netName", 1) != smi.OctetString("orderFulfilment") {
		t.Errorf("error %v, and net 1 is %v", err, get(t, table, names, "netName", 1))
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
		if got := get(t, table, names, "netName", number); got != smi.OctetString(want) {
			t.Errorf("net %d is %v, want %s", number, got, want)
		}
	}
}
