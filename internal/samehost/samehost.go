// SPDX-License-Identifier: Apache-2.0

// Package samehost holds the redirects that HTTP clients of pnagent follow: those
// within one server. Another host would get the credentials of the first one, and
// its answer would stand for that of the address that the user configured.
package samehost

import (
	"errors"
	"fmt"
	"net/http"
)

// most bounds the redirects of one request.
const most = 5

// ErrAway is wrapped by errors about a redirect to another server.
var ErrAway = errors.New("redirected to another host; expected the same")

// Redirect is the CheckRedirect of a client. It rejects a redirect to another
// scheme, host or port, one that would send the request with another method and
// without its body, and the one after five.
func Redirect(next *http.Request, before []*http.Request) error {
	first := before[0]
	switch {
	case len(before) > most:
		return fmt.Errorf("more than %d redirects", most)
	case next.URL.Scheme != first.URL.Scheme || next.URL.Host != first.URL.Host:
		return fmt.Errorf("%w: %s://%s", ErrAway, next.URL.Scheme, next.URL.Host)
	case next.Method != first.Method:
		return fmt.Errorf("redirected with the method %s; expected status 307 or 308, which keep it", next.Method)
	}
	return nil
}
