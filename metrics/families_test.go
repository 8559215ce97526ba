// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

var update = flag.Bool("update", false, "write the golden files again")

// contract is what dashboards and alerts are written against.
const contract = `
petrinet_instances gauge net,state
petrinet_instances_created_total counter net
petrinet_instances_finished_total counter net
petrinet_instances_failed_total counter net
petrinet_source_up gauge net,source
petrinet_source_refused gauge net,source,reason
petrinet_source_last_snapshot_age_seconds gauge net,source
petrinet_source_gaps_total counter net,source
petrinet_region_epoch gauge net,region,source
petrinet_region_setbacks_total counter net,region,source
petrinet_region_commits_total counter net,region,source
petrinet_region_standbys gauge net,region,source
petrinet_region_lag_commits gauge net,region,source
petrinet_region_stopped gauge net,region,source
petrinet_alarm_active gauge net,place,transition,source,region,alarm,for_reason,severity
petrinet_alarms gauge net
petrinet_alarm_raised_timestamp_seconds gauge net,place,transition,source,region,alarm,for_reason
petrinet_alarm_acknowledged gauge net,place,transition,source,region,alarm,for_reason
petrinet_alarm_silenced gauge net,place,transition,source,region,alarm,for_reason
petrinet_alarm_unknown gauge net,place,transition,source,region,alarm,for_reason
petrinet_alarm_follows gauge net,place,transition,source,region,alarm,for_reason,follows
petrinet_alarm_reason gauge net,place,transition,source,region,alarm,for_reason,waits_for,reason,blocked_by
petrinet_queue_waiting gauge net
petrinet_queue_ready gauge net,priority
petrinet_queue_oldest_age_seconds gauge net,priority
petrinet_queue_unserved_age_seconds gauge net,priority
petrinet_queue_served_total counter net,priority
petrinet_queue_quote_switches_total counter net,priority
petrinet_place_final gauge net,place
petrinet_place_resting gauge net,place
petrinet_place_tokens gauge net,place
petrinet_place_instances gauge net,place
petrinet_place_oldest_token_age_seconds gauge net,place
petrinet_place_arrivals_total counter net,place
petrinet_place_departures_total counter net,place
petrinet_transition_firings_total counter net,transition
petrinet_transition_failures_total counter net,transition
petrinet_transition_retries_total counter net,transition
petrinet_transition_cancels_total counter net,transition
petrinet_transition_timeouts_total counter net,transition
petrinet_transition_late_answers_total counter net,transition
petrinet_transition_enabled_instances gauge net,transition
petrinet_transition_enabled_age_seconds gauge net,transition
petrinet_transition_running gauge net,transition
petrinet_transition_running_age_seconds gauge net,transition
petrinet_transition_last_firing_timestamp_seconds gauge net,transition
petrinet_transition_next_due_timestamp_seconds gauge net,transition
petrinet_place_tokens_older_than gauge net,place,age
petrinet_place_reason_tokens gauge net,place,reason
petrinet_transition_blocked_instances gauge net,transition,place,reason
petrinet_source_requests_refused_total counter net,source,reason
petrinet_place_dwell_seconds histogram net,place
petrinet_transition_duration_seconds histogram net,transition
petrinet_place_info gauge net,place,called
petrinet_transition_info gauge net,transition,called
pnagent_build_info gauge version,revision,goversion
pnagent_messages_total counter 
pnagent_bytes_total counter 
pnagent_messages_lost_total counter 
pnagent_messages_rejected_total counter reason
pnagent_collector_load_ratio gauge 
pnagent_source_interval_asked_seconds gauge 
pnagent_sum_differences_total counter 
pnagent_view_age_seconds gauge 
pnagent_view_generation gauge 
pnagent_sources gauge state
pnagent_series_dropped_total counter net
pnagent_scrapes_refused_total counter 
pnagent_scrape_size_bytes gauge form
pnagent_config_last_reload_successful gauge 
pnagent_config_last_reload_success_timestamp_seconds gauge 
pnagent_alarms gauge 
pnagent_alarms_raised_total counter alarm
pnagent_alarms_cleared_total counter alarm
pnagent_alarms_dropped_total counter 
pnagent_alarm_save_failures_total counter 
pnagent_alarm_files_damaged_total counter file
pnagent_notifications_sent_total counter sink
pnagent_notifications_failed_total counter sink,reason
pnagent_notifications_suppressed_total counter 
pnagent_notifications_waiting gauge 
pnagent_notifications_queued gauge sink
pnagent_notifications_queued_oldest_age_seconds gauge sink
pnagent_notifications_retries_total counter sink
pnagent_alarms_unannounced gauge 
pnagent_notifications_skipped_total counter reason
`

