// SPDX-License-Identifier: Apache-2.0

//go:build peers

package pagetest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net"
	"net/http"
	"os"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pnagent/pnagent/collector/history"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/httpserver"
	"github.com/pnagent/pnagent/internal/porttest"
	"github.com/pnagent/pnagent/web"
)

// fake serves the API of the live page for scripted nets, and the page.
type fake struct {
	t    *testing.T
	page http.Handler // the real server, without nets
	addr string
	srv  *http.Server
	stop context.CancelFunc
	done chan struct{}

	mu        sync.Mutex    // guards what follows
	changed   chan struct{} // closed when something is changed
	version   string        // the ETag of another page, that came with a restart; "" for none
	requested []string      // methods and paths
	nets      []*scripted
	alarms    []map[string]any
	silences  []map[string]any
	actions   bool
	acts      bool     // requests to engines
	posted    []string // paths and bodies
	asked     []string // tables and their queries
	past      past     // what is kept
	refusal   string   // of posts; "" takes them
	status    int      // of refusals; 0 is 403
	holding   []int    // alarms that a close leaves
	tableName string   // what the names of tables begin with
	alter     func(overview map[string]any)
	alterPast func(overview map[string]any)
	refuse    func(http.ResponseWriter, *http.Request) bool // answers a request of the API instead of the fake
}

// newFake serves nets until the test ends.
func newFake(t *testing.T, nets ...*scripted) *fake {
	t.Helper()
	page, err := web.New(web.Config{Views: make(chan *merge.View), History: history.New(history.Config{})})
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{t: t, page: page.Handler(), nets: nets, alarms: []map[string]any{}, silences: []map[string]any{}, past: lastHour(), changed: make(chan struct{})}
	f.addr = porttest.Addr(t)
	f.start()
	t.Cleanup(f.close)
	return f
}

func (f *fake) url() string { return "http://" + f.addr + "/" }

// start serves at the address of before.
func (f *fake) start() {
	f.t.Helper()
	l, err := net.Listen("tcp", f.addr)
	if err != nil {
		f.t.Fatal(err)
	}
	f.serve(l)
}

func (f *fake) serve(l net.Listener) {
	ctx, stop := context.WithCancel(context.Background())
	f.addr, f.stop, f.done = l.Addr().String(), stop, make(chan struct{})
	f.srv = &http.Server{Handler: f.handler(), BaseContext: func(net.Listener) context.Context { return ctx }, ReadHeaderTimeout: time.Minute}
	go func(srv *http.Server, done chan struct{}) {
		defer close(done)
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			f.t.Errorf("serving: %v", err)
		}
	}(f.srv, f.done)
}

// close ends every connection, as a process that dies does.
func (f *fake) close() {
	f.stop()
	_ = f.srv.Close()
	<-f.done
}

// change changes what is served from now on, and sends it.
func (f *fake) change(what func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	what()
	close(f.changed)
	f.changed = make(chan struct{})
}

// next returns a channel that is closed at the next change.
func (f *fake) next() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changed
}

// handler serves with the headers of the real server.
func (f *fake) handler() http.Handler {
	mux := f.mux()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", httpserver.Policy)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		f.wait(r)
		f.mu.Lock()
		f.requested = append(f.requested, r.Method+" "+r.URL.Path)
		refuse := f.refuse
		f.mu.Unlock()
		if refuse == nil || !strings.HasPrefix(r.URL.Path, "/api/") || !refuse(w, r) {
			mux.ServeHTTP(w, r)
		}
	})
}

func (f *fake) mux() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/live", f.live)
	mux.HandleFunc("GET /api/v1/overview", f.overviewOf)
	mux.HandleFunc("GET /api/v1/history", f.history)
	mux.HandleFunc("GET /api/v1/alarms/cleared", f.cleared)
	for name, of := range map[string]func(*scripted, *http.Request) any{
		"drawing": drawn,
		"place":   place, "stuck": stuck, "transition": transition, "instance": instance,
	} {
		mux.HandleFunc("GET /api/v1/"+name, func(w http.ResponseWriter, r *http.Request) {
			var doc any
			if s := f.net(r.URL.Query().Get("net")); s != nil {
				doc = of(s, r)
			}
			answer(w, doc)
		})
	}
	mux.HandleFunc("GET /api/v1/model", func(w http.ResponseWriter, r *http.Request) {
		if s := f.net(r.URL.Query().Get("net")); s == nil || s.file == "" {
			answer(w, nil)
		} else {
			w.Header().Set("Content-Type", "application/xml")
			_, _ = io.WriteString(w, s.file) // fails only if the client is gone
		}
	})
	mux.HandleFunc("GET /api/v1/trends", f.trends)
	mux.HandleFunc("GET /api/v1/search", f.search)
	mux.HandleFunc("POST /api/v1/alarms/{what}", f.post)
	mux.HandleFunc("POST /api/v1/{what}", f.post)
	mux.HandleFunc("GET /api/v1/{table}", f.table)
	mux.HandleFunc("GET /", f.file)
	return mux
}

// table notes what table is asked for, and sends a short one.
func (f *fake) table(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refusal != "" {
		w.WriteHeader(http.StatusServiceUnavailable)
		answer(w, map[string]string{"error": f.refusal})
		return
	}
	table := r.PathValue("table")
	f.asked = append(f.asked, table+" "+r.URL.Query().Encode())
	w.Header().Set("Content-Type", "text/csv; charset=utf-8; header=present")
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": f.tableName + table}))
	if table == "stuck.csv" {
		w.Header().Set("Pnagent-Incomplete", "1 sources did not answer")
	}
	_, _ = io.WriteString(w, "at,net\r\n") // fails only if the client is gone
}

