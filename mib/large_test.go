// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
)

// largeNet is a net with names of usual length.
func largeNet(places, transitions int) *petri.Net {
	n := &petri.Net{ID: "big", Name: "Big"}
	for i := range places {
		n.Places = append(n.Places, petri.Place{ID: fmt.Sprintf("p%d", i+1), Name: fmt.Sprintf("Waiting for the approval of step %d", i+1), Doc: strings.Repeat("doc ", 50)})
	}
	for i := range transitions {
		n.Transitions = append(n.Transitions, petri.Transition{ID: fmt.Sprintf("t%d", i+1), Name: fmt.Sprintf("Approve step %d", i+1)})
	}
	return n
}

// maxModuleBytes is the size of a module of 5,000 places.
const maxModuleBytes = 4_000_000

func TestAModuleOf5000PlacesPassesTheGate(t *testing.T) {
	dir, lock := generateTo(t, largeNet(5000, 0))
	n := lock.Net("big")
	info, err := os.Stat(filepath.Join(dir, n.Module+".mib"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > maxModuleBytes {
		t.Errorf("%s has %d bytes; want at most %d", n.Module, info.Size(), maxModuleBytes)
	}
	t.Logf("%s has %d bytes", n.Module, info.Size())
	// net-snmp searches the definitions in their order for each member of a group: with the
	// nodes before the objects it takes four times as long.
	text := readAll(t, dir)[n.Module+".mib"]
	if object, node := strings.LastIndex(text, " OBJECT-TYPE\n"), strings.Index(text, " OBJECT IDENTIFIER "); node < object {
		t.Error("a node is before an object")
	}
	checkTranslate(t, dir, lockedOIDs(testRoot(t), n))
	if os.Getenv("PNAGENT_GATE") != "all" { // smilint takes ten seconds, and reads smaller modules of every level below
		return
	}
	if out := smilint(t, dir, n.Module); out != "" {
		t.Errorf("smilint: %.2000s", out)
	}
}

// BenchmarkLoad measures how long snmptranslate takes to read a module; the base is
// PETRINET-MIB alone.
func BenchmarkLoad(b *testing.B) {
	dir, _ := generateTo(b, largeNet(5000, 0))
	if _, err := exec.LookPath("snmptranslate"); err != nil {
		b.Skip("snmptranslate is not installed")
	}
	for _, c := range []struct{ name, modules string }{
		{"base=PETRINET-MIB", PetrinetModule},
		{"module=5000", PetrinetModule + ":BIG-PN-MIB"},
	} {
		b.Run(c.name, func(b *testing.B) {
			var used time.Duration
			for b.Loop() {
				cmd := exec.Command("snmptranslate", "-m", c.modules, "-On", PetrinetModule+"::pnPlaceTable")
				cmd.Env = append(os.Environ(), "MIBDIRS="+stubs+":"+dir, "SNMPCONFPATH="+b.TempDir())
				if out, err := cmd.CombinedOutput(); err != nil {
					b.Fatalf("%v\n%s", err, out)
				}
				used += cmd.ProcessState.UserTime()
			}
			b.ReportMetric(used.Seconds()/float64(b.N), "user-s/op")
		})
	}
}

// The level of a new module is chosen by its size. It stays when the net grows, because
// published objects do not vanish, until another one is asked for.
func TestTheLevelOfObjects(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, LockFile)
	for i, c := range []struct {
		places, transitions int
		ask                 Level
		want                Level
		objects             int
		story               string
	}{
		{100, 5, "", LevelAll, 100*11 + 5*19, "First version."},
		{900, 5, "", LevelAll, 900*11 + 5*19, "Added place 'p101'"},
		{4000, 500, LevelAuto, LevelAll, 4000*11 + 500*19, "Added place 'p901'"},
		{4000, 500, LevelFew, LevelFew, 4500 * 2, "Chose other objects of each place and transition: few."},
		{4000, 500, LevelAuto, LevelFew, 4500 * 2, ""},
		{4000, 500, LevelOne, LevelOne, 4500, "one."},
	} {
		written, err := Generate(dir, path, testRoot(t), []*petri.Net{largeNet(c.places, c.transitions)}, Options{Objects: c.ask}, testNow().AddDate(0, i, 0))
		if err != nil {
			t.Fatal(err)
		}
		lock, err := ReadLock(path)
		if err != nil {
			t.Fatal(err)
		}
		n := lock.Net("big")
		text := readAll(t, dir)[n.Module+".mib"]
		if got := strings.Count(text, " OBJECT-TYPE\n") - len(moduleScalars()); n.level != c.want || got != c.objects || written[len(written)-1].Objects != c.objects {
			t.Errorf("step %d: level %s, %d objects, reported %d; want %s and %d", i, n.level, got, written[len(written)-1].Objects, c.want, c.objects)
		}
		if last := n.revisions[len(n.revisions)-1]; c.story == "" && last.date != "202509010815Z" || !strings.Contains(last.text, c.story) {
			t.Errorf("step %d: the last revision is %+v", i, last)
		}
		if strings.Contains(text, "pnStuckTable shows") == (c.objects > longTexts) {
			t.Errorf("step %d: texts in full or not, of %d objects", i, c.objects)
		}
	}
	_, err := Generate(dir, path, testRoot(t), []*petri.Net{largeNet(1, 1)}, Options{Objects: "most"}, testNow())
	if !errors.Is(err, ErrLevel) {
		t.Errorf("an unknown level: %v", err)
	}
}

func TestTheLevelOfANewModuleFollowsItsSize(t *testing.T) {
	got := map[string]Level{}
	for _, size := range [][2]int{{909, 0}, {910, 0}, {5000, 0}, {2500, 2500}, {5001, 0}, {20_000, 0}} {
		lock := NewLock()
		n := assign(t, lock, largeNet(size[0], size[1]))
		if _, err := n.choose(LevelAuto); err != nil {
			t.Fatal(err)
		}
		got[fmt.Sprint(size)] = n.level
	}
	want := map[string]Level{"[909 0]": LevelAll, "[910 0]": LevelFew, "[5000 0]": LevelFew, "[2500 2500]": LevelFew, "[5001 0]": LevelOne, "[20000 0]": LevelOne}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The short texts of a large module pass every gate, those of obsolete objects too.
func TestModulesOfEveryLevelPassTheGate(t *testing.T) {
	for _, level := range levels() {
		dir := t.TempDir()
		path := filepath.Join(dir, LockFile)
		for i, def := range []*petri.Net{largeNet(100, 80), largeNet(90, 85)} {
			if _, err := Generate(dir, path, testRoot(t), []*petri.Net{def}, Options{Objects: level}, testNow().AddDate(0, i, 0)); err != nil {
				t.Fatal(err)
			}
		}
		lock, err := ReadLock(path)
		if err != nil {
			t.Fatal(err)
		}
		n := lock.Net("big")
		if out := smilint(t, dir, n.Module); out != "" {
			t.Errorf("%s: %.2000s", level, out)
		}
		checkTranslate(t, dir, lockedOIDs(testRoot(t), n))
		checkGosmi(t, dir, n.Module, lockedOIDs(testRoot(t), n))
		checkTree(t, dir, n.Module)
	}
}