func TestFamiliesAreTheContract(t *testing.T) {
	var got strings.Builder
	got.WriteByte('\n')
	for _, f := range Families() {
		got.WriteString(f.Name + " " + f.Type.String() + " " + strings.Join(f.Labels, ",") + "\n")
		if f.Help == "" {
			t.Errorf("%s has no help", f.Name)
		}
		if (f.scope == ofRows) != (f.Columns != 0) {
			t.Errorf("%s is read from rows or needs a column, but not both", f.Name)
		}
	}
	if diff := cmp.Diff(contract, got.String()); diff != "" {
		t.Error(diff)
	}
}

func TestARichViewShowsEveryFamilyAsItIsDescribed(t *testing.T) {
	e := newExporter(t, rich(), withAlarms)
	scraped(t, e, "/metrics") // so that there is a last one
	families := scraped(t, e, "/metrics/nets/orders")
	maps.Copy(families, scraped(t, e, "/metrics/self"))
	families[PnagentAlarms] = scraped(t, e, "/metrics")[PnagentAlarms] // it is of everything
	for _, f := range Families() {
		shown := families[f.Name]
		if shown == nil {
			t.Errorf("%s is not shown", f.Name)
			continue
		}
		if got := strings.ToLower(shown.GetType().String()); got != f.Type.String() || shown.GetHelp() != f.Help {
			t.Errorf("%s is shown as a %s: %s", f.Name, got, shown.GetHelp())
		}
		for _, m := range shown.Metric {
			var names []string
			for _, l := range m.Label {
				names = append(names, l.GetName())
			}
			if !slices.Equal(names, f.Labels) {
				t.Errorf("%s has the labels %v, want %v", f.Name, names, f.Labels)
			}
		}
	}
	for _, name := range []string{"go_goroutines", "process_start_time_seconds"} {
		if families[name] == nil {
			t.Errorf("%s is not shown", name)
		}
	}
}

func TestGoldenScrape(t *testing.T) {
	body := get(newExporter(t, rich(), withAlarms).Handler(), "/metrics", "").Body.Bytes()
	// The metrics of the Go runtime and the process differ each time.
	body = regexp.MustCompile(`(?m)^(# (HELP|TYPE) )?(go|process)_.*\n`).ReplaceAll(body, nil)
	body = regexp.MustCompile(`goversion="[^"]*"`).ReplaceAll(body, []byte(`goversion="go"`))
	golden := filepath.Join("testdata", "rich.prom")
	if *update {
		if err := os.WriteFile(golden, body, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(body)); diff != "" {
		t.Error(diff)
	}
}

func TestPromtoolHasNothingToSay(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed (Debian: prometheus)")
	}
	for _, path := range []string{"/metrics", "/metrics/self", "/metrics/nets/orders"} {
		cmd := exec.Command(promtool, "check", "metrics")
		cmd.Stdin = bytes.NewReader(get(newExporter(t, rich(), nil).Handler(), path, "").Body.Bytes())
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", path, err, out)
		}
	}
}

