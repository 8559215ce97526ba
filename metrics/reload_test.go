// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestReload(t *testing.T) {
	now := noon
	var fault error
	read := 0
	e := newExporter(t, rich(), func(c *Config) {
		c.Now = func() time.Time { return now }
		c.Reload = func() error { read++; return fault }
	})
	h := e.Handler()
	send := func(method string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, "/-/reload", nil))
		return w
	}
	shown := func(good, at float64) {
		t.Helper()
		families := scraped(t, e, "/metrics/self")
		if got, _ := value(families, "pnagent_config_last_reload_successful", ""); got != good {
			t.Errorf("the last reload went well: %v, want %v", got, good)
		}
		if got, _ := value(families, "pnagent_config_last_reload_success_timestamp_seconds", ""); got != at {
			t.Errorf("the last good reload was at %v, want %v", got, at)
		}
	}
	start := float64(noon.Unix())
	shown(1, start)

	now = noon.Add(time.Minute)
	if w := send(http.MethodPost); w.Code != http.StatusOK || read != 1 {
		t.Fatalf("POST answers %d, read %d times", w.Code, read)
	}
	shown(1, start+60)

	now, fault = noon.Add(time.Hour), errors.New("rules.yaml:3:5: nonsense")
	if w := send(http.MethodPut); w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "rules.yaml:3:5: nonsense") {
		t.Fatalf("with a fault PUT answers %d: %s", w.Code, w.Body)
	}
	shown(0, start+60)

	now, fault = noon.Add(2*time.Hour), nil
	if err := e.Reload(); err != nil { // as by a signal
		t.Fatal(err)
	}
	shown(1, start+7200)

	if w := send(http.MethodGet); w.Code != http.StatusMethodNotAllowed || read != 3 {
		t.Errorf("GET answers %d, read %d times: a link must not reload", w.Code, read)
	}
}

func TestNothingToReload(t *testing.T) {
	e := newExporter(t, rich(), nil)
	w := httptest.NewRecorder()
	e.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/-/reload", nil))
	if w.Code != http.StatusNotFound {
		t.Errorf("%d", w.Code)
	}
}

func TestTheSizeOfTheLastScrapeIsAMetric(t *testing.T) {
	now := noon
	e := newExporter(t, rich(), func(c *Config) { c.Now = func() time.Time { return now } })
	if _, ok := value(scraped(t, e, "/metrics/self"), "pnagent_scrape_size_bytes", "form=text"); ok {
		t.Error("a size before there was a scrape")
	}
	r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	w := httptest.NewRecorder()
	e.Handler().ServeHTTP(w, r)
	now = now.Add(answerFor)
	families := scraped(t, e, "/metrics/self")
	if got, _ := value(families, "pnagent_scrape_size_bytes", "form=sent"); got != float64(w.Body.Len()) {
		t.Errorf("sent: %v, want %d", got, w.Body.Len())
	}
	if got, _ := value(families, "pnagent_scrape_size_bytes", "form=text"); got <= float64(w.Body.Len()) {
		t.Errorf("as text: %v, which is no more than the %d that were sent", got, w.Body.Len())
	}
}
