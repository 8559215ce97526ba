// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
)

// Policy is the Content-Security-Policy of every answer: a page loads only from
// its own server, and no other page may have it in a frame, except for a Frame.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// refused counts requests that were refused, by reason.
type refused struct{ host, origin atomic.Uint64 }

// protected returns a handler that sets the headers of every answer, and refuses
// requests that a page of another site caused. onlyLocal is for a listener at a
// loopback address.
func (s *Server) protected(h http.Handler, onlyLocal bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		runtime.Gosched() // a connection with many requests in a row leaves the processor to others
		secure(w.Header())
		framed := s.cfg.Frame.of(r)
		if framed {
			s.cfg.Frame.secure(w.Header())
		}
		switch {
		case !s.known(r.Host) && (onlyLocal || len(s.cfg.Hosts) > 0 || changes(r) && fromBrowser(r)):
			s.refused.host.Add(1)
			http.Error(w, fmt.Sprintf("Host %q is not known here; expected an IP address, localhost, or a name of --web.allowed-hosts.", r.Host), http.StatusForbidden)
		case foreign(r, framed):
			s.refused.origin.Add(1)
			http.Error(w, "Refused, because a page of another site sent the request.", http.StatusForbidden)
		default:
			h.ServeHTTP(w, r)
		}
	})
}

// secure sets the headers of every answer.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", Policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY") // frame-ancestors, for browsers without it
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// names returns the names by which the server is known: those given, and that of
// this machine. A page of another site cannot have one of them, nor an IP address.
func names(given []string) map[string]bool {
	known := map[string]bool{}
	for _, name := range given {
		known[bare(name)] = true
	}
	if name, err := os.Hostname(); err == nil {
		known[bare(name)] = true
	}
	return known
}

// known reports whether the value of a Host header is an IP address, localhost or
// a name of the server. Only a client that is no browser sends none.
func (s *Server) known(host string) bool {
	name := bare(host)
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return name == "" || name == "localhost" || strings.HasSuffix(name, ".localhost") || s.hosts[name]
}

// bare returns a host without its port, brackets and final dot, in lower case.
func bare(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// changes reports whether a request may change something.
func changes(r *http.Request) bool {
	return r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodOptions
}

// fromBrowser reports whether a browser sent a request that changes something:
// every browser sends one of these headers with it.
func fromBrowser(r *http.Request) bool {
	return r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != ""
}

// foreign reports whether a page of another site caused a request, by the headers
// that browsers set. A user may follow a link to a page here. Any other request is
// refused whatever its method, so that a page of another site cannot open event
// streams either. A page that may be in a frame (framed) is sent to any frame; its policy
// says to the browser in which frames to show it.
func foreign(r *http.Request, framed bool) bool {
	to := r.Header.Get("Sec-Fetch-Dest")
	follows := !changes(r) && r.Header.Get("Sec-Fetch-Mode") == "navigate" && (to == "document" || framed && to == "iframe")
	asked := r.WithContext(r.Context())
	asked.Method = http.MethodPost // the check passes every GET
	return !follows && http.NewCrossOriginProtection().Check(asked) != nil
}
