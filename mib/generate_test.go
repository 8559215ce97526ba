// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sleepinggenius2/gosmi/types"

	"github.com/pnagent/pnagent/petri"
)

// readAll returns the modules and the lock of a directory by name.
func readAll(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		if e.Name() != LockFile && filepath.Ext(e.Name()) != ".mib" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(text)
	}
	return files
}

func TestGeneratingAnUnchangedNetChangesNothing(t *testing.T) {
	dir, _ := generateTo(t, orderNet(), sizedNet("other", 3, 3))
	want := readAll(t, dir)
	path := filepath.Join(dir, LockFile)
	written, err := Generate(dir, path, testRoot(t), []*petri.Net{sizedNet("other", 3, 3), orderNet()}, Options{}, testNow().AddDate(1, 0, 0))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range written {
		if w.Changed {
			t.Errorf("%s is said to be changed", w.Path)
		}
	}
	if len(written) != 5 {
		t.Errorf("%d files, want the lock, PETRINET-MIB, PETRINET-CAPS-MIB and two modules", len(written))
	}
	if diff := cmp.Diff(want, readAll(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestGeneratingIsTheSameEverywhere(t *testing.T) {
	a, _ := generateTo(t, orderNet(), sizedNet("other", 30, 30))
	b, _ := generateTo(t, orderNet(), sizedNet("other", 30, 30))
	if diff := cmp.Diff(readAll(t, a), readAll(t, b)); diff != "" {
		t.Error(diff)
	}
}

func TestModulesOfOtherNetsStay(t *testing.T) {
	dir, _ := generateTo(t, orderNet(), sizedNet("other", 3, 3))
	want := readAll(t, dir)
	generateInto(t, dir, testNow().AddDate(1, 0, 0), orderNet())
	if diff := cmp.Diff(want, readAll(t, dir)); diff != "" {
		t.Error(diff)
	}
}

// What remains of a net keeps its OIDs, whatever happens around it.
func TestRegeneratingMovesNoOID(t *testing.T) {
	dir, lock := generateTo(t, orderNet())
	before := lockedOIDs(testRoot(t), lock.Net("orderFulfilment"))

	changed := orderNet()
	changed.Places = slices.Insert(changed.Places, 1, petri.Place{ID: "inspect", Name: "Inspected"}) // in the middle
	changed.Places = slices.Delete(changed.Places, 3, 4)                                             // packed
	changed.Places[0].Name = "Waiting for the money"                                                 // a new name
	changed.Transitions[1].ID = "send"                                                               // a new id
	changed.Arcs = nil
	slices.Reverse(changed.Places)
	lock = generateInto(t, dir, testNow().AddDate(0, 1, 0), changed)
	net := lock.Net("orderFulfilment")

	after := lockedOIDs(testRoot(t), net)
	for name, oid := range before {
		if after[name] != oid {
			t.Errorf("%s moved from %s to %s", name, oid, after[name])
		}
	}
	if out := smilint(t, dir, net.Module); out != "" {
		t.Error(out)
	}
	checkTranslate(t, dir, after)
	nodes := parsed(t, dir, PetrinetModule, net.Module)
	gosmiAgrees(t, nodes, after)
	for name, want := range map[string]types.Status{
		"ofuAwaitingPaymentTokens": types.StatusCurrent, "ofuPaidTokens": types.StatusCurrent, "ofuInspectedTokens": types.StatusCurrent,
		"ofuPackedTokens": types.StatusObsolete, "ofuShipFirings": types.StatusObsolete, "ofuSendFirings": types.StatusCurrent,
	} {
		if got := nodes[net.Module+"::"+name].Status; got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if got := nodes[net.Module+"::ofuAwaitingPaymentTokens"].Description; !strings.Contains(got, "Waiting for the money") {
		t.Errorf("the new name is not in the description: %s", got)
	}
	text := readAll(t, dir)[net.Module+".mib"]
	first, second := strings.Index(text, `REVISION    "202507010815Z"`), strings.Index(text, `REVISION    "202506010815Z"`)
	if first < 0 || second < first {
		t.Errorf("revisions are not newest first:\n%.1500s", text)
	}
	const story = "Added place 'inspect', transition 'send'. Made obsolete place 'packed', transition 'ship'."
	if r := net.revisions; len(r) != 2 || r[1].text != story {
		t.Errorf("revisions %+v", r)
	}
}

func TestAPlaceThatComesBackIsCurrentAgain(t *testing.T) {
	dir, lock := generateTo(t, orderNet())
	want := *lock.Net("orderFulfilment").Place("packed")
	without := orderNet()
	without.Places, without.Arcs = without.Places[:2], nil
	if e := generateInto(t, dir, testNow().Add(time.Hour), without).Net("orderFulfilment").Place("packed"); !e.Obsolete {
		t.Error("not obsolete")
	}
	got := generateInto(t, dir, testNow().Add(2*time.Hour), orderNet()).Net("orderFulfilment").Place("packed")
	if diff := cmp.Diff(want, *got, cmp.AllowUnexported(Locked{})); diff != "" {
		t.Error(diff)
	}
}

// Revisions are dated by the minute and must fall from one to the next.
func TestChangesWithinAMinuteAreOneRevision(t *testing.T) {
	dir, _ := generateTo(t, sizedNet("n", 1, 1))
	for i, now := range []time.Time{testNow(), testNow().Add(-time.Hour), testNow().Add(time.Second)} {
		lock := generateInto(t, dir, now, sizedNet("n", 2+i, 1))
		if r := lock.Net("n").revisions; len(r) != 1 || r[0].date != "202506010815Z" || !strings.Contains(r[0].text, "Added place") {
			t.Errorf("revisions %+v", r)
		}
	}
	if out := smilint(t, dir, "N-PN-MIB"); out != "" {
		t.Error(out)
	}
}

// A change of PETRINET-MIB needs an entry in petrinetRevisions.
func TestPetrinetMIBHasARevisionForItsContent(t *testing.T) {
	m := &petrinetText{moduleText: newModuleText(), root: testRoot(t)}
	m.write()
	revisions := petrinetRevisions()
	last := revisions[len(revisions)-1]
	if got := m.digest(petrinetIdentity(nil)); got != last.digest {
		t.Errorf("the content has digest %s, the last revision (%s) is of %s: add a revision", got, last.date, last.digest)
	}
	caps := capsRevisions()
	if got, want := capsText().digest(capsModuleIdentity(nil)), caps[len(caps)-1].digest; got != want {
		t.Errorf("PETRINET-CAPS-MIB has digest %s, its last revision is of %s: add a revision", got, want)
	}
}

// A site's own address is in the modules of its nets, and a new one is a new revision.
func TestTheContactIsTheOperators(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, LockFile)
	for i, c := range []struct{ contact, want string }{
		{"", "https://github.com/pnagent/pnagent/issues"}, {" \n", "https://github.com/pnagent/pnagent/issues"},
		{"NOC \"Berlin\", \x00 +49 30 1234", "NOC 'Berlin', +49 30 1234"}, {strings.Repeat("x ", 10_000), "x x x x"},
	} {
		if _, err := Generate(dir, path, testRoot(t), []*petri.Net{orderNet()}, Options{Contact: c.contact}, testNow().AddDate(0, i, 0)); err != nil {
			t.Fatal(err)
		}
		const module = "ORDER-FULFILMENT-PN-MIB"
		text := readAll(t, dir)[module+".mib"]
		_, text, _ = strings.Cut(text, "CONTACT-INFO")
		text, _, _ = strings.Cut(text, "DESCRIPTION")
		if text = strings.Join(strings.Fields(text), " "); !strings.Contains(text, c.want) || len(text) > 2000 {
			t.Errorf("%q became %.3000q", c.contact, text)
		}
		if out := smilint(t, dir, module); out != "" {
			t.Error(out)
		}
	}
	lock, err := ReadLock(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(lock.Net("orderFulfilment").revisions); n != 3 {
		t.Errorf("%d revisions; want one for each of three contacts", n)
	}
}

// mibs/ holds what Generate makes of the nets in examples/.
func TestTheCommittedModulesAreCurrent(t *testing.T) {
	const committed = "../mibs"
	dir := t.TempDir()
	want := readAll(t, committed)
	if err := os.WriteFile(filepath.Join(dir, LockFile), []byte(want[LockFile]), 0o600); err != nil {
		t.Fatal(err)
	}
	generateInto(t, dir, testNow(), exampleNets(t)...)
	if diff := cmp.Diff(want, readAll(t, dir)); diff != "" {
		t.Errorf("mibs/ is not what examples/ gives; run: go run ./cmd/pnagent mib examples/*.pnml examples/*.bpmn\n%.3000s", diff)
	}
}
