// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// emulation is where DiPeN's protocol is emulated: a module of its own.
var emulation = filepath.Join("attach", "dipen", "etcdtest")

// emulate runs the emulation of DiPeN's protocol and returns what it has
// measured, by benchmark and unit.
func emulate(ctx context.Context, benchtime string) (map[string]float64, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "Firings|HandOver", "-benchtime", benchtime, "./locks")
	cmd.Dir = emulation
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("emulating DiPeN's protocol in %s: %w\n%s", emulation, err, &out)
	}
	return parseBenchmarks(&out), nil
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
