// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"net/http/httptest"
	"strings"
	"testing"
)

func TestOriginsOfFramesAreStrict(t *testing.T) {
	for _, text := range []string{"https://grafana.example", "http://grafana.example:3000", "https://*.example.com", "https://*.example.com:8443", "http://localhost:3000",
		"http://192.0.2.7:3000", "https://a-b.c1.example", "https://xn--bcher-kva.example"} {
		if err := CheckAncestor(text); err != nil {
			t.Error(err)
		}
	}
	for _, text := range []string{"", "*", "https:", "https://", "https://*", "https://*.com", "http://*.example.com", "https://a.*.example", "https://*example.com", "https://*.192.0.2.7",
		"grafana.example", "grafana.example:3000", "//grafana.example", "ftp://grafana.example", "data:", "'self'", "'none'", "'unsafe-inline'", "null", "https://grafana.example/", "https://grafana.example/d",
		"https://grafana.example?x", "https://grafana.example#x", "https://user@grafana.example", "https://grafana.example:0", "https://grafana.example:65536", "https://grafana.example:", "https://grafana.example:*",
		"https://a.example https://b.example", "https://a.example; script-src *", "https://a.example\r\nX: y", "https://a.example\n", "https://a..example", "https://.example", "https://a.example.", "https://-a.example",
		"https://a-.example", "HTTPS://a.example", "https://A.example", "https://bücher.example", "https://[::1]", "https://300.1.1.1", "https://1.2.3", "https://a.example,b.example"} {
		if err := CheckAncestor(text); err == nil || !strings.Contains(err.Error(), "expected an origin such as") {
			t.Errorf("%q: got %v; want it refused with an example", text, err)
		}
	}
}

// Only the page for frames has a policy that allows one, and only if origins are listed.
func TestOnlyOnePageMayBeInAFrame(t *testing.T) {
	frame := []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}
	listed := []string{"https://grafana.example", "http://localhost:3000"}
	for _, c := range []struct {
		rule, method, path string
		ancestors          []string
		headers            []string
		status             int
		framed             bool
	}{
		{"a frame with the page", "GET", "/embed", listed, frame, 200, true},
		{"a reader who opens the page", "GET", "/embed", listed, nil, 200, true},
		{"the page for a client that is refused", "GET", "/embed", listed, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors", "Sec-Fetch-Dest", "empty"}, 403, true},
		{"a form of another site", "POST", "/embed", listed, frame, 403, true},
		{"a frame with the whole page", "GET", "/", listed, frame, 403, false},
		{"a frame with a path below", "GET", "/embed/", listed, frame, 403, false},
		{"a frame with another spelling", "GET", "/Embed", listed, frame, 403, false},
		{"a frame with the file", "GET", "/embed.html", listed, frame, 403, false},
		{"a frame with the API", "GET", "/api/v1/view", listed, frame, 403, false},
		{"a frame where none is allowed", "GET", "/embed", nil, frame, 403, false},
		{"a reader where no frame is allowed", "GET", "/embed", nil, nil, 200, false},
		{"an object with the page", "GET", "/embed", listed, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "object"}, 403, true},
	} {
		s := New(Config{Log: quiet(), Frame: Frame{Path: "/embed", Ancestors: c.ancestors}})
		r, w := httptest.NewRequest(c.method, c.path, nil), httptest.NewRecorder()
		r.Host = "127.0.0.1:9797"
		for i := 0; i < len(c.headers); i += 2 {
			r.Header.Set(c.headers[i], c.headers[i+1])
		}
		s.protected(page("done"), true).ServeHTTP(w, r)
		policy, options := Policy, []string{"DENY"}
		if c.framed {
			policy, options = strings.Replace(Policy, "frame-ancestors 'none'", "frame-ancestors https://grafana.example http://localhost:3000", 1), nil
		}
		if got := w.Header().Get("Content-Security-Policy"); w.Code != c.status || got != policy || len(w.Header().Values("X-Frame-Options")) != len(options) {
			t.Errorf("%s: got status %d, X-Frame-Options %q, policy %s; want %d, %q, %s", c.rule, w.Code, w.Header().Values("X-Frame-Options"), got, c.status, options, policy)
		}
	}
	if strings.Count(Policy, "frame-ancestors 'none'") != 1 {
		t.Error("the policy has no frame-ancestors 'none' to replace")
	}
}
