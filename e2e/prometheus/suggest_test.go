// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/metrics"
)

// Rules are learned from the samples of a Prometheus: two days before, a minute apart.
func TestRulesAreSuggestedForWhatFiredRegularly(t *testing.T) {
	t.Parallel()
	end := time.Now().Add(-4 * time.Hour).Truncate(time.Hour)
	begin := end.Add(-48 * time.Hour)
	var text strings.Builder
	fmt.Fprintf(&text, "# TYPE %s gauge\n", metrics.TransitionLastFiringTimestampSeconds)
	for transition, last := range map[string]func(at time.Time) time.Time{
		"half-hourly": func(at time.Time) time.Time { return at.Truncate(30 * time.Minute).Add(time.Second) },
		"erratic":     func(at time.Time) time.Time { return at.Truncate(time.Duration(1+at.Hour()%7) * 13 * time.Minute) },
		"daily":       func(at time.Time) time.Time { return at.Truncate(24 * time.Hour) },
		"always":      func(at time.Time) time.Time { return at },
	} {
		for at := begin; at.Before(end); at = at.Add(time.Minute) {
			fmt.Fprintf(&text, "%s{net=\"jobs\",transition=%q} %d %d\n", metrics.TransitionLastFiringTimestampSeconds, transition, last(at).Unix(), at.Unix())
		}
	}
	text.WriteString("# EOF\n")
	dir := t.TempDir()
	if r := kit.Tool(t, nil, kit.Need(t, "promtool", "prometheus"), "tsdb", "create-blocks-from", "openmetrics", kit.Write(t, "past.om", text.String()), dir); r.Code != 0 {
		t.Fatalf("promtool: %+v", r)
	}
	p := kit.Start(t, kit.Need(t, "prometheus", "prometheus"), "--config.file="+kit.Write(t, "prometheus.yml", ""), "--storage.tsdb.path="+dir, "--web.listen-address=127.0.0.1:0")
	url := "http://" + p.Says(t, `msg="Listening on" address=(\S+)`)[1]
	p.Says(t, `Server is ready to receive web requests`)

	r := kit.Pnagent(t, "alarms", "suggest", "--prometheus", url, "--since", "3d")
	lines := strings.Split(strings.TrimSpace(r.Out), "\n")
	if r.Code != 0 || len(lines) != 4 || lines[1] != "overrides:" || lines[2] != `  - {net: "jobs", transition: "half-hourly", expect: {every: 30m, grace: 3m}} # 96 firings, 30m to 30m apart` ||
		!strings.HasSuffix(lines[3], "and not regularly or more often than each 1m18s: 2") {
		t.Errorf("%+v", r)
	}
	rules := kit.Write(t, "rules.yaml", r.Out)
	if r := kit.Pnagent(t, "check-config", rules); r.Code != 0 {
		t.Errorf("what is printed is no file of rules: %+v", r)
	}
	if r := kit.Pnagent(t, "alarms", "suggest", "--prometheus", url, "--net", "other"); r.Code != 0 || !strings.Contains(r.Out, "\noverrides: []\n") {
		t.Errorf("of another net: %+v", r)
	}
	kit.WantFailure(t, kit.Pnagent(t, "alarms", "suggest", "--prometheus", url, "--since", "1m"), 2, `--since: 1m0s; expected a duration from 1h to 400d`)
}
