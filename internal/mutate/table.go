// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"path/filepath"
	"text/tabwriter"
)

// tally is what was found in one package: results[i] is of tried[i].
type tally struct {
	pkg, dir string
	tried    []mutant
	results  []result
}

func (t tally) count(r result) int {
	n := 0
	for _, got := range t.results {
		if got == r {
			n++
		}
	}
	return n
}

// share returns how many percent of the mutants that compile were noticed; "-" if none
// compiles. A test that no longer ends has noticed too. One that is only slow has not:
// what timed out did so twice, and is listed for a reader to judge.
func (t tally) share() string {
	compiled := len(t.results) - t.count(notCompiling)
	if compiled == 0 {
		return "-"
	}
	return fmt.Sprintf("%d %%", 100*(compiled-t.count(survived))/compiled)
}

// print writes one row for each package, then what survived, and what timed out.
func print(out io.Writer, all []tally) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "package\tmutants\tkilled\tsurvived\tnot compiling\ttimed out\tshare")
	for _, t := range all {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%s\n", t.pkg, len(t.results), t.count(killed), t.count(survived), t.count(notCompiling), t.count(timedOut), t.share())
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, t := range all {
		for i, m := range t.tried {
			note, listed := map[result]string{survived: "", timedOut: " (timed out)"}[t.results[i]]
			if !listed {
				continue
			}
			before, after := m.lines()
			fmt.Fprintf(out, "\n%s/%s:%d:%d  %s%s\n    %s\n  → %s\n", t.pkg, filepath.Base(m.file), m.at.Line, m.at.Column, m.operator, note, before, after)
		}
	}
	return nil
}
