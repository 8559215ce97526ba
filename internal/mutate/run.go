// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// result is what the tests of the package said to a mutant.
type result int

const (
	killed result = iota
	survived
	notCompiling
	timedOut
)

// heap is how many KiB of data a test may have, so that a mutant that grows
// without end does not take the machine with it.
const heap = 6 << 20

// runner builds and runs the tests of one package, in a directory of its own.
type runner struct {
	pkg, dir string // import path, directory
	work     string // for what is built
	short    bool
	limit    time.Duration // of one run; twice that of a second one, where the first took longer
}

// base runs the tests as they are, which must pass, and sets the time limit of
// the mutants: four times as long, and grace.
func (r *runner) base(ctx context.Context, grace time.Duration) (time.Duration, error) {
	bin := filepath.Join(r.work, "base.test")
	if out, err := r.compile(ctx, bin, ""); err != nil {
		return 0, fmt.Errorf("compile the tests of %s: %w\n%s", r.pkg, err, out)
	}
	begin := time.Now()
	if out, err := r.test(ctx, bin, time.Hour); err != nil {
		return 0, fmt.Errorf("the tests of %s must pass before anything is changed: %w\n%s", r.pkg, err, out)
	}
	took := time.Since(begin)
	r.limit = 4*took + grace
	return took, nil
}

// try runs the tests with one mutant in the place of what it changes.
func (r *runner) try(ctx context.Context, m mutant) (result, error) {
	work, err := os.MkdirTemp(r.work, "mutant")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(work)
	changed, overlay, bin := filepath.Join(work, "changed.go"), filepath.Join(work, "overlay.json"), filepath.Join(work, "mutant.test")
	replaced, err := json.Marshal(map[string]any{"Replace": map[string]string{m.file: changed}})
	if err != nil {
		return 0, err
	}
	if err := errors.Join(os.WriteFile(changed, m.apply(), 0o600), os.WriteFile(overlay, replaced, 0o600)); err != nil {
		return 0, err
	}
	if _, err := r.compile(ctx, bin, overlay); err != nil {
		return notCompiling, ctx.Err()
	}
	got, err := r.tested(ctx, bin, r.limit)
	if got == timedOut { // the machine may have been busy
		got, err = r.tested(ctx, bin, 2*r.limit)
	}
	return got, err
}

// tested runs the tests of a mutant, and returns what they say within a time.
func (r *runner) tested(ctx context.Context, bin string, limit time.Duration) (result, error) {
	out, err := r.test(ctx, bin, limit)
	switch {
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case err == nil:
		return survived, nil
	case errors.Is(err, context.DeadlineExceeded) || bytes.Contains(out, []byte("panic: test timed out after")):
		return timedOut, nil
	}
	return killed, nil
}

func (r *runner) compile(ctx context.Context, bin, overlay string) ([]byte, error) {
	args := []string{"test", "-c", "-o", bin}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, r.pkg)...)
	cmd.Dir = r.dir
	return cmd.CombinedOutput()
}

// test runs a test binary in its package's directory, with temporary files
// that go with it, and stops it and its children when its time is over.
func (r *runner) test(ctx context.Context, bin string, limit time.Duration) ([]byte, error) {
	temp, err := os.MkdirTemp(r.work, "temp")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	run, cancel := context.WithTimeout(ctx, limit+10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(run, "sh", "-c", fmt.Sprintf(`ulimit -d %d; exec "$0" "$@"`, heap), bin,
		"-test.failfast", "-test.paniconexit0", "-test.timeout="+limit.String(), "-test.short="+strconv.FormatBool(r.short))
	cmd.Dir, cmd.Env = r.dir, append(os.Environ(), "TMPDIR="+temp)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stop := func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Cancel, cmd.WaitDelay = stop, 5*time.Second
	out, err := cmd.CombinedOutput()
	if cmd.Process != nil {
		_ = stop() // children that are left
	}
	if run.Err() != nil {
		err = run.Err()
	}
	return out, err
}
