// SPDX-License-Identifier: Apache-2.0

package natslink

import (
	"errors"
	"net"
	"os"
	"regexp"
	"slices"
	"sync"
	"time"
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
type dialer struct{}

// Dial implements nats.CustomDialer.
func (dialer) Dial(network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: ConnectWithin}).Dial(network, address)
	if err != nil {
		return nil, err
	}
	return &recordingConn{Conn: conn}, nil
}

// recordingConn is a connection that keeps the first bytes of the server, and ends
// at a message that is too large.
type recordingConn struct {
	net.Conn
	mu    sync.Mutex
	first []byte // at most keepFirst bytes

	sizes sizes // of the goroutine that reads
}

// Read implements io.Reader.
func (l *recordingConn) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
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
	n, err := l.Conn.Write(b)
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		return n, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	rest := make([]byte, keepFirst)
	_ = l.SetReadDeadline(time.Now().Add(readOnWait)) // the connection is lost in any case
	more, _ := l.Conn.Read(rest)
	if said := refusal.FindSubmatch(slices.Concat(l.first, rest[:more])); said != nil {
		return n, errors.New(string(said[1]))
	}
	return n, err
}
