// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/e2e/kit"
)

// controlGroup is a control group of Linux with a limit of memory.
type controlGroup struct {
	dir    string
	events string // the file that counts the processes killed beyond the limit
}

// newControlGroup makes a control group in that of the test, or beside it, and removes it
// at the end. It skips the test where that is not permitted.
func newControlGroup(t *testing.T, bytes int) controlGroup {
	t.Helper()
	root, limit, events, own := ownControlGroup(t)
	var errs []error
	for _, in := range []string{own, filepath.Dir(own)} {
		dir := filepath.Join(root, in, fmt.Sprintf("pnagent-e2e-%d-%s", os.Getpid(), strings.ReplaceAll(t.Name(), "/", "-")))
		err := os.Mkdir(dir, 0o755)
		if err == nil {
			err = writeExisting(filepath.Join(dir, limit), fmt.Sprint(bytes))
			if err == nil {
				t.Cleanup(func() { removeGroup(t, dir) })
				return controlGroup{dir: dir, events: filepath.Join(dir, events)}
			}
			err = errors.Join(err, os.Remove(dir))
		}
		errs = append(errs, err)
	}
	t.Skipf("no control group with a limit of memory can be made here: %v", errors.Join(errs...))
	return controlGroup{}
}

// removeGroup removes a control group whose processes have ended, once the kernel agrees.
func removeGroup(t *testing.T, dir string) {
	t.Helper()
	var err error
	for range 500 {
		err = os.Remove(dir)
		if err == nil {
			return
		}
		<-time.After(kit.PollEvery)
	}
	t.Error(err)
}

// ownControlGroup returns where the controller of memory is mounted, the files for its
// limit and its events, and the group of this process. It skips the test without one.
func ownControlGroup(t *testing.T) (root, limit, events, own string) {
	t.Helper()
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Skipf("no control groups: %v", err)
	}
	for line := range strings.Lines(string(groups)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(fields) != 3:
		case strings.Contains(","+fields[1]+",", ",memory,"): // version 1
			return "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.oom_control", fields[2]
		case fields[1] == "":
			root, limit, events, own = "/sys/fs/cgroup", "memory.max", "memory.events", fields[2]
		}
	}
	if root == "" {
		t.Skipf("no control group of memory in %q", groups)
	}
	return root, limit, events, own
}

// writeExisting writes to a file of the kernel, and does not make one.
func writeExisting(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// killedNone checks that the kernel killed no process of the group.
func (g controlGroup) killedNone(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(g.events)
	if err != nil || !strings.Contains(string(text), "oom_kill 0\n") {
		t.Errorf("got %q, %v; want that no process was killed", text, err)
	}
}
