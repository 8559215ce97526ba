// SPDX-License-Identifier: Apache-2.0

package action

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/internal/samehost"
)

// HTTP performs an action by a request. A response with a status from 200 to
// 299 is the outcome, with an answer or without a body; every other status is a
// failure. The header Idempotency-Key has the attempt's key. Redirects are
// followed to the same host only, with the same method, at most five.
type HTTP struct {
	URL     string            // http or https, without user and password
	Method  string            // POST, PUT or PATCH; "" for POST
	Headers map[string]Secret // by name
	Timeout time.Duration     // 0 for DefaultTimeout
}

// Secret is a header's value: literal, from the environment, or from a file. A
// file is read for each request, without surrounding white space.
type Secret struct {
	Value, Env, File string // exactly one is set
}

// maxSecret bounds the file of a secret, in bytes.
const maxSecret = 64 << 10

// Func implements [Performer]. It reads the secrets once to check that they
// exist.
func (h HTTP) Func(with Peers) (Func, error) {
	where, err := h.check()
	if err != nil {
		return nil, err
	}
	h.Method = cmp.Or(h.Method, http.MethodPost)
	if _, err := h.header(); err != nil {
		return nil, err
	}
	client := &http.Client{Transport: with.HTTP, CheckRedirect: samehost.Redirect}
	return func(ctx context.Context, r *Run) (coloured.Outcome, error) {
		o, err := h.perform(ctx, client, r)
		if err != nil {
			err = fmt.Errorf("%s %s: %w", h.Method, where, err)
		}
		return o, err
	}, nil
}

// check returns the URL for messages, without the query, which may be secret.
func (h HTTP) check() (where string, err error) {
	u, err := url.Parse(h.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", errors.New("found no URL; expected one such as https://example.org/pay")
	}
	if u.User != nil {
		return "", errors.New("a URL with a user; expected a header with {env: NAME} or {file: path} instead")
	}
	if !slices.Contains([]string{"", http.MethodPost, http.MethodPut, http.MethodPatch}, h.Method) {
		return "", fmt.Errorf("found the method %q; expected POST, PUT or PATCH", clip(h.Method))
	}
	for name := range h.Headers {
		switch {
		case !isHeaderName(name):
			return "", fmt.Errorf("found the header %q; expected a name of letters, digits and -", clip(name))
		case slices.Contains([]string{"Host", "Content-Length", "Content-Type", "Transfer-Encoding", "Connection", "Idempotency-Key"}, http.CanonicalHeaderKey(name)):
			return "", fmt.Errorf("the header %q is set by the action itself; expected another", name)
		}
	}
	return u.Scheme + "://" + u.Host + u.EscapedPath(), nil
}

func isHeaderName(s string) bool {
	for _, c := range s {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return s != ""
}

func (h HTTP) header() (http.Header, error) {
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}, "User-Agent": {"pnagent"}}
	for name, s := range h.Headers {
		v, err := s.read()
		if err != nil {
			return nil, fmt.Errorf("the header %q: %w", name, err)
		}
		header.Set(name, v)
	}
	return header, nil
}

// read returns the secret. The error does not contain it.
func (s Secret) read() (string, error) {
	v := s.Value
	switch {
	case s.Env != "":
		var ok bool
		if v, ok = os.LookupEnv(s.Env); !ok {
			return "", fmt.Errorf("the environment has no %s", s.Env)
		}
	case s.File != "":
		f, err := os.Open(s.File)
		if err != nil {
			return "", err
		}
		defer f.Close()
		text, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
		if err != nil {
			return "", err
		}
		if len(text) > maxSecret {
			return "", fmt.Errorf("%s has more than %d bytes", s.File, maxSecret)
		}
		v = strings.TrimSpace(string(text))
	}
	if strings.ContainsFunc(v, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
		return "", errors.New("a value with control characters; expected one line")
	}
	return v, nil
}

func (h HTTP) perform(ctx context.Context, client *http.Client, r *Run) (coloured.Outcome, error) {
	body, err := request(r)
	if err != nil {
		return coloured.Outcome{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout(h.Timeout))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, h.Method, h.URL, bytes.NewReader(body))
	if err != nil {
		return coloured.Outcome{}, errors.New("making the request")
	}
	if req.Header, err = h.header(); err != nil {
		return coloured.Outcome{}, err
	}
	req.Header.Set("Idempotency-Key", r.Key)
	resp, err := client.Do(req)
	if err != nil {
		return coloured.Outcome{}, bare(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, MaxAnswer+1))
	switch {
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return coloured.Outcome{}, fmt.Errorf("status %s: %s", clip(resp.Status), h.hide(req.Header, clip(string(text))))
	case err != nil:
		return coloured.Outcome{}, fmt.Errorf("reading the response: %w", err)
	}
	return decode(text, r)
}

// hide removes secrets from a server's response.
func (h HTTP) hide(header http.Header, text string) string {
	for name, s := range h.Headers {
		if v := header.Get(name); v != "" && s.Value == "" {
			text = strings.ReplaceAll(text, v, "[secret]")
		}
	}
	return text
}

// bare removes the URL from an error, because its query may be secret.
func bare(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}
