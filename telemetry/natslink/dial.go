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

// A server that takes no more connections says so and hangs up before it has
// read the login. Writing that then fails, and the client reports the failure in
// place of what the server said. So what a server says first is kept, until it
// is clear that it goes on.
const (
	keepFirst  = 8 << 10                // bytes that a server says first
	readOnWait = 100 * time.Millisecond // for what it said and the client has not read
)

// dialer makes connections that report what the server said when they broke.
type dialer struct{}

// Dial implements nats.CustomDialer.
func (dialer) Dial(network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: ConnectWithin}).Dial(network, address)
	if err != nil {
		return nil, err
	}
	return &listener{Conn: conn}, nil
}

// listener is a connection that remembers how the server began.
type listener struct {
	net.Conn
	mu    sync.Mutex
	first []byte // of what was read, at most keepFirst bytes
}

// Read implements io.Reader.
func (l *listener) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	l.mu.Lock()
	l.first = append(l.first, b[:min(n, keepFirst-len(l.first))]...)
	l.mu.Unlock()
	return n, err
}

var refusal = regexp.MustCompile(`(?m)^-ERR '([^'\r\n]*)'\r?$`)

// Write implements io.Writer.
func (l *listener) Write(b []byte) (int, error) {
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