func TestAnAgeRisesByOneASecondWithTheSameView(t *testing.T) {
	now := noon
	e := newExporter(t, rich(), func(c *Config) { c.Now = func() time.Time { return now } })
	for second := range 5 {
		now = noon.Add(time.Duration(second) * time.Second)
		families := scraped(t, e, "/metrics")
		for _, c := range []struct {
			family, labels string
			at0            float64
		}{
			{"petrinet_place_oldest_token_age_seconds", "net=orders,place=awaiting payment", 7200},
			{"petrinet_transition_enabled_age_seconds", "net=orders,transition=pay", 60},
			{"petrinet_transition_running_age_seconds", "net=orders,transition=pay", 1.5},
			{"petrinet_source_last_snapshot_age_seconds", "net=orders,source=host-2", 60},
			{"petrinet_queue_oldest_age_seconds", "net=orders,priority=7", 4},
			{"petrinet_queue_unserved_age_seconds", "net=orders,priority=7", 3},
			{"pnagent_view_age_seconds", "", 0},
		} {
			if got, ok := value(families, c.family, c.labels); !ok || got != c.at0+float64(second) {
				t.Errorf("after %d s %s{%s} is %v, %v", second, c.family, c.labels, got, ok)
			}
		}
	}
	now = noon.Add(9 * time.Second)
	older, _ := value(scraped(t, e, "/metrics"), "petrinet_place_tokens_older_than", "net=orders,place=awaiting payment,age=10s")
	if older != 4 {
		t.Errorf("9 s later %v tokens are older than 10 s, want all 4", older)
	}
}

func TestWithoutATokenTheAgeIsZero(t *testing.T) {
	got, ok := value(scraped(t, newExporter(t, rich(), nil), "/metrics"), "petrinet_place_oldest_token_age_seconds", `net=orders,place=p\xff`)
	if got != 0 || !ok {
		t.Errorf("%v, %v", got, ok)
	}
}

func TestWhatNoSourceKnowsIsAbsent(t *testing.T) {
	families := scraped(t, newExporter(t, rich(), nil), "/metrics")
	var present []string
	for name, family := range families {
		for _, m := range family.Metric {
			if strings.Contains(seriesLabels(m), "net=few") {
				present = append(present, name)
				break
			}
		}
	}
	slices.Sort(present)
	want := []string{"petrinet_place_tokens", "petrinet_source_gaps_total", "petrinet_source_last_snapshot_age_seconds",
		"petrinet_source_up", "petrinet_transition_firings_total", "pnagent_series_dropped_total"}
	if diff := cmp.Diff(want, present); diff != "" {
		t.Error(diff)
	}
	if got, ok := value(families, "petrinet_transition_last_firing_timestamp_seconds", "net=orders,transition=ship"); ok {
		t.Errorf("a transition that never fired did so at %v", got)
	}
}

func TestStaleIsNotZero(t *testing.T) {
	families := scraped(t, newExporter(t, rich(), nil), "/metrics")
	for labels, want := range map[string]float64{"net=orders,source=host-1": 1, "net=orders,source=host-2": 0,
		"net=few,source=host-1": 0, "net=new,source=host-3": 0} {
		if got, ok := value(families, "petrinet_source_up", labels); !ok || got != want {
			t.Errorf("petrinet_source_up{%s} is %v, %v, want %v", labels, got, ok, want)
		}
	}
	if got, _ := value(families, "petrinet_place_tokens", "net=orders,place=awaiting payment"); got != 4 {
		t.Errorf("%v tokens", got)
	}
	for state, want := range map[string]float64{"up": 1, "stale": 1, "gone": 1, "undefined": 1} {
		if got, _ := value(families, "pnagent_sources", "state="+state); got != want {
			t.Errorf("%v sources are %s, want %v", got, state, want)
		}
	}
}

func TestLabelValuesAreTheIdsVerbatim(t *testing.T) {
	families := scraped(t, newExporter(t, rich(), nil), "/metrics")
	for place, tokens := range map[string]float64{"awaiting payment": 4, `odd "id" \ ü` + "\n": 0, `p\xff`: 0} {
		if got, ok := value(families, "petrinet_place_tokens", "net=orders,place="+place); !ok || got != tokens {
			t.Errorf("place %q has %v tokens, %v", place, got, ok)
		}
	}
}

