// SPDX-License-Identifier: Apache-2.0

// Package measure holds what the programs that print tables of measurements
// share: the name of the processor, the results of go test -bench, and the format
// of large numbers.
package measure

import (
	"bufio"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
)

// Processor returns the model of the machine's processor, or its architecture if
// /proc does not name a model.
func Processor() string {
	if fs, err := procfs.NewDefaultFS(); err == nil {
		if cpus, err := fs.CPUInfo(); err == nil && len(cpus) > 0 && cpus[0].ModelName != "" {
			return cpus[0].ModelName
		}
	}
	return runtime.GOARCH
}

// Benchmarks reads the lines that go test -bench prints: a name with the number of
// processors, the number of runs, then pairs of value and unit. It returns the
// best result of each benchmark by "name unit", without "Benchmark".
func Benchmarks(r io.Reader) map[string]float64 {
	best := map[string]float64{}
	for lines := bufio.NewScanner(r); lines.Scan(); {
		f := strings.Fields(lines.Text())
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") {
			continue
		}
		name := strings.TrimPrefix(f[0], "Benchmark")
		if i := strings.LastIndex(name, "-"); i > 0 && strings.Trim(name[i+1:], "0123456789") == "" {
			name = name[:i] // without the number of processors, which is left out for one
		}
		for i := 2; i+1 < len(f); i += 2 {
			v, err := strconv.ParseFloat(f[i], 64)
			if err != nil {
				continue
			}
			key := name + " " + f[i+1]
			if old, seen := best[key]; !seen || (v < old) != moreIsBetter(f[i+1]) {
				best[key] = v
			}
		}
	}
	return best
}

// moreIsBetter distinguishes rates from costs.
func moreIsBetter(unit string) bool { return strings.HasSuffix(unit, "/s") || unit == "ratio" }

// Integer formats a number without decimals and with commas between thousands.
func Integer(v float64) string {
	digits := fmt.Sprintf("%.0f", v)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
