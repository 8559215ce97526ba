// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// replace makes a file again, under the same name.
func replace(t *testing.T, path string) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Error(err)
	}
}

func moveTo(t *testing.T, path string) {
	replace(t, path+".new")
	if err := os.Rename(path+".new", path); err != nil {
		t.Error(err)
	}
}

// A wait ends once the socket is made, and not for what else happens in its directory.
func TestAFreshSocketEndsTheWait(t *testing.T) {
	const short = 100 * time.Millisecond
	for rule, c := range map[string]struct {
		before, during func(t *testing.T, path string)
		want           bool
	}{
		"no socket, no early end":   {nil, nil, false},
		"a socket appears":          {nil, replace, true},
		"it stays":                  {replace, nil, false},
		"it is made again":          {replace, replace, true},
		"another takes its place":   {replace, moveTo, true},
		"another file is made":      {replace, func(t *testing.T, path string) { replace(t, path+"2") }, false},
		"it is written to":          {replace, func(_ *testing.T, path string) { _ = os.WriteFile(path, []byte("x"), 0o600) }, false},
		"it goes away":              {replace, func(_ *testing.T, path string) { _ = os.Remove(path) }, false},
		"there is no directory yet": {func(_ *testing.T, path string) { _ = os.Remove(filepath.Dir(path)) }, nil, false},
	} {
		t.Run(rule, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s")
			if c.before != nil {
				c.before(t, path)
			}
			wait := short
			if c.want {
				wait = time.Hour
			}
			fresh := make(chan bool, 1)
			go func() { fresh <- await(t.Context(), address{"unix", path}, wait) }()
			again := time.NewTicker(short / 20) // the wait may have begun after the first
			defer again.Stop()
			for {
				select {
				case got := <-fresh:
					if got != c.want {
						t.Errorf("fresh is %t, want %t", got, c.want)
					}
					return
				case <-again.C:
					if c.during != nil {
						c.during(t, path)
					}
				}
			}
		})
	}
}

// What a burst of files has lost of the queue may have been the socket.
func TestLostEventsEndTheWait(t *testing.T) {
	lost := make([]byte, unix.SizeofInotifyEvent)
	binary.NativeEndian.PutUint32(lost[4:], unix.IN_Q_OVERFLOW)
	if !names(lost, "s") {
		t.Error("an overflow is not about the socket")
	}
}
