// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/petri"
)

// stubs are modules of our own making that stand in for the base modules.
const stubs = "../mibs/smi"

func testRoot(t testing.TB) smi.OID {
	t.Helper()
	root, err := ParseRoot(DefaultRoot)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func testNow() time.Time { return time.Date(2025, 6, 1, 8, 15, 0, 0, time.UTC) }

// need skips a test without the tool that it runs.
func need(t *testing.T, tool string) {
	t.Helper()
	if _, err := exec.LookPath(tool); err != nil {
		t.Skipf("%s is not installed", tool)
	}
}

// smilint returns the output of smilint for modules in dir. Its exit code shows
// nothing, and Debian's own configuration hides errors.
func smilint(t *testing.T, dir string, modules ...string) string {
	t.Helper()
	need(t, "smilint")
	cmd := exec.Command("smilint", append([]string{"-c", "/dev/null", "-s", "-m", "-l", "9"}, modules...)...)
	cmd.Env = append(os.Environ(), "SMIPATH="+stubs+":"+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("smilint: %v\n%s", err, out)
	}
	return string(out)
}

// generateTo generates the modules of nets into a new directory.
func generateTo(t testing.TB, nets ...*petri.Net) (dir string, lock *Lock) {
	t.Helper()
	dir = t.TempDir()
	return dir, generateInto(t, dir, testNow(), nets...)
}

func generateInto(t testing.TB, dir string, now time.Time, nets ...*petri.Net) *Lock {
	t.Helper()
	path := filepath.Join(dir, LockFile)
	if _, err := Generate(dir, path, testRoot(t), nets, Options{}, now); err != nil {
		t.Fatal(err)
	}
	lock, err := ReadLock(path)
	if err != nil {
		t.Fatal(err)
	}
	return lock
}

func TestSmilintIsSilentAboutTheModulesForAllNets(t *testing.T) {
	dir, _ := generateTo(t)
	for _, module := range []string{PetrinetModule, CapsModule} {
		if out := smilint(t, dir, module); out != "" {
			t.Error(out)
		}
	}
	checkTree(t, dir, PetrinetModule)
	checkTranslate(t, dir, map[string]string{CapsModule + "::" + capsStatement: CapabilitiesID(testRoot(t)).String()})
}

func TestPetrinetMIBCanBeRegisteredAnywhereBelowEnterprises(t *testing.T) {
	for _, s := range []string{"1.3.6.1.4.1.32473", "1.3.6.1.4.1.32473.1", "1.3.6.1.4.1.1.2.3.4.5.6.7"} {
		dir := t.TempDir()
		root, err := ParseRoot(s)
		if err != nil {
			t.Fatal(err)
		}
		nets := []*petri.Net{orderNet()}
		if _, err := Generate(dir, filepath.Join(dir, LockFile), root, nets, Options{}, testNow()); err != nil {
			t.Fatal(err)
		}
		if out := smilint(t, dir, PetrinetModule); out != "" {
			t.Errorf("%s: smilint of %s: got %s; want nothing", s, PetrinetModule, out)
		}
		if out := smilint(t, dir, "ORDER-FULFILMENT-PN-MIB"); out != "" {
			t.Errorf("%s: smilint of ORDER-FULFILMENT-PN-MIB: got %s; want nothing", s, out)
		}
		checkTranslate(t, dir, map[string]string{"ORDER-FULFILMENT-PN-MIB::ofuMIB": s + ".2.1"})
	}
}

func TestARootOutsideEnterprisesIsRefused(t *testing.T) {
	for _, s := range []string{"", "x", "1", "1.3.6.1.4.1", "1.3.6.1.2.1.1", "2.5", "1.3.6.1.4.1" + strings.Repeat(".1", 110)} {
		if _, err := ParseRoot(s); err == nil {
			t.Errorf("%q is taken", s)
		}
	}
}

// The gate is worth something only if it finds what is wrong.
func TestTheGateSeesBrokenModules(t *testing.T) {
	root := testRoot(t)
	good, err := PetrinetMIB(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ old, new, tag string }{
		"an object in no group":        {"        pnPlaceTokens,\n", "", "group-membership"},
		"an unknown type":              {"SYNTAX      Counter64", "SYNTAX      Counter65", "type-unknown"},
		"a long descriptor":            {"pnAgentVersion", "pnAgent" + strings.Repeat("Version", 10), "namelength-64-object"},
		"a descriptor used twice":      {"pnPlaceInstances", "pnplacetokens", "identifier-case-match"},
		"no DESCRIPTION":               {"        \"The number of the net. It never changes and is never used again for\n         another net. A net's own module is registered below petrinetNets with\n         it.\"\n", "        \"\"\n", "empty-description"},
		"an object identifier twice":   {"::= { petrinetObjects 3 }", "::= { petrinetObjects 2 }", "oid-re"},
		"a revision in the wrong form": {"REVISION    \"20", "REVISION    \"x0", "date-character"},
		"an unused import":             {"DateAndTime, RowPointer", "DateAndTime, RowPointer, TruthValue", "import-unused"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			bad := strings.ReplaceAll(string(good), c.old, c.new)
			if bad == string(good) {
				t.Fatalf("%q is not in the module", c.old)
			}
			if err := os.WriteFile(filepath.Join(dir, "PETRINET-MIB.mib"), []byte(bad), 0o600); err != nil {
				t.Fatal(err)
			}
			if out := smilint(t, dir, PetrinetModule); !strings.Contains(out, c.tag) {
				t.Errorf("smilint: got\n%s\nwant %s in it", out, c.tag)
			}
		})
	}
}

