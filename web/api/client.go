// SPDX-License-Identifier: Apache-2.0

package api

import (
	"bytes"
	"context"
	_ "embed" // the OpenAPI description
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/pnagent/pnagent/internal/plaintext"
)

// OpenAPI is the description of the API, OpenAPI 3.1 as JSON.
//
//go:embed openapi.json
var OpenAPI []byte

// Bounds on the documents of a sidecar. A View of 1,000 nets with 100 places and
// as many transitions each is 100 MB and 1.5 million objects.
const (
	maxBytes   = 256 << 20
	maxObjects = 4 << 20
)

// ErrNothing means that nothing is kept of a moment, and ErrBusy that too many documents of
// the past are being made.
var (
	ErrNothing = errors.New("nothing is kept of that time")
	ErrBusy    = errors.New("too many requests for older data at once")
)

// ErrTooLarge means that a document exceeds the bounds.
var ErrTooLarge = errors.New("too large")

// askTimeout is the time limit for one request with its answer.
const askTimeout = 30 * time.Second

// Client sends requests to one sidecar.
type Client struct {
	URL  string // as in http://127.0.0.1:9797
	HTTP *http.Client
}

// View returns the View of the sidecar.
func (c Client) View(ctx context.Context) (*View, error) {
	v, err := Get[View](ctx, c, "view", nil)
	if err == nil {
		err = v.check()
	}
	if err != nil {
		return nil, fmt.Errorf("asking the sidecar: %w", err)
	}
	return v, nil
}

func (v *View) check() error {
	if v.Generation == 0 || v.At == 0 {
		return errors.New("the view has no generation; expected the address of a sidecar")
	}
	return nil
}

// Get returns the document at a path below /api/v1/. Errors do not contain the
// address, which may have a password in it.
func Get[T any](ctx context.Context, c Client, path string, query url.Values) (*T, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	resp, err := c.send(ctx, http.MethodGet, path, nil, nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		_, _ = io.CopyN(io.Discard, resp.Body, 1<<12) // so that the connection can be reused
		return nil, errors.New(resp.Status)
	}
	return Decode[T](resp.Body)
}

// send sends a request to a path below /api/v1/.
func (c Client) send(ctx context.Context, method, path string, header http.Header, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.URL, "/")+"/api/v1/"+path, bytes.NewReader(body))
	if err != nil {
		return nil, withoutAddress(err)
	}
	maps.Copy(req.Header, header)
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return nil, withoutAddress(err)
	}
	return resp, nil
}

// withoutAddress returns the error of a request without the URL, which may have a
// password in it.
func withoutAddress(err error) error {
	if inner := (*url.Error)(nil); errors.As(err, &inner) {
		return inner.Err
	}
	return err
}

// Decode reads a document. It returns ErrTooLarge for one beyond 256 MiB or four
// million objects.
func Decode[T any](r io.Reader) (*T, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	// Each element of a list is an object, a list, or an invalid null. They are
	// counted first, so that a small text cannot become a large document.
	if err == nil && (len(text) > maxBytes || bytes.Count(text, []byte("{"))+bytes.Count(text, []byte("["))+bytes.Count(text, []byte("null")) > maxObjects) {
		err = ErrTooLarge
	}
	document := new(T)
	if err == nil {
		err = json.Unmarshal(text, document)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	return document, nil
}

// Encode writes a document and a newline. Names are as in the net's definition;
// bytes that are not UTF-8 become U+FFFD.
func Encode(w io.Writer, document any) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(document); err != nil {
		return err
	}
	_, err := w.Write(plaintext.Lines(text.Bytes()))
	return err
}
