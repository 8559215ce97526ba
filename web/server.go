// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pnagent/pnagent/alarm"
	"github.com/pnagent/pnagent/collector"
	"github.com/pnagent/pnagent/history"
)

// What a Config of zero stands for.
const (
	DefaultViewers      = 1000
	DefaultRequests     = 64
	DefaultWriteTimeout = 10 * time.Second
	DefaultHeartbeat    = 15 * time.Second
)

// lookEvery is how often Run looks for a new View.
const lookEvery = 50 * time.Millisecond

// Config says what a Server shows.
type Config struct {
	View    func() *collector.View // the newest View, nil while there is none
	Alarms  func() *alarm.State    // nil for no alarms
	History *history.Store         // the last hour; of the Server alone from here on
	Ask     Ask                    // nil if engines cannot be asked
	Version string                 // of pnagent: a drawing may differ in the next

	Viewers      int           // at once, 0 is DefaultViewers
	Requests     int           // under way at once, besides viewers; 0 is DefaultRequests
	WriteTimeout time.Duration // of a viewer that takes nothing; 0 is DefaultWriteTimeout
	Heartbeat    time.Duration // between signs of life; 0 is DefaultHeartbeat

	Now func() time.Time // nil is time.Now
	Log *slog.Logger     // nil logs nothing
}

// Server serves the live page. It is safe for concurrent use; Run may be called
// once.
type Server struct {
	cfg   Config
	files map[string]*file // by path
	board atomic.Pointer[board]
	alive *event        // a comment that tells a reader, and what is between, that a stream lives
	slots chan struct{} // of requests
	done  chan struct{} // closed when Run ends

	windows  map[string]*window  // by net; of Run
	drawings map[string]*drawing // by net; of Run

	mu      sync.Mutex
	looking map[string]int // viewers by net; those of overviews only are at ""
	viewers int

	past    sync.RWMutex // guards history
	history *history.Store

	counters counters
}

// New makes a Server. The error is about the Config.
func New(cfg Config) (*Server, error) {
	if cfg.View == nil || cfg.History == nil {
		return nil, errors.New("web: no View or no history to show")
	}
	cfg.setDefaults()
	s := &Server{cfg: cfg, slots: make(chan struct{}, cfg.Requests), done: make(chan struct{}),
		windows: map[string]*window{}, drawings: map[string]*drawing{}, looking: map[string]int{}, history: cfg.History,
		alive: newText([]byte(": alive\n\n"))}
	page, err := fs.Sub(pageFiles, "page")
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	if s.files, err = readFiles(page); err != nil {
		return nil, err
	}
	s.board.Store(emptyBoard())
	return s, nil
}

func (cfg *Config) setDefaults() {
	if cfg.Alarms == nil {
		cfg.Alarms = func() *alarm.State { return nil }
	}
	if cfg.Viewers <= 0 {
		cfg.Viewers = DefaultViewers
	}
	if cfg.Requests <= 0 {
		cfg.Requests = DefaultRequests
	}
	if cfg.WriteTimeout <= 0 {
		cfg.WriteTimeout = DefaultWriteTimeout
	}
	if cfg.Heartbeat <= 0 {
		cfg.Heartbeat = DefaultHeartbeat
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
}

// Run follows the Views until ctx ends; then the streams of all viewers end
// too, so that the HTTP server can stop.
func (s *Server) Run(ctx context.Context) error {
	defer close(s.done)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		s.look()
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// look makes a board of the newest View, if it is a new one, and wakes the
// viewers.
func (s *Server) look() {
	before, view := s.board.Load(), s.cfg.View()
	if view == nil || view == before.view {
		return
	}
	alarms := s.cfg.Alarms()
	if alarms == nil {
		alarms = &alarm.State{}
	}
	s.board.Store(s.advance(before, view, alarms))
	close(before.next)
}

// extent is what of the past there is.
type extent struct {
	from, to int64 // microseconds since the Unix epoch; 0 for nothing
	step     time.Duration
}

// record adds a View to the history.
func (s *Server) record(view *collector.View) extent {
	s.past.Lock()
	defer s.past.Unlock()
	s.history.Add(view)
	e := extent{step: s.history.Step()}
	e.from, e.to = s.history.Extent()
	return e
}

// lookedAt reports whether somebody looks at a net.
func (s *Server) lookedAt(net string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.looking[net] > 0
}

// Handler serves the page and the API.
func (s *Server) Handler() http.Handler {
	routes := map[string]http.HandlerFunc{
		"/api/v1/overview":    s.serveOverview,
		"/api/v1/drawing":     s.serveDrawing,
		"/api/v1/drawing.svg": s.servePicture,
		"/api/v1/place":       s.servePlace,
		"/api/v1/transition":  s.serveTransition,
		"/api/v1/instance":    s.serveInstance,
		"/api/v1/history":     s.serveHistory,
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		secure(w.Header())
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			refuse(w, http.StatusMethodNotAllowed, "only GET and HEAD")
			return
		}
		if r.URL.Path == "/api/v1/live" {
			s.serveLive(w, r)
			return
		}
		if route := routes[r.URL.Path]; route != nil {
			s.limited(w, r, route)
			return
		}
		s.serveFile(w, r)
	})
}

// limited bounds how many requests are under way, and how long each may take
// to be read.
func (s *Server) limited(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	default:
		s.counters.refused.Add(1)
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusServiceUnavailable, "too many requests are under way")
		return
	}
	// A ResponseWriter of a test has no deadlines; then there is none.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.cfg.WriteTimeout + requestTimeout))
	serve(w, r)
}

// requestTimeout is how long it may take to make an answer.
const requestTimeout = 5 * time.Second
