// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/pnagent/pnagent/top"
)

// askTimeout bounds one request with its answer.
const askTimeout = 10 * time.Second

// Client asks one sidecar.
type Client struct {
	URL  string // as in http://127.0.0.1:9797
	HTTP *http.Client
}

// Ask returns the sidecar's View and its active alarms; these are nil where it
// does not say them.
func (c Client) Ask(ctx context.Context) (*top.View, *top.Alarms, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	view, err := get(ctx, c, "/api/v1/view", top.Decode)
	if err != nil {
		return nil, nil, err
	}
	alarms, err := get(ctx, c, "/api/v1/alarms", top.DecodeAlarms)
	if err != nil {
		return view, nil, nil // the View is worth showing without them
	}
	return view, alarms, nil
}

func get[T any](ctx context.Context, c Client, path string, decode func(io.Reader) (*T, error)) (*T, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(c.URL, "/")+path, nil)
	if err != nil {
		return nil, fmt.Errorf("asking the sidecar: %w", err)
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		if inner := (*url.Error)(nil); errors.As(err, &inner) {
			err = inner.Err // the address is said elsewhere
		}
		return nil, fmt.Errorf("asking the sidecar: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("asking the sidecar: %s", resp.Status)
	}
	return decode(resp.Body)
}
