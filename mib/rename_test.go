// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/petri"
)

// firstEdition is the lock of the example nets from before names had prefixes.
const firstEdition = "testdata/first.lock"

func exampleNets(t *testing.T) []*petri.Net {
	t.Helper()
	var nets []*petri.Net
	for _, pattern := range []string{"../examples/*.pnml", "../examples/*.bpmn"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, f := range files {
			nets = append(nets, readNets(t, f)...)
		}
	}
	return nets
}

// oidsByID are the OIDs of a lock by kind and id, whatever the names are.
func oidsByID(root smi.OID, l *Lock) map[string]string {
	oids := map[string]string{}
	for _, n := range l.Nets() {
		module := root.Append(subNets, n.Number)
		oids["net "+n.ID+" "+n.Module] = module.String()
		for _, e := range n.Places() {
			oids["place "+n.ID+" "+e.ID] = module.Append(subObjects, subPlaces, e.Number).String()
		}
		for _, e := range n.Transitions() {
			oids["transition "+n.ID+" "+e.ID] = module.Append(subObjects, subTransitions, e.Number).String()
		}
	}
	return oids
}

// Names of a lock of the first edition get prefixes once, and no OID moves.
func TestRenamingMovesNoOID(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, LockFile)
	text, err := os.ReadFile(firstEdition)
	if err != nil {
		t.Fatal(err)
	}
	// A place that left its net is renamed with the others.
	text = append(text, "place 1.77 \"retired\" longRetiredPlaceName obsolete\n"...)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	root, first := testRoot(t), parse(t, string(text))
	nets := slices.DeleteFunc(exampleNets(t), func(n *petri.Net) bool { return first.Net(n.ID) == nil })
	before := oidsByID(root, first)
	var after string
	for i, want := range []map[string]int{{"backup-window": 20, "order-fulfilment": 76, "packaging-line": 16}, {}} {
		written, err := Generate(dir, path, root, nets, Options{}, time.Date(2026, 11, 24, 8, i, 0, 0, time.UTC))
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]int{}
		for _, w := range written {
			if w.Renamed > 0 {
				got[w.Net] = w.Renamed
			}
			if i > 0 && w.Changed {
				t.Errorf("%s changed again", w.Path)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("run %d (-want +got): %s", i, diff)
		}
		lock, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, oidsByID(root, parse(t, string(lock)))); diff != "" {
			t.Errorf("run %d (-before +after): %s", i, diff)
		}
		if after != "" && after != string(lock) {
			t.Errorf("the names change again: %s", cmp.Diff(after, string(lock)))
		}
		after = string(lock)
	}
	lock := parse(t, after)
	n := lock.Net("backup-window")
	if n.Prefix != "bw" || n.Name(n.Place("failed")) != "bwVerifyFailed" || n.Name(n.Place("retired")) != "bwLongRetiredPlaceName" {
		t.Errorf("prefix %q, %q, %q", n.Prefix, n.Name(n.Place("failed")), n.Name(n.Place("retired")))
	}
	if last := n.revisions[len(n.revisions)-1].text; last != "Renamed every descriptor with the prefix bw." {
		t.Errorf("the last revision is %q", last)
	}
	for _, n := range lock.Nets() {
		if out := smilint(t, dir, n.Module); out != "" {
			t.Error(out)
		}
		checkTranslate(t, dir, lockedOIDs(root, n))
	}
}

// A sidecar continues with a lock of the first edition, and leaves the names of its nets alone.
func TestServingRenamesNothing(t *testing.T) {
	const first = "# x\nnet 1 \"orderFulfilment\" ORDER-FULFILMENT-PN-MIB orderFulfilment\nplace 1.1 \"awaitingPayment\" awaitingPayment\n"
	path := filepath.Join(t.TempDir(), LockFile)
	if err := os.WriteFile(path, []byte(first), 0o600); err != nil {
		t.Fatal(err)
	}
	build(t, newBuilder(t, path), orderView(), now0)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(text), first) || strings.Contains(string(text), "prefix") {
		t.Errorf("the lock became\n%s", text)
	}
}

