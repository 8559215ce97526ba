// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pnagent/pnagent/e2e/kit"
)

func TestNoOIDMovesWhenANetChanges(t *testing.T) {
	t.Parallel()
	kit.Need(t, "snmptranslate", "snmp")
	first := kit.Generate(t, "", kit.Write(t, "claims.pnml", kit.StuckNet))
	stay := []string{"claInboxTokens", "claAwaitingAnAnswerTokens", "claPaidTokens", "claTakeUpFirings", "claAskBackFirings", "claAnswerFirings", "claArchiveFirings"}
	before := objects(t, first, append(slices.Clone(stay), "claInReviewTokens")...)

	added := strings.Replace(kit.StuckNet, `<place id="review">`, `<place id="fraud"><name><text>Fraud desk</text></name></place>`+"\n      "+`<place id="review">`, 1)
	removed := strings.Replace(added, `<place id="review"><name><text>In review</text></name></place>`, "", 1)
	removed = strings.NewReplacer(`source="take" target="review"`, `source="take" target="fraud"`, `source="review" target="ask"`, `source="fraud" target="ask"`).Replace(removed)
	renamed := strings.NewReplacer(`Awaiting an answer`, `Waiting for the customer`, `Ask back`, `Ask the customer`).Replace(removed)

	for _, step := range []struct{ name, text, reviewStatus string }{
		{"a place added in the middle", added, "current"},
		{"a place removed", removed, "obsolete"},
		{"a place and a transition renamed", renamed, "obsolete"},
	} {
		again := kit.Generate(t, first.Dir, kit.Write(t, "claims.pnml", step.text))
		lint(t, again)
		after := objects(t, again, append(slices.Clone(stay), "claInReviewTokens")...)
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("%s: -before +after\n%s", step.name, diff)
		}
		if got := statusOf(t, again, "claInReviewTokens"); got != step.reviewStatus {
			t.Errorf("%s: STATUS of claInReviewTokens is %q, want %q", step.name, got, step.reviewStatus)
		}
		if got := statusOf(t, again, "claInboxTokens"); got != "current" {
			t.Errorf("%s: STATUS of claInboxTokens is %q", step.name, got)
		}
		fraud := objects(t, again, "claFraudDeskTokens")["CLAIMS-PN-MIB::claFraudDeskTokens"]
		for name, oid := range before {
			if oid == fraud {
				t.Errorf("%s: the new place has the OID of %s", step.name, name)
			}
		}
	}
}

// A lock from before names had prefixes is renamed once, with a word about it.
func TestNamesOfAnOlderLockAreRenamedOnce(t *testing.T) {
	t.Parallel()
	kit.Need(t, "snmptranslate", "snmp")
	net := kit.Write(t, "claims.pnml", kit.StuckNet)
	m := kit.Generate(t, "", net)
	want := objects(t, m, "claInboxTokens", "claArchiveFirings")
	path := filepath.Join(m.Dir, "oids.lock")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	older := regexp.MustCompile(`(?m)^(prefix|objects) .*\n`).ReplaceAllString(string(text), "")
	if err := os.WriteFile(path, []byte(older), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, renamed := range []bool{true, false} {
		r := kit.Pnagent(t, "mib", "--dir", m.Dir, "--oid-root", kit.OIDRoot, net)
		if r.Code != 0 || strings.Contains(r.Out, "renamed    8 descriptors of net \"claims\"; no OID moved\n") != renamed {
			t.Errorf("pnagent mib: %+v; renamed %v", r, renamed)
		}
		lint(t, m)
		if diff := cmp.Diff(want, objects(t, m, "claInboxTokens", "claArchiveFirings")); diff != "" {
			t.Errorf("-before +after\n%s", diff)
		}
	}
}

// A place that left and comes back is the same one.
func TestAPlaceThatComesBackHasItsOldOID(t *testing.T) {
	t.Parallel()
	kit.Need(t, "snmptranslate", "snmp")
	first := kit.Generate(t, "", kit.Write(t, "claims.pnml", kit.StuckNet))
	want := objects(t, first, "claPaidTokens")
	without := strings.NewReplacer(`<place id="paid €"><name><text>Paid</text></name></place>`, "",
		`<arc id="a6" source="answer" target="paid €"/>`, "", `<arc id="a7" source="paid €" target="archive"/>`, "").Replace(kit.StuckNet)
	gone := kit.Generate(t, first.Dir, kit.Write(t, "claims.pnml", without))
	if got := statusOf(t, gone, "claPaidTokens"); got != "obsolete" {
		t.Errorf("got STATUS %q; want obsolete", got)
	}
	back := kit.Generate(t, first.Dir, kit.Write(t, "claims.pnml", kit.StuckNet))
	if got := statusOf(t, back, "claPaidTokens"); got != "current" {
		t.Errorf("got STATUS %q; want current", got)
	}
	if diff := cmp.Diff(want, objects(t, back, "claPaidTokens")); diff != "" {
		t.Error(diff)
	}
}

// A module has as few objects as are asked for. One that tools read slowly is written, with a
// warning.
func TestTheObjectsOfAModuleCanBeChosen(t *testing.T) {
	t.Parallel()
	var places strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&places, `<place id="p%d"/>`, i)
	}
	net := kit.Write(t, "big.pnml", `<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><net id="big" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="g">`+
		places.String()+`</page></net></pnml>`)
	dir := t.TempDir()
	for _, c := range []struct {
		args    []string
		objects string
		warns   bool
	}{
		{nil, "few", false}, {[]string{"--objects", "all"}, "all", true}, {nil, "all", true}, {[]string{"--objects", "one", "--contact", "NOC"}, "one", false},
	} {
		r := kit.Pnagent(t, append(append([]string{"mib", "--dir", dir}, c.args...), net)...)
		lock, err := os.ReadFile(filepath.Join(dir, "oids.lock"))
		if err != nil {
			t.Fatal(err)
		}
		module, err := os.ReadFile(filepath.Join(dir, "BIG-PN-MIB.mib"))
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]int{"all": 11, "few": 2, "one": 1}[c.objects] * 1000
		got := strings.Count(string(module), " OBJECT-TYPE\n") - 3
		if r.Code != 0 || !strings.Contains(string(lock), "\nobjects 1 "+c.objects+"\n") || got != want ||
			strings.Contains(r.Err, "tools read a module of so many objects slowly") != c.warns || strings.Contains(string(module), `"NOC"`) != (len(c.args) > 2) {
			t.Errorf("%v: exit code %d, %d objects, %s", c.args, r.Code, got, r.Err)
		}
	}
}

// statusOf is the STATUS clause of an object in a module.
func statusOf(t *testing.T, m kit.Modules, object string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(m.Dir, "CLAIMS-PN-MIB.mib"))
	if err != nil {
		t.Fatal(err)
	}
	found := kit.Submatch(string(text), `(?ms)^`+object+` OBJECT-TYPE$.*?^\s*STATUS\s+(\w+)$`)
	if found == nil {
		return ""
	}
	return found[1]
}
