// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"go.uber.org/goleak"
)

// built is where the programs are that every test runs. It is written once,
// before any test. Where the race detector watches pnagent, calm is built
// without it, for commands that have one goroutine: it finds nothing there, and
// takes ten times as long. Elsewhere the two are the same.
var built struct{ pnagent, calm, nats string }

func TestMain(m *testing.M) {
	code, err := runAll(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runAll(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "pnagent-e2e")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	built.pnagent, built.nats = filepath.Join(dir, "pnagent"), filepath.Join(dir, "nats-server")
	built.calm = built.pnagent
	const command = "github.com/pnagent/pnagent/cmd/pnagent"
	var race []string
	if underRace {
		race = []string{"-race"}
		built.calm = filepath.Join(dir, "calm", "pnagent")
		if err := build(built.calm, command); err != nil {
			return 1, err
		}
	}
	if err := build(built.pnagent, command, race...); err != nil {
		return 1, err
	}
	if err := build(built.nats, "github.com/nats-io/nats-server/v2"); err != nil {
		return 1, err
	}
	// Tests wait more than they work, so more of them run at a time.
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0))); err != nil {
		return 1, err
	}
	if code = m.Run(); code != 0 {
		return code, nil
	}
	return 0, goleak.Find()
}

func build(path, pkg string, flags ...string) error {
	args := append([]string{"build", "-o", path}, flags...)
	if out, err := exec.Command("go", append(args, pkg)...).CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %w\n%s", pkg, err, out)
	}
	return nil
}

// need returns the path of a program, and skips the test without it.
func need(t *testing.T, program, debian string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("%s is not installed (Debian package %s)", program, debian)
	}
	return path
}

// write makes a file below a temporary directory and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
