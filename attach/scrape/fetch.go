// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/pnagent/pnagent/internal/samehost"
)

// Bounds of a scrape.
const (
	MaxBody   = 64 << 20 // bytes
	MaxSeries = 500_000
)

// accept prefers protobuf, which has native histograms and created timestamps, to text.
const accept = `application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.7,text/plain;version=0.0.4;q=0.5,application/openmetrics-text;version=1.0.0;q=0.4,*/*;q=0.1`

var errStatus = errors.New("status is not 200")

// fetch scrapes a URL. The time is when the answer began. The error wraps
// errStatus, errTooLarge, errCut, errGarbage, or the error of the context or
// the connection.
func fetch(ctx context.Context, client *http.Client, url string) (families, time.Time, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, time.Time{}, err
	}
	req.Header.Set("Accept", accept)
	req.Header.Set("User-Agent", "pnagent")
	resp, err := client.Do(req)
	if err != nil {
		return nil, time.Time{}, err
	}
	at := time.Now()
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, at, fmt.Errorf("%s: %w", resp.Status, errStatus)
	}
	body, err := read(resp.Body)
	if err != nil {
		return nil, at, err
	}
	all, err := parse(body, resp.Header.Get("Content-Type"), MaxSeries)
	return all, at, err
}

// read reads a whole answer.
func read(r io.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, MaxBody+1))
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("after %d bytes: %w", len(body), errCut)
	case err != nil:
		return nil, fmt.Errorf("after %d bytes: %w", len(body), err)
	case len(body) > MaxBody:
		return nil, fmt.Errorf("more than %d bytes: %w", MaxBody, errTooLarge)
	}
	return body, nil
}

// resultOf returns the result of a scrape as a label.
func resultOf(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, errStatus):
		return "status"
	case errors.Is(err, errTooLarge):
		return "too_large"
	case errors.Is(err, errCut):
		return "cut"
	case errors.Is(err, errGarbage):
		return "garbage"
	case errors.Is(err, samehost.ErrAway):
		return "redirected"
	case errors.Is(err, errUnmapped):
		return "unmapped"
	case errors.Is(err, errIncomplete):
		return "incomplete"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	}
	return "connection"
}

// results returns the labels of resultOf.
func results() []string {
	return []string{"ok", "status", "too_large", "cut", "garbage", "unmapped", "incomplete", "redirected", "timeout", "connection"}
}
