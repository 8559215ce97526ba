// SPDX-License-Identifier: Apache-2.0

//go:build unix

package lines

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func TestWritersOfAPipeComeAndGo(t *testing.T) {
	a := attach(t, nil)
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip("no named pipes on this system: ", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- a.Follow(ctx, Follow{Path: path, Poll: time.Millisecond}) }()
	for k := range 2 {
		w, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.WriteString(opened(string(rune('a' + k)))); err != nil {
			t.Fatal(err)
		}
		eventually(t, "it is read", func() bool { return a.Nets()[0].Events == uint64(k+1) })
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
