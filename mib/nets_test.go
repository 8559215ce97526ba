// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/bpmn"
	"github.com/pnagent/pnagent/petri/netfile"
)

const corpus = "../../shared/corpus/pnml"

func TestTheModuleOfEveryNetOfTheCorpusPassesTheGate(t *testing.T) {
	files, err := filepath.Glob(corpus + "/*.*ml")
	if err != nil || len(files) == 0 {
		t.Skipf("no corpus at %s", corpus)
	}
	var nets []*petri.Net
	for _, file := range files {
		nets = append(nets, readNets(t, file)...)
	}
	if len(nets) < 20 {
		t.Errorf("only %d nets were read", len(nets))
	}
	checkNets(t, nets...)
}

// readNets reads the nets of a file; none if it is refused, which tests of the
// reader look into.
func readNets(t *testing.T, path string) []*petri.Net {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	file, err := netfile.Read(f, path, netfile.Limits{Bytes: 64 << 20, Depth: 200, Nodes: 1_000_000})
	if err != nil {
		t.Logf("%s is refused: %.200v", filepath.Base(path), err)
		return nil
	}
	return file.Nets
}

// nastyNets have ids and names that no tool was made for.
func nastyNets() map[string]*petri.Net {
	places := func(net string, ids ...string) *petri.Net {
		n := &petri.Net{ID: net}
		for _, id := range ids {
			n.Places = append(n.Places, petri.Place{ID: id})
		}
		return n
	}
	all := map[string]*petri.Net{
		"no places":        {ID: "empty"},
		"an empty name":    {ID: ""},
		"only transitions": {ID: "t", Transitions: []petri.Transition{{ID: "t"}}},
		"a long net id":    {ID: strings.Repeat("long", 80), Places: []petri.Place{{ID: strings.Repeat("long", 80)}}},
		"ids of 300 characters": places("longer", strings.Repeat("a", 300), strings.Repeat("a", 299)+"b", strings.Repeat("a", 299)+"c",
			strings.Repeat("é", 150), strings.Repeat(`"`, 300), strings.Repeat("\n", 300)),
		"case only":     places("case", "pay", "Pay", "PAY", "pAY", "paY"),
		"punctuation":   places("signs", "a", "a.", "a-", "a--", "-a", "--", "-- comment", ";", "END", "::=", "{", "}", `"`, `""`, `\`, "'", "%s", "a b", " "),
		"control":       places("control", "\x00", "\x01", "\t", "\r\n", "a\x7f", "\x1b[31m"),
		"other scripts": places("scripts", "付款", "Überweisung", "оплата", "😀", "ﬁn", "İstanbul", "e\u0301", "\u202eevil", "\xff\xfe", "½", "Ⅷ"),
		"digits":        places("digits", "1", "2nd", "007", "1.5", "٣"),
		"other tools":   places("nasty", "from", "FROM", "TRAP-TYPE", "mib-2", "snmpEngineID", "sysUpTime", "netTable", "petrinetMIB", "nastyPnMIB", "MIB", "net group", "nastyObjects"),
		"derived names": places("wild", "a", "a tokens", "a tokens tokens", "tokens", "a dwell p50", "a oldest age", "oldest age", "wild", "wild places"),
		"documentation": {ID: "doc", Name: `A "quoted" name -- with a comment`, Doc: strings.Repeat("Very \"long\" – and\u0007 odd ünïcödé 付款. ", 500),
			Places: []petri.Place{{ID: "p", Name: strings.Repeat("name ", 400), Doc: strings.Repeat("x", 10_000)}}},
	}
	reserved := places("reserved", strings.Fields(reservedWords+importedNames)...)
	reserved.Places = append(reserved.Places, petri.Place{ID: "OBJECT IDENTIFIER"}, petri.Place{ID: "accessible-for-notify"})
	all["reserved words"] = reserved
	own := places("own")
	for i, name := range petrinetNames() {
		own.Transitions = append(own.Transitions, petri.Transition{ID: fmt.Sprint(i), Name: name})
	}
	all["names of PETRINET-MIB"] = own
	return all
}

func TestTheModulesOfNastyNetsPassTheGate(t *testing.T) {
	all := nastyNets()
	var nets []*petri.Net
	for _, name := range slices.Sorted(maps.Keys(all)) {
		nets = append(nets, all[name])
	}
	checkNets(t, nets...)
}

func TestTheModulesOfRandomNetsPassTheGate(t *testing.T) {
	alphabet := []rune("aAbB1 -_.\"'\\\n\x00éß付😀/#{}:;")
	id := func(r *rand.Rand) string {
		runes := make([]rune, 1+r.IntN(12))
		for i := range runes {
			runes[i] = alphabet[r.IntN(len(alphabet))]
		}
		return string(runes)
	}
	var nets []*petri.Net
	for seed := range seeds.Of(1, 10, 1, 3, 8) {
		r := rand.New(rand.NewPCG(7, seed))
		def := &petri.Net{ID: id(r), Name: id(r), Doc: id(r)}
		seen := map[string]bool{}
		for range 80 {
			if one := id(r); !seen[one] {
				seen[one] = true
				if r.IntN(2) == 0 {
					def.Places = append(def.Places, petri.Place{ID: one, Name: id(r)})
				} else {
					def.Transitions = append(def.Transitions, petri.Transition{ID: one, Doc: id(r)})
				}
			}
		}
		nets = append(nets, def)
	}
	checkNets(t, nets...)
}

// randomText is runes of all scripts, planes and kinds, valid or not, long
// ones too.
func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(1 << r.IntN(9)) {
		switch r.IntN(6) {
		case 0:
			b.WriteByte(byte(r.IntN(256))) // not UTF-8
		case 1:
			b.WriteRune(rune(r.IntN(0x80)))
		case 2:
			b.WriteRune(rune(0x300 + r.IntN(0x70))) // accents that combine
		case 3:
			b.WriteRune(rune(r.IntN(0x10000)))
		case 4:
			b.WriteRune(rune(r.IntN(0x110000)))
		default:
			words := strings.Fields(reservedWords + importedNames)
			b.WriteString(words[r.IntN(len(words))])
		}
	}
	return b.String()
}

// Whatever people call their nets, places and transitions: the tools are
// silent, and agree with the lock.
func TestNamesOfAnyCharactersPassTheGate(t *testing.T) {
	var nets []*petri.Net
	for seed := range seeds.Of(1, 12, 3, 8, 9) {
		r := rand.New(rand.NewPCG(19, seed))
		def := &petri.Net{ID: randomText(r), Name: randomText(r), Doc: randomText(r)}
		seen := map[string]bool{"": true}
		for range 60 {
			id := randomText(r)
			if seen[id] {
				continue
			}
			seen[id] = true
			if r.IntN(2) == 0 {
				def.Places = append(def.Places, petri.Place{ID: id, Name: randomText(r), Doc: randomText(r)})
			} else {
				def.Transitions = append(def.Transitions, petri.Transition{ID: id, Name: randomText(r), Doc: randomText(r)})
			}
		}
		nets = append(nets, def)
	}
	checkNets(t, nets...)
}

func TestTwoNetsOfOneIDAreRefused(t *testing.T) {
	dir := t.TempDir()
	nets := []*petri.Net{{ID: "a", File: "x.pnml"}, {ID: "a", File: "y.pnml"}}
	_, err := Generate(dir, filepath.Join(dir, LockFile), testRoot(t), nets, Options{}, testNow())
	if !errors.Is(err, ErrSameNet) || !strings.Contains(err.Error(), "x.pnml") || !strings.Contains(err.Error(), "y.pnml") {
		t.Error(err)
	}
}

func TestABrokenNetIsRefused(t *testing.T) {
	dir := t.TempDir()
	nets := []*petri.Net{{ID: "a", Places: []petri.Place{{ID: "p"}, {ID: "p"}}}}
	if _, err := Generate(dir, filepath.Join(dir, LockFile), testRoot(t), nets, Options{}, testNow()); err == nil {
		t.Error("taken")
	}
	if lock, err := ReadLock(filepath.Join(dir, LockFile)); err != nil || lock.size != 0 {
		t.Errorf("the lock holds %d names, %v", lock.size, err)
	}
}

const documented = `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="x">
  <process id="claim" name="Insurance claim"><documentation>From the report to the payment.</documentation>
    <startEvent id="reported"/><sequenceFlow id="toAssess" sourceRef="reported" targetRef="assess"/>
    <serviceTask id="assess" name="Assess the damage"><documentation>An assessor has three days.</documentation></serviceTask>
    <sequenceFlow id="toEnd" sourceRef="assess" targetRef="end"/><endEvent id="end"/>
  </process>
</definitions>`

// What the makers of a process wrote about it is what an operator reads.
func TestTheModuleOfAProcessCarriesItsDocumentation(t *testing.T) {
	file, err := bpmn.Read(strings.NewReader(documented), "claim.bpmn", bpmn.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	def := file.Nets[0]
	checkNets(t, def)
	dir, lock := generateTo(t, def)
	module := lock.Net("claim").Module
	text := strings.Join(strings.Fields(readAll(t, dir)[module+".mib"]), " ")
	for _, want := range []string{"About the net: From the report to the payment.", "Transition 'Assess the damage' (assess). An assessor has three days."} {
		if !strings.Contains(text, want) {
			t.Errorf("got a module without %q; want it in there", want)
		}
	}
}
