// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"net"
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

// writer writes frames to a connection from a goroutine of its own, one Write
// for each, so that nobody else ever waits for the master to read.
type writer struct {
	conn  net.Conn
	queue chan []byte
	free  chan []byte // buffers to use again
}

func newWriter(conn net.Conn) *writer {
	return &writer{conn: conn, queue: make(chan []byte, maxQueue), free: make(chan []byte, maxQueue)}
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

// send queues a frame; false when the queue is full. The frame belongs to the
// writer from then on.
func (w *writer) send(frame []byte) bool {
	select {
	case w.queue <- frame:
		return true
	default:
		return false
	}
}

// run writes until done is closed or a Write fails.
func (w *writer) run(done <-chan struct{}) error {
	for {
		select {
		case <-done:
			return nil
		case frame := <-w.queue:
			if err := w.conn.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil {
				return err
			}
			if _, err := w.conn.Write(frame); err != nil {
				return err
			}
			if cap(frame) <= keepBuffer {
				select {
				case w.free <- frame:
				default:
				}
			}
		}
	}
}
