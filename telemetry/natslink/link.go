// SPDX-License-Identifier: Apache-2.0

package natslink

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/internal/wakeup"
)

// How soon a dead connection is noticed, and how soon it is replaced.
const (
	// PingAfter is the time without a byte from the server after which the Link
	// sends a ping, PingAgain the time from one ping without an answer to the
	// next one, and PingsOut the number of pings after which nothing may have
	// come: instead of the next one the Link ends the connection.
	PingAfter = 2500 * time.Millisecond
	PingAgain = 1750 * time.Millisecond
	PingsOut  = 2
	// WriteWithin bounds one write to the server. The client holds its lock
	// meanwhile, so pings and all else wait.
	WriteWithin = 2 * time.Second
	// ConnectWithin bounds the time in which a server accepts a connection,
	// look-up of its name included, and then again the time in which it answers
	// the login.
	ConnectWithin = 2 * time.Second
	// RetryEvery is the pause after all servers of the list were tried. It is
	// longer by at most retryJitter, which spreads the clients.
	RetryEvery  = 500 * time.Millisecond
	retryJitter = 250 * time.Millisecond
	// BackWithin bounds the time from when a server is reachable until the
	// connection is back: an attempt that began before, a pause, and the next
	// attempt.
	BackWithin = 4 * time.Second
)

// Config configures a Link.
type Config struct {
	URLs    string        // servers, comma-separated; "" is nats.DefaultURL
	Name    string        // of the connection, as the server lists it
	Log     *slog.Logger  // nil is slog.Default
	Options []nats.Option // more, such as a login
	// NKey returns the public key of each login, which the client signs; nil leaves it to the Options.
	NKey func() (string, error)
}

// ConnState is the state of a connection at one moment. It is immutable.
type ConnState struct {
	Connected   bool
	Since       int64  // of this value of Connected, in microseconds since the Unix epoch
	Server      string // the current or last server, without secrets; "" before the first
	Reason      string // why there is no connection, or what the server rejected on this one; "" if there is no reason
	Disconnects uint64 // times that a connection ended
}

// Nowhere is an option of a Link that connects to nothing: a program checks with it what it is to
// connect by.
func Nowhere() nats.Option { return nats.SetCustomDialer(nowhere{}) }

type nowhere struct{}

// Dial implements nats.CustomDialer.
func (nowhere) Dial(string, string) (net.Conn, error) { return nil, errNowhere }

var errNowhere = errors.New("no connection is made")

// Link is one connection to NATS.
type Link struct {
	Conn *nats.Conn // for use; Close ends it

	log    *slog.Logger
	nkey   func() (string, error)
	logins atomic.Pointer[nats.Conn] // Conn, once there is one
	state  atomic.Pointer[ConnState]
	last   atomic.Pointer[recordingConn] // that was made
	pings  wakeup.Timer
	mu     sync.Mutex // held while state changes
	said   notices
	closed bool // by Close
}

// Open returns a connection that is made, and made again, in the background.
// Errors are about the Config; they hold no secrets.
func Open(cfg Config) (*Link, error) {
	l := &Link{log: cmp.Or(cfg.Log, slog.Default()), nkey: cfg.NKey, pings: wakeup.Thread()}
	l.state.Store(&ConnState{Since: time.Now().UnixMicro(), Reason: "not connected yet"})
	urls := cmp.Or(cfg.URLs, nats.DefaultURL)
	var err error
	if l.Conn, err = nats.Connect(urls, slices.Concat(l.options(cfg.Name), cfg.Options)...); err != nil {
		l.pings.Stop()
		return nil, fmt.Errorf("connecting to NATS at %s: %w", Redact(urls), plain(err))
	}
	l.logins.Store(l.Conn)
	go l.ping()
	go l.follow(l.Conn.StatusChanged(nats.CONNECTING, nats.RECONNECTING, nats.CLOSED))
	if l.Conn.IsConnected() {
		l.connected(l.Conn)
	} else if !l.State().Connected {
		l.log.Warn("no connection to NATS yet, retrying", "servers", Redact(urls))
	}
	return l, nil
}

// options returns the options of every connection.
func (l *Link) options(name string) []nats.Option {
	return []nats.Option{
		nats.Name(name),
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		nats.IgnoreAuthErrorAbort(),
		nats.ReconnectWait(RetryEvery),
		nats.ReconnectJitter(retryJitter, retryJitter),
		nats.Timeout(ConnectWithin),
		nats.SetCustomDialer(dialer{l}),
		nats.SkipHostLookup(),  // the dialer bounds the look-up
		nats.PingInterval(0),   // the Link sends them
		nats.FlusherTimeout(0), // the connection bounds what it writes
		nats.ReconnectOnFlusherError(),
		nats.ConnectHandler(l.connected),
		nats.ReconnectHandler(l.connected),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { l.lost(err) }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { l.failed(err) }),
		nats.ErrorHandler(func(_ *nats.Conn, s *nats.Subscription, err error) { l.refused(s, err) }),
		nats.ClosedHandler(func(c *nats.Conn) { l.pings.Wake(); l.ended(c.LastError()) }),
	}
}

// State returns the current state; never nil. It does not wait. The zero Link is not connected.
func (l *Link) State() *ConnState {
	if s := l.state.Load(); s != nil {
		return s
	}
	return &ConnState{}
}

// Close ends the connection.
func (l *Link) Close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.Conn.Close()
}

// follow detects attempts that reach a server and fail there, for which the client has no callback.
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

// connected records a new connection.
func (l *Link) connected(c *nats.Conn) {
	server := ""
	if s := c.ConnectedUrl(); s != "" {
		server = Redact(s)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	next := *l.State()
	if server == "" || next.Connected { // lost again by now, or already recorded
		return
	}
	again := next.Server != ""
	next.Connected, next.Since, next.Server, next.Reason = true, time.Now().UnixMicro(), server, ""
	l.state.Store(&next)
	if again {
		l.log.Info("connected to NATS again", "server", server)
	} else {
		l.log.Info("connected to NATS", "server", server)
		if !c.AuthRequired() && !local(c.ConnectedAddr()) {
			l.log.Warn("the NATS server asks for no credentials, so each client that reaches it can change what is shown and act on instances; see pnagent permissions", "server", server)
		}
	}
}

// local reports whether an address is one of this host only.
func local(address string) bool {
	host, _, err := net.SplitHostPort(address)
	ip, notIP := netip.ParseAddr(host)
	return err != nil || notIP != nil || ip.Unmap().IsLoopback() // without an address it is in this process
}

// lost records the end of a connection.
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
	l.log.Warn("connection to NATS lost, retrying", "server", next.Server, "reason", next.Reason)
}

// failed records an attempt that led to no connection.
func (l *Link) failed(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := *l.State()
	if l.closed || next.Connected || err == nil || errors.Is(err, nats.ErrNoServers) { // ErrNoServers gives no reason
		return
	}
	next.Reason = Reason(err)
	l.state.Store(&next)
	if l.said.first(next.Reason, time.Now().UnixMicro()) {
		l.log.Warn("no connection to NATS, retrying", "reason", next.Reason)
	}
}

// refused records an error of the server or client that does not end the
// connection. Without a connection the reason is that of the last attempt.
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
		l.log.Warn("error on the connection to NATS", "subject", subject, "reason", reason)
	}
}

// ended records that the client closed the connection permanently, which no
// known error of a server makes it do.
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
	next.Connected, next.Since, next.Reason = false, time.Now().UnixMicro(), "closed permanently: "+Reason(err)
	l.state.Store(&next)
	l.log.Error("connection to NATS closed permanently; restart to connect again", "reason", next.Reason)
}
