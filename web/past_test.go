// SPDX-License-Identifier: Apache-2.0

package web

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/telemetry/natslink"
)

// asOfThen removes from a live overview what the history does not keep.
func asOfThen(live map[string]any) map[string]any {
	live["generation"], live["actions"] = 0.0, false
	delete(live, "acts")
	delete(live, "history") // grows
	for _, one := range live["sources"].([]any) {
		s := one.(map[string]any)
		delete(s, "position")
		delete(s, "lag")
		if s["state"] != "stale" && s["state"] != "gone" {
			delete(s, "last_heard_age_seconds")
		}
	}
	return live
}

// The overview of a moment is what the live overview said then.
func TestTheOverviewOfThePastIsWhatWasShown(t *testing.T) {
	st := newStage(t, func(c *Config) { c.Actions = &Actions{Alarms: &notebook{}, Who: ada} })
	random := rand.New(rand.NewPCG(7, 7))
	v := orders()
	v.NATS = &natslink.ConnState{Connected: true, Since: v.At}
	var shown []map[string]any
	for i := range 60 {
		if random.IntN(5) == 0 {
			st.alarms = &alarm.ActiveSet{LastChange: v.At, Noted: st.alarms.Noted, Active: []alarm.Alarm{{Index: uint32(1 + i), Kind: alarm.TokenStuck, Severity: alarm.Minor, Net: "orders", Subject: "due",
				Raised: v.At, Since: v.At - second, Affected: 3, Text: fmt.Sprint("stuck ", i), After: time.Minute}},
				Silences: []alarm.Silence{{ID: fmt.Sprint(i), From: v.At, Until: v.At + 9, By: "ada"}}}
		}
		v = later(v, time.Second, random.Uint64N(9))
		v.Sources = append([]merge.Source{}, v.Sources...)
		v.Sources[random.IntN(3)].State = merge.SourceState(random.IntN(5))
		v.NATS = &natslink.ConnState{Connected: i%20 < 15, Since: v.At - v.At%(5*second), Reason: "EOF"}
		v.Interrupted = !v.NATS.Connected
		v.Sum()
		st.show(v)
		if random.IntN(4) == 0 { // alarms that come after the View are shown with it
			st.alarms = &alarm.ActiveSet{LastChange: v.At, Noted: st.alarms.Noted + 1, Active: st.alarms.Active[:0:0]}
			st.show(v)
		}
		shown = append(shown, asOfThen(st.document(t, "/api/v1/overview")))
	}
	for i, want := range shown {
		at := noon.Add(time.Duration(i+1)*time.Second + time.Duration(random.IntN(1000))*time.Millisecond)
		got := st.document(t, "/api/v1/overview?at="+at.Format(time.RFC3339Nano))
		delete(got, "history")
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("%d s after noon (-shown +kept):\n%s", i+1, d)
		}
	}
	for path, want := range map[string]int{"?at=" + noon.Format(time.RFC3339): http.StatusNotFound, "?at=noon": http.StatusBadRequest, "?at=": http.StatusBadRequest} {
		w := st.get("/api/v1/overview" + path)
		if why, _ := object(t, w.Body.Bytes())["error"].(string); w.Code != want || why == "" {
			t.Errorf("%s answers %d %s; want %d", path, w.Code, w.Body, want)
		}
	}
}

// A net that is no longer in the View was there.
func TestTheOverviewOfThePastHasNetsThatAreGone(t *testing.T) {
	st := newStage(t, nil)
	st.show(orders())
	st.show((&merge.View{At: orders().At + second}).Sum())
	got := st.document(t, "/api/v1/overview?at="+noon.Format(time.RFC3339))
	nets := got["nets"].([]any)
	if len(nets) != 1 || nets[0].(map[string]any)["tokens"] != 2.0 || nets[0].(map[string]any)["drawing"] != nil || len(got["sources"].([]any)) != 3 {
		t.Errorf("got %v; want the net of then, with its tokens and without a drawing", got)
	}
}