func TestWithoutAViewThereIsTheSidecar(t *testing.T) {
	families := scraped(t, newExporter(t, nil, nil), "/metrics")
	for name := range families {
		if strings.HasPrefix(name, "petrinet_") || strings.HasPrefix(name, "pnagent_view") {
			t.Errorf("%s is shown", name)
		}
	}
	if families["pnagent_build_info"] == nil || families["go_goroutines"] == nil {
		t.Error("the sidecar's own families are not shown")
	}
}

func TestANewViewReplacesTheOld(t *testing.T) {
	view := rich()
	e := newExporter(t, nil, func(c *Config) { c.View = func() *merge.View { return view } })
	scraped(t, e, "/metrics")

	next := rich()
	next.Generation++
	next.Nets = next.Nets[1:] // the net of few columns is gone
	next.Sources = next.Sources[1:3]
	net := next.Nets[0]
	net.Def = &petri.Net{ID: "orders", Places: append(orders().Places, petri.Place{ID: "refunds"}), Transitions: orders().Transitions}
	rows := stats.NewRows(4, 2)
	rows.Columns = stats.ColTokens | stats.ColLastFiring | stats.ColBlocks
	rows.Places[3].Tokens = 11
	rows.Transitions[1].LastFiring = before(0)
	net.Rows = rows
	next.Sources[0], next.Sources[1] = next.Sources[1], next.Sources[0]
	view = next

	families := scraped(t, e, "/metrics")
	if got, _ := value(families, "petrinet_place_tokens", "net=orders,place=refunds"); got != 11 {
		t.Errorf("the new place has %v tokens", got)
	}
	if n := len(families["petrinet_place_tokens"].Metric); n != 4 {
		t.Errorf("%d places are shown, want 4", n)
	}
	for _, gone := range []string{"petrinet_transition_blocked_instances", "petrinet_place_dwell_seconds", "petrinet_transition_firings_total"} {
		if families[gone] != nil {
			t.Errorf("%s is still shown", gone)
		}
	}
	fired := families["petrinet_transition_last_firing_timestamp_seconds"].Metric
	if len(fired) != 1 || seriesLabels(fired[0]) != "net=orders,transition=ship" {
		t.Errorf("last firings %v", fired)
	}
	if up, _ := value(families, "petrinet_source_up", "net=orders,source=host-2"); up != 0 {
		t.Error("sources that changed places changed their state, too")
	}
	if len(e.byName) != 2 { // with the one of alarms without a net
		t.Errorf("%d nets are kept", len(e.byName))
	}
}

// A source has series of its region only while it has the region, or reports to be
// a standby for it. A missing number is not shown as 0.
func TestASourceHasSeriesOfItsRegionOnlyForReportedNumbers(t *testing.T) {
	view := rich()
	view.Sources = []merge.Source{
		{Name: "gone", Net: "orders", State: merge.Gone, Region: "east", Fence: 4, Position: new(uint64(1))},
		{Name: "none", Net: "orders", State: merge.Up},
		{Name: "first", Net: "orders", State: merge.Up, Region: "east", Fence: 1, Setbacks: 2},
		{Name: "follows", Net: "orders", State: merge.Up, Region: "west", Position: new(uint64(0)), Lag: new(uint64(0))},
	}
	var got []string
	for name, family := range scraped(t, newExporter(t, view, nil), "/metrics") {
		if strings.HasPrefix(name, "petrinet_region_") {
			for _, m := range family.GetMetric() {
				got = append(got, fmt.Sprint(name, " ", seriesLabels(m), " ", m.GetGauge().GetValue()+m.GetCounter().GetValue()))
			}
		}
	}
	slices.Sort(got)
	want := []string{
		"petrinet_region_commits_total net=orders,region=west,source=follows 0",
		"petrinet_region_epoch net=orders,region=east,source=first 1",
		"petrinet_region_lag_commits net=orders,region=west,source=follows 0",
		"petrinet_region_setbacks_total net=orders,region=east,source=first 2",
		"petrinet_region_stopped net=orders,region=west,source=follows 0",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
