// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/pnagent/pnagent/collector/merge"
)

// landing is the path of the page with all links. One of the Mounts is at /.
const landing = "/endpoints"

// Handler serves the metrics, health, the Mounts, and a landing page that
// links them.
func (e *Exporter) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", e.limited(e.serve(target{allNets: true, sidecar: true})))
	mux.Handle("GET /metrics/self", e.limited(e.serve(target{sidecar: true})))
	mux.Handle("GET /metrics/nets/{net}", e.limited(http.HandlerFunc(e.serveNet)))
	mux.HandleFunc("GET /sd", e.serveDiscovery)
	mux.HandleFunc("GET /-/healthy", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "pnagent is healthy.")
	})
	mux.HandleFunc("GET /-/ready", e.serveReady)
	mux.HandleFunc("POST /-/reload", e.serveReload)
	mux.HandleFunc("PUT /-/reload", e.serveReload)
	mux.HandleFunc("GET "+landing, e.serveLanding)
	for _, m := range e.cfg.Mounts {
		mux.Handle(m.Pattern, m.Handler)
	}
	return mux
}

// limited bounds how many scrapes run at once and how long each may take.
// TimeoutHandler keeps an answer in memory until it is complete, so a slow reader
// never locks the kept families. A reader that does not take its answer within the
// same time again loses its connection.
func (e *Exporter) limited(h http.Handler) http.Handler {
	timeout := e.cfg.ScrapeTimeout
	h = http.TimeoutHandler(h, timeout, "The scrape took longer than "+timeout.String()+".\n")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case e.slots <- struct{}{}:
			defer func() { <-e.slots }()
		default:
			e.refused.Add(1)
			w.Header().Set("Retry-After", "1")
			http.Error(w, fmt.Sprintf("%d scrapes are under way; no more are taken.", cap(e.slots)), http.StatusServiceUnavailable)
			return
		}
		// A ResponseWriter of a test may have no deadlines.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(2 * timeout))
		h.ServeHTTP(w, r)
	})
}

func (e *Exporter) serveNet(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("net")
	if !e.known(e.cfg.View(), name) {
		http.Error(w, fmt.Sprintf("There is no net %q.", name), http.StatusNotFound)
		return
	}
	e.serve(target{net: name}).ServeHTTP(w, r)
}

// netNames returns the nets of the View, and then those that only alarms are about, each
// once.
func (e *Exporter) netNames(view *merge.View) (names []string) {
	listed := map[string]bool{"": true}
	add := func(net string) {
		if !listed[net] {
			listed[net] = true
			names = append(names, net)
		}
	}
	for _, n := range view.Nets {
		add(n.Name)
	}
	if state := e.cfg.Alarms(); state != nil {
		for i := range state.Active {
			add(state.Active[i].Net)
		}
	}
	return names
}

// known reports whether a net, a source of it or an alarm about it is shown.
func (e *Exporter) known(view *merge.View, net string) bool {
	return view != nil && (slices.Contains(e.netNames(view), net) || slices.ContainsFunc(view.Sources, func(src merge.Source) bool { return src.Net == net }))
}

func (e *Exporter) serveReady(w http.ResponseWriter, _ *http.Request) {
	if e.cfg.View() == nil {
		http.Error(w, "pnagent is not ready: there is no View yet.", http.StatusServiceUnavailable)
		return
	}
	if err := e.cfg.Ready(); err != nil {
		http.Error(w, fmt.Sprintf("pnagent is not ready: %v.", err), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "pnagent is ready.")
	for _, note := range e.cfg.Notes() {
		fmt.Fprintln(w, note+".")
	}
}

// link is a link of the landing page.
type link struct{ Address, Text, Description string }

// landingPage is the page with all links. It has no style, because the policy of
// httpserver allows none in a page.
//
//go:embed landing.html
var landingText string

var landingPage = template.Must(template.New("landing").Parse(landingText))

// serveLanding serves a page with all links, each net included.
func (e *Exporter) serveLanding(w http.ResponseWriter, _ *http.Request) {
	links := []link{
		{Address: "metrics", Text: "Metrics", Description: "every net and the sidecar, for Prometheus"},
		{Address: "metrics/self", Text: "Metrics of the sidecar"},
	}
	if view := e.cfg.View(); view != nil {
		for _, net := range e.netNames(view) {
			links = append(links, link{Address: "metrics/nets/" + url.PathEscape(net), Text: "Metrics of " + valid(net)})
		}
	}
	for _, m := range e.cfg.Mounts {
		if m.Link != "" {
			links = append(links, link{Address: m.Link, Text: m.Text, Description: m.Description})
		}
	}
	links = append(links, link{Address: "sd", Text: "Service discovery", Description: "every net as a target of its own, for http_sd_configs"},
		link{Address: "-/healthy", Text: "Healthy"}, link{Address: "-/ready", Text: "Ready"})
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = landingPage.Execute(w, struct { // fails only if the client is gone
		Version string
		Links   []link
	}{e.cfg.Version, links})
}
