// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func section(kind uint64, body string) []byte {
	b := binary.AppendUvarint(nil, kind)
	b = binary.AppendUvarint(b, uint64(len(body)))
	return append(b, body...)
}

func joined(parts ...[]byte) (all []byte) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

func TestCommitsTellOwnersAndFirings(t *testing.T) {
	at := binary.AppendUvarint([]byte("\x00\x04the mark"), 1_700_000_000_000_000)
	for name, c := range map[string]struct {
		payload []byte
		want    commit
		err     bool
	}{
		"tokens that left":      {joined(at, section(0, "ops"), section(1, "tokens")), commit{fired: true}, false},
		"tokens that came":      {joined(at, section(0, "ops"), section(2, "\x00\x07")), commit{}, false},
		"an owner":              {joined(at, section(3, `{"epoch":2,"owner":"x"}`)), commit{owner: "x"}, false},
		"a release":             {joined(at, section(3, `{"epoch":2,"owner":"x","release":true}`)), commit{}, false},
		"nothing":               {nil, commit{}, true},
		"a section that breaks": {joined(at, []byte{1, 200}), commit{}, true},
	} {
		got, err := parseCommit(c.payload)
		if (err != nil) != c.err || !c.err && got != c.want {
			t.Errorf("%s: %+v, %v; want %+v, an error: %t", name, got, err, c.want, c.err)
		}
	}
}

func FuzzParseCommit(f *testing.F) {
	f.Add(joined(binary.AppendUvarint([]byte("\x00\x04the mark"), 7), section(1, "x"), section(3, `{"owner":"x"}`)))
	f.Fuzz(func(t *testing.T, payload []byte) {
		if c, err := parseCommit(payload); err == nil && len(payload) == 0 {
			t.Errorf("%+v of nothing", c)
		}
	})
}

func TestARegionStandsStillFromTheSignalToTheHeirsFirstFiring(t *testing.T) {
	at := func(ms int) time.Time { return time.Unix(1000, 0).Add(time.Duration(ms) * time.Millisecond) }
	reigns := []reign{{"a", at(0), at(1)}, {"b", at(1200), at(1300)}, {"a", at(5000), at(5400)}, {"b", at(9000), time.Time{}}}
	for name, c := range map[string]struct {
		left left
		want time.Duration
		ok   bool
	}{
		"the first":                      {left{at(1000), "b"}, 300 * time.Millisecond, true},
		"the same one again":             {left{at(4000), "a"}, 1400 * time.Millisecond, true},
		"one that owned it already":      {left{at(1250), "b"}, 0, false},
		"one that has never fired again": {left{at(8000), "b"}, 0, false},
	} {
		if d, ok := stoodStill(c.left, reigns); d != c.want || ok != c.ok {
			t.Errorf("%s: %v, %t; want %v, %t", name, d, ok, c.want, c.ok)
		}
	}
}

func TestBenchmarksAreReadByNameAndUnit(t *testing.T) {
	got := parseBenchmarks(strings.NewReader("goos: linux\nBenchmarkX/sync=true-2  \t 10\t 12 ns/op\t 4.9 firings/s\nBenchmarkY-2 3 7 ms-median\nok\n"))
	want := map[string]float64{"X/sync=true ns/op": 12, "X/sync=true firings/s": 4.9, "Y ms-median": 7}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestResultsArePrintedBesideGoalsAndBases(t *testing.T) {
	var out strings.Builder
	rows := []result{
		{What: "a rate", Unit: rateUnit, Reached: 12_345, Goal: 10_000, DiPeN: 5, Base: 4.95, Ratio: 2494},
		{What: "a time", Unit: timeUnit, Reached: 2.5, All: []float64{2, 2.5, 3.25}, Goal: 5},
	}
	if err := table(&out, rows); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"12,345/s", "≥ 10,000/s", "4.95/s", "2,494", "2.5 ms (nine of ten 2.5, most 3.25, of 3)", "≤ 5 ms"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

// The whole way once: processes are built and started, measured, ended, and every
// token is found.
func TestARateAndAHandOverAreMeasured(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and starts processes")
	}
	t.Chdir("../..") // where the command runs
	b := &bench{dir: t.TempDir(), window: time.Second, takeoverCount: 1, procs: 1}
	var err error
	if b.programs, err = build(t.Context(), b.dir); err != nil {
		t.Fatal(err)
	}
	rate, err := b.rate(t.Context(), pingpong(3), false)
	if err != nil || rate <= 0 {
		t.Errorf("%v firings a second, %v", rate, err)
	}
	took, err := b.takeovers(t.Context(), worked(3, time.Millisecond), syscall.SIGTERM)
	if err != nil || len(took) != 1 {
		t.Errorf("hand-overs took %v, %v", took, err)
	}
}
