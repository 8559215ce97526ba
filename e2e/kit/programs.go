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

	"github.com/pnagent/pnagent/internal/buildtest"
	"go.uber.org/goleak"
)

// binaries are the programs that every test runs: pnagent and the NATS server. Where the
// race detector watches pnagent, calm is built without it, for commands that have one
// goroutine: it finds nothing there, and takes ten times as long. Elsewhere the two are
// the same.
type binaries struct{ Pnagent, calm, NATS string }

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
	const command = "github.com/pnagent/pnagent/cmd/pnagent"
	b := binaries{Pnagent: filepath.Join(dir, "pnagent"), calm: filepath.Join(dir, "calm"), NATS: filepath.Join(dir, "nats-server")}
	if UnderRace {
		if err := buildtest.Build(context.Background(), ".", b.Pnagent, command, "-race"); err != nil {
			return binaries{}, err
		}
	} else {
		b.calm = b.Pnagent
	}
	if err := buildtest.Build(context.Background(), ".", b.calm, command); err != nil {
		return binaries{}, err
	}
	return b, buildtest.Build(context.Background(), ".", b.NATS, "github.com/nats-io/nats-server/v2")
}

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
