// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"encoding/json"
	"net/http"
	"net/url"
)

// targetGroup is one element of Prometheus' HTTP service discovery
// (prometheus.io/docs/prometheus/latest/http_sd).
type targetGroup struct {
	Targets []string          `json:"targets"`
	Labels  map[string]string `json:"labels"`
}

// serveDiscovery lists the sidecar itself and every net as targets, for sites that
// need only some nets or for which one scrape of all is too large. The address is
// that of the request.
func (e *Exporter) serveDiscovery(w http.ResponseWriter, r *http.Request) {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	group := func(path, net string) targetGroup {
		g := targetGroup{Targets: []string{r.Host}, Labels: map[string]string{"__scheme__": scheme, "__metrics_path__": path}}
		if net != "" {
			g.Labels["__meta_petrinet_net"] = net
		}
		return g
	}
	groups := []targetGroup{group("/metrics/self", "")}
	if view := e.cfg.View(); view != nil {
		for _, net := range e.netNames(view) {
			groups = append(groups, group("/metrics/nets/"+url.PathEscape(net), valid(net)))
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(groups) // fails only if the client is gone
}
