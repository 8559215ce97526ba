// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	"google.golang.org/protobuf/encoding/protojson"
)

// An event is a log record that OpenTelemetry's own types read, with no field that they do not know.
func TestAnEventIsALogRecordOfOpenTelemetry(t *testing.T) {
	for what, severity := range map[string]int32{raised: 18, reminder: 18, cleared: 10, suppressed: 10} {
		e := event(what)
		if what == suppressed {
			e.What, e.Alarm = suppressed, nil
		}
		kind, document := asLogRecord(nil, site(), e)
		text, err := json.Marshal(document)
		if err != nil || kind != "application/json" {
			t.Fatal(kind, err)
		}
		var got logs.LogsData
		if err := protojson.Unmarshal(text, &got); err != nil {
			t.Fatalf("%s: %v\n%s", what, err, text)
		}
		r := got.ResourceLogs[0].ScopeLogs[0].LogRecords[0]
		if r.EventName != "pnagent.alarm."+what || int32(r.SeverityNumber) != severity || r.TimeUnixNano != uint64(e.At.UnixNano()) || r.Body.GetStringValue() != e.Title() {
			t.Errorf("%s: %v", what, r)
		}
		if what != raised {
			continue
		}
		has := map[string]any{}
		for _, a := range r.Attributes {
			has[a.Key] = a.Value.GetStringValue()
			if n := a.Value.GetIntValue(); n != 0 {
				has[a.Key] = n
			}
		}
		want := map[string]any{"petrinet.net": "orders", "pnagent.alarm.severity": "major", "pnagent.alarm.index": int64(e.Index), "pnagent.event.id": e.ID, "pnagent.alarm.reason": e.Reason}
		maps.DeleteFunc(has, func(key string, _ any) bool { _, wanted := want[key]; return !wanted })
		if diff := cmp.Diff(want, has); diff != "" {
			t.Error(diff)
		}
	}
}
