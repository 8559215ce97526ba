// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"net"
	"sync"
	"time"
)

const (
	// maxQueue is how many frames may wait for the master to read them.
	maxQueue = 64
	// writeWithin is how long the master may leave a frame unread.
	writeWithin = 10 * time.Second
	// keepBuffer is the largest buffer that is used again; a larger one is
	// the exception and is let go.
	keepBuffer = 8 << 10
)

// writer writes frames to a connection so that nobody ever waits for the
// master to read. A frame goes out at once where the connection takes it, in
// one Write; that is the case but for a master that is in trouble, and saves
// waking a goroutine for every variable of a walk. What the connection does
// not take is queued for a goroutine, and so is everything after it.
type writer struct {
	conn   net.Conn
	direct trier       // nil where the connection can only be waited for
	free   chan []byte // buffers to use again

	mu      sync.Mutex
	waiting int         // frames in queue, and the one being written by run
	queue   chan []byte // never blocks: waiting is at most its capacity
}

// trier is a connection that can take a frame without waiting: it tells how
// much of it.
type trier interface{ try(frame []byte) int }

func newWriter(conn net.Conn) *writer {
	direct, _ := conn.(trier)
	return &writer{
		conn:   conn,
		direct: direct,
		queue:  make(chan []byte, maxQueue),
		free:   make(chan []byte, maxQueue),
	}
}

// buffer gives an empty buffer for a frame.
func (w *writer) buffer() []byte {
	select {
	case buf := <-w.free:
		return buf[:0]
	default:
		return make([]byte, 0, 512)
	}
}

// recycle takes a buffer back.
func (w *writer) recycle(buf []byte) {
	if cap(buf) > keepBuffer {
		return
	}
	select {
	case w.free <- buf:
	default:
	}
}

// send writes or queues a frame; false when the queue is full. The frame
// belongs to the writer from then on. A connection that fails is found out by
// run, or by whoever reads from it.
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

// run writes what is queued, until done is closed or a Write fails.
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

// write waits for the connection to take frame.
func (w *writer) write(frame []byte) error {
	if err := w.conn.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil {
		return err
	}
	if _, err := w.conn.Write(frame); err != nil {
		return err
	}
	return w.conn.SetWriteDeadline(time.Time{}) // it would hold for direct writes too
}
