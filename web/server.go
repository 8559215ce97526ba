// SPDX-License-Identifier: Apache-2.0

package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/history"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/lograte"
	"github.com/pnagent/pnagent/web/api"
)

// The defaults of Config.
const (
	DefaultViewers           = 1000
	DefaultViewersPerAddress = 100
	DefaultRequests          = 64
	DefaultWriteTimeout      = 10 * time.Second
	DefaultHeartbeat         = 15 * time.Second
)

// Config is the configuration of a Server.
type Config struct {
	Views   <-chan *merge.View      // from Collector.Subscribe
	Alarms  <-chan *alarm.ActiveSet // from Watcher.Subscribe; nil for no alarms
	History *history.Store          // the last hour; owned by the Server
	Ask     Ask                     // nil if engines cannot be asked
	Actions *Actions                // nil if nothing can be changed
	Oldest  Oldest                  // nil if engines cannot be asked for tokens
	Audit   Audit                   // nil if it is not known what people did
	Archive Archive                 // nil without older moments
	Links   Links                   // addresses that the page shows
	Sidecar func() api.Sidecar      // what the sidecar is now; nil if it is not known
	Version string                  // of pnagent: versions may draw differently

	Viewers           int           // at once, 0 is DefaultViewers
	ViewersPerAddress int           // of one address; 0 is DefaultViewersPerAddress
	Requests          int           // at once, besides viewers; 0 is DefaultRequests
	WriteTimeout      time.Duration // of a viewer that reads nothing; 0 is DefaultWriteTimeout
	Heartbeat         time.Duration // between signs of life; 0 is DefaultHeartbeat

	Now func() time.Time // nil is time.Now
	Log *slog.Logger     // nil logs nothing
}

// Server serves the live page. It is safe for concurrent use; Run may be called
// once.
type Server struct {
	cfg    Config
	site   *site
	board  atomic.Pointer[board]
	alarms atomic.Pointer[alarm.ActiveSet] // the newest
	links  *api.Links
	alive  *event        // a comment that keeps a stream open
	slots  chan struct{} // of requests
	done   chan struct{} // closed when Run ends

	drawings map[string]*drawing // by net; of Run

	mu      sync.Mutex
	looking map[string]int // viewers by net; "" for viewers of overviews only
	viewers int
	peers   map[netip.Prefix]int // viewers by address, see httpserver.Peer

	past    sync.RWMutex // guards history
	history *history.Store

	refusals lograte.Limit // of log lines about changes that failed
	counters counters
}

// New returns a Server, or an error about the Config.
func New(cfg Config) (*Server, error) {
	if cfg.Views == nil || cfg.History == nil {
		return nil, errors.New("web: expected Views and a history")
	}
	if err := cfg.Links.Check(); err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	cfg.setDefaults()
	s := &Server{cfg: cfg, links: cfg.Links.document(), slots: make(chan struct{}, cfg.Requests), done: make(chan struct{}),
		drawings: map[string]*drawing{}, looking: map[string]int{}, peers: map[netip.Prefix]int{}, history: cfg.History,
		alive: newText([]byte(": alive\n\n"))}
	var err error
	if s.site, err = readSite(pageFiles, "dist", "page"); err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	s.alarms.Store(&alarm.ActiveSet{})
	select {
	case restored := <-cfg.Alarms: // of the process before
		s.alarms.Store(restored)
	default:
	}
	s.board.Store(s.emptyBoard())
	return s, nil
}

func (cfg *Config) setDefaults() {
	cfg.Viewers = cmp.Or(max(cfg.Viewers, 0), DefaultViewers)
	cfg.ViewersPerAddress = cmp.Or(max(cfg.ViewersPerAddress, 0), DefaultViewersPerAddress)
	cfg.Requests = cmp.Or(max(cfg.Requests, 0), DefaultRequests)
	cfg.WriteTimeout = cmp.Or(max(cfg.WriteTimeout, 0), DefaultWriteTimeout)
	cfg.Heartbeat = cmp.Or(max(cfg.Heartbeat, 0), DefaultHeartbeat)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
}

