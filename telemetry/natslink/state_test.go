// SPDX-License-Identifier: Apache-2.0

package natslink

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
)

// linkIn returns a link in a given state, and its log.
func linkIn(s ConnState) (*Link, *bytes.Buffer) {
	said := &bytes.Buffer{}
	l := &Link{log: slog.New(slog.NewTextHandler(said, nil))}
	l.state.Store(&s)
	return l, said
}

// Each callback of the client changes the state and is logged, unless it
// reports nothing new.
func TestStateFollowsTheConnection(t *testing.T) {
	there, away := ConnState{Connected: true, Since: 1, Server: "nats://a", Disconnects: 4}, ConnState{Since: 1, Server: "nats://a", Reason: "EOF", Disconnects: 4}
	full := errors.New("maximum connections exceeded")
	for _, c := range []struct {
		name   string
		from   ConnState
		what   func(*Link)
		want   ConnState // without Since
		logged string
	}{
		{"lost", there, func(l *Link) { l.lost(io.EOF) }, ConnState{Server: "nats://a", Reason: "the server closed the connection", Disconnects: 5}, "level=WARN msg=\"connection to NATS lost"},
		{"lost twice", away, func(l *Link) { l.lost(io.EOF) }, away, ""},
		{"an attempt that fails", away, func(l *Link) { l.failed(full) }, ConnState{Server: "nats://a", Reason: full.Error(), Disconnects: 4}, "level=WARN msg=\"no connection to NATS, retrying\" reason=\"maximum connections"},
		{"an attempt of before, while it is there", there, func(l *Link) { l.failed(full) }, there, ""},
		{"no error", away, func(l *Link) { l.failed(nil) }, away, ""},
		{"all servers of the list were tried", away, func(l *Link) { l.failed(nats.ErrNoServers) }, away, ""},
		{"a complaint", there, func(l *Link) { l.refused(nil, full) }, there, "level=WARN msg=\"error on the connection to NATS\" subject=\"\" reason=\"maximum connections"},
		{"a subject that is not permitted", there, func(l *Link) {
			l.refused(&nats.Subscription{Subject: "s"}, fmt.Errorf("%w: s", nats.ErrPermissionViolation))
		},
			ConnState{Connected: true, Server: "nats://a", Reason: "permissions violation: s", Disconnects: 4}, "subject=s reason=\"permissions violation: s\""},
		{"a complaint while it is away", away, func(l *Link) { l.refused(nil, fmt.Errorf("%w", nats.ErrPermissionViolation)) }, away, ""},
		{"a complaint without an error", there, func(l *Link) { l.refused(nil, nil) }, there, ""},
		{"closed for good", there, func(l *Link) { l.ended(io.EOF) }, ConnState{Server: "nats://a", Reason: "closed permanently: the server closed the connection", Disconnects: 5}, "level=ERROR"},
		{"closed for good while it is away", away, func(l *Link) { l.ended(io.EOF) }, ConnState{Server: "nats://a", Reason: "closed permanently: the server closed the connection", Disconnects: 4}, "level=ERROR"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, said := linkIn(c.from)
			c.what(l)
			got := *l.State()
			if got.Connected == c.from.Connected && got.Reason == c.from.Reason && got.Since != 1 || got.Connected != c.from.Connected && got.Since == 1 {
				t.Errorf("since %d", got.Since)
			}
			got.Since = c.want.Since
			if got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
			if (c.logged == "") != (said.Len() == 0) || !strings.Contains(said.String(), c.logged) {
				t.Errorf("logged %q, want %q", said, c.logged)
			}
			closed, said := linkIn(c.from)
			closed.closed = true
			c.what(closed)
			if *closed.State() != c.from || said.Len() != 0 {
				t.Errorf("after Close: %+v, %q", *closed.State(), said)
			}
		})
	}
}

// Failing attempts do not log the reason of the loss again.
func TestTheReasonOfALossIsLoggedOnce(t *testing.T) {
	l, said := linkIn(ConnState{Connected: true, Server: "nats://a"})
	l.lost(io.EOF)
	l.failed(io.EOF)
	if n := strings.Count(said.String(), "the server closed the connection"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, said)
	}
}

func TestAReasonIsLoggedAgainAfterAMinute(t *testing.T) {
	var n notices
	for _, step := range []struct {
		at    int64
		first bool
	}{{logEvery, true}, {logEvery + 1, false}, {2*logEvery - 1, false}, {2 * logEvery, true}, {2 * logEvery, false},
		{logEvery, true}} { // the clock was set back
		if got := n.first("x", step.at); got != step.first {
			t.Errorf("at %d: %v, want %v", step.at, got, step.first)
		}
	}
	for i := range 2 * maxLogged {
		if got, want := n.first(fmt.Sprint(i), logEvery+1), i < maxLogged-1; got != want {
			t.Errorf("reason %d of a minute: %v, want %v", i, got, want)
		}
	}
}

// A server without users is warned about, unless only this host reaches it.
func TestLocalAddresses(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:4222": true, "[::1]:4222": true, "127.3.2.1:1": true, "[::ffff:127.0.0.1]:4222": true, "": true, "pipe": true,
		"192.0.2.7:4222": false, "[2001:db8::1]:4222": false, "0.0.0.0:4222": false,
	} {
		if got := local(address); got != want {
			t.Errorf("%q: got %v; want %v", address, got, want)
		}
	}
}
