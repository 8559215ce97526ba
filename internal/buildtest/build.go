// SPDX-License-Identifier: Apache-2.0

// Package buildtest builds programs that tests run.
package buildtest

import (
	"context"
	"fmt"
	"os/exec"
)

// Build has the go command build a program at path, where no program runs. The package
// is one of the module that directory dir is in, or of those that this needs; flags are
// those of go run, such as -race.
//
// The go command links a program once: it keeps the programs of go run in its cache, as
// it keeps packages, until one of their files changes. Those of go build it links each
// time, which takes ten times as long as to look there.
func Build(ctx context.Context, dir, path, pkg string, flags ...string) error {
	cmd := exec.CommandContext(ctx, "go", append(append([]string{"run", "-exec", "cp"}, flags...), pkg, path)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %w\n%s", pkg, err, out)
	}
	return nil
}