// checkTranslate asks snmptranslate for the OID of every name, as many names a run as
// its arguments have room for, because each run reads all modules. It finds nothing else
// to say.
func checkTranslate(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	need(t, "snmptranslate")
	var names []string
	for name := range want {
		names = append(names, name)
	}
	for len(names) > 0 {
		some := names[:min(len(names), 16_000)]
		names = names[len(some):]
		cmd := exec.Command("snmptranslate", append([]string{"-m", "ALL", "-On"}, some...)...)
		cmd.Env = append(os.Environ(), "MIBDIRS="+stubs+":"+dir, "SNMPCONFPATH="+t.TempDir())
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil || stderr.Len() > 0 {
			t.Fatalf("snmptranslate: %v\n%s", err, stderr.String())
		}
		lines := strings.Fields(string(out))
		if len(lines) != len(some) {
			t.Fatalf("snmptranslate answers %d of %d names", len(lines), len(some))
		}
		for i, name := range some {
			if got := strings.TrimPrefix(lines[i], "."); got != want[name] {
				t.Errorf("snmptranslate: %s is %s, want %s", name, got, want[name])
			}
		}
	}
}

// lockedOIDs are the OIDs that the lock stands for, by name.
func lockedOIDs(root smi.OID, n *LockedNet) map[string]string {
	module := root.Append(subNets, n.Number)
	want := map[string]string{n.Module + "::" + n.Prefix + "MIB": module.String()}
	add := func(sub uint32, all []*Locked, objects []object) {
		for _, e := range all {
			at := module.Append(subObjects, sub, e.Number)
			want[n.Module+"::"+n.Name(e)] = at.String()
			for _, o := range n.level.of(objects) {
				want[n.Module+"::"+n.Name(e)+o.suffix] = at.Append(o.sub).String()
			}
		}
	}
	add(subPlaces, n.Places(), objectsOf(placeColumns()))
	add(subTransitions, n.Transitions(), objectsOf(transitionColumns()))
	return want
}

// checkNets generates the modules of nets into one directory and shows them to
// every tool, to all at once where that is the same: tools take longer to start
// than to read a module. Nets of one id need directories of their own. gosmi
// takes a tenth of a second for each, so it reads one in eight of them, and with
// PNAGENT_GATE=all every one.
func checkNets(t *testing.T, nets ...*petri.Net) {
	t.Helper()
	for len(nets) > 0 {
		var now, later []*petri.Net
		ids := map[string]bool{}
		for _, def := range nets {
			if ids[def.ID] {
				later = append(later, def)
			} else {
				now = append(now, def)
			}
			ids[def.ID] = true
		}
		checkTogether(t, now)
		nets = later
	}
}

func checkTogether(t *testing.T, nets []*petri.Net) {
	t.Helper()
	dir, lock := generateTo(t, nets...)
	var modules []string
	want := map[string]string{}
	for i, def := range nets {
		n := lock.Net(def.ID)
		if len(n.Module) > 32 || !regexp.MustCompile(`^[A-Z][A-Z0-9-]*-PN-MIB$`).MatchString(n.Module) {
			t.Errorf("net %.100q: module name %q", def.ID, n.Module)
		}
		modules = append(modules, n.Module)
		names := lockedOIDs(testRoot(t), n)
		if out := smilint(t, dir, n.Module); out != "" { // it would warn of descriptors that two nets have
			t.Errorf("%s: got faults of smilint; want none:\n%.2000s", n.Module, out)
		}
		if i%8 == 0 || os.Getenv("PNAGENT_GATE") == "all" {
			checkGosmi(t, dir, n.Module, names)
		}
		maps.Copy(want, names)
	}
	checkTranslate(t, dir, want)
	checkTree(t, dir, modules...)
}

// checkTree has smidump draw the trees of modules: nothing is wrong, and every
// object that can be read is in them.
func checkTree(t *testing.T, dir string, modules ...string) {
	t.Helper()
	need(t, "smidump")
	cmd := exec.Command("smidump", append([]string{"-c", "/dev/null", "-l", "3", "-f", "tree"}, modules...)...)
	cmd.Env = append(os.Environ(), "SMIPATH="+stubs+":"+dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("smidump: %v\n%s", err, stderr.String())
	}
	drawn := map[string]int{} // by module
	var module string
	for line := range strings.Lines(string(out)) {
		if title, is := strings.CutPrefix(line, "# "); is {
			module, _, _ = strings.Cut(title, " registration tree")
		}
		drawn[module] += strings.Count(line, "-- r-n ")
	}
	for _, module := range modules {
		text, err := os.ReadFile(filepath.Join(dir, module+".mib"))
		if err != nil {
			t.Fatal(err)
		}
		if want := bytes.Count(text, []byte("MAX-ACCESS  read-only")); drawn[module] != want {
			t.Errorf("smidump draws %d objects of %s, want %d", drawn[module], module, want)
		}
	}
}
