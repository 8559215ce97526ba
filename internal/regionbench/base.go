// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// emulation is where DiPeN's protocol is emulated: a module of its own.
var emulation = filepath.Join("attach", "dipen", "etcdtest")

// runs are the benchmarks of the emulation that are needed, and for how long:
// what waits for etcd is counted, because its pace is not even.
func runs() [][2]string {
	return [][2]string{
		{"Firings/across/tokens=1/", "30x"},
		{"Firings/across/tokens=100/sync=false", "150x"},
		{"Firings/inside/.*/sync=false|Firings/inside/nets=96/sync=true", "1s"},
		{"HandOver", "10x"},
	}
}

// emulate runs the emulation of DiPeN's protocol and returns what it has
// measured, by benchmark and unit.
func (b *bench) emulate(ctx context.Context) (map[string]float64, error) {
	program := filepath.Join(b.dir, "locks.test")
	build := exec.CommandContext(ctx, "go", "test", "-c", "-o", program, "./locks")
	build.Dir = emulation
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building the emulation of DiPeN's protocol in %s: %w\n%s", emulation, err, out)
	}
	results := map[string]float64{}
	for _, r := range runs() {
		cmd := exec.CommandContext(ctx, program, "-test.run", "^$", "-test.bench", r[0], "-test.benchtime", r[1])
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, os.Stderr
		if err := cmd.Run(); err != nil {
			return nil, fmt.Errorf("emulating DiPeN's protocol: %w\n%s", err, &out)
		}
		maps.Copy(results, parseBenchmarks(&out))
	}
	return results, nil
}

// parseBenchmarks reads the lines that go test prints: a name with the number of
// processors, the runs, then pairs of value and unit.
func parseBenchmarks(r io.Reader) map[string]float64 {
	results := map[string]float64{}
	for lines := bufio.NewScanner(r); lines.Scan(); {
		f := strings.Fields(lines.Text())
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") {
			continue
		}
		name := strings.TrimPrefix(f[0], "Benchmark")
		if i := strings.LastIndex(name, "-"); i > 0 {
			name = name[:i]
		}
		for i := 2; i+1 < len(f); i += 2 {
			if v, err := strconv.ParseFloat(f[i], 64); err == nil {
				results[name+" "+f[i+1]] = v
			}
		}
	}
	return results
}
