// SPDX-License-Identifier: Apache-2.0

package natslink

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nats-io/nats.go"
)

// maxReason bounds the bytes of a reason, since servers are not trusted.
const maxReason = 200

// Reason returns an error of the client or the server as one line for
// operators: the same line for the same cause, without secrets.
func Reason(err error) string {
	var op *net.OpError
	var name *net.DNSError
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return "the server closed the connection"
	case errors.Is(err, nats.ErrStaleConnection):
		return fmt.Sprintf("the server has not answered %d pings: stale connection", PingsOut)
	case errors.As(err, &name) && name.IsTimeout:
		return oneLine(fmt.Sprintf("lookup %s: no answer in time", name.Name))
	case errors.As(err, &name):
		return oneLine(fmt.Sprintf("lookup %s: %s", name.Name, name.Err))
	case errors.As(err, &op) && op.Addr != nil: // without the local port, which differs each time
		return oneLine(fmt.Sprintf("%s %s: %v", op.Op, op.Addr, op.Err))
	}
	return oneLine(strings.TrimPrefix(plain(err).Error(), "nats: "))
}

// oneLine returns a text without control characters and of bounded length.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return ' '
		}
		return r
	}, text)
	if len(text) > maxReason {
		text = strings.ToValidUTF8(text[:maxReason], "") + "…"
	}
	return text
}

// plain returns an error without its URL, which may hold a password.
func plain(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// Redact returns a comma-separated list of server URLs without secrets:
// passwords, and a user without a password, which is a token.
func Redact(urls string) string {
	list := strings.Split(urls, ",")
	for i, s := range list {
		u, err := url.Parse(strings.TrimSpace(s))
		if err != nil {
			list[i] = "(not a URL)"
			continue
		}
		if _, has := u.User.Password(); u.User != nil && !has {
			u.User = url.User("xxxxx")
		}
		list[i] = u.Redacted()
	}
	return strings.Join(list, ",")
}

// Bounds of what is logged.
const (
	logEvery  = int64(time.Minute / time.Microsecond)
	maxLogged = 16
)

// notices maps the reasons of the last minute to the time of their log line.
// With maxLogged reasons in a minute, further ones are not logged.
type notices map[string]int64

// first reports whether a reason is due for logging at a time.
func (n *notices) first(reason string, now int64) bool {
	for text, at := range *n {
		if now-at >= logEvery || now < at {
			delete(*n, text)
		}
	}
	if _, said := (*n)[reason]; said || len(*n) >= maxLogged {
		return false
	}
	if *n == nil {
		*n = notices{}
	}
	(*n)[reason] = now
	return true
}
