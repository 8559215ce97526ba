// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A transition that missed its time is on top, one that is due later says when, and one without a schedule is left out.
func TestSchedulesShowTheNextRunTheLastOneAndWhatWasMissed(t *testing.T) {
	const at = `{instance="side:9797",job="pnagent",net="orders",transition="%s"}`
	var b strings.Builder
	b.WriteString("evaluation_interval: 30s\ntests:\n- interval: 30s\n  input_series:\n")
	for _, s := range []struct {
		family, transition string
		value              int
	}{{"next_due", "collect", 400}, {"next_due", "ship", 700}, {"last_firing", "collect", 100}, {"last_firing", "ship", 540}, {"last_firing", "pack", 590}} {
		fmt.Fprintf(&b, "  - {series: 'petrinet_transition_%s_timestamp_seconds%s', values: '%dx30'}\n", s.family, fmt.Sprintf(at, s.transition), s.value)
	}
	b.WriteString("  promql_expr_test:\n")
	want := map[string][2]int{"missed": {200, 0}, "next": {0, 100}, "last": {500, 60}}
	for _, q := range scheduleTable().Queries {
		expr := Variables{"job": ".+", "instance": ".+", "net": "orders"}.Expand(q.Expr)
		fmt.Fprintf(&b, "  - {expr: %q, eval_time: 10m, exp_samples: [{labels: '{transition=\"collect\"}', value: %d}, {labels: '{transition=\"ship\"}', value: %d}]}\n", expr, want[q.Legend][0], want[q.Legend][1])
	}
	file := filepath.Join(t.TempDir(), "schedules_test.yaml")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "test", "rules", file)
}
