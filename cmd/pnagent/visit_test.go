// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri/explore"
)

// ringsFile writes a net of rings of five places, each with a token of its own.
func ringsFile(t *testing.T, rings int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(`<pnml><net id="rings" type="ptnet">`)
	for r := range rings {
		for i := range 5 {
			fmt.Fprintf(&b, `<place id="p%d.%d" initialMarking="%d"/><transition id="t%d.%d"/>`, r, i, 1-min(i, 1), r, i)
			fmt.Fprintf(&b, `<arc id="i%d.%d" source="p%d.%d" target="t%d.%d"/><arc id="o%d.%d" source="t%d.%d" target="p%d.%d"/>`,
				r, i, r, i, r, i, r, i, r, i, r, (i+1)%5)
		}
	}
	b.WriteString(`</net></pnml>`)
	path := filepath.Join(t.TempDir(), "rings.pnml")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// signaled is a context that ends when it was asked for the nth time whether it has
// ended. A visit asks once for each marking.
type signaled struct {
	context.Context
	end   func()
	asked atomic.Int64
	n     int64
}

func (s *signaled) Done() <-chan struct{} {
	if s.asked.Add(1) == s.n {
		s.end()
	}
	return s.Context.Done()
}

// The program's context ends at SIGINT and SIGTERM. A visit ends at the next marking; that
// a marking takes less than a second is not for a machine with other load to show.
func TestAVisitEndsAtTheMarkingAfterASignal(t *testing.T) {
	path := ringsFile(t, 14)
	const markings = 10_000
	for _, flags := range [][]string{{"--explore", "2000000000"}, {"--query", "x"}} {
		if flags[0] == "--query" {
			flags[1] = queryFile(t, `<place-bound><place>p0.0</place></place-bound>`)
		}
		ctx, cancel := context.WithCancel(t.Context())
		s := &signaled{Context: ctx, end: cancel, n: markings}
		code, out, errs := called(s, append(append([]string{"check", "--json"}, flags...), path)...)
		if n := s.asked.Load(); n < markings || n > markings+10 {
			t.Errorf("%v: %d markings after a signal at the %dth", flags, n, markings)
		}
		if code != exitFailed || !strings.Contains(out, `"stopped":"interrupted"`) || !strings.Contains(errs, `net "rings": interrupted`) {
			t.Errorf("%v: exit %d\n%s%s", flags, code, out, errs)
		}
		cancel()
	}
}

//promise:bounds load
func TestAVisitEndsAtItsMemory(t *testing.T) {
	code, out, _ := called(t.Context(), "check", "--explore", "2000000000", "--explore.memory", "256KiB", ringsFile(t, 30))
	if code != exitDone || !strings.Contains(out, `"complete":false,"stopped":"memory"`) {
		t.Errorf("exit %d\n%s", code, out)
	}
	for _, size := range []string{"2GB", "-1", "x", "9999999999GiB"} {
		if code, _, errs := called(t.Context(), "check", "--explore.memory="+size, "x.pnml"); code != exitUsage || !strings.Contains(errs, "invalid size") {
			t.Errorf("%s: exit %d, %s", size, code, errs)
		}
	}
}

func TestDeadlocksOfANet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n.pnml")
	var b strings.Builder
	b.WriteString(`<pnml><net id="n" type="ptnet">`)
	for i := range 8 {
		fmt.Fprintf(&b, `<place id="a%d" initialMarking="1"/><place id="b%d"/><transition id="t%d"/><arc id="i%d" source="a%d" target="t%d"/><arc id="o%d" source="t%d" target="b%d"/>`,
			i, i, i, i, i, i, i, i, i)
	}
	b.WriteString(`<transition id="never"/><arc id="x" source="b0" target="never" weight="2"/></net></pnml>`)
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, errs := called(t.Context(), "check", "--deadlocks", "1000", path)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	want := []string{
		`9 markings visited, which are enough to find every deadlock; no proper end and 1 deadlock; ` +
			`a shortest way to one: ["t0" "t1" "t2" "t3" "t4" "t5" "t6" "t7"]`,
		`{"net":"n","markings":9,"reduced":true,"complete":true,"deadlocks":1,"ends":0,"path":["t0","t1","t2","t3","t4","t5","t6","t7"],` +
			`"dead":{"b0":1,"b1":1,"b2":1,"b3":1,"b4":1,"b5":1,"b6":1,"b7":1}}`,
	}
	if d := cmp.Diff(want, lines[max(len(lines)-2, 0):]); d != "" || code != exitDone {
		t.Errorf("exit %d, %s\n%s", code, errs, d)
	}
}

