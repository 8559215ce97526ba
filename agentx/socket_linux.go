// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// socket is a connection whose reader blocks in the kernel. In a walk snmpd waits for the
// answer to each GetNext; with the runtime's poller such a round costs five system calls,
// with a descriptor that blocks two, and a thread. See docs/design/agentx.md.
type socket struct {
	net.Conn // the addresses of the connection that it was

	file *os.File
	raw  syscall.RawConn

	// For the one reader. The steps are made once, so that a frame costs no allocation.
	readStep func(fd uintptr) bool
	in       []byte
	read     int
	readErr  error

	// For the holder of the writer's lock.
	writeStep func(fd uintptr) bool
	out       []byte
	wrote     int
	writeErr  error
	deadline  time.Time
}

// newSocket takes over conn, and returns it as a socket, or as it is if it has no descriptor.
func newSocket(conn net.Conn) net.Conn {
	of, ok := conn.(syscall.Conn)
	if !ok {
		return conn
	}
	file, err := blocking(of)
	if err != nil {
		return conn
	}
	raw, err := file.SyscallConn()
	if err != nil {
		_ = file.Close() // conn does not need it
		return conn
	}
	_ = conn.Close() // the second descriptor keeps the socket open
	s := &socket{Conn: conn, file: file, raw: raw}
	s.readStep = func(fd uintptr) bool {
		for {
			if s.read, s.readErr = unix.Read(int(fd), s.in); !errors.Is(s.readErr, unix.EINTR) {
				return true
			}
		}
	}
	s.writeStep = func(fd uintptr) bool {
		s.wrote, s.writeErr = unix.SendmsgN(int(fd), s.out, nil, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		return true
	}
	return s
}

// blocking returns a second descriptor of a socket, which blocks. It must block before it
// becomes a file, or the runtime would poll it.
func blocking(conn syscall.Conn) (file *os.File, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	failed := raw.Control(func(fd uintptr) {
		var second int
		if second, err = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0); err != nil {
			return
		}
		if err = unix.SetNonblock(second, false); err != nil {
			_ = unix.Close(second)
			return
		}
		file = os.NewFile(uintptr(second), "agentx")
	})
	return file, errors.Join(failed, err)
}

// Read waits for the master to send. Only one goroutine may call it.
func (s *socket) Read(buf []byte) (int, error) {
	s.in = buf
	err := s.raw.Read(s.readStep)
	s.in = nil
	switch {
	case err != nil:
		return 0, net.ErrClosed
	case s.readErr != nil:
		return 0, os.NewSyscallError("read", s.readErr)
	case s.read == 0 && len(buf) > 0:
		return 0, io.EOF
	}
	return s.read, nil
}

// waitFor waits for an event or the end of the connection; -1 milliseconds is forever. It
// returns unix.EAGAIN if the time is over.
func waitFor(fd int, event int16, milliseconds int) error {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: event}}, milliseconds)
	if err == nil && n == 0 {
		return unix.EAGAIN
	}
	return err
}

// try writes the beginning of frame without waiting, and returns the number of bytes; 0 if
// the socket takes none or has failed.
func (s *socket) try(frame []byte) int {
	s.out, s.wrote = frame, 0
	err := s.raw.Write(s.writeStep)
	s.out = nil
	if err != nil {
		return 0
	}
	return max(s.wrote, 0)
}

// SetWriteDeadline sets the deadline of Write. Only the goroutine that calls Write may call it.
func (s *socket) SetWriteDeadline(t time.Time) error {
	s.deadline = t
	return nil
}

// Write writes a frame, and waits for the master to read.
func (s *socket) Write(frame []byte) (n int, err error) {
	for {
		n += s.try(frame[n:])
		if n == len(frame) {
			return n, nil
		}
		var failed error
		if err := s.raw.Write(func(fd uintptr) bool { failed = s.room(int(fd)); return true }); err != nil {
			return n, net.ErrClosed
		}
		switch {
		case errors.Is(failed, unix.EAGAIN):
			return n, os.ErrDeadlineExceeded
		case failed != nil:
			return n, os.NewSyscallError("sendmsg", failed)
		}
	}
}

// room waits until the socket takes more. It returns unix.EAGAIN at the deadline.
func (s *socket) room(fd int) error {
	if s.writeErr != nil && !again(s.writeErr) {
		return s.writeErr
	}
	err := waitFor(fd, unix.POLLOUT, s.left())
	if errors.Is(err, unix.EINTR) {
		return nil
	}
	return err
}

func again(err error) bool { return errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) }

// left returns the time to the deadline in milliseconds, at least 0; -1 without one.
func (s *socket) left() int {
	if s.deadline.IsZero() {
		return -1
	}
	return int(max(time.Until(s.deadline), 0).Milliseconds())
}

// Close ends Read and Write. The descriptor is closed with the last of them.
func (s *socket) Close() error {
	_ = s.raw.Control(func(fd uintptr) { _ = unix.Shutdown(int(fd), unix.SHUT_RDWR) }) // fails if the master closed it first
	return s.file.Close()
}
