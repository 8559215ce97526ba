// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// socketPair is both ends of a real connection, whose buffers are the system's.
func socketPair(t *testing.T, network string) (ours, theirs net.Conn) {
	t.Helper()
	at := "127.0.0.1:0"
	if network == "unix" {
		dir, err := os.MkdirTemp("", "agentx")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		at = filepath.Join(dir, "s")
	}
	listener, err := net.Listen(network, at)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if ours, err = net.Dial(network, listener.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if theirs, err = listener.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ours.Close(); theirs.Close() })
	return ours, theirs
}

// running is a writer whose goroutine ends with the test.
func running(t *testing.T, conn net.Conn) (w *writer, result <-chan error) {
	t.Helper()
	conn = newSocket(conn)
	w = newWriter(conn)
	done, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- w.run(done) }()
	t.Cleanup(func() { close(done); conn.Close() })
	return w, ended
}

// numbered is a frame that says which one it is, all over.
func numbered(buf []byte, i, size int) []byte {
	buf = binary.BigEndian.AppendUint32(buf, uint32(i))
	for len(buf) < size {
		buf = append(buf, buf[:min(len(buf), size-len(buf))]...)
	}
	return buf
}

// send waits until the queue has room.
func send(w *writer, frame []byte) {
	for !w.send(frame) {
		runtime.Gosched()
	}
}

// Whether a frame goes out at once, in part, or from the queue: the master
// reads the frames that were accepted, whole and in order.
func TestFramesArriveWholeAndInOrderHoweverSlowTheMaster(t *testing.T) {
	for _, network := range []string{"unix", "tcp"} {
		for _, size := range []int{20, 1000, 100_000} {
			t.Run(fmt.Sprintf("%s/%d", network, size), func(t *testing.T) {
				ours, theirs := socketPair(t, network)
				w, _ := running(t, ours)
				var want bytes.Buffer
				refused := 0
				for i := 0; refused < 100; i++ { // until the buffers and the queue are full
					if w.send(numbered(w.buffer(), i, size)) {
						want.Write(numbered(nil, i, size))
					} else {
						refused++
					}
				}
				got := make([]byte, want.Len())
				if _, err := io.ReadFull(theirs, got); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, want.Bytes()) {
					t.Fatal("what arrives is not what was accepted")
				}
				// And now that it reads, frames are accepted again.
				for i := range min(1000, 10_000_000/size) {
					send(w, numbered(nil, i, size))
					if _, err := io.ReadFull(theirs, got[:size]); err != nil || !bytes.Equal(got[:size], numbered(nil, i, size)) {
						t.Fatalf("frame %d: %v", i, err)
					}
				}
			})
		}
	}
}

func TestFramesOfSeveralSendersDoNotMix(t *testing.T) {
	ours, theirs := socketPair(t, "unix")
	w, _ := running(t, ours)
	const senders, each, size = 4, 500, 400
	var all sync.WaitGroup
	for i := range senders {
		all.Go(func() {
			for range each {
				send(w, numbered(nil, i, size))
			}
		})
	}
	frame := make([]byte, size)
	for range senders * each {
		if _, err := io.ReadFull(theirs, frame); err != nil {
			t.Fatal(err)
		}
		if i := binary.BigEndian.Uint32(frame); !bytes.Equal(frame, numbered(nil, int(i), size)) {
			t.Fatalf("a mixed frame: % x", frame)
		}
	}
	all.Wait()
}

func TestAConnectionThatIsGoneEndsTheWriter(t *testing.T) {
	ours, theirs := socketPair(t, "unix")
	w, ended := running(t, ours)
	theirs.Close()
	w.send(make([]byte, 20)) // falls back to the queue, and from there it fails
	if err := <-ended; err == nil {
		t.Fatal("no error")
	}
	for range 2 * maxQueue {
		w.send(make([]byte, 20)) // must not block
	}
	if w.send(nil) {
		t.Error("the queue has no end")
	}
}

func TestAClosedConnectionTakesNothing(t *testing.T) {
	ours, _ := socketPair(t, "unix")
	ours = newSocket(ours)
	w := newWriter(ours)
	ours.Close()
	w.send(make([]byte, 20))
	done := make(chan struct{})
	if err := w.run(done); !errors.Is(err, net.ErrClosed) {
		t.Fatal(err)
	}
}
