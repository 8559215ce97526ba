// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"net"
	"sync"
	"time"
)

const (
	// maxQueue is the number of frames that may wait for the master to read.
	maxQueue = 64
	// writeWithin is how long the master may leave a frame unread.
	writeWithin = 10 * time.Second
	// keepBuffer is the largest buffer that is used again.
	keepBuffer = 8 << 10
)

// writer writes frames to a connection without waiting for the master to read. send writes
// a frame at once, which saves waking a goroutine for every variable of a walk. If the
// connection does not take all of it, run writes the rest, and everything after it.
type writer struct {
	conn   net.Conn
	direct nonblocking // nil if the connection cannot write without waiting
	free   chan []byte // buffers to use again

	mu      sync.Mutex
	waiting int         // frames in queue, and the one being written by run
	queue   chan []byte // never blocks: waiting is at most its capacity
}

// nonblocking is a connection that can write without waiting: try returns the number of bytes
// written.
type nonblocking interface{ try(frame []byte) int }

func newWriter(conn net.Conn) *writer {
	direct, _ := conn.(nonblocking)
	return &writer{
		conn:   conn,
		direct: direct,
		queue:  make(chan []byte, maxQueue),
		free:   make(chan []byte, maxQueue),
	}
}

// buffer returns an empty buffer for a frame.
func (w *writer) buffer() []byte {
	select {
	case buf := <-w.free:
		return buf[:0]
	default:
		return make([]byte, 0, 512)
	}
}

// recycle keeps a buffer for a later frame.
func (w *writer) recycle(buf []byte) {
	if cap(buf) > keepBuffer {
		return
	}
	select {
	case w.free <- buf:
	default:
	}
}

// send writes or queues a frame, and takes it over. It reports false if the queue is full.
// run, or the reader of the connection, reports a connection that fails.
func (w *writer) send(frame []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting == maxQueue {
		return false
	}
	rest := frame
	if w.waiting == 0 && w.direct != nil {
		if rest = frame[w.direct.try(frame):]; len(rest) == 0 {
			w.recycle(frame)
			return true
		}
	}
	w.waiting++
	w.queue <- rest
	return true
}

// run writes queued frames, until done is closed or a Write fails.
func (w *writer) run(done <-chan struct{}) error {
	for {
		select {
		case <-done:
			return nil
		case frame := <-w.queue:
			if err := w.write(frame); err != nil {
				return err
			}
			w.recycle(frame)
			w.mu.Lock()
			w.waiting--
			w.mu.Unlock()
		}
	}
}

// write writes a frame, and waits until the connection takes it.
func (w *writer) write(frame []byte) error {
	if err := w.conn.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil {
		return err
	}
	if _, err := w.conn.Write(frame); err != nil {
		return err
	}
	return w.conn.SetWriteDeadline(time.Time{}) // it would apply to direct writes too
}
