// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/internal/measure"
)

const output = `goos: linux
BenchmarkX/rows=10-2   	 100	 12.5 ns/op	 300 things/s	 7 B/op
BenchmarkX/rows=10-2   	 100	 11.5 ns/op	 400 things/s	 9 B/op
BenchmarkBase-2        	 1	 2000000 ns/op
ok  	pkg	1s
`

func TestRowsShowTheRatioToTheirBase(t *testing.T) {
	best := measure.Benchmarks(strings.NewReader(output))
	var out strings.Builder
	for _, r := range []row{{What: "fast", Name: "X/rows=10", Base: "Base", BaseIs: "slow", Goal: "< 1"}, {What: "rate", Name: "X/rows=10", Unit: "things/s"}} {
		if err := r.print(&out, best); err != nil {
			t.Fatal(err)
		}
	}
	want := "| fast | 11.5 ns | slow | 2.0 ms | 0.00 | < 1 |\n| rate | 400 things/s |  |  |  |  |\n"
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}
	if err := (row{Name: "gone"}).print(&out, best); err == nil {
		t.Error("a row without a result is accepted")
	}
}
