// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
)

func parse(t testing.TB, text string) *Lock {
	t.Helper()
	lock, err := ParseLock(strings.NewReader(text), "oids.lock")
	if err != nil {
		t.Fatal(err)
	}
	return lock
}

func assign(t testing.TB, lock *Lock, def *petri.Net) *LockedNet {
	t.Helper()
	n, _, err := lock.Assign(def.ID, def)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

const orderLock = `# kept
net 1 "orderFulfilment" ORDER-FULFILMENT-PN-MIB orderFulfilment
prefix 1 ofu
objects 1 few
place 1.1 "awaitingPayment" awaitingPayment
place 1.2 "p2" paid
place 1.3 "packed" packed obsolete
transition 1.1 "pay" pay
transition 1.2 "ship" ship
revision 1 202611200815Z 5f1d "First version."
`

func TestALockSurvivesARoundTrip(t *testing.T) {
	for name, text := range map[string]string{
		"plain":             orderLock,
		"nothing":           lockHeader,
		"any characters":    "# x\nnet 7 \"a\\nb \\\"\\xff\\x00\" N-PN-MIB n\nplace 7.1 \"\" p\nplace 7.2 \"中文\" place2\n",
		"the first edition": "# x\nnet 1 \"a\" A-PN-MIB a\nplace 1.1 \"p\" p\nrevision 1 202611200815Z 5f1d \"First version.\"\n",
		"numbers skipped":   "# x\nnet 3 \"a\" A-PN-MIB a\nplace 3.9 \"p\" p\n",
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(text, string(parse(t, text).Text())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Merging two branches may put lines into any order.
func TestTheOrderOfLinesMeansNothing(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(orderLock), "\n")
	var b strings.Builder
	for i := range lines {
		b.WriteString("\r\n" + lines[len(lines)-1-i] + "\r\n")
	}
	if diff := cmp.Diff(orderLock, string(parse(t, b.String()).Text())); diff != "" {
		t.Error(diff)
	}
}

func TestALockThatContradictsItselfIsRefusedWithBothLines(t *testing.T) {
	const head = "net 1 \"a\" A-PN-MIB a\nplace 1.1 \"p\" wait\ntransition 1.1 \"t\" ship\n"
	for name, c := range map[string]struct{ line, want string }{
		"a net's number twice":              {`net 1 "b" B-PN-MIB b`, `oids.lock:4:5: number 1 of net "b" is that of net "a" at line 1`},
		"a net twice":                       {`net 2 "a" B-PN-MIB b`, `oids.lock:4:1: net "a" is also at line 1`},
		"a module twice":                    {`net 2 "b" A-PN-MIB b`, `oids.lock:4:1: module A-PN-MIB of net "b" is also that of line 1`},
		"a net's descriptor twice":          {`net 2 "b" B-PN-MIB A`, `"A"; expected a descriptor`},
		"a net's descriptor in other case":  {`net 2 "b" B-PN-MIB a`, `descriptor a of net "b" makes the same names as that of line 1`},
		"a place's number twice":            {`place 1.1 "q" queue`, `oids.lock:4:7: number 1.1 of place "q" is also that of line 2`},
		"a place twice":                     {`place 1.2 "p" queue`, `oids.lock:4:1: place "p" of net 1 is also at line 2`},
		"a descriptor twice":                {`place 1.2 "q" wAIT`, `descriptor wAIT of place "q" makes the same names as that of line 2`},
		"a descriptor of a place and its":   {`transition 1.2 "u" wait`, `makes the same names as that of line 2`},
		"a descriptor that makes another":   {`place 1.2 "q" waitTokens`, `descriptor waitTokens of place "q" makes the same names as that of line 2`},
		"a descriptor that another makes":   {`place 1.2 "q" shi`, ``},
		"a descriptor of the module itself": {"place 1.2 \"q\" places\nprefix 1 xy", `oids.lock:4:1: descriptor places of place "q" makes the same names as that of line 5`},
		"one of the first edition":          {`place 1.2 "q" places`, ``},
		"a transition's number twice":       {`transition 1.1 "u" send`, `oids.lock:4:12: number 1.1 of transition "u" is also that of line 3`},
		"a place of an unknown net":         {`place 2.1 "q" queue`, `oids.lock:4:1: place of net 2, which has no line`},
		"an unknown line":                   {`places 1.1`, `oids.lock:4:1: "places"; expected net`},
		"a number of nothing":               {`place 1.0 "q" queue`, `oids.lock:4:7: "1.0"; expected a net's number, a dot and a number`},
		"a number too large":                {`place 1.4294967296 "q" queue`, `"1.4294967296"; expected`},
		"an id that does not end":           {`place 1.2 "q queue`, `oids.lock:4:11: a quoted text that does not end`},
		"an id without quotes":              {`place 1.2 q queue`, `oids.lock:4:11: no quoted text`},
		"a wrong descriptor":                {`place 1.2 "q" que-ue`, `oids.lock:4:15: "que-ue"; expected a descriptor`},
		"a long descriptor":                 {`place 1.2 "q" q` + strings.Repeat("u", 60), `expected a descriptor`},
		"something behind":                  {`place 1.2 "q" queue gone`, `oids.lock:4:21: "gone"; expected the end of the line`},
		"a prefix of an unknown net":        {`prefix 2 xy`, `oids.lock:4:1: prefix of net 2, which has no line`},
		"a prefix twice":                    {"prefix 1 xy\nprefix 1 zz", `oids.lock:5:1: prefix of net 1 is also at line 4`},
		"a prefix of two nets":              {"net 2 \"b\" B-PN-MIB b\nprefix 1 xy\nprefix 2 xy", `oids.lock:6:1: prefix xy of net 2 and prefix xy of line 5 begin alike`},
		"a prefix that begins another":      {"prefix 2 xy\nnet 2 \"b\" B-PN-MIB b\nprefix 1 xyz", `oids.lock:6:1: prefix xyz of net 1 and prefix xy of line 4 begin alike`},
		"a prefix that another begins":      {"prefix 2 xyz\nnet 2 \"b\" B-PN-MIB b\nprefix 1 xy", `oids.lock:6:1: prefix xy of net 1 and prefix xyz of line 4 begin alike`},
		"a prefix of PETRINET-MIB":          {`prefix 1 pnx`, `prefix pnx of net 1 begins as names of PETRINET-MIB`},
		"a beginning of petrinet":           {`prefix 1 pet`, `prefix pet of net 1 begins as names of PETRINET-MIB`},
		"a keyword as prefix":               {`prefix 1 of`, `is a keyword (of)`},
		"a prefix of one letter":            {`prefix 1 x`, `oids.lock:4:10: "x"; expected a prefix`},
		"a long prefix":                     {`prefix 1 x12345678`, `"x12345678"; expected a prefix`},
		"a prefix with a capital":           {`prefix 1 xY`, `"xY"; expected a prefix`},
		"objects of an unknown net":         {`objects 3 all`, `oids.lock:4:1: objects of net 3, which has no line`},
		"objects twice":                     {"objects 1 all\nobjects 1 all", `oids.lock:5:1: objects of net 1 is also at line 4`},
		"an unknown level":                  {`objects 1 auto`, `oids.lock:4:11: "auto"; expected all, few or one`},
		"a wrong module name":               {`net 2 "b" b-PN-MIB b`, `expected a module name`},
		"a wrong date":                      {`revision 1 202613200815Z 0 "x"`, `expected a date`},
		"a revision twice":                  {"revision 1 202611200815Z 0 \"x\"\nrevision 1 202611200815Z 1 \"x\"", `oids.lock:5:1: revision 202611200815Z of net 1 is also at line 4`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseLock(strings.NewReader(head+c.line+"\n"), "oids.lock")
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var fault *petri.Fault
			if !errors.Is(err, ErrLock) || !errors.As(err, &fault) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestALockIsBounded(t *testing.T) {
	if _, err := ParseLock(strings.NewReader("net 1 \""+strings.Repeat("x", 1<<20)), "oids.lock"); !errors.Is(err, ErrLock) {
		t.Errorf("a line of a megabyte: %v", err)
	}
	lock := NewLock()
	def := sizedNet("a", 1, 1)
	def.Places[0].ID = strings.Repeat("x", maxID+1)
	n, _, err := lock.Assign("a", def)
	if err == nil || n.Place(def.Places[0].ID) != nil || n.Transition("transition0") == nil {
		t.Errorf("an id that is too long: %v; the rest must be numbered", err)
	}
	full := parse(t, "net 2147483647 \"a\" A-PN-MIB a\nplace 2147483647.2147483647 \"p\" p\n")
	if _, _, err := full.Assign("b", def); !errors.Is(err, ErrLockFull) {
		t.Errorf("a net without a number: %v", err)
	}
	if _, _, err := full.Assign("a", sizedNet("a", 1, 0)); !errors.Is(err, ErrLockFull) {
		t.Errorf("a place without a number: %v", err)
	}
}

func TestAssignOnlyAppends(t *testing.T) {
	lock := parse(t, orderLock)
	def := orderNet()
	def.Places = append([]petri.Place{{ID: "new"}}, def.Places...)
	def.Places[1].Name = "Renamed"
	n := assign(t, lock, def)
	want := strings.Replace(orderLock, "transition 1.1", "place 1.4 \"new\" new\ntransition 1.1", 1)
	if diff := cmp.Diff(want, string(lock.Text())); diff != "" {
		t.Error(diff)
	}
	if _, added, err := lock.Assign(n.ID, def); added || err != nil {
		t.Errorf("again: added %v, %v", added, err)
	}
}

// A process numbers while another one renames, or numbers other things: what is in both keeps
// the names of the file, numbers never change, and what only the process has gets a free name.
func TestNamesInUseGiveWayToThoseOfTheFile(t *testing.T) {
	const head = "# x\nnet 1 \"a\" A-PN-MIB a\nprefix 1 ab\nplace 1.1 \"p\" renamed\n"
	file := parse(t, head)
	used := parse(t, "net 1 \"a\" A-PN-MIB a\nplace 1.1 \"p\" p\nplace 1.2 \"q\" renamed\nplace 1.3 \"r\" r\n"+
		"net 2 \"b\" B-PN-MIB b\nprefix 2 abc\nplace 2.1 \"p\" p\n")
	if err := file.addNames(used); err != nil {
		t.Fatal(err)
	}
	want := head + "place 1.2 \"q\" renamedPlace\nplace 1.3 \"r\" r\nnet 2 \"b\" B-PN-MIB b\nprefix 2 n2x\nplace 2.1 \"p\" p\n"
	if diff := cmp.Diff(want, string(file.Text())); diff != "" {
		t.Error(diff)
	}
	if err := file.addNames(used); err != nil || string(file.Text()) != want {
		t.Errorf("again: %v\n%s", err, file.Text())
	}
	if err := file.addNames(parse(t, "net 1 \"a\" A-PN-MIB a\nplace 1.2 \"p\" p\n")); !errors.Is(err, ErrLock) {
		t.Errorf("a number in use: %v", err)
	}
}

func TestUpdateLockLosesNothingOfOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", LockFile)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			_, err := UpdateLock(path, func(l *Lock) error {
				_, _, err := l.Assign(fmt.Sprint("net", i), sizedNet("", 3, 2))
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	lock, err := ReadLock(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(lock.Nets()); got != 20 || lock.size != 120 {
		t.Errorf("%d nets, %d names", got, lock.size)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("something is left behind: %v, %v", entries, err)
	}
}

func TestUpdateLockWritesNothingWhenChangeFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), LockFile)
	broken := errors.New("broken")
	if _, err := UpdateLock(path, func(*Lock) error { return broken }); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func FuzzParseLock(f *testing.F) {
	f.Add(orderLock)
	f.Add(lockHeader)
	f.Add("net 1 \"\\xff\" A-MIB a\nplace 1.1 \"\" pTokens\nplace 1.2 \"x\" p obsolete\n")
	f.Add("prefix 1 ab\nnet 1 \"a\" A-MIB a\nnet 2 \"b\" B-MIB b\nprefix 2 abc\nobjects 2 one\nobjects 1 few\nplace 2.1 \"x\" objects\n")
	f.Add("place 1.1 \"p\" p\nplace 1.1 \"p\" p\nnet 1 \"a\" A-MIB a\nrevision 1 202611200815Z 0 \"\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		lock, err := ParseLock(strings.NewReader(text), "f")
		if err != nil {
			if !errors.Is(err, ErrLock) {
				t.Fatal(err)
			}
			return
		}
		once := string(lock.Text())
		again := parse(t, once)
		if diff := cmp.Diff(once, string(again.Text())); diff != "" {
			t.Fatal(diff)
		}
		for _, a := range again.Nets() {
			for _, b := range again.Nets() {
				if a != b && a.Prefix != "" && b.Prefix != "" && strings.HasPrefix(b.Prefix, a.Prefix) {
					t.Fatalf("prefix %s begins prefix %s", a.Prefix, b.Prefix)
				}
			}
		}
		oids := oidsByID(testRoot(t), again)
		for _, n := range again.Nets() {
			if n.Prefix != "" {
				continue
			}
			if _, err := again.rename(n, &petri.Net{ID: n.ID}); err != nil && !errors.Is(err, ErrLockFull) {
				t.Fatal(err)
			}
		}
		again = parse(t, string(again.Text()))
		if diff := cmp.Diff(oids, oidsByID(testRoot(t), again)); diff != "" {
			t.Fatalf("an OID moved: %s", diff)
		}
		def := sizedNet("f", 3, 3)
		before := again.size
		if n, _, err := again.Assign("f", def); err == nil && (n.without(def) > 0 || again.size < before) {
			t.Fatal("names without a number")
		}
		parse(t, string(again.Text()))
	})
}
