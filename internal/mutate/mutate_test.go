// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestASurvivorAKillAndATimeoutAreFound(t *testing.T) {
	var out bytes.Buffer
	o := options{parallel: 2, seed: 1, timeout: 2 * time.Second}
	if err := run(t.Context(), &out, io.Discard, o, []string{"./testdata/sample"}); err != nil {
		t.Fatal(err)
	}
	const sample = "github.com/pnagent/pnagent/internal/mutate/testdata/sample"
	want := `package                                                     mutants  killed  survived  not compiling  timed out  share
` + sample + `  10       4       5         0              1          50 %

` + sample + `/sample.go:15:9  constant + 1
    sum := 0
  → sum := 1

` + sample + `/sample.go:17:3  remove assignment
    sum += 2
  → _ = 2

` + sample + `/sample.go:17:7  += ↔ -=
    sum += 2
  → sum -= 2

` + sample + `/sample.go:17:10  constant + 1
    sum += 2
  → sum += 3

` + sample + `/sample.go:17:10  constant - 1
    sum += 2
  → sum += 1

` + sample + `/sample.go:26:3  break ↔ continue (timed out)
    break
  → continue
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

// A mutant whose tests pass when they have twice the time has survived: the machine was
// busy.
func TestASlowMutantHasNotTimedOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":    "module slow\n\ngo 1.26\n",
		"f.go":      "package slow\n\nfunc F() bool { return true }\n",
		"f_test.go": "package slow\n\nimport (\n\"testing\"\n\"time\"\n)\n\nfunc TestF(t *testing.T) { time.Sleep(3*time.Second); F() }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := find(dir, []string{"f.go"})
	if err != nil || len(all) != 1 {
		t.Fatalf("%d mutants, %v; want one", len(all), err)
	}
	for limit, want := range map[time.Duration]result{2 * time.Second: survived, time.Second: timedOut} {
		r := &runner{pkg: ".", dir: dir, work: t.TempDir(), limit: limit}
		if got, err := r.try(t.Context(), all[0]); got != want || err != nil {
			t.Errorf("within %v: %v, %v; want %v", limit, got, err, want)
		}
	}
}

func TestTestsThatFailAlreadyAreRefused(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":    "module failing\n\ngo 1.26\n",
		"f.go":      "package failing\n\nfunc F() bool { return true }\n",
		"f_test.go": "package failing\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) { t.Error(\"always\") }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	err := run(t.Context(), io.Discard, io.Discard, options{parallel: 1, timeout: time.Second}, []string{"."})
	if err == nil || !strings.Contains(err.Error(), "the tests of failing must pass before anything is changed") {
		t.Errorf("got %v", err)
	}
}

func TestASampleIsTheSameForItsSeed(t *testing.T) {
	all := make([]mutant, 100)
	for i := range all {
		all[i].start = i
	}
	starts := func(seed uint64) (out []int) {
		for _, m := range sample(all, options{n: 10, seed: seed}) {
			out = append(out, m.start)
		}
		return out
	}
	first := starts(1)
	if len(first) != 10 || !slices.IsSorted(first) || len(slices.Compact(slices.Clone(first))) != 10 {
		t.Errorf("got %v, want ten that differ, in order", first)
	}
	if again := starts(1); !slices.Equal(first, again) {
		t.Errorf("seed 1 gave %v, then %v", first, again)
	}
	if other := starts(2); slices.Equal(first, other) {
		t.Errorf("seeds 1 and 2 both gave %v", first)
	}
	if got := sample(all, options{n: 0}); len(got) != len(all) {
		t.Errorf("-n 0 gave %d of %d", len(got), len(all))
	}
}

// TestWhatIsChanged has statements, and the lines that they become, ¦ between
// them. What is missing is not made.
func TestWhatIsChanged(t *testing.T) {
	tests := []struct{ rule, code, want string }{
		{"comparisons are negated and moved by one", `if a < b { f() }`, `if a >= b { f() }¦if a <= b { f() }¦if a < b {  }`},
		{"equality has no boundary", `x := a == b`, `x := a != b`},
		{"a limit is the same at its boundary", `if a > b { a = b }`, `if a <= b { a = b }¦if a > b { _ = b }`},
		{"and, or, not", `x := a && !b`, `x := a || !b¦x := a && b`},
		{"a condition without operator is negated", `if ok { f() }`, `if !(ok) { f() }¦if ok {  }`},
		{"a condition is negated once", `if !ok { f() }`, `if ok { f() }¦if !ok {  }`},
		{"an error is not seen", `if err != nil { return err }`, `if err != nil && false { return err }¦if err != nil { return nil }`},
		{"a new error is success", `return 0, fmt.Errorf("%d", 5)`, `return 1, fmt.Errorf("%d", 5)¦return 0, nil`},
		{"calls are removed, not what a log says", `slog.Warn("x", "n", 1+2)`, ``},
		{"the logger can be a field", `c.cfg.Log.Info("x", "n", 1)`, ``},
		{"locks are the race detector's", `mu.Lock()`, ``},
		{"what an assignment does remains", `a, b = f()`, `_, _ = f()`},
		{"an assignment of nil has no type", `a = nil`, `(nothing)`},
		{"a declaration remains", `a := f()`, ``},
		{"nothing is assigned to blank", `_ = f()`, ``},
		{"sums", `a += b - c`, `_ = b - c¦a -= b - c¦a += b + c`},
		{"texts that are joined are no sums", `s := a + "x" + b`, ``},
		{"products", `x := a * b / c`, `x := a / b / c¦x := a * b * c`},
		{"counting", `a++`, `a--¦(nothing)`},
		{"a loop's counting is turned, not removed", `for ; ok; i++ { f() }`, `for ; ok; i-- { f() }¦for ; ok; i++ {  }`},
		{"constants", `x := 7`, `x := 8¦x := 6`},
		{"nothing is below zero", `x := 0x0`, `x := 1`},
		{"modes of files remain", `x := 0o600`, ``},
		{"units of time remain", `x := 5 * time.Second`, ``},
		{"large bounds that were chosen remain", `const x, y = 1000, 1 << 6`, ``},
		{"other constants do not", `const x = 999`, `const x = 1000¦const x = 998`},
		{"nor do flags", `const x = 1 << iota`, `const x = 2 << iota¦const x = 0 << iota`},
		{"capacities remain", `x := make([]int, 0, 5)`, ``},
		{"lengths do not", `x := make([]int, 5)`, `x := make([]int, 6)¦x := make([]int, 4)`},
		{"what an array has room for remains", `var x [4]int`, ``},
		{"the bounds of a slice", `x := s[a:b]`, `x := s[(a)+1:b]¦x := s[a:(b)-1]`},
		{"a literal bound is a constant", `x := s[1:]`, `x := s[2:]¦x := s[0:]`},
		{"leaving a loop", `break`, `continue`},
		{"a label says which loop", `break outer`, ``},
		{"truth", `return true`, `return false`},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			dir := t.TempDir()
			src := []byte("package p\n\nfunc _() {\n\t" + tt.code + "\n}\n")
			if err := os.WriteFile(filepath.Join(dir, "p.go"), src, 0o600); err != nil {
				t.Fatal(err)
			}
			all, err := find(dir, []string{"p.go"})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range all {
				before, after := m.lines()
				if before != tt.code {
					t.Errorf("before: %q, want %q", before, tt.code)
				}
				got = append(got, after)
			}
			var want []string
			if tt.want != "" {
				want = strings.Split(tt.want, "¦")
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%s\n got %q\nwant %q", tt.code, got, want)
			}
		})
	}
}

func TestGeneratedFilesAreLeftAlone(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte("// Code generated by x. DO NOT EDIT.\n\npackage p\n\nvar x = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if all, err := find(dir, []string{"p.go"}); err != nil || len(all) != 0 {
		t.Errorf("got %v, %v", all, err)
	}
}
