// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/pnagent/pnagent/internal/buildtest"
)

// binaries are the programs that every test runs: pnagent and the NATS server.
type binaries struct{ Pnagent, NATS string }

// Built has the programs built, once a process.
var Built = sync.OnceValue(func() binaries {
	b, err := buildPrograms()
	if err != nil {
		panic(err)
	}
	return b
})

// builtIn is where the programs of this process are. Main removes it.
func builtIn() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("pnagent-e2e-%d", os.Getpid()))
}

func buildPrograms() (binaries, error) {
	dir := builtIn()
	if err := os.Mkdir(dir, 0o700); err != nil {
		return binaries{}, err
	}
	b := binaries{filepath.Join(dir, "pnagent"), filepath.Join(dir, "nats-server")}
	build := buildPnagent
	if UnderRace {
		build = buildBoth
	}
	return b, errors.Join(build(b.Pnagent), buildtest.Build(context.Background(), ".", b.NATS, "github.com/nats-io/nats-server/v2"))
}

func buildPnagent(path string, flags ...string) error {
	return buildtest.Build(context.Background(), ".", path, "github.com/pnagent/pnagent/cmd/pnagent", flags...)
}

// watched has the race detector watch a program, with the flags of scripts/test.
var watched = []string{"-race", "-gcflags=all=-d=checkptr=0", "-gcflags=github.com/pnagent/pnagent/telemetry/...=-d=checkptr=1"}

// buildBoth builds pnagent with and without the race detector. The command at path becomes the first
// where it runs until it is stopped, and the second where it ends by itself: that has few goroutines or one, and
// the detector takes ten times as long there.
func buildBoth(path string, _ ...string) error {
	raced, calm := path+"-raced", path+"-calm"
	if err := errors.Join(buildPnagent(raced, watched...), buildPnagent(calm)); err != nil {
		return err
	}
	return os.WriteFile(path, fmt.Appendf(nil, chooses, raced, calm), 0o755)
}

// chooses is the command that becomes one of two.
const chooses = `#!/bin/sh
for word; do
  case $word in attach | demo | engine | serve | top) exec '%s' "$@" ;; esac
done
exec '%s' "$@"
`

// Main runs the tests of a package, as its TestMain.
func Main(m *testing.M) {
	code, err := runAll(m)
	err = errors.Join(err, os.RemoveAll(builtIn()))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runAll(m *testing.M) (int, error) {
	// Tests wait more than they work, so more of them run at a time.
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0))); err != nil {
		return 1, err
	}
	if code := m.Run(); code != 0 {
		return code, nil
	}
	return 0, goleak.Find()
}

// Need returns the path of a program, and skips the test without it.
func Need(t *testing.T, program, debian string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("%s is not installed (Debian package %s)", program, debian)
	}
	return path
}

// Write makes a file below a temporary directory and returns its path.
func Write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
