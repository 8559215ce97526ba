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

// maxReason is how long a reason is at most, in bytes: servers are not trusted.
const maxReason = 200

// Reason returns an error of the client or the server as text for people: one
// line, the same each time that the same is wrong, without secrets.
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
	case errors.As(err, &op) && op.Addr != nil: // not with the own port, which is another one each time
		return oneLine(fmt.Sprintf("%s %s: %v", op.Op, op.Addr, op.Err))
	}
	return oneLine(strings.TrimPrefix(plain(err).Error(), "nats: "))
}

// oneLine bounds a text, and has no control characters in it.
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

// plain returns an error without the URL that it is about, which may hold a
// password.
func plain(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// Redact returns a comma-separated list of server URLs without what is secret in
// them: passwords, and a user without a password, which is a token.
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

// Of a reason that lasts, and of many that change.
const (
	sayEvery  = int64(time.Minute / time.Microsecond)
	maxSaying = 16
)

// notices are the reasons that were logged in the last minute. With more than
// maxSaying of them in a minute, the others are not logged.
type notices map[string]int64

// first reports whether a reason is to be logged at a time.
func (n *notices) first(reason string, now int64) bool {
	for text, at := range *n {
		if now-at >= sayEvery || now < at {
			delete(*n, text)
		}
	}
	if _, said := (*n)[reason]; said || len(*n) >= maxSaying {
		return false
	}
	if *n == nil {
		*n = notices{}
	}
	(*n)[reason] = now
	return true
}
