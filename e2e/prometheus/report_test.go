// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/dashboards"
	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/porttest"
	"github.com/pnagent/pnagent/metrics"
)

// figuresThat lists the figures of a report that say something.
func figuresThat(page, say string) []string {
	var found []string
	for _, figure := range regexp.MustCompile(`(?s)<figure.*?</figure>`).FindAllString(page, -1) {
		if strings.Contains(figure, say) {
			found = append(found, regexp.MustCompile(`<[^>]*>`).ReplaceAllString(figure, " "))
		}
	}
	return found
}

func TestReportDrawsEveryPanelOfARealPrometheus(t *testing.T) {
	t.Parallel()
	d := kit.StartDemo(t)
	p := kit.StartPrometheus(t, d.Web)
	kit.Until(t, "an alarm and blocks were scraped some time ago, and rates are known", func() error {
		if len(p.Query(t, "count(petrinet_transition_blocked_instances offset 3s > 0)", "net")) == 0 {
			return errors.New("no blocks")
		}
		alarms := p.Query(t, "sum(petrinet_alarm_active offset 3s)", "place")
		rates := p.Query(t, "ceil(sum(rate(petrinet_transition_firings_total[30s])))", "transition")
		for _, n := range rates {
			if len(alarms) > 0 && n > 0 {
				return nil
			}
		}
		return errors.New("not yet")
	})
	page := reportOf(t, p)
	for _, want := range []string{"4 nets: ", "something wrong now.", "Net claim", "Net packaging-line", "Net order-fulfilment", "Net backup-window", "tokenStuck", "Engine dispatch", "Drawn from Prometheus at " + p.URL} {
		if !strings.Contains(page, want) {
			t.Errorf("the report has no %q", want)
		}
	}
	if faults := figuresThat(page, "Not drawn"); faults != nil {
		t.Errorf("got figures that are not drawn: %q; want none", faults)
	}
	if n := strings.Count(page, `class="plot`); n < 50 {
		t.Errorf("got %d plots; want at least 50", n)
	}
	one := kit.Pnagent(t, "report", "--prometheus", p.URL, "--since", "5m", "--net", "packaging-line", "-o", "-")
	if one.Code != 0 || !strings.HasPrefix(one.Out, "<!DOCTYPE html>") || strings.Contains(one.Out, "Net backup-window") {
		t.Errorf("got exit code %d, %s, %.200s; want 0 and a page without another net", one.Code, one.Err, one.Out)
	}
}

// reportOf draws from a Prometheus until each figure that must have data has some.
// For a moment there may be none: a scrape has failed, as on a machine that others
// use.
func reportOf(t *testing.T, p kit.Prometheus) (page string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "report.html")
	kit.Until(t, "a report is drawn in which each figure has data", func() error {
		began := time.Now()
		r := kit.Pnagent(t, "report", "--prometheus", p.URL, "--since", "5m", "-o", out)
		if r.Code != 0 || r.Out != "" || !strings.Contains(r.Err, "written") {
			t.Fatalf("got exit code %d, %q, %s; want 0 and that the file is written", r.Code, r.Out, r.Err)
		}
		text, err := os.ReadFile(out)
		page = string(text)
		// The demo has no regions and no schedules. Not each of its nets has an alarm or a transition that is
		// blocked while the report is drawn, and no token may have left the place of a
		// net's oldest token since the first scrape.
		drawn := fmt.Sprintf("[%ds:1s]", 3+int(time.Since(began).Seconds())) // with the scrape before
		oldest := "topk by (net) (1, max by (net, place) (" + dashboards.Waiting(metrics.PlaceOldestTokenAgeSeconds, "") + "))"
		still := p.Query(t, "max_over_time(count("+oldest+" unless on (net, place) increase("+metrics.PlaceDwellSeconds+"_count[5m]) > 0)"+drawn+")", "")[kit.Key{}]
		blocked := p.Query(t, "min_over_time(count(count by (net) (petrinet_transition_blocked_instances))"+drawn+")", "")[kit.Key{}]
		free := 4 - int(blocked)
		alarms, blocks, dwells := 0, 0, 0
		empty := slices.DeleteFunc(figuresThat(page, "No data"), func(figure string) bool {
			title, _, _ := strings.Cut(strings.TrimSpace(figure), "  ")
			switch {
			case strings.HasPrefix(title, "Active alarms, each"):
				alarms++
			case title == "What blocks transitions":
				blocks++
			case title == "Dwell", title == "Distribution of dwell":
				dwells++
			default:
				return strings.HasPrefix(title, "Regions") || title == "Schedules"
			}
			return true
		})
		if len(empty) > 0 || alarms > 3 || blocks > free || dwells > 2*int(still) { // alarms of the overview and four nets
			err = errors.Join(err, fmt.Errorf("figures without data: %q, %d lists of alarms, %d of blocks, %d of dwell times; want none, at most 3, %d for nets that nothing blocks, and two for each of %d places",
				empty, alarms, blocks, dwells, free, still))
		}
		return err
	})
	return page
}

func TestReportOfASidecarAloneListsWhatIsMissing(t *testing.T) {
	t.Parallel()
	s := kit.StuckLine(t)
	kit.Until(t, "there is something to draw", func() error {
		r := kit.Pnagent(t, "report", "--url", s.URL, "-o", "-")
		if r.Code != 0 {
			return fmt.Errorf("%d, %s", r.Code, r.Err)
		}
		for _, want := range []string{"Drawn from the sidecar at " + s.URL, "Without --prometheus the report omits", "Net line", "boxes", "close waits for a token in lids", "berlin", `class="line c0"`} {
			if !strings.Contains(r.Out, want) {
				return fmt.Errorf("there is no %q", want)
			}
		}
		if faults := figuresThat(r.Out, "Not drawn"); faults != nil {
			return fmt.Errorf("not drawn: %q", faults)
		}
		return nil
	})
	kit.WantFailure(t, kit.Pnagent(t, "report", "--url", s.URL, "--net", "none", "-o", "-"), 1, `no such net.*"none"`)
}

func TestReportFailsWhereNothingCanBeHad(t *testing.T) {
	t.Parallel()
	closed := "http://ada:secret@" + porttest.Addr(t)
	for _, flag := range []string{"--url", "--prometheus"} {
		r := kit.Pnagent(t, "report", flag, closed, "-o", "-")
		kit.WantFailure(t, r, 1, "reporting: (reading|asking) .*connection refused")
		if strings.Contains(r.Err, "secret") {
			t.Errorf("the password is in %q", r.Err)
		}
	}
	kit.WantFailure(t, kit.Pnagent(t, "report", "--since", "soon"), 2, `--since: "soon"; expected a duration such as 30s, 1h30m or 7d`)
	kit.WantFailure(t, kit.Pnagent(t, "report", "--since", "500d"), 2, `--since: 12000h0m0s; expected a duration from 1m to 400d`)
	kit.WantFailure(t, kit.Pnagent(t, "report", "--prometheus", "ftp://localhost:9090"), 2, "--prometheus: ftp://localhost:9090; expected http://HOST:PORT")
}
