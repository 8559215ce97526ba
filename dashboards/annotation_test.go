// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Alarms that stay active are marked when they were raised, not for as long as
// they are active: else every curve is under solid red. The page of a place marks
// the alarms of that place only.
func TestAnnotationsMarkWhenAlarmsWereRaised(t *testing.T) {
	const key = `net="%s",place="%s",transition="",source="%s",region="%s",alarm="%s"`
	alarms := []struct{ net, place, source, region, kind string }{
		{"orders", "paid", "", "", "tokenStuck"}, {"orders", "packed", "", "", "tokenStuck"}, {"claims", "paid", "", "", "tokenStuck"},
		{"orders", "", "", "north", "regionStopped"}, {"orders", "", "", "south", "regionStopped"},
		{"", "", "berlin", "", "sourceLost"}, {"", "", "berlin", "", "sourceConflict"}, {"", "", "berlin", "", "sourceRefused"}, {"", "", "", "", "natsDisconnected"},
	}
	var b strings.Builder
	b.WriteString("evaluation_interval: 30s\ntests:\n- interval: 30s\n  input_series:\n")
	for _, a := range alarms {
		fmt.Fprintf(&b, "  - {series: 'petrinet_alarm_active{instance=\"side:9797\",job=\"pnagent\",%s}', values: '_x20 1x100'}\n",
			fmt.Sprintf(key, a.net, a.place, a.source, a.region, a.kind))
	}
	b.WriteString("  promql_expr_test:\n")
	vars := Variables{"job": ".+", "instance": ".+", "net": "orders", "place": "paid"}
	for _, d := range All() {
		expr := vars.Expand(d.Annotation())
		var marked []string
		for _, a := range alarms {
			here := map[string]bool{uidSidecar: true, uidPlace: a.net == "orders" && a.place == "paid", uidNet: a.net == "orders"}
			about, one := here[d.UID]
			if !one { // several nets, and what is of none
				about = a.net != "claims"
			}
			if about {
				labels := strings.NewReplacer(`transition="",`, "", `net="",`, "", `place="",`, "", `source="",`, "", `region="",`, "").Replace(fmt.Sprintf(key, a.net, a.place, a.source, a.region, a.kind))
				marked = append(marked, fmt.Sprintf("{labels: '{%s}', value: 1}", labels))
			}
		}
		for at, want := range map[string]string{"9m30s": "", "10m": strings.Join(marked, ", "), "10m29s": strings.Join(marked, ", "), "10m30s": "", "40m": ""} {
			fmt.Fprintf(&b, "  - {expr: %q, eval_time: %s, exp_samples: [%s]}\n", expr, at, want)
		}
	}
	file := filepath.Join(t.TempDir(), "annotations_test.yaml")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "test", "rules", file)
}
