// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Of thousands of tokens that a net finished long ago, no dashboard, recording
// rule or expression in the documents says that they are old.
//
//promise:work none
func TestTokensOfFinalPlacesAreNotOld(t *testing.T) {
	const series = `{instance="side:9797",job="pnagent",net="orders",place="%s"%s}`
	var b strings.Builder
	recordings, err := filepath.Abs("prometheus/recordings.yaml")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&b, "rule_files: [%q]\nevaluation_interval: 1m\ntests:\n- interval: 1m\n  input_series:\n", recordings)
	input := func(family, place, label string, value float64) {
		fmt.Fprintf(&b, "  - {series: '%s', values: '%v+0x10'}\n", family+fmt.Sprintf(series, place, label), value)
	}
	for place, age := range map[string]float64{"paid": 60, "closed": 30 * 86400, "kept": 90 * 86400} {
		input("petrinet_place_oldest_token_age_seconds", place, "", age)
		input("petrinet_place_tokens_older_than", place, `,age="1d"`, age)
	}
	input("petrinet_place_final", "closed", "", 1)
	input("petrinet_place_resting", "kept", "", 1)
	b.WriteString("  promql_expr_test:\n")
	vars := Variables{"job": ".+", "instance": ".+", "net": "orders", "__rate_interval": "4m"}
	expect := func(expr, labels string) {
		fmt.Fprintf(&b, "  - {expr: %q, eval_time: 5m, exp_samples: [{labels: '%s', value: 60}]}\n", vars.Expand(expr), labels)
	}
	oneMost := regexp.MustCompile(`^max by \((\w+)\)`)
	found := 0
	for _, d := range All() {
		if d.UID == uidPlace { // it is about one place, whichever it is
			continue
		}
		for _, p := range d.Panels() {
			for _, q := range p.Queries {
				if !strings.Contains(q.Expr, "place_oldest_token_age") && (!strings.Contains(q.Expr, "older_than") || p.Kind == Heatmap || !strings.Contains(q.Expr, `"1d"`)) {
					continue
				}
				found++
				labels := "{}"
				if by := oneMost.FindStringSubmatch(q.Expr); by != nil {
					labels = map[string]string{"net": `{net="orders"}`, "place": `{place="paid"}`}[by[1]]
				}
				expect(q.Expr, labels)
			}
		}
	}
	if found < 6 {
		t.Errorf("only %d queries about ages", found)
	}
	expect("net:petrinet_place_oldest_token_age_seconds:max", `net:petrinet_place_oldest_token_age_seconds:max{net="orders"}`)
	for _, expr := range documented(t) {
		expect(expr, "petrinet_place_oldest_token_age_seconds"+fmt.Sprintf(series, "paid", ""))
	}
	file := filepath.Join(t.TempDir(), "final_test.yaml")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "test", "rules", file)
}

// documented returns the expressions for the oldest tokens in the documents.
func documented(t *testing.T) (exprs []string) {
	t.Helper()
	files, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, "../README.md", "README.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, expr := range regexp.MustCompile("`(topk\\([^`]*)`").FindAllStringSubmatch(string(text), -1) {
			exprs = append(exprs, expr[1])
		}
	}
	if len(exprs) == 0 {
		t.Error("no document has a query for the oldest tokens")
	}
	return exprs
}

// Panels returns all panels of a dashboard, in order.
func (d *Dashboard) Panels() []Panel {
	var all []Panel
	for _, r := range d.Rows {
		all = append(all, r.Panels...)
	}
	return all
}
