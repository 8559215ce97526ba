// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The small graph of a number has no axis. If it did not begin at 0, a fall from 8 to 7 would
// look as one to 0. And a number that is not there is not as green as a good one.
func TestNumbersBeginAtZeroAndAreNotGreenWithoutData(t *testing.T) {
	lintPanels(t, func(t *testing.T, p panelModel) {
		if p.Type != "stat" {
			return
		}
		d := p.FieldConfig.Defaults
		if d.Min == nil || *d.Min != 0 {
			t.Errorf("the graph of %s does not begin at 0", p.Title)
		}
		if len(d.Mappings) != 1 || d.Mappings[0].Type != "special" || d.Mappings[0].Options.Match != "null" || d.Mappings[0].Options.Result.Color != "text" {
			t.Errorf("%s has the mappings %+v; expected the colour of text for null", p.Title, d.Mappings)
		}
	})
}

// In a table only what is not good has a colour: of standbys, for example, none.
func TestGoodCellsHaveNoColour(t *testing.T) {
	for _, d := range All() {
		for _, p := range d.Panels() {
			for _, c := range p.Columns {
				override, err := json.Marshal(c.override(&p))
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range c.Steps {
					shown := strings.Contains(string(override), `"color":"`+onCell(s.Colour)+`"`)
					if !shown || (onCell(s.Colour) == silent) != (s.Colour == calm || s.Colour == silent) {
						t.Errorf("%s, %s: the cell from %v on is not %q: %s", p.Title, c.Title, s.From, s.Colour, override)
					}
				}
			}
		}
	}
}

// Below a graph of the usual height two lines of a legend have space.
func TestLegendsBelowGraphsAreShort(t *testing.T) {
	lintPanels(t, func(t *testing.T, p panelModel) {
		if p.Type != "timeseries" || p.Options.Legend.Placement == "right" {
			return
		}
		if len(p.Targets) > 2 || strings.Contains(p.Targets[0].LegendFormat, "{{") {
			t.Errorf("the legend of %s is below its graph, and may be longer than two lines", p.Title)
		}
	})
}

// Grafana's heat maps of zeros have a scale from infinity to minus infinity, and legends have
// a line for each series of NaN. A count of 0 would be wrong of what is not known.
func TestWhatIsNotThereHasNoSeries(t *testing.T) {
	const labels = `{instance="side:9797",job="pnagent",net="orders",place="empty"%s}`
	var b strings.Builder
	b.WriteString("evaluation_interval: 1m\ntests:\n- interval: 1m\n  input_series:\n")
	for family, more := range map[string]string{"petrinet_place_tokens": "", "petrinet_place_oldest_token_age_seconds": "", "petrinet_place_tokens_older_than": `,age="1s"`,
		"petrinet_place_departures_total": "", "petrinet_place_dwell_seconds_bucket": `,le="+Inf"`} {
		fmt.Fprintf(&b, "  - {series: '%s', values: '0x10'}\n", family+fmt.Sprintf(labels, more))
	}
	b.WriteString("  promql_expr_test:\n")
	vars := Variables{"job": ".+", "instance": ".+", "net": "orders", "place": "empty", "__rate_interval": "4m"}
	found := 0
	for _, d := range All() {
		for _, p := range d.Panels() {
			for _, q := range p.Queries {
				if p.Kind == Heatmap || strings.Contains(q.Expr, "quantile") || strings.Contains(q.Expr, "petrinet_alarm_active") {
					found++
					fmt.Fprintf(&b, "  - {expr: %q, eval_time: 5m, exp_samples: []}\n", vars.Expand(q.Expr))
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d queries of heat maps, percentiles and alarms", found)
	}
	file := filepath.Join(t.TempDir(), "nothing_test.yaml")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "test", "rules", file)
}