// post notes a change, or refuses it.
func (f *fake) post(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refusal != "" {
		w.WriteHeader(cmp.Or(f.status, http.StatusForbidden))
		answer(w, map[string]string{"error": f.refusal})
		return
	}
	f.posted = append(f.posted, r.PathValue("what")+" "+string(body))
	answer(w, map[string]any{"ok": true, "holding": f.holding, "source": "berlin", "held": []map[string]any{{"place": "paymentUnclear", "tokens": 1, "age_seconds": 2520.4, "wait": map[string]any{"text": "fires only from outside"}}}})
}

func (f *fake) net(id string) *scripted {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.nets {
		if s.def.ID == id {
			return s
		}
	}
	return nil
}

// answer writes a document, or 404 for none.
func answer(w http.ResponseWriter, doc any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if doc == nil {
		w.WriteHeader(http.StatusNotFound)
		doc = map[string]string{"error": "there is no such thing"}
	}
	_ = json.NewEncoder(w).Encode(doc) // fails only if the client is gone
}

// file serves the page as the real server does, and each of its modules, which tests import.
func (f *fake) file(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	version := f.version
	f.mu.Unlock()
	module := path.Clean(r.URL.Path)
	text, err := os.ReadFile("../page" + module)
	switch {
	case path.Ext(module) == ".js" && err == nil:
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = w.Write(text) // fails only if the client is gone
	case version != "" && r.Method == http.MethodHead:
		w.Header().Set("ETag", version)
	default:
		f.page.ServeHTTP(w, r)
	}
}

// overview returns the overview of now.
func (f *fake) overview(generation int) any {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	doc := f.document(generation, now, f.alarms)
	kept := map[string]any{"from": f.past.from(now).UTC(), "to": now.UTC(), "step": 5}
	if f.past.archive > 0 {
		kept["archive"] = map[string]any{"from": now.Add(-f.past.archive).UTC(), "step": 60}
	}
	doc["history"] = kept
	if f.alter != nil {
		f.alter(doc)
	}
	return doc
}

// document returns the overview of a moment. The nets have a token less for each minute
// since then.
func (f *fake) document(generation int, now time.Time, active []map[string]any) map[string]any {
	nets, sources := []map[string]any{}, []map[string]any{}
	for i, s := range f.nets {
		if s.absent && time.Since(now) > time.Minute {
			continue
		}
		with := func(has func(map[string]any) bool) (n int) {
			for _, a := range active {
				if a["net"] == s.def.ID && has(a) {
					n++
				}
			}
			return n
		}
		n := map[string]any{"id": s.def.ID, "name": s.def.Name,
			"alarms_following": with(func(a map[string]any) bool { return a["follows"] != nil }),
			"alarms_unknown":   with(func(a map[string]any) bool { return a["unknown"] != nil && a["follows"] == nil }),
			"sources_up":       2, "sources_stale": 0, "alarms": with(func(map[string]any) bool { return true }), "drawing": s.drawing["hash"]}
		if !s.unknown {
			n["tokens"], n["instances"], n["rate"] = 120+10*i-int(time.Since(now).Minutes())%100, map[string]any{"active": 50, "deadlocked": 0}, 61.4
			oldest := &s.def.Places[s.stuck]
			n["oldest_age_seconds"], n["oldest_place"], n["oldest_name"] = math.Max(0, float64(now.UnixMilli()-s.since))/1000, oldest.ID, oldest.Name
		}
		state := "up"
		if s.down {
			n["sources_up"], n["sources_stale"], state = 0, 2, "stale"
		}
		nets = append(nets, n)
		sources = append(sources,
			map[string]any{"name": "berlin", "net": s.def.ID, "state": state, "last_heard_age_seconds": 0.4, "gaps": 0, "region": "eu", "fence": 3, "position": 41, "standbys": 1, "lag": 2},
			map[string]any{"name": "osaka", "net": s.def.ID, "state": state, "last_heard_age_seconds": 0.4, "gaps": 0, "region": "jp", "fence": 1, "position": 7, "standbys": 0})
	}
	return map[string]any{"at": now.UTC(), "generation": generation, "deaf": false, "nets": nets, "sources": sources, "alarms": active, "silences": f.silences, "actions": f.actions, "acts": f.acts, "links": map[string]any{"runbooks": map[string]string{"tokenStuck": "https://r.example/tokenStuck.md"}, "grafana": "https://g.example/d?net={net}&p={place}&t={transition}&from={from}&to={to}"}}
}

// live sends an overview every second and a difference twice a second, and both at a change.
func (f *fake) live(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	s, generation, last := f.net(r.URL.Query().Get("net")), 1, time.Now().UnixMilli()
	send := func(event string, doc any) {
		text, _ := json.Marshal(doc)                                                      // of what is scripted never fails
		_, _ = fmt.Fprintf(w, "id: %d\nevent: %s\ndata: %s\n\n", generation, event, text) // fails only if the client is gone
		w.(http.Flusher).Flush()
	}
	changed := f.next()
	send("overview", f.overview(generation))
	if s != nil {
		send("frame", s.frame(generation, last))
	}
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for whole := false; ; {
		select {
		case <-r.Context().Done():
			return
		case <-changed:
			changed, whole = f.next(), true
		case <-tick.C:
			whole = !whole
		}
		generation++
		if whole {
			send("overview", f.overview(generation))
		}
		if now := time.Now().UnixMilli(); s != nil {
			send("diff", s.diff(generation, last, now))
			last = now
		}
	}
}
