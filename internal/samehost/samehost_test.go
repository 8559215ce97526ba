// SPDX-License-Identifier: Apache-2.0

package samehost

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// A client follows redirects within a server. To another one it sends nothing: neither
// another port, nor the same name without TLS.
func TestARedirectStaysWithinTheServer(t *testing.T) {
	var asked atomic.Uint64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer other.Close()
	var secure *httptest.Server
	secure = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to := map[string]string{"/other": other.URL, "/plain": strings.Replace(secure.URL, "https", "http", 1), "/within": "/there", "/circle": "/circle"}[r.URL.Path]
		status := http.StatusTemporaryRedirect
		if r.URL.Path == "/see" {
			to, status = "/there", http.StatusSeeOther
		}
		if to == "" {
			_, _ = w.Write([]byte(r.Method))
			return
		}
		http.Redirect(w, r, to, status)
	}))
	defer secure.Close()
	client := secure.Client()
	client.CheckRedirect = Redirect
	for _, c := range []struct{ method, path, want string }{
		{http.MethodGet, "/there", ""},
		{http.MethodGet, "/within", ""},
		{http.MethodPost, "/within", ""},
		{http.MethodGet, "/see", ""},
		{http.MethodPost, "/see", "redirected with the method GET; expected status 307 or 308, which keep it"},
		{http.MethodGet, "/circle", "more than 5 redirects"},
		{http.MethodGet, "/other", "redirected to another host; expected the same: " + other.URL},
		{http.MethodPost, "/other", "redirected to another host"},
		{http.MethodGet, "/plain", "redirected to another host; expected the same: http://"},
	} {
		req, err := http.NewRequest(c.method, secure.URL+c.path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(req)
		if err == nil {
			_ = resp.Body.Close()
		}
		if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v; expected %q", c.method, c.path, err, c.want)
		}
		if away := strings.Contains(c.want, "another host"); away != errors.Is(err, ErrAway) {
			t.Errorf("%s %s: %v; expected ErrAway: %v", c.method, c.path, err, away)
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the other server got %d requests", n)
	}
}
