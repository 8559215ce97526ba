// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/mib"
)

// lint wants smilint to be silent. Its exit code is always 0, and Debian's own
// configuration hides errors.
func lint(t *testing.T, m kit.Modules) {
	t.Helper()
	smilint := kit.Need(t, "smilint", "smitools")
	names := []string{mib.PetrinetModule, mib.CapsModule}
	for _, n := range m.Lock.Nets() {
		names = append(names, n.Module)
	}
	for _, name := range names {
		r := kit.Tool(t, []string{"SMIPATH=" + kit.Stubs + ":" + m.Dir}, smilint, "-c", "/dev/null", "-s", "-m", "-l", "9", name)
		if r.Out+r.Err != "" {
			t.Errorf("%s: got faults of smilint; want none:\n%.2000s%.2000s", name, r.Out, r.Err)
		}
	}
}

// ask runs one of net-snmp's tools with these modules and returns its lines.
func ask(t *testing.T, m kit.Modules, program string, args ...string) []string {
	t.Helper()
	r := kit.Tool(t, m.Env(), kit.Need(t, program, "snmp"), args...)
	if r.Code != 0 || r.Err != "" {
		t.Fatalf("%s: got exit code %d: %.2000s; want 0 and no message", program, r.Code, r.Err)
	}
	return strings.Split(strings.TrimSuffix(r.Out, "\n"), "\n")
}

// translate asks snmptranslate for OIDs, some hundred names a run.
func translate(t *testing.T, m kit.Modules, names []string) map[string]string {
	t.Helper()
	oids := map[string]string{}
	for some := range slices.Chunk(names, 300) {
		lines := slices.DeleteFunc(ask(t, m, "snmptranslate", append([]string{"-On"}, some...)...), func(s string) bool { return s == "" })
		if len(lines) != len(some) {
			t.Fatalf("snmptranslate answers %d of %d names", len(lines), len(some))
		}
		for i, name := range some {
			oids[name] = strings.TrimPrefix(lines[i], ".")
		}
	}
	return oids
}

// named are objects of the nets' own modules, with their OIDs as the layout of
// the tree has them: root.2.NET.1.2.PLACE.4 is the tokens of a place, and
// root.2.NET.1.3.TRANSITION.4 the firings of a transition.
func named(m kit.Modules) map[string]string {
	want := map[string]string{}
	for _, n := range m.Lock.Nets() {
		for _, p := range n.Places() {
			want[n.Module+"::"+n.Name(p)+"Tokens"] = fmt.Sprintf("%s.2.%d.1.2.%d.%d", kit.OIDRoot, n.Number, p.Number, kit.PlaceTokens)
		}
		for _, tr := range n.Transitions() {
			want[n.Module+"::"+n.Name(tr)+"Firings"] = fmt.Sprintf("%s.2.%d.1.3.%d.%d", kit.OIDRoot, n.Number, tr.Number, kit.TransitionFirings)
		}
	}
	return want
}

// hold shows the modules to smilint and snmptranslate.
func hold(t *testing.T, m kit.Modules) {
	t.Helper()
	lint(t, m)
	want := named(m)
	var names []string
	for name := range want {
		names = append(names, name)
	}
	slices.Sort(names)
	if diff := cmp.Diff(want, translate(t, m, names)); diff != "" {
		t.Errorf("-lock +snmptranslate\n%s", diff)
	}
}

// objects are the nodes of CLAIMS-PN-MIB that stand for places and
// transitions, with their OIDs.
func objects(t *testing.T, m kit.Modules, descriptors ...string) map[string]string {
	t.Helper()
	var names []string
	for _, d := range descriptors {
		names = append(names, "CLAIMS-PN-MIB::"+d)
	}
	return translate(t, m, names)
}
