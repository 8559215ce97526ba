// SPDX-License-Identifier: Apache-2.0

package natslink

import (
	"io"
	"net"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// socket reads and writes a connection by system calls that the scheduler of Go does not
// follow. One that it follows wakes the runtime's monitor, which then looks about ten times
// whether the call lasts. No call of this socket lasts, because it does not block.
type socket struct {
	net.Conn
	raw     syscall.RawConn
	in, out transfer
}

// transfer is a call of one direction, which one goroutine makes at a time.
type transfer struct {
	b   []byte
	n   int
	err syscall.Errno
	try func(fd uintptr) bool // does the call, and reports that it need not wait
}

func newSocket(conn net.Conn) *socket {
	s := &socket{Conn: conn}
	s.in.try = func(fd uintptr) bool { return s.in.call(unix.SYS_READ, fd) }
	s.out.try = func(fd uintptr) bool { s.out.call(unix.SYS_WRITE, fd); return true }
	if c, ok := conn.(syscall.Conn); ok {
		s.raw, _ = c.SyscallConn() // without it the connection does all
	}
	return s
}

func (t *transfer) call(trap, fd uintptr) (done bool) {
	n, _, err := unix.RawSyscall(trap, fd, uintptr(unsafe.Pointer(unsafe.SliceData(t.b))), uintptr(len(t.b)))
	t.n, t.err = int(n), err
	if err != 0 {
		t.n = 0
	}
	return err != unix.EAGAIN
}

// Read implements io.Reader.
func (s *socket) Read(b []byte) (int, error) {
	if s.raw == nil {
		return s.Conn.Read(b)
	}
	s.in.b = b
	err := s.raw.Read(s.in.try)
	s.in.b = nil
	switch {
	case err != nil: // no call was made: this one fails in the same way
		return s.Conn.Read(b)
	case s.in.err != 0:
		return 0, &net.OpError{Op: "read", Net: s.LocalAddr().Network(), Source: s.LocalAddr(), Addr: s.RemoteAddr(), Err: os.NewSyscallError("read", s.in.err)}
	case s.in.n == 0 && len(b) > 0:
		return 0, io.EOF
	}
	return s.in.n, nil
}

// take writes what the socket takes at once, and returns how many bytes that is.
func (s *socket) take(b []byte) int {
	if s.raw == nil {
		return 0
	}
	s.out.b = b
	err := s.raw.Write(s.out.try)
	s.out.b = nil
	if err != nil {
		return 0
	}
	return s.out.n
}
