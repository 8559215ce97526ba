// SPDX-License-Identifier: Apache-2.0

package natslink

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
)

// How soon a connection is found to be dead, and how soon it is back.
const (
	// PingEvery is the time between two pings of the client, and PingsOut is how
	// many of them may be unanswered: with the next one the connection is given up.
	PingEvery = 2 * time.Second
	PingsOut  = 2
	// WriteWithin is how long one write to the server may take. The client holds
	// its lock meanwhile, so neither pings nor anything else goes on.
	WriteWithin = 2 * time.Second
	// ConnectWithin is how long a server may take to accept a connection, look-up
	// of its name included, and then again to answer the login.
	ConnectWithin = 2 * time.Second
	// RetryEvery is the pause after all servers of the list were tried, and
	// retryJitter how much longer it may be, so that not all clients come at once.
	RetryEvery  = 500 * time.Millisecond
	retryJitter = 250 * time.Millisecond
	// BackWithin is how long it takes until a connection is back after a server
	// can be reached again: an attempt that began before, a pause, and the next.
	BackWithin = 4 * time.Second
)

// Config is what a Link is made of.
type Config struct {
	URLs    string        // servers, comma-separated; "" is nats.DefaultURL
	Name    string        // of the connection, as the server lists it
	Log     *slog.Logger  // nil is slog.Default
	Options []nats.Option // more, such as a login
}

// State is what is known of a connection at one moment. It is immutable.
type State struct {
	Connected   bool
	Since       int64  // since when it is so, in microseconds since the Unix epoch
	Server      string // the one that it is, or was last, connected to, without secrets; "" before the first
	Reason      string // why there is no connection; or what the server refused on this one; "" if there is nothing to say
	Disconnects uint64 // times that a connection ended
}

// Link is one connection to NATS.
type Link struct {
	Conn *nats.Conn // for use; Close ends it

	log    *slog.Logger
	state  atomic.Pointer[State]
	mu     sync.Mutex // held while state changes
	said   notices
	closed bool // by Close
}

// Open returns a connection that is made, and made again, in the background.
// The error is about what the Config says; it holds no secrets.
func Open(cfg Config) (*Link, error) {
	l := &Link{log: cfg.Log}
	if l.log == nil {
		l.log = slog.Default()
	}
	l.state.Store(&State{Since: time.Now().UnixMicro(), Reason: "not connected yet"})
	urls := cmp.Or(cfg.URLs, nats.DefaultURL)
	var err error
	if l.Conn, err = nats.Connect(urls, slices.Concat(l.options(cfg.Name), cfg.Options)...); err != nil {
		return nil, fmt.Errorf("connecting to NATS at %s: %w", Redact(urls), plain(err))
	}
	go l.follow(l.Conn.StatusChanged(nats.CONNECTING, nats.RECONNECTING, nats.CLOSED))
	if l.Conn.IsConnected() {
		l.connected(l.Conn)
	} else if !l.State().Connected {
		l.log.Warn("no connection to NATS yet, going on trying", "servers", Redact(urls))
	}
	return l, nil
}

// options are those of every connection.
func (l *Link) options(name string) []nats.Option {
	return []nats.Option{
		nats.Name(name),
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		nats.IgnoreAuthErrorAbort(),
		nats.ReconnectWait(RetryEvery),
		nats.ReconnectJitter(retryJitter, retryJitter),
		nats.Timeout(ConnectWithin),
		nats.SetCustomDialer(dialer{}),
		nats.SkipHostLookup(), // the look-up of the dialer is bounded
		nats.PingInterval(PingEvery),
		nats.MaxPingsOutstanding(PingsOut),
		nats.FlusherTimeout(WriteWithin),
		nats.ReconnectOnFlusherError(),
		nats.ConnectHandler(l.connected),
		nats.ReconnectHandler(l.connected),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { l.lost(err) }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { l.failed(err) }),
		nats.ErrorHandler(func(_ *nats.Conn, s *nats.Subscription, err error) { l.refused(s, err) }),
		nats.ClosedHandler(func(c *nats.Conn) { l.ended(c.LastError()) }),
	}
}

// State returns what is known of the connection now; never nil. It waits for
// nothing. The zero Link is not connected.
func (l *Link) State() *State {
	if s := l.state.Load(); s != nil {
		return s
	}
	return &State{}
}

// Close ends the connection.
func (l *Link) Close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.Conn.Close()
}

// follow notices attempts that reach a server and fail there, of which the
// client does not call back.
func (l *Link) follow(changes <-chan nats.Status) {
	reached := false
	for status := range changes {
		switch status {
		case nats.CLOSED:
			return
		case nats.CONNECTING:
			reached = true
		default:
			if reached {
				l.failed(l.Conn.LastError())
			}
			reached = false
		}
	}
}

// connected notes a connection that was made.
func (l *Link) connected(c *nats.Conn) {
	server := ""
	if s := c.ConnectedUrl(); s != "" {
		server = Redact(s)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	next := *l.State()
	if server == "" || next.Connected { // lost again by now, or noted already
		return
	}
	again := next.Server != ""
	next.Connected, next.Since, next.Server, next.Reason = true, time.Now().UnixMicro(), server, ""
	l.state.Store(&next)
	if again {
		l.log.Info("connected to NATS again", "server", server)
	} else {
		l.log.Info("connected to NATS", "server", server)
	}
}

// lost notes that a connection ended.
func (l *Link) lost(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := *l.State()
	if l.closed || !next.Connected {
		return
	}
	next.Connected, next.Since, next.Reason = false, time.Now().UnixMicro(), Reason(err)
	next.Disconnects++
	l.state.Store(&next)
	l.said.first(next.Reason, next.Since)
	l.log.Warn("connection to NATS lost, going on trying", "server", next.Server, "reason", next.Reason)
}

// failed notes an attempt that led to no connection.
func (l *Link) failed(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := *l.State()
	if l.closed || next.Connected || err == nil || errors.Is(err, nats.ErrNoServers) { // the last says nothing
		return
	}
	next.Reason = Reason(err)
	l.state.Store(&next)
	if l.said.first(next.Reason, time.Now().UnixMicro()) {
		l.log.Warn("no connection to NATS, going on trying", "reason", next.Reason)
	}
}

// refused notes what the server or the client complained of without ending the
// connection. While there is none, the attempts say why.
func (l *Link) refused(s *nats.Subscription, err error) {
	subject := ""
	if s != nil {
		subject = s.Subject
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	next := *l.State()
	if l.closed || !next.Connected || err == nil {
		return
	}
	reason := Reason(err)
	if errors.Is(err, nats.ErrPermissionViolation) || errors.Is(err, nats.ErrAuthorization) {
		next.Reason = reason
		l.state.Store(&next)
	}
	if l.said.first(subject+" "+reason, time.Now().UnixMicro()) {
		l.log.Warn("NATS", "subject", subject, "reason", reason)
	}
}

// ended notes that the client gave the connection up for good, which no error
// of a server that it knows makes it do.
func (l *Link) ended(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := *l.State()
	if l.closed {
		return
	}
	if next.Connected {
		next.Disconnects++
	}
	next.Connected, next.Since, next.Reason = false, time.Now().UnixMicro(), "closed for good: "+Reason(err)
	l.state.Store(&next)
	l.log.Error("connection to NATS closed for good; a restart makes a new one", "reason", next.Reason)
}
