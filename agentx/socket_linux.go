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

// socket is a connection whose reader waits for the master in the kernel.
//
// A walk is a game of ping-pong: snmpd sends a GetNext and waits for its
// answer. Through the runtime's poller a round costs five system calls and more
// (try to read, poll, poll and wait, read, write), which is dearer than what
// snmpd itself does; with a descriptor that blocks it costs two, and a session
// keeps a thread of its own.
type socket struct {
	net.Conn // the addresses of the connection that it was

	file *os.File
	raw  syscall.RawConn

	// Of the one reader. The steps are made once, so that a frame costs no
	// allocation.
	readStep func(fd uintptr) bool
	in       []byte
	read     int
	readErr  error

	// Of the one who holds the writer's lock.
	writeStep func(fd uintptr) bool
	out       []byte
	wrote     int
	writeErr  error
	deadline  time.Time
}

// newSocket takes conn over. What is no socket is left to the runtime.
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
		_ = file.Close() // conn goes on without it
		return conn
	}
	_ = conn.Close() // which leaves the socket open, for there is a second descriptor
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

// blocking gives a second descriptor of a socket, one that blocks. It must do
// so before it becomes a file, or the runtime would poll it.
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

// Read waits for what the master sends. It is for one goroutine.
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

// waitFor waits for an event, or an end of the connection, for some
// milliseconds; -1 is for ever. It is unix.EAGAIN where nothing came.
func waitFor(fd int, event int16, milliseconds int) error {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: event}}, milliseconds)
	if err == nil && n == 0 {
		return unix.EAGAIN
	}
	return err
}

// try writes the beginning of frame, without waiting, and tells how much of it;
// 0 where the socket takes nothing, or has failed.
func (s *socket) try(frame []byte) int {
	s.out, s.wrote = frame, 0
	err := s.raw.Write(s.writeStep)
	s.out = nil
	if err != nil {
		return 0
	}
	return max(s.wrote, 0)
}

// SetWriteDeadline is for Write. It is for the goroutine that calls Write.
func (s *socket) SetWriteDeadline(t time.Time) error {
	s.deadline = t
	return nil
}

// Write waits for the master to read.
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

// room waits until the socket takes more. It is unix.EAGAIN where that is not
// before the deadline.
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

// left is the time to the deadline in milliseconds, from 0 on; -1 without one.
func (s *socket) left() int {
	if s.deadline.IsZero() {
		return -1
	}
	return int(max(time.Until(s.deadline), 0).Milliseconds())
}

// Close ends what Read and Write wait for. The descriptor goes with the last
// of them.
func (s *socket) Close() error {
	_ = s.raw.Control(func(fd uintptr) { _ = unix.Shutdown(int(fd), unix.SHUT_RDWR) }) // the master may have gone first
	return s.file.Close()
}
