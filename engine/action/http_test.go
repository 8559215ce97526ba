// SPDX-License-Identifier: Apache-2.0

package action

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/engine/coloured"
)

func startHTTP(t *testing.T, handler http.HandlerFunc) (url string, with Peers) {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s.URL, Peers{HTTP: s.Client().Transport}
}

func TestHTTPAsksAndTakesTheResponseAsOutcome(t *testing.T) {
	t.Setenv("PAY_TOKEN", "top secret")
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte("first\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	asked := make(chan *http.Request, 2)
	url, with := startHTTP(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if d := cmp.Diff(runAsJSON+"\n", string(body)); d != "" {
			t.Error(d)
		}
		asked <- r
		_, _ = io.WriteString(w, `{"put": [{"place": "paid", "data": 1}]}`)
	})
	f, err := HTTP{URL: url + "/pay?x=1", Method: "PUT", Headers: map[string]Secret{"authorization": {Env: "PAY_TOKEN"}, "X-Key": {File: file}, "X-Plain": {Value: "v"}}}.Func(with)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"first", "second"} { // a secret may change while the engine runs
		if err := os.WriteFile(file, []byte(key+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		o, err := f(t.Context(), run())
		if d := cmp.Diff(coloured.Outcome{Puts: []coloured.Put{{Place: 2, Data: []byte("1")}}}, o); d != "" || err != nil {
			t.Error(d, err)
		}
		r := <-asked
		got := []string{r.Method, r.URL.String(), r.Header.Get("Content-Type"), r.Header.Get("Idempotency-Key"), r.Header.Get("Authorization"), r.Header.Get("X-Key"), r.Header.Get("X-Plain")}
		if d := cmp.Diff([]string{"PUT", "/pay?x=1", "application/json", "s/1/7", "top secret", key, "v"}, got); d != "" {
			t.Error(d)
		}
	}
}

func TestHTTPOutcomesByStatus(t *testing.T) {
	t.Setenv("PAY_TOKEN", "top secret")
	var url string
	url, with := startHTTP(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/none":
			w.WriteHeader(http.StatusNoContent)
		case "/accepted":
			w.WriteHeader(http.StatusAccepted)
			_, _ = io.WriteString(w, `{"wait": true}`)
		case "/unavailable":
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, "back soon, "+r.Header.Get("X-Token"))
		case "/large":
			_, _ = io.WriteString(w, strings.Repeat(" ", MaxAnswer+1))
		case "/garbled":
			_, _ = io.WriteString(w, "<html>")
		case "/moved":
			http.Redirect(w, r, "/none", http.StatusTemporaryRedirect)
		case "/seeother":
			http.Redirect(w, r, "/none", http.StatusSeeOther)
		case "/away":
			http.Redirect(w, r, strings.Replace(url, "127.0.0.1", "localhost", 1)+"/none", http.StatusTemporaryRedirect)
		case "/circle":
			http.Redirect(w, r, "/circle", http.StatusPermanentRedirect)
		case "/cut":
			w.Header().Set("Content-Length", "10")
			_, _ = io.WriteString(w, "{")
		}
	})
	for _, c := range []struct {
		path string
		want coloured.Outcome
		err  string
	}{
		{"/none", coloured.Outcome{}, ""},
		{"/accepted", coloured.Outcome{Kind: coloured.Awaits}, ""},
		{"/moved", coloured.Outcome{}, ""},
		{"/unavailable", coloured.Outcome{}, "status 503 Service Unavailable: back soon, [secret]"},
		{"/large", coloured.Outcome{}, "no valid answer: more than 1048576 bytes"},
		{"/garbled", coloured.Outcome{}, "no valid answer: invalid character '<'"},
		{"/seeother", coloured.Outcome{}, "redirected with the method GET"},
		{"/away", coloured.Outcome{}, "redirected to another host"},
		{"/circle", coloured.Outcome{}, "more than 5 redirects"},
		{"/cut", coloured.Outcome{}, "reading the response: unexpected EOF"},
	} {
		f, err := HTTP{URL: url + c.path + "?key=hidden", Headers: map[string]Secret{"X-Token": {Env: "PAY_TOKEN"}}}.Func(with)
		if err != nil {
			t.Fatal(err)
		}
		o, err := f(t.Context(), run())
		if d := cmp.Diff(c.want, o); d != "" {
			t.Error(c.path, d)
		}
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.HasPrefix(err.Error(), "POST "+url+c.path+": "+c.err)) {
			t.Errorf("%s: got  %v\nwant %s", c.path, err, c.err)
		}
		if err != nil && (strings.Contains(err.Error(), "hidden") || strings.Contains(err.Error(), "top secret")) {
			t.Errorf("%s: a secret is in %v", c.path, err)
		}
	}
}

func TestHTTPEndsWithItsTimeAndItsContext(t *testing.T) {
	asked := make(chan bool, 2)
	url, with := startHTTP(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		asked <- true
		<-r.Context().Done()
	})
	for _, limit := range []time.Duration{50 * time.Millisecond, time.Hour} {
		f, err := HTTP{URL: url, Timeout: limit}.Func(with)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		want := context.DeadlineExceeded
		if limit == time.Hour {
			want = context.Canceled
			go func() { <-asked; cancel() }()
		}
		if _, err := f(ctx, run()); !errors.Is(err, want) {
			t.Error(err)
		}
		if limit != time.Hour {
			<-asked
		}
		cancel()
	}
}

func TestHTTPDescriptionsAreChecked(t *testing.T) {
	large := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, make([]byte, maxSecret+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		h    HTTP
		want string
	}{
		{HTTP{URL: "pay"}, "expected one such as https://"},
		{HTTP{URL: "ftp://a/b"}, "expected one such as https://"},
		{HTTP{URL: "http://%zz"}, "expected one such as https://"},
		{HTTP{URL: "http://u:p@a/b"}, "a URL with a user; expected a header"},
		{HTTP{URL: "http://a", Method: "GET"}, `found the method "GET"; expected POST, PUT or PATCH`},
		{HTTP{URL: "http://a", Headers: map[string]Secret{"a b": {}}}, `found the header "a b"`},
		{HTTP{URL: "http://a", Headers: map[string]Secret{"host": {}}}, "is set by the action itself"},
		{HTTP{URL: "http://a", Headers: map[string]Secret{"a": {Env: "PNAGENT_NOT_SET"}}}, "the environment has no PNAGENT_NOT_SET"},
		{HTTP{URL: "http://a", Headers: map[string]Secret{"a": {File: "/nonexistent"}}}, "no such file"},
		{HTTP{URL: "http://a", Headers: map[string]Secret{"a": {File: large}}}, "has more than 65536 bytes"},
		{HTTP{URL: "http://a", Headers: map[string]Secret{"a": {Value: "b\nc: d"}}}, "control characters"},
	} {
		if _, err := c.h.Func(Peers{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got  %v\nwant %s", c.h, err, c.want)
		}
	}
}
