// SPDX-License-Identifier: Apache-2.0

package natslink

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// MaxMessage is the largest message in bytes that a connection takes. A NATS server
// that is configured to the limit of its own allows as many. The client makes room
// for as many bytes as the server announces, before any of them has come.
const MaxMessage = 64 << 20

// errOversize ends a connection on which the server announces a larger message.
var errOversize = errors.New("the NATS server announces a message that is too large")

// maxControl bounds the part of a control line that is kept until its end has come.
const maxControl = 64 << 10

// sizes follows what a server sends: control lines, of which those of messages
// announce the size of a payload. It stops at the first byte of another protocol,
// such as TLS.
type sizes struct {
	payload int64  // bytes of the present message that have not come
	line    []byte // the beginning of a control line
	other   bool
}

// see takes the next bytes. The error wraps errOversize.
func (s *sizes) see(b []byte) error {
	for len(b) > 0 && !s.other {
		if s.payload > 0 {
			n := min(s.payload, int64(len(b)))
			s.payload -= n
			b = b[n:]
			continue
		}
		line, rest, ended := bytes.Cut(b, []byte("\n"))
		if len(s.line) > 0 || !ended {
			s.line = append(s.line, line...)
			line = s.line
		}
		if !ended {
			s.other = len(line) > maxControl || !isControl(line)
			return nil
		}
		if err := s.control(line); err != nil {
			return err
		}
		s.line, b = s.line[:0], rest
	}
	return nil
}

// control takes a control line.
func (s *sizes) control(line []byte) error {
	s.other = !isControl(line)
	if s.other || line[0] != 'M' && line[0] != 'H' {
		return nil
	}
	line = bytes.TrimRight(line, "\r ")
	size, err := strconv.ParseInt(string(line[bytes.LastIndexByte(line, ' ')+1:]), 10, 64)
	if err == nil && size > MaxMessage {
		return fmt.Errorf("%w: %d bytes; expected at most %d", errOversize, size, MaxMessage)
	}
	if err == nil { // otherwise the client reports it
		s.payload = size + int64(len("\r\n"))
	}
	return nil
}

// isControl reports whether a control line of a server may begin so.
func isControl(line []byte) bool {
	for _, op := range [...]string{"MSG ", "HMSG ", "PING", "PONG", "+OK", "-ERR", "INFO "} {
		if n := min(len(op), len(line)); n > 0 && string(line[:n]) == op[:n] {
			return true
		}
	}
	return false
}
