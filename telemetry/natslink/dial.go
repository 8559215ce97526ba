// SPDX-License-Identifier: Apache-2.0

package natslink

import (
	"errors"
	"net"
	"os"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pnagent/pnagent/internal/wakeup"
)

// A server that accepts no more connections sends the reason and closes
// before it has read the login. The write of the login then fails, and the
// client reports that failure instead of the reason. So a connection keeps
// the first bytes that the server sent, and returns the reason from a
// failed write.
const (
	keepFirst  = 8 << 10                // bytes
	readOnWait = 100 * time.Millisecond // for bytes that the server sent and the client has not read
)

// dialer makes connections that report the server's reason when they break.
type dialer struct{ *Link }

// Dial implements nats.CustomDialer. The client holds its lock meanwhile, so that its options may
// change, which it reads when it logs in.
func (d dialer) Dial(network, address string) (net.Conn, error) {
	if c := d.logins.Load(); c != nil && d.nkey != nil {
		if key, err := d.nkey(); err == nil { // else the server refuses the login
			c.Opts.Nkey = key
		}
	}
	conn, err := (&net.Dialer{Timeout: ConnectWithin}).Dial(network, address)
	if err != nil {
		return nil, err
	}
	c := &recordingConn{socket: newSocket(conn), pings: d.pings}
	d.last.Store(c)
	return c, nil
}

// recordingConn is a connection that keeps the first bytes of the server, and ends
// at a message that is too large.
type recordingConn struct {
	*socket
	heard atomic.Bool           // bytes have come, since ping looked
	why   atomic.Pointer[error] // the Link ends the connection, nil before
	mu    sync.Mutex
	first []byte // at most keepFirst bytes

	// Of the goroutine that reads.
	sizes     sizes
	pings     wakeup.Timer
	postponed time.Time // when it set pings
}

// end closes the connection. err is what the client reports.
func (l *recordingConn) end(err error) {
	l.why.Store(&err)
	_ = l.Close()
}

// Read implements io.Reader.
func (l *recordingConn) Read(b []byte) (int, error) {
	n, err := l.socket.Read(b)
	if why := l.why.Load(); err != nil && why != nil {
		err = *why
	}
	if n > 0 {
		l.postpone(time.Now())
	}
	l.mu.Lock()
	l.first = append(l.first, b[:min(n, keepFirst-len(l.first))]...)
	l.mu.Unlock()
	if large := l.sizes.see(b[:n]); large != nil {
		return 0, large
	}
	return n, err
}

var refusal = regexp.MustCompile(`(?m)^-ERR '([^'\r\n]*)'\r?$`)

// Write implements io.Writer.
func (l *recordingConn) Write(b []byte) (int, error) {
	n := l.take(b)
	if n == len(b) {
		return n, nil
	}
	_ = l.SetWriteDeadline(time.Now().Add(WriteWithin)) // if it fails, so does the write
	more, err := l.Conn.Write(b[n:])
	_ = l.SetWriteDeadline(time.Time{})
	n += more
	if why := l.why.Load(); err != nil && why != nil {
		return n, *why
	}
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		return n, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	rest := make([]byte, keepFirst)
	_ = l.SetReadDeadline(time.Now().Add(readOnWait)) // the connection is lost in any case
	came, _ := l.Conn.Read(rest)
	if said := refusal.FindSubmatch(slices.Concat(l.first, rest[:came])); said != nil {
		return n, errors.New(string(said[1]))
	}
	return n, err
}
