// SPDX-License-Identifier: Apache-2.0

package camunda8

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/stats"
)

// Bounds of one answer.
const (
	maxBody  = 64 << 20 // bytes
	maxModel = 16 << 20 // bytes of a BPMN file
	pageSize = 1000     // items; the API allows 10,000
)

// errAbsent is wrapped if the API has no such path, as older versions.
var errAbsent = errors.New("not in this version of the API")

// errPages is returned if the pages of a search do not end.
var errPages = errors.New("the cursor of a page is that of the page before")

// errNoItems is returned for an answer that is no answer to a search, such as {}.
var errNoItems = errors.New("the answer has no items")

// client asks the Orchestration Cluster REST API.
type client struct {
	http *http.Client
	base string // with /v2, without a slash at the end
	page int    // items of a page

	clock    ledger.Clock
	requests uint64
}

// newClient returns a client of the API at an address such as
// http://127.0.0.1:8080; /v2 is added if it is absent.
func newClient(address string, transport *http.Client) (*client, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("%w: the address cannot be read; expected http://HOST:PORT", ErrConfig)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%w: address %s; expected http://HOST:PORT or https://HOST:PORT/PATH", ErrConfig, u.Redacted())
	}
	base := strings.TrimRight(u.String(), "/")
	if !strings.HasSuffix(base, "/v2") {
		base += "/v2"
	}
	return &client{http: transport, base: base, page: pageSize}, nil
}

// do sends a request and returns the answer's body. The error wraps errAbsent if
// the path is not there.
func (c *client) do(ctx context.Context, method, path string, query any, most int64) ([]byte, error) {
	var content io.Reader = http.NoBody
	if query != nil {
		text, err := json.Marshal(query)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, content)
	if err != nil {
		return nil, err
	}
	if query != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json, text/xml, application/problem+json")
	req.Header.Set("User-Agent", "pnagent")
	c.requests++
	sent := time.Now()
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, withoutAddress(err)
	}
	defer resp.Body.Close()
	c.clock.See(resp.Header, sent, time.Now())
	body, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s %s: %w", method, path, refusal(resp, body))
	case int64(len(body)) > most:
		return nil, fmt.Errorf("%s %s: an answer of more than %d bytes", method, path, most)
	}
	return body, nil
}

// withoutAddress removes the address from an error, which may hold a password.
func withoutAddress(err error) error {
	if u := (*url.Error)(nil); errors.As(err, &u) {
		return u.Err
	}
	return err
}

// refusal returns what an answer other than 200 says.
func refusal(resp *http.Response, body []byte) error {
	var problem struct{ Title, Detail string }
	_ = json.Unmarshal(body, &problem) // a text of another form has no detail
	text := resp.Status
	if problem.Detail != "" {
		text += ": " + stats.Clip(problem.Detail, 300)
	}
	if resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusMethodNotAllowed {
		return fmt.Errorf("%s: %w", text, errAbsent)
	}
	return errors.New(text)
}

// query is a search.
type query struct {
	Filter map[string]any `json:"filter,omitempty"`
	Sort   []order        `json:"sort,omitempty"`
	Page   pageRequest    `json:"page"`
}

// order is a field to sort by, ascending.
type order struct {
	Field string `json:"field"`
	Order string `json:"order"`
}

type pageRequest struct {
	Limit int    `json:"limit"`
	After string `json:"after,omitempty"`
}

// by sorts by fields.
func by(fields ...string) (out []order) {
	for _, f := range fields {
		out = append(out, order{f, "ASC"})
	}
	return out
}

// in matches a field with any of the values.
func in(values ...string) map[string]any { return map[string]any{"$in": values} }

// since matches a time, in microseconds, or a later one.
func since(micros int64) map[string]any {
	return map[string]any{"$gte": time.UnixMicro(micros).UTC().Format("2006-01-02T15:04:05.000Z")}
}

// search asks for all items that match, in pages, and calls take with at most most
// of them. It reports whether there were more.
func search[T any](ctx context.Context, c *client, path string, q query, most int, take func(*T) error) (more bool, err error) {
	q.Page.Limit = c.page
	for taken := 0; ; {
		body, err := c.do(ctx, http.MethodPost, path+"/search", q, maxBody)
		if err != nil {
			return false, err
		}
		var answer struct {
			Items []T // nil if the answer has none, also not an empty list
			Page  struct {
				TotalItems int
				EndCursor  string
			}
		}
		err = json.Unmarshal(body, &answer)
		if err == nil && answer.Items == nil {
			err = errNoItems
		}
		if err != nil {
			return false, fmt.Errorf("POST %s/search: %w", path, err)
		}
		for i := range answer.Items {
			if taken == most {
				return true, nil
			}
			taken++
			if err := take(&answer.Items[i]); err != nil {
				return false, err
			}
		}
		switch {
		case len(answer.Items) == 0 || answer.Page.EndCursor == "", len(answer.Items) < c.page && taken >= answer.Page.TotalItems:
			return false, nil
		case answer.Page.EndCursor == q.Page.After:
			return false, fmt.Errorf("POST %s/search: %w", path, errPages)
		}
		q.Page.After = answer.Page.EndCursor
	}
}
