// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// answer returns the status with which a server answers a request.
func answer(t *testing.T, s *Server, onlyLocal bool, method, host string, headers ...string) int {
	t.Helper()
	r := httptest.NewRequest(method, "/-/reload", nil)
	r.Host = host
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.protected(page("done"), onlyLocal).ServeHTTP(w, r)
	for name, want := range map[string]string{"Content-Security-Policy": Policy, "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
		"Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin"} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s %s: got %s %q; want %q", method, host, name, got, want)
		}
	}
	return w.Code
}

// Behind DNS rebinding, a page of evil.example is of the same origin for the browser.
func TestHostsAreKnownByAddressNameOrFlag(t *testing.T) {
	hostname, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	const get, post = http.MethodGet, http.MethodPost
	browser := []string{"Origin", "http://evil.example:9797", "Sec-Fetch-Site", "same-origin"}
	for _, c := range []struct {
		rule, method, host string
		hosts              []string
		onlyLocal          bool
		headers            []string
		want               int
	}{
		{"an address is known", get, "127.0.0.1:9797", nil, true, nil, 200},
		{"an IPv6 address is known", get, "[::1]:9797", nil, true, nil, 200},
		{"an address without port is known", get, "::1", nil, true, nil, 200},
		{"localhost is known", get, "LocalHost.:9797", nil, true, nil, 200},
		{"a name below localhost is known", get, "pnagent.localhost", nil, true, nil, 200},
		{"this machine is known", get, strings.ToUpper(hostname) + ":9797", nil, true, nil, 200},
		{"no host is no browser", get, "", nil, true, nil, 200},
		{"at loopback, another name is not known", get, "evil.example:9797", nil, true, nil, 403},
		{"at loopback, nor for HEAD", http.MethodHead, "evil.example:9797", nil, true, nil, 403},
		{"at loopback, the name of a proxy is known by the flag", get, "nets.example", []string{"Nets.example:443"}, true, nil, 200},
		{"elsewhere, another name can be that of a load balancer", get, "evil.example:9797", nil, false, nil, 200},
		{"elsewhere, the flag names all", get, "evil.example:9797", []string{"nets.example"}, false, nil, 403},
		{"elsewhere, a browser changes nothing by another name", post, "evil.example:9797", nil, false, browser, 403},
		{"elsewhere, a program may", post, "pnagent.monitoring.svc:9797", nil, false, nil, 200},
		{"elsewhere, a browser may by a known name", post, "nets.example", []string{"nets.example"}, false, []string{"Origin", "https://nets.example"}, 200},
	} {
		s := New(Config{Hosts: c.hosts, Log: quiet()})
		if got := answer(t, s, c.onlyLocal, c.method, c.host, c.headers...); got != c.want {
			t.Errorf("%s: got status %d; want %d", c.rule, got, c.want)
		}
		if want := c.want == 403; (s.counters().host == 1) != want {
			t.Errorf("%s: got %d refused hosts; want it counted: %v", c.rule, s.counters().host, want)
		}
	}
	if !New(Config{Address: "nets.example:9797", Log: quiet()}).known("nets.example") {
		t.Error("the name of the listen address is not known; want it known")
	}
}

func TestPagesOfOtherSitesSendNothing(t *testing.T) {
	const get, post = http.MethodGet, http.MethodPost
	for _, c := range []struct {
		rule, method string
		headers      []string
		want         int
	}{
		{"a program sends no headers of browsers", post, nil, 200},
		{"the page itself", post, []string{"Sec-Fetch-Site", "same-origin", "Origin", "http://127.0.0.1:9797"}, 200},
		{"the page itself behind a proxy that changes the host", post, []string{"Sec-Fetch-Site", "same-origin", "Origin", "https://nets.example"}, 200},
		{"the page itself, in an old browser", post, []string{"Origin", "http://127.0.0.1:9797"}, 200},
		{"an address that the user typed", get, []string{"Sec-Fetch-Site", "none"}, 200},
		{"another site", post, []string{"Sec-Fetch-Site", "cross-site", "Origin", "http://evil.example"}, 403},
		{"another site, in an old browser", post, []string{"Origin", "http://evil.example"}, 403},
		{"a page in a sandbox", post, []string{"Origin", "null"}, 403},
		{"another port of this machine", post, []string{"Origin", "http://127.0.0.1:3000"}, 403},
		{"another port of this site", post, []string{"Sec-Fetch-Site", "same-site", "Origin", "http://127.0.0.1:3000"}, 403},
		{"an event stream of another site", get, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors", "Origin", "http://evil.example"}, 403},
		{"an event stream of another site, in an old browser", get, []string{"Origin", "http://evil.example"}, 403},
		{"an image of another site", get, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"}, 403},
		{"a link on another site that the user follows", get, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 200},
		{"a frame of another site", get, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, 403},
		{"a form of another site", post, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 403},
	} {
		s := New(Config{Log: quiet()})
		if got := answer(t, s, true, c.method, "127.0.0.1:9797", c.headers...); got != c.want {
			t.Errorf("%s: got status %d; want %d", c.rule, got, c.want)
		}
		if want := c.want == 403; (s.counters().origin == 1) != want {
			t.Errorf("%s: got %d refused origins; want it counted: %v", c.rule, s.counters().origin, want)
		}
	}
}

func FuzzHost(f *testing.F) {
	for _, host := range []string{"", "127.0.0.1:9797", "[::1]:9797", "[::1%25lo]:1", "localhost.", "evil.example:9797", "[[", ":", "a:b:c", "127.0.0.1.evil.example"} {
		f.Add(host)
	}
	s := New(Config{Log: quiet()})
	f.Fuzz(func(t *testing.T, host string) {
		if s.known(host) && strings.HasSuffix(bare(host), ".example") {
			t.Errorf("%q is known; want another site unknown", host)
		}
	})
}
