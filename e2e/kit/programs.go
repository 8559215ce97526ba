// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

// binaries are the programs that every test runs: pnagent and the NATS server. Where the
// race detector watches pnagent, calm is built without it, for commands that have one
// goroutine: it finds nothing there, and takes ten times as long. Elsewhere the two are
// the same.
type binaries struct{ Pnagent, calm, NATS string }

// Built has the programs built once. They stay in the user's cache directory, where the
// tests of the next package, and the next run, find them: the go command links only what
// is not up to date.
var Built = sync.OnceValue(func() binaries {
	b, err := buildPrograms()
	if err != nil {
		panic(err)
	}
	return b
})

func buildPrograms() (binaries, error) {
	tree, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return binaries{}, fmt.Errorf("go list: %w", err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return binaries{}, err
	}
	dir := filepath.Join(cache, "pnagent", fmt.Sprintf("programs-%x", sha256.Sum256(tree))[:26])
	const command = "github.com/pnagent/pnagent/cmd/pnagent"
	b := binaries{filepath.Join(dir, "pnagent"), filepath.Join(dir, "pnagent"), filepath.Join(dir, "nats-server")}
	if UnderRace {
		b.Pnagent = filepath.Join(dir, "race", "pnagent")
		if err := Build(b.Pnagent, command, "-race"); err != nil {
			return binaries{}, err
		}
	}
	if err := Build(b.calm, command); err != nil {
		return binaries{}, err
	}
	return b, Build(b.NATS, "github.com/nats-io/nats-server/v2")
}

// Build has the go command build a package at path, where it is not up to date. Tests of
// several packages take turns.
func Build(path, pkg string, flags ...string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close() // and with it the lock ends
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("locking %s: %w", lock.Name(), err)
	}
	args := append([]string{"build", "-o", path}, flags...)
	if out, err := exec.Command("go", append(args, pkg)...).CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %w\n%s", pkg, err, out)
	}
	return nil
}

// Main runs the tests of a package, as its TestMain.
func Main(m *testing.M) {
	code, err := runAll(m)
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
