// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/pnagent/pnagent/internal/promquery"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/web/api"
)

// Bounds on requests.
const (
	askTimeout = 10 * time.Second // for a document, with waiting
	atOnce     = 4                // documents that are made
	admitted   = 16               // those, and those that wait
	keepFor    = time.Minute      // a document
	maxKept    = 100_000          // rows of the documents that are kept
)

// Config is the configuration of an Archive.
type Config struct {
	URL      string           // of Prometheus, as in http://127.0.0.1:9090
	HTTP     *http.Client     // with its credentials
	Matchers string           // of the series of this sidecar, as in job="pnagent"; "" takes all
	Now      func() time.Time // nil is time.Now
	Log      *slog.Logger     // nil logs nothing
}

// Archive is the past of one sidecar in Prometheus. It is safe for concurrent use; Run may
// be called once.
type Archive struct {
	server   promquery.Server
	matchers string
	now      func() time.Time
	log      *slog.Logger

	slots  chan struct{} // of documents that are made
	places chan struct{} // of those, and those that wait
	flight singleflight.Group

	mu   sync.Mutex
	kept []document // by time
	from int64      // the oldest sample, microseconds since the Unix epoch; 0 if not known
	step time.Duration
}

// document is one that was made. It must not be changed.
type document struct {
	key  request
	made time.Time
	doc  any
	rows int
}

// request is what a document is about.
type request struct {
	kind, net, id string
	def           *petri.Net
	at            int64 // seconds since the Unix epoch
}

// New returns an Archive, or an error about the Config.
func New(cfg Config) (*Archive, error) {
	if strings.ContainsAny(cfg.Matchers, "{}\n") {
		return nil, fmt.Errorf(`matchers %q; expected such as job="pnagent"`, cfg.Matchers)
	}
	a := &Archive{server: promquery.Server{URL: cfg.URL, HTTP: cfg.HTTP, Timeout: askTimeout}, matchers: cfg.Matchers, now: cfg.Now, log: cmp.Or(cfg.Log, slog.New(slog.DiscardHandler)),
		slots: make(chan struct{}, atOnce), places: make(chan struct{}, admitted)}
	if a.now == nil {
		a.now = time.Now
	}
	return a, nil
}

// Extent returns the time of the oldest sample, in microseconds since the Unix epoch, and the
// time between two samples; 0 if there is none, or it is not known.
func (a *Archive) Extent() (from int64, step time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.from, a.step
}

// How often Run looks for the oldest sample.
const (
	lookEvery  = 10 * time.Minute
	retryEvery = time.Minute
)

// Run looks for the oldest sample until ctx ends.
func (a *Archive) Run(ctx context.Context) error {
	said := ""
	for {
		wait := lookEvery
		if err := a.look(ctx); err != nil {
			wait = retryEvery
			if ctx.Err() == nil && err.Error() != said {
				said = err.Error()
				a.log.Warn("looking for older data in Prometheus", "err", err)
			}
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil
		}
	}
}

func (a *Archive) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	from, step, err := a.extent(ctx)
	if err != nil && !errors.Is(err, api.ErrNothing) {
		return err // what was known is still the best
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.from, a.step = from, step
	return err
}

// get returns the document of a request: one that is kept, one that another caller is
// waiting for, or one that it makes. If the caller leaves, it is made nevertheless.
func get[T any](ctx context.Context, a *Archive, key request, make func(context.Context) (*T, int, error)) (*T, error) {
	if doc := a.recall(key); doc != nil {
		return doc.(*T), nil
	}
	done := a.flight.DoChan(fmt.Sprintf("%q %q %q %p %d", key.kind, key.net, key.id, key.def, key.at), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
		defer cancel()
		leave, err := a.enter(ctx)
		if err != nil {
			return nil, err
		}
		defer leave()
		doc, rows, err := make(ctx)
		if err != nil {
			return nil, err
		}
		a.keep(document{key, a.now(), doc, rows})
		return doc, nil
	})
	select {
	case r := <-done:
		if r.Err != nil {
			return nil, r.Err
		}
		return r.Val.(*T), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// enter waits for room to make a document.
func (a *Archive) enter(ctx context.Context) (leave func(), err error) {
	select {
	case a.places <- struct{}{}:
	default:
		return nil, api.ErrBusy
	}
	select {
	case a.slots <- struct{}{}:
		return func() { <-a.slots; <-a.places }, nil
	case <-ctx.Done():
		<-a.places
		return nil, api.ErrBusy
	}
}

func (a *Archive) recall(key request) any {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range a.kept {
		if d := &a.kept[i]; d.key == key && a.now().Sub(d.made) < keepFor {
			return d.doc
		}
	}
	return nil
}

// keep keeps a document, and drops those that are old or too many.
func (a *Archive) keep(d document) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.kept = append(a.kept, d)
	rows := 0
	for i := len(a.kept) - 1; i >= 0; i-- {
		if rows += a.kept[i].rows + 1; i < len(a.kept)-1 && (rows > maxKept || d.made.Sub(a.kept[i].made) >= keepFor) {
			a.kept = append([]document(nil), a.kept[i+1:]...)
			return
		}
	}
}
