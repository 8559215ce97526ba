// SPDX-License-Identifier: Apache-2.0

package act

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/telemetry"
)

// lines returns the actions in a file.
func lines(t *testing.T, path string) (all []telemetry.Action) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var a telemetry.Action
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all = append(all, a)
	}
	return all
}

// What is appended is in the file, after what was there, and only its owner reads it.
func TestALogKeepsWhatIsAppended(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit")
	done := telemetry.Action{At: time.UnixMicro(1e15).UTC(), Source: "berlin", Kind: "fire", Who: telemetry.Who{By: "kim@desk", Comment: "by \"mail\"\u2028"},
		Net: "order", Instance: "berlin/07", Transition: "sign", OK: true}
	refused := telemetry.Action{At: done.At, Source: "berlin", Kind: "inject", Net: "order", Instance: "berlin/07", Place: "done", Tokens: 9, Error: "no such place"}
	for range 2 { // two processes, one after the other
		l, err := OpenLog(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range []telemetry.Action{done, refused} {
			if err := l.Append(a); err != nil {
				t.Fatal(err)
			}
		}
	}
	if d := cmp.Diff([]telemetry.Action{done, refused, done, refused}, lines(t, path)); d != "" {
		t.Error(d)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v; want mode 0600", info.Mode(), err)
	}
}

// Lines of several goroutines are whole, and a file that is renamed gives way to another.
func TestALogCanBeRenamedWhileItIsWritten(t *testing.T) {
	dir := t.TempDir()
	l, err := OpenLog(filepath.Join(dir, "audit"))
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			for range 25 {
				if err := l.Append(telemetry.Action{Kind: "fire"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	if err := os.Rename(filepath.Join(dir, "audit"), filepath.Join(dir, "audit.1")); err != nil {
		t.Fatal(err)
	}
	running.Wait()
	if err := l.Append(telemetry.Action{Kind: "inject"}); err != nil {
		t.Fatal(err)
	}
	before, after := lines(t, filepath.Join(dir, "audit.1")), lines(t, filepath.Join(dir, "audit"))
	if len(before)+len(after) != 101 || after[len(after)-1].Kind != "inject" {
		t.Errorf("%d lines and %d lines; want 101 in all", len(before), len(after))
	}
}

// A line that a crash has cut off stays as it is, and the next one is whole.
func TestALogEndsALineThatWasCutOff(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit")
	if err := os.WriteFile(path, []byte(`{"at":"2026-`), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := OpenLog(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Append(telemetry.Action{Kind: "fire"}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(text), "{\"at\":\"2026-\n{") {
		t.Errorf("%q, %v", text, err)
	}
}

func TestALogThatOthersCanReadIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := OpenLog(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{l.Append(telemetry.Action{}), func() error { _, err := OpenLog(path); return err }()} {
		if err == nil || !strings.Contains(err.Error(), "others can read it or change it (mode -rw-r--r--); expected 0600") {
			t.Errorf("got %v", err)
		}
	}
	if _, err := OpenLog(filepath.Join(t.TempDir(), "none", "audit")); err == nil {
		t.Error("a log in a directory that is not there is opened")
	}
}