// Run shows the Views until ctx ends. Then the streams of all viewers end too, so
// that the HTTP server can stop.
func (s *Server) Run(ctx context.Context) error {
	defer close(s.done)
	for {
		select {
		case view := <-s.cfg.Views:
			s.show(view.All())
		case alarms := <-s.cfg.Alarms:
			before := s.alarms.Swap(alarms)
			if shown := s.board.Load().view; shown.Generation != 0 && alarms.Differs(before) {
				s.show(shown)
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// show makes a board of a View and the current alarms, and wakes the viewers.
func (s *Server) show(view *merge.View) {
	before := s.board.Load()
	s.board.Store(s.advance(before, view, s.alarms.Load()))
	close(before.next)
}

// extent describes the kept history.
type extent struct {
	from, to int64 // microseconds since the Unix epoch; 0 for nothing
	step     time.Duration
	archive  *api.Archive // what is older; nil for nothing
}

// record adds a View, if it is new, and its alarms to the history.
func (s *Server) record(view *merge.View, alarms *alarm.ActiveSet, fresh bool) extent {
	s.past.Lock()
	defer s.past.Unlock()
	if fresh {
		s.history.Add(view, alarms)
	}
	s.history.Note(alarms)
	e := extent{step: s.history.Step(), archive: s.archived()}
	e.from, e.to = s.history.Extent()
	return e
}

// lookedAt reports whether a net has viewers.
func (s *Server) lookedAt(net string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.looking[net] > 0
}

// Handler serves the page and the API.
func (s *Server) Handler() http.Handler {
	routes := s.routes()
	whole := compressed(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if route := routes[r.URL.Path]; route != nil {
			s.limited(w, r, route)
			return
		}
		s.serveFile(w, r)
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		action, allow := s.action(r.URL.Path), "GET, HEAD"
		if action != nil {
			allow = http.MethodPost
		}
		switch {
		case action != nil && r.Method == http.MethodPost:
			s.limited(w, r, action)
			return
		case action != nil || r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", allow)
			refuse(w, http.StatusMethodNotAllowed, "only "+allow)
			return
		}
		if r.URL.Path == livePath {
			s.serveLive(w, r)
			return
		}
		whole.ServeHTTP(w, r)
	})
}

// livePath is the path of streams, which have their own limits of number and time.
const livePath = "/api/v1/live"

// routes returns the handlers of the other paths of the API.
func (s *Server) routes() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"/api/v1/view": func(w http.ResponseWriter, _ *http.Request) {
			_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(viewTimeout)) // see limited
			b := s.board.Load()
			answerJSON(w, ViewDocument(b.view.Present(), b.alarms, s.cfg.Now().UnixMicro()))
		},
		"/api/v1/alarms": func(w http.ResponseWriter, _ *http.Request) {
			answerJSON(w, AlarmsDocument(s.alarms.Load(), s.board.Load().view, s.cfg.Now().UnixMicro()))
		},
		"/api/v1/alarms/cleared": func(w http.ResponseWriter, _ *http.Request) {
			answerJSON(w, clearedDocument(s.alarms.Load()))
		},
		"/api/v1/openapi.json": func(w http.ResponseWriter, _ *http.Request) {
			answer(w, "application/json", api.OpenAPI)
		},
		"/api/v1/overview":    s.serveOverview,
		"/api/v1/drawing":     s.ofNet(s.serveDrawing),
		"/api/v1/drawing.svg": s.ofNet(s.servePicture),
		"/api/v1/model":       s.ofNet(s.serveModel),
		"/api/v1/place":       s.ofNet(s.servePlace),
		"/api/v1/transition":  s.ofNet(s.serveTransition),
		"/api/v1/instance":    s.ofNet(s.serveInstance),
		"/api/v1/stuck":       s.serveStuck,
		"/api/v1/actions":     s.serveActions,
		"/api/v1/history":     s.ofNet(s.serveHistory),
		"/api/v1/trends":      s.serveTrends,
		"/api/v1/search":      s.serveSearch,

		"/api/v1/places.csv":      s.servePlacesCSV,
		"/api/v1/transitions.csv": s.serveTransitionsCSV,
		"/api/v1/alarms.csv":      s.serveAlarmsCSV,
		"/api/v1/stuck.csv":       s.serveStuckCSV,
	}
}

// limited bounds how many requests run at once, and how long the client may take
// to read each answer.
func (s *Server) limited(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	default:
		s.counters.requests.Add(1)
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusServiceUnavailable, "too many requests at once")
		return
	}
	// A ResponseWriter of a test may have no deadlines.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.cfg.WriteTimeout + requestTimeout))
	serve(w, r)
}

const (
	// requestTimeout is the time limit for making an answer.
	requestTimeout = 5 * time.Second
	// viewTimeout is the time limit for reading a View of a large fleet, which is 100 MB.
	viewTimeout = 2 * time.Minute
)
