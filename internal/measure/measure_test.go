// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBenchmarksReturnsTheBestOfSeveralRuns(t *testing.T) {
	const output = `goos: linux
BenchmarkX/rows=10-2   	 100	 12.5 ns/op	 300 things/s	 7 B/op
BenchmarkX/rows=10-2   	 100	 11.5 ns/op	 400 things/s	 9 B/op
BenchmarkBase-2        	 1	 2000000 ns/op	 7 ms-median
BenchmarkLoad/A-MIB    	 1	 3 ns/op	 0 B/op
ok  	pkg	1s
`
	want := map[string]float64{"X/rows=10 ns/op": 11.5, "X/rows=10 things/s": 400, "X/rows=10 B/op": 7, "Base ns/op": 2e6, "Base ms-median": 7, "Load/A-MIB ns/op": 3, "Load/A-MIB B/op": 0}
	if d := cmp.Diff(want, Benchmarks(strings.NewReader(output))); d != "" {
		t.Error(d)
	}
}

func TestIntegerHasCommas(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 999: "999", 1000: "1,000", 1234567.4: "1,234,567"} {
		if got := Integer(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}
