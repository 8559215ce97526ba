// SPDX-License-Identifier: Apache-2.0

package report

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pnagent/pnagent/web/api"
)

// Bounds on asking.
const (
	askTimeout = 30 * time.Second // for one answer
	atOnce     = 4                // requests under way
	maxSeries  = 5000             // of an answer, where Prometheus can cut it
)

// Prometheus is a server that scrapes sidecars.
type Prometheus struct {
	URL  string // as in http://127.0.0.1:9090
	Name string // what the page calls it: the URL without a password
	HTTP *http.Client
}

// over evaluates an expression at every step of a time.
func (p Prometheus) over(ctx context.Context, expr string, from, to time.Time, step time.Duration) (*answer, error) {
	return p.ask(ctx, "/api/v1/query_range", url.Values{"query": {expr}, "start": {stamp(from)}, "end": {stamp(to)},
		"step": {strconv.FormatFloat(step.Seconds(), 'f', -1, 64)}})
}

// at evaluates an expression at a time.
func (p Prometheus) at(ctx context.Context, expr string, at time.Time) (*answer, error) {
	return p.ask(ctx, "/api/v1/query", url.Values{"query": {expr}, "time": {stamp(at)}})
}

func stamp(t time.Time) string { return strconv.FormatFloat(float64(t.UnixMilli())/1000, 'f', 3, 64) }

func (p Prometheus) ask(ctx context.Context, path string, form url.Values) (*answer, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	form.Set("timeout", askTimeout.String())
	form.Set("limit", strconv.Itoa(maxSeries))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(p.URL, "/")+path, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, fmt.Errorf("querying Prometheus: %w", api.WithoutAddress(err))
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := p.HTTP.Do(req)
	if err != nil {
		return nil, fmt.Errorf("querying Prometheus: %w", api.WithoutAddress(err))
	}
	defer resp.Body.Close()
	a, err := readAnswer(resp.Body)
	if resp.StatusCode != http.StatusOK {
		if err == nil || strings.HasPrefix(err.Error(), "reading") {
			err = errors.New("no error message")
		}
		return nil, fmt.Errorf("querying Prometheus: %s: %w", resp.Status, err)
	}
	if err != nil {
		return nil, fmt.Errorf("querying Prometheus: %w", err)
	}
	return a, nil
}

// scrapeInterval is how often sidecars are scraped: the median time between
// samples, 15 seconds where there are none.
func (p Prometheus) scrapeInterval(ctx context.Context, selector string, o *Options) (time.Duration, error) {
	a, err := p.at(ctx, selector+"["+promDuration(min(o.Since, time.Hour))+"]", o.Now)
	if err != nil {
		return 0, err
	}
	var apart []time.Duration
	for _, s := range a.series {
		for i := 1; i < len(s.points); i++ {
			apart = append(apart, s.points[i].At.Sub(s.points[i-1].At))
		}
	}
	if len(apart) == 0 {
		return 15 * time.Second, nil
	}
	slices.Sort(apart)
	return max(apart[len(apart)/2].Round(time.Second), time.Second), nil
}

// promDuration writes a duration as Prometheus reads it.
func promDuration(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) + "ms" }