// Two nets never have a name in common, whatever is in them.
func TestNamesOfTwoNetsDiffer(t *testing.T) {
	var nets []*petri.Net
	for _, id := range []string{"backup-window", "big-wheel", "b w", "order fulfilment", "of", "pn", "Petri net", "petrinet", "", "1", "付款", "付出", "in", "integer", "a", "a b c d e f g h i j"} {
		nets = append(nets, &petri.Net{ID: id, Places: []petri.Place{{ID: "queued"}, {ID: "net"}, {ID: "teger32"}, {ID: "orts"}}})
	}
	_, lock := generateTo(t, nets...)
	seen, prefixes := map[string]string{}, map[string]string{}
	for _, n := range lock.Nets() {
		prefixes[n.ID] = n.Prefix
		for name := range lockedOIDs(testRoot(t), n) {
			_, low, _ := strings.Cut(strings.ToLower(name), "::")
			if other := seen[low]; other != "" || reservedNames()[low] {
				t.Errorf("%s is also %s", name, other)
			}
			seen[low] = name
		}
	}
	if diff := cmp.Diff(map[string]string{"backup-window": "bw", "big-wheel": "biw", "b w": "n3x", "order fulfilment": "ofu", "of": "n5x", "pn": "n6x",
		"Petri net": "pen", "petrinet": "n8x", "": "n9x", "1": "nax", "付款": "uu", "付出": "u4u", "in": "in", "integer": "ier", "a": "nfx", "a b c d e f g h i j": "abcdefgh"},
		prefixes); diff != "" {
		t.Errorf("(-want +got): %s", diff)
	}
}

// Nets whose names are hard, and what becomes of them. The report of a change of names shows
// this table.
func TestNamesOfHardNets(t *testing.T) {
	long := "Waiting for the second approval of the loan by the officer "
	nets := []*petri.Net{
		{ID: "unicode", Name: "大きさ", Places: []petri.Place{{ID: "付款"}, {ID: "оплата"}, {ID: "Überweisung prüfen"}, {ID: "결제"}, {ID: "😀"}, {ID: "Łódź"}}},
		{ID: "case", Name: "Case pairs", Places: []petri.Place{{ID: "pay"}, {ID: "Pay"}, {ID: "PAY"}, {ID: "pAY"}}, Transitions: []petri.Transition{{ID: "PaY"}}},
		{ID: "sixty", Name: "Names of sixty characters", Places: []petri.Place{{ID: "p1", Name: long + "A"}, {ID: "p2", Name: long + "B"},
			{ID: strings.Repeat("a", 59) + "x"}, {ID: strings.Repeat("a", 59) + "y"}}},
		{ID: "keywords", Name: "SMI keywords", Places: []petri.Place{{ID: "END"}, {ID: "OBJECT-TYPE"}, {ID: "FROM"}, {ID: "Counter32"}, {ID: "objects"}, {ID: "MIB"}}},
		{ID: "flows", Name: "BPMN flows", Places: []petri.Place{{ID: "f1", Name: "Score the customer → Archive"}, {ID: "f2", Name: "Score the customer → Ask again"},
			{ID: "f3", Name: "Score the customer of the other bank → Archive the papers of the case"}, {ID: "f4", Name: "Score the customer of the other bank → Archive the papers of the loan"}}},
	}
	want := map[string][]string{
		"unicode": {"uksU4ed8U6b3e", "uksOplata", "uksUberweisungPrufen", "uksGyeolje", "uksU1f600", "uksLodz"},
		"case":    {"cpPay", "cpPayCapital", "cpPayCapitals", "cpPAYMixed", "cpPaYTransition"},
		"sixty": {"noscWaitingForTheSecondOfTheLoanByTheOfficerA", "noscWaitingForTheSecondOfTheLoanByTheOfficerB",
			"noscAaaaaaaaaaaaaaaaaaaaaaAaaaaaaaaaaaaaaaaaaaax", "noscAaaaaaaaaaaaaaaaaaaaaaAaaaaaaaaaaaaaaaaaaaay"},
		"keywords": {"skEnd", "skObjectTYPE", "skFrom", "skCounter32", "skObjectsPlace", "skMibPlace"},
		"flows": {"bfScoreTheCustomerToArchive", "bfScoreTheCustomerToAskAgain",
			"bfScoreTheOfTheOtherBankToArchiveTheOfTheCase", "bfScoreTheOfTheOtherBankToArchiveTheOfTheLoan"},
	}
	_, lock := generateTo(t, nets...)
	checkNets(t, nets...)
	for _, def := range nets {
		n := lock.Net(def.ID)
		var got []string
		for _, e := range append(n.Places(), n.Transitions()...) {
			got = append(got, n.Name(e))
			if len(n.Name(e)) > maxName-maxSuffix || !regexp.MustCompile(`^[a-z][A-Za-z0-9]+$`).MatchString(n.Name(e)) {
				t.Errorf("net %s: %s", def.ID, n.Name(e))
			}
		}
		if diff := cmp.Diff(want[def.ID], got); diff != "" {
			t.Errorf("net %s in module %s (-want +got): %s", def.ID, n.Module, diff)
		}
	}
}
