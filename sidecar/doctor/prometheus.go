// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
)

const (
	prometheusFile = "prometheus.yml"
	// late is the age from which a scrape is late: four of the usual intervals.
	late = 60 * time.Second
	// maxAnswer bounds an answer of Prometheus, in bytes.
	maxAnswer = 8 << 20
	// family is one that each sidecar has.
	family = "pnagent_build_info"
)

// group is a group of rules that pnagent dashboards writes.
const group = "pnagent-"

// prometheus reports whether it scrapes the sidecar, has the rules, and reaches an Alertmanager.
func (d *doctor) prometheus(ctx context.Context) []Finding {
	address := d.redacted()
	f := Finding{Check: "prometheus", Looked: address + ", series of " + family + "{" + d.Matchers + "}", Outcome: Unknown}
	now := time.Now()
	got, err := d.Prometheus.At(ctx, "timestamp("+family+"{"+d.Matchers+"})", now)
	if err != nil {
		f.Outcome, f.Cause, f.Hints = Fails, err.Error(), []Hint{d.flag("web.prometheus", "http://HOST:9090")}
		return []Finding{f}
	}
	series, _ := got.Value.(model.Vector)
	newest := time.Time{}
	for _, s := range series {
		if at := time.UnixMilli(int64(float64(s.Value) * 1000)); at.After(newest) {
			newest = at
		}
	}
	age := now.Sub(newest).Round(100 * time.Millisecond)
	switch {
	case len(series) == 0:
		f.Outcome = Fails
		f.Cause, f.Hints = d.notScraped(ctx)
	case age > late:
		f.Outcome, f.Cause = Fails, fmt.Sprintf("the last scrape is %v old", age)
		f.Hints = []Hint{{prometheusFile, "scrape_interval: 15s"}}
	default:
		f.Outcome, f.Cause = OK, fmt.Sprintf("it scrapes %d, the last time %v ago", len(series), age)
	}
	return []Finding{f, d.rules(ctx, address), d.alertmanagers(ctx, address)}
}

func (d *doctor) redacted() string {
	u, err := url.Parse(d.Prometheus.URL)
	if err != nil {
		return "Prometheus"
	}
	return u.Redacted()
}

// get reads the data of an answer of Prometheus' API.
func get[T any](ctx context.Context, d *doctor, path string) (data T, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(d.Prometheus.URL, "/")+"/api/v1/"+path, nil)
	if err != nil {
		return data, err
	}
	resp, err := d.Prometheus.HTTP.Do(req)
	if err != nil {
		return data, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return data, fmt.Errorf("%s: %s", path, resp.Status)
	}
	var answer struct{ Data T }
	err = json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(&answer)
	return answer.Data, err
}

// notScraped returns why there are no series: no target, or one that is down.
func (d *doctor) notScraped(ctx context.Context) (string, []Hint) {
	type targets struct {
		ActiveTargets []struct {
			ScrapeURL, LastError, Health string
			Labels                       map[string]string
		}
	}
	job := []Hint{{prometheusFile, "scrape_configs:\n  - job_name: pnagent\n    static_configs:\n      - targets: [" + strings.TrimPrefix(strings.TrimPrefix(d.URL, "http://"), "https://") + "]"}}
	got, err := get[targets](ctx, d, "targets?state=active")
	if err != nil {
		return "no series of pnagent; its targets cannot be read: " + err.Error(), job
	}
	port := ""
	if u, err := url.Parse(d.URL); err == nil {
		port = ":" + u.Port() + "/"
	}
	for _, t := range got.ActiveTargets {
		if t.Labels["job"] != "pnagent" && !strings.Contains(t.ScrapeURL, port) {
			continue
		}
		if t.LastError != "" {
			return fmt.Sprintf("the target %s is %s: %s", t.ScrapeURL, t.Health, t.LastError), nil
		}
		if d.Matchers != "" {
			return fmt.Sprintf("the target %s is %s, and no series has the matchers", t.ScrapeURL, t.Health), []Hint{d.flag("web.prometheus.matchers", fmt.Sprintf("'job=%q,instance=%q'", t.Labels["job"], t.Labels["instance"]))}
		}
		return fmt.Sprintf("the target %s is %s and was not scraped yet", t.ScrapeURL, t.Health), nil
	}
	return "it has no job that scrapes pnagent", job
}

// rules reports whether the alerts of pnagent are loaded and evaluated without errors.
func (d *doctor) rules(ctx context.Context, address string) Finding {
	type groups struct {
		Groups []struct {
			Name  string
			Rules []struct{ Name, Health, LastError string }
		}
	}
	f := Finding{Check: "prometheus.rules", Looked: address + ", groups of rules " + group + "*", Outcome: Unknown}
	got, err := get[groups](ctx, d, "rules")
	if err != nil {
		f.Cause = err.Error()
		return f
	}
	loaded, broken := []string{}, []string{}
	for _, g := range got.Groups {
		if !strings.HasPrefix(g.Name, group) {
			continue
		}
		loaded = append(loaded, g.Name)
		for _, r := range g.Rules {
			if r.Health == "err" {
				broken = append(broken, r.Name+": "+r.LastError)
			}
		}
	}
	missing := slices.DeleteFunc([]string{group + "nets", group + "sidecar", group + "access", group + "notifications", group + "recordings"}, func(name string) bool { return slices.Contains(loaded, name) })
	switch {
	case len(missing) > 0:
		f.Outcome, f.Cause = Fails, "not loaded: "+strings.Join(missing, ", ")
		f.Hints = []Hint{{"run", "pnagent dashboards --dir /etc/prometheus/pnagent"}, {prometheusFile, "rule_files:\n  - /etc/prometheus/pnagent/prometheus/*.yaml"}}
	case len(broken) > 0:
		f.Outcome, f.Cause = Fails, strings.Join(broken, "; ")
	default:
		f.Outcome, f.Cause = OK, fmt.Sprintf("%d groups are loaded", len(loaded))
	}
	return f
}

// alertmanagers reports whether Prometheus has one that answers. That it answers here does not
// prove that it answers Prometheus, but one that does not is worth a look.
func (d *doctor) alertmanagers(ctx context.Context, address string) Finding {
	type found struct{ ActiveAlertmanagers []struct{ URL string } }
	f := Finding{Check: "prometheus.alertmanager", Looked: address + ", Alertmanagers", Outcome: Unknown}
	got, err := get[found](ctx, d, "alertmanagers")
	if err != nil {
		f.Cause = err.Error()
		return f
	}
	if len(got.ActiveAlertmanagers) == 0 {
		f.Outcome, f.Cause = Fails, "Prometheus has no Alertmanager, so its alerts reach nobody"
		f.Hints = []Hint{{prometheusFile, "alerting:\n  alertmanagers:\n    - static_configs:\n        - targets: [HOST:9093]"}}
		return f
	}
	for _, a := range got.ActiveAlertmanagers {
		base, _, _ := strings.Cut(a.URL, "/api/")
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/-/healthy", nil)
		if err != nil {
			f.Cause = err.Error()
			return f
		}
		resp, err := http.DefaultClient.Do(req) // the credentials are Prometheus'
		if err != nil {
			f.Cause = fmt.Sprintf("%s does not answer this host: %v", base, err)
			return f
		}
		_ = resp.Body.Close() // it is not read
	}
	f.Outcome, f.Cause = OK, fmt.Sprintf("%d answer", len(got.ActiveAlertmanagers))
	return f
}
