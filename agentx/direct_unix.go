// SPDX-License-Identifier: Apache-2.0

//go:build unix

package agentx

import (
	"net"
	"syscall"
)

// directWriter writes to a socket what it takes without waiting.
type directWriter struct {
	raw   syscall.RawConn
	step  func(fd uintptr) bool // made once, so that a frame costs no allocation
	frame []byte
	wrote int
}

// newDirectWriter gives nil where conn is not a socket.
func newDirectWriter(conn net.Conn) *directWriter {
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return nil
	}
	d := &directWriter{raw: raw}
	d.step = func(fd uintptr) bool {
		// The runtime keeps sockets non-blocking. Whatever comes of it, there
		// is no second attempt here: true ends RawConn.Write.
		d.wrote, _ = syscall.Write(int(fd), d.frame)
		return true
	}
	return d
}

// try writes the beginning of frame and tells how much of it; 0 where the
// socket takes nothing, or has failed.
func (d *directWriter) try(frame []byte) int {
	d.frame, d.wrote = frame, 0
	err := d.raw.Write(d.step)
	d.frame = nil
	if err != nil {
		return 0
	}
	return max(d.wrote, 0)
}
