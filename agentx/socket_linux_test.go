// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// What a session expects of a connection holds for one that blocks too.
func TestASocketThatBlocks(t *testing.T) {
	for _, network := range []string{"unix", "tcp"} {
		open := func(t *testing.T) (ours, theirs net.Conn) {
			ours, theirs = socketPair(t, network)
			ours = newSocket(ours)
			if _, ok := ours.(*socket); !ok {
				t.Fatalf("%T, want a socket of its own", ours)
			}
			t.Cleanup(func() { ours.Close() })
			return ours, theirs
		}
		t.Run(network+"/Close ends a Read", func(t *testing.T) {
			ours, theirs := open(t)
			began, ended := make(chan struct{}), make(chan error, 1)
			go func() {
				var one [1]byte
				_, _ = io.ReadFull(ours, one[:]) // so that the next one surely waits
				close(began)
				_, err := ours.Read(one[:])
				ended <- err
			}()
			if _, err := theirs.Write([]byte{1}); err != nil {
				t.Fatal(err)
			}
			<-began
			if err := ours.Close(); err != nil {
				t.Fatal(err)
			}
			if err := <-ended; err == nil {
				t.Error("a Read of a closed connection went well")
			}
			if _, err := ours.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
				t.Errorf("a Read after Close: %v, want %v", err, net.ErrClosed)
			}
		})
		t.Run(network+"/Close ends a Write", func(t *testing.T) {
			ours, _ := open(t)
			ended := make(chan error, 1)
			go func() {
				_, err := ours.Write(make([]byte, 64<<20)) // more than any buffer takes
				ended <- err
			}()
			ours.(*socket).waitUntilFull(t)
			if err := ours.Close(); err != nil {
				t.Fatal(err)
			}
			if err := <-ended; err == nil {
				t.Error("a Write to a closed connection went well")
			}
		})
		t.Run(network+"/the end of the other side ends a Read", func(t *testing.T) {
			ours, theirs := open(t)
			theirs.Close()
			if _, err := ours.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
				t.Errorf("%v, want %v", err, io.EOF)
			}
		})
		t.Run(network+"/a Write ends at its deadline", func(t *testing.T) {
			ours, _ := open(t)
			if err := ours.SetWriteDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
				t.Fatal(err)
			}
			if n, err := ours.Write(make([]byte, 64<<20)); !errors.Is(err, os.ErrDeadlineExceeded) || n == 0 {
				t.Errorf("%d bytes, %v, want some and %v", n, err, os.ErrDeadlineExceeded)
			}
		})
	}
}

// waitUntilFull returns when the connection takes no more, which another
// goroutine brings about.
func (s *socket) waitUntilFull(t *testing.T) {
	t.Helper()
	for full := false; !full; {
		if err := s.raw.Control(func(fd uintptr) { full = waitFor(int(fd), unix.POLLOUT, 0) != nil }); err != nil {
			t.Fatal(err)
		}
	}
}
