// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Bounds of what is read of a cluster.
const (
	listPage  = 500     // objects in one answer to a list
	maxObject = 8 << 20 // bytes of one object; etcd takes 1.5 MiB by default
	maxError  = 4 << 10 // bytes of an error that are read
)

// statusError is an answer other than success.
type statusError struct {
	path    string
	code    int
	message string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("GET %s: %d %s: %s", e.path, e.code, http.StatusText(e.code), e.message)
}

// code returns the HTTP code of an answer that an error is about, or 0.
func code(err error) int {
	if e := (*statusError)(nil); errors.As(err, &e) {
		return e.code
	}
	return 0
}

// status is the object that the API server answers an error with.
type status struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// get sends a request, and returns the body of its answer.
func (c *Cluster) get(ctx context.Context, path string, query url.Values) (io.ReadCloser, error) {
	to := c.base.JoinPath(path)
	to.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, to.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	sent := time.Now()
	resp, err := c.client.Do(req)
	if err != nil {
		return nil, err
	}
	c.clock.See(resp.Header, sent, time.Now())
	if resp.StatusCode == http.StatusOK {
		return resp.Body, nil
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxError))
	var s status
	if json.Unmarshal(text, &s) != nil || s.Message == "" {
		s.Message = string(bytes.TrimSpace(text))
	}
	return nil, &statusError{path: path, code: resp.StatusCode, message: s.Message}
}

// bounded is a stream of values of which each has at most a number of bytes.
type bounded struct {
	from io.Reader
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("an object of more than %d bytes", maxObject)
	}
	n, err := b.from.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// decoder decodes the values of a stream. Of each it keeps at most maxObject bytes, and what
// the decoder read ahead.
type decoder struct {
	*json.Decoder
	from *bounded
}

func newDecoder(from io.Reader) *decoder {
	b := &bounded{from: from, left: maxObject}
	return &decoder{json.NewDecoder(b), b}
}

// next decodes the next value.
func (d *decoder) next(into any) error {
	d.from.left = maxObject
	return d.Decode(into)
}

// listMeta is the metadata of a list.
type listMeta struct {
	ResourceVersion string `json:"resourceVersion"`
	Continue        string `json:"continue"`
}

// readList reads a list object by object: take is called with each, whose bytes are used
// again afterwards.
func readList(from io.Reader, take func(json.RawMessage) error) (meta listMeta, err error) {
	d := newDecoder(from)
	if err := open(d, '{'); err != nil {
		return meta, err
	}
	var object json.RawMessage
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return meta, err
		}
		switch key {
		case "metadata":
			err = d.next(&meta)
		case "items":
			err = readItems(d, &object, take)
		default:
			err = d.next(&object)
		}
		if err != nil {
			return meta, err
		}
	}
	_, err = d.Token()
	if err == nil && meta.ResourceVersion == "" {
		err = errors.New("a list without a resource version")
	}
	return meta, err
}

// readItems reads the items of a list, which are null in a list without any.
func readItems(d *decoder, object *json.RawMessage, take func(json.RawMessage) error) error {
	first, err := d.Token()
	if err != nil || first == nil {
		return err
	}
	if first != json.Delim('[') {
		return fmt.Errorf("items begin with %v; expected [", first)
	}
	for d.More() {
		if err := d.next(object); err != nil {
			return err
		}
		if err := take(*object); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

func open(d *decoder, want json.Delim) error {
	first, err := d.Token()
	if err == nil && first != want {
		err = fmt.Errorf("the answer begins with %v; expected %v", first, want)
	}
	return err
}

// event is one event of a watch.
type event struct {
	Type   string          `json:"type"`
	Object json.RawMessage `json:"object"`
}

// readWatch reads the events of a watch until its end, and calls take with each.
func readWatch(from io.Reader, take func(kind string, object json.RawMessage) error) error {
	d := newDecoder(from)
	var e event
	for {
		e.Type = ""
		err := d.next(&e)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = take(e.Type, e.Object)
		}
		if err != nil {
			return err
		}
	}
}

// pageQuery returns the query of a page of a list: the first one for "".
func pageQuery(selectors url.Values, next string, whole bool) url.Values {
	q := url.Values{}
	for key, v := range selectors {
		q[key] = v
	}
	if !whole {
		q.Set("limit", strconv.Itoa(listPage))
	}
	if next != "" {
		q.Set("continue", next)
	}
	return q
}