func queryFile(t *testing.T, formulas ...string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("<property-set>\n")
	for i, f := range formulas {
		fmt.Fprintf(&b, "<property><id>q%d</id><formula>%s</formula></property>\n", i, f)
	}
	b.WriteString("</property-set>")
	path := filepath.Join(t.TempDir(), "query.xml")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestQueryOfANet(t *testing.T) {
	query := queryFile(t, `<exists-path><finally><is-fireable><transition>t0.4</transition></is-fireable></finally></exists-path>`,
		`<all-paths><globally><integer-le><tokens-count><place>p0.0</place><place>p1.0</place></tokens-count><integer-constant>1</integer-constant></integer-le></globally></all-paths>`,
		`<place-bound><place>p0.0</place><place>p1.0</place></place-bound>`)
	path := ringsFile(t, 2)
	_, out, _ := called(t.Context(), "check", "--query", query, path)
	if want := "FORMULA q0 TRUE TECHNIQUES EXPLICIT\nFORMULA q1 FALSE TECHNIQUES EXPLICIT\nFORMULA q2 2 TECHNIQUES EXPLICIT\n"; !strings.HasSuffix(out, want) {
		t.Error(out)
	}
	_, out, _ = called(t.Context(), "check", "--json", "--explore", "2", "--query", query, path)
	if want := `{"net":"rings","property":"q0","stopped":"markings"}` + "\n" + `{"net":"rings","property":"q1","holds":false}` + "\n" +
		`{"net":"rings","property":"q2","atLeast":2,"stopped":"markings"}` + "\n"; !strings.HasSuffix(out, want) {
		t.Error(out)
	}
	_, out, _ = called(t.Context(), "check", "--explore", "2", "--query", query, path)
	if !strings.Contains(out, "FORMULA q0 CANNOT_COMPUTE\n") {
		t.Error(out)
	}
}

func TestInvalidQueryIsRefused(t *testing.T) {
	query := queryFile(t, `<exists-path><finally><is-fireable><transition>nope</transition></is-fireable></finally></exists-path>`)
	code, _, errs := called(t.Context(), "check", "--query", query, ringsFile(t, 1))
	if want := query + `:2:78: the net has no transition "nope"; expected the id of one`; code != exitFailed || !strings.Contains(errs, want) {
		t.Errorf("exit %d, %s; want %s", code, errs, want)
	}
	if code, _, errs := called(t.Context(), "check", "--query", filepath.Join(t.TempDir(), "none"), ringsFile(t, 1)); code != exitFailed || !strings.Contains(errs, "reading a query") {
		t.Errorf("exit %d, %s", code, errs)
	}
}

// The sizes of the flag are those of its help.
func TestMemoryFlagHasADefault(t *testing.T) {
	var b byteSize
	if err := b.UnmarshalText([]byte("2GiB")); err != nil || b != 2<<30 {
		t.Errorf("%d, %v", b, err)
	}
	if o, _ := (visitFlags{Memory: b}).options(t.Context(), streams{err: &bytes.Buffer{}}, "n", 7); o.Memory != 2<<30 || o.Markings != 7 {
		t.Errorf("%+v", explore.Options{Markings: o.Markings, Memory: o.Memory})
	}
}
