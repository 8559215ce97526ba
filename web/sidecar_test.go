// SPDX-License-Identifier: Apache-2.0

package web

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/web/api"
)

func TestRefusedSourcesAreCountedByReason(t *testing.T) {
	source := func(name string, state merge.SourceState, reason string) merge.Source {
		return merge.Source{Name: name, Net: "orders", State: state, Refusal: reason, Reason: "text of " + reason}
	}
	got := refusedSources([]merge.Source{source("a", merge.Up, ""), source("b", merge.Refused, "counter_fell"), source("c", merge.Refused, "conflict"),
		source("d", merge.Stale, ""), source("e", merge.Refused, "bad_value"), source("f", merge.Refused, "conflict")})
	want := []api.RefusedSources{{Reason: "conflict", Sources: 2, Net: "orders", Source: "c", Text: "text of conflict"},
		{Reason: "bad_value", Sources: 1, Net: "orders", Source: "e", Text: "text of bad_value"}, {Reason: "counter_fell", Sources: 1, Net: "orders", Source: "b", Text: "text of counter_fell"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	many := make([]merge.Source, 3*maxReasons)
	for i := range many {
		many[i] = source("x", merge.Refused, fmt.Sprint(i))
	}
	if got := refusedSources(many); len(got) != maxReasons {
		t.Errorf("got %d reasons; want %d", len(got), maxReasons)
	}
}

func TestSkewedSourcesAreNamedByTheirDifference(t *testing.T) {
	skewed := func(name string, state merge.SourceState, skew time.Duration) merge.Source {
		return merge.Source{Name: name, Net: "orders", State: state, Skew: skew}
	}
	all := []merge.Source{skewed("exact", merge.Up, 4*time.Second), skewed("ahead", merge.Up, time.Minute), skewed("behind", merge.Up, -time.Hour), skewed("away", merge.Stale, time.Hour)}
	want := &api.SkewedSources{Sources: 2, Worst: []api.SkewedSource{{Net: "orders", Name: "behind", Ahead: -3600}, {Net: "orders", Name: "ahead", Ahead: 60}}}
	if diff := cmp.Diff(want, skewedSources(all)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := skewedSources(all[:1]); got != nil {
		t.Errorf("got %+v of clocks that agree; want nil", got)
	}
	for range 20 {
		all = append(all, all[1])
	}
	if got := skewedSources(all); got.Sources != 22 || len(got.Worst) != maxSkewed {
		t.Errorf("got %d sources of which %d are named; want 22 and %d", got.Sources, len(got.Worst), maxSkewed)
	}
}

func TestAnOverviewSaysWhatTheSidecarIs(t *testing.T) {
	on := false
	st := newStage(t, func(c *Config) {
		c.Sidecar = func() api.Sidecar { return api.Sidecar{Share: "2/8", Duty: &api.Duty{On: on, Others: 1}} }
	})
	view := orders()
	view.Sources = []merge.Source{{Name: "below-1", Net: "orders", Region: "up/below-1", Requests: &stats.RefusedRequests{}}, {Name: "berlin", Net: "orders", Region: "eu", Requests: &stats.RefusedRequests{2}}}
	st.show(view)
	doc := st.document(t, "/api/v1/overview")
	equal(t, doc["sidecar"].(map[string]any), `{"share":"2/8","duty":{"on":false,"others":1}}`)
	sources := doc["sources"].([]any)
	if first, second := sources[0].(map[string]any), sources[1].(map[string]any); first["below"] != true || second["below"] != nil || first["refused_requests"] != nil || second["refused_requests"] == nil {
		t.Errorf("got %v; want the first one below, and requests that only the second one refused", sources)
	}
	on = true
	st.show(view)
	equal(t, st.document(t, "/api/v1/overview")["sidecar"].(map[string]any), `{"share":"2/8","duty":{"on":true,"others":1}}`)
}

// The first answer after a restart has the alarms of the process before.
func TestRestoredAlarmsAreShownBeforeTheFirstView(t *testing.T) {
	restored := make(chan *alarm.ActiveSet, 1)
	restored <- &alarm.ActiveSet{Active: []alarm.Alarm{{Index: 7, Kind: alarm.TokenStuck, Net: "orders", Subject: "due", Raised: noon.UnixMicro()}}}
	st := newStage(t, func(c *Config) { c.Alarms = restored })
	for _, path := range []string{"/api/v1/alarms", "/api/v1/overview"} {
		if got := st.get(path).Body.String(); !strings.Contains(got, `"index":7,`) {
			t.Errorf("%s: got %s; want the alarm of the process before", path, got)
		}
	}
}

// Answers before the first View have how an engine connects, as all others do.
func TestWhatTheSidecarIsIsKnownBeforeTheFirstView(t *testing.T) {
	st := newStage(t, func(c *Config) { c.Sidecar = func() api.Sidecar { return api.Sidecar{Share: "1/2"} } })
	for _, then := range []func(){func() {}, func() { st.show(orders()) }} {
		then()
		if got := st.document(t, "/api/v1/overview")["sidecar"]; !cmp.Equal(got, any(map[string]any{"share": "1/2"})) {
			t.Errorf("got %v; want the share", got)
		}
	}
}
