// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/collector/merge"
)

func TestEveryNetIsATargetThatCanBeScraped(t *testing.T) {
	view := rich()
	view.Nets[0].Name = "a/b ü?"
	var served *merge.View
	e := newExporter(t, nil, func(c *Config) { c.View = func() *merge.View { return served } })
	h := e.Handler()
	discover := func() (groups []targetGroup) {
		t.Helper()
		r := httptest.NewRequest(http.MethodGet, "http://sidecar.example:9797/sd", nil)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if got := w.Header().Get("Content-Type"); w.Code != http.StatusOK || got != "application/json" {
			t.Fatalf("%d, %s", w.Code, got)
		}
		if err := json.Unmarshal(w.Body.Bytes(), &groups); err != nil {
			t.Fatal(err)
		}
		return groups
	}
	target := func(path string, meta ...string) targetGroup {
		g := targetGroup{[]string{"sidecar.example:9797"}, map[string]string{"__scheme__": "http", "__metrics_path__": path}}
		if len(meta) > 0 {
			g.Labels["__meta_petrinet_net"] = meta[0]
		}
		return g
	}
	if diff := cmp.Diff([]targetGroup{target("/metrics/self")}, discover()); diff != "" {
		t.Errorf("before there is a View:\n%s", diff)
	}
	served = view
	want := []targetGroup{target("/metrics/self"), target("/metrics/nets/a%2Fb%20%C3%BC%3F", "a/b ü?")}
	for _, net := range view.Nets[1:] {
		want = append(want, target("/metrics/nets/"+net.Name, net.Name))
	}
	got := discover()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, g := range got {
		if w := get(h, g.Labels["__metrics_path__"], ""); w.Code != http.StatusOK {
			t.Errorf("%s answers %d", g.Labels["__metrics_path__"], w.Code)
		}
	}
}
