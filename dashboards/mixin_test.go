// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-jsonnet"
)

func TestMixinHasEveryDashboardAlertAndRecording(t *testing.T) {
	vm := jsonnet.MakeVM()
	text, err := vm.EvaluateAnonymousSnippet("test.jsonnet", `
		local m = import 'mixin.libsonnet';
		{dashboards: {[f]: m.grafanaDashboards[f].uid for f in std.objectFieldsAll(m.grafanaDashboards)},
		 alerts: [r.alert for g in m.prometheusAlerts.groups for r in g.rules if std.objectHas(r, 'alert')],
		 records: [r.record for g in m.prometheusRules.groups for r in g.rules]}`)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Dashboards      map[string]string
		Alerts, Records []string
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	for _, d := range All() {
		if got.Dashboards["pnagent-"+d.File] != d.UID {
			t.Errorf("the mixin has no dashboard %s: %v", d.File, got.Dashboards)
		}
	}
	for _, a := range Alerts(DefaultJob) {
		if !slices.Contains(got.Alerts, a.Name) {
			t.Errorf("the mixin has no alert %s", a.Name)
		}
	}
	for _, r := range Recordings() {
		if !slices.Contains(got.Records, r.Record) {
			t.Errorf("the mixin has no recording %s", r.Record)
		}
	}
}
