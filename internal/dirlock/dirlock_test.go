// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package dirlock

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestDirectoryHasOneHolder(t *testing.T) {
	dir := t.TempDir()
	release, err := TryHold(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := TryHold(dir); !errors.Is(err, ErrHeld) {
		t.Errorf("held twice: %v", err)
	}
	held := make(chan func())
	go func() {
		release, err := Hold(dir)
		if err != nil {
			t.Error(err)
		}
		held <- release
	}()
	for _, name := range []string{"a", "b"} { // what is in it changes nothing
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-held:
		t.Fatal("Hold did not wait")
	default:
	}
	release()
	(<-held)()
	release, err = TryHold(dir)
	if err != nil {
		t.Fatal(err)
	}
	release()
	if _, err := TryHold(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
