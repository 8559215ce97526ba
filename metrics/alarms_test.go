// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/stats"
)

// shownAlarms are the series of petrinet_alarm_active, by what labels they have.
func shownAlarms(families map[string]*dto.MetricFamily) []string {
	return subjectsOf(families, "petrinet_alarm_active")
}

func subjectsOf(families map[string]*dto.MetricFamily, name string) []string {
	var all []string
	for _, m := range families[name].GetMetric() {
		if m.GetGauge().GetValue() == 1 {
			all = append(all, seriesLabels(m))
		}
	}
	slices.Sort(all)
	return all
}

func TestEachActiveAlarmIsASeriesUntilItIsOver(t *testing.T) {
	state := alarms()
	e := newExporter(t, rich(), func(c *Config) { c.Alarms = func() *alarm.ActiveSet { return state } })
	all := []string{
		"net=,place=,transition=,source=host-2,region=,alarm=sourceLost,for_reason=,severity=major",
		`net=left,place=,transition=p\xff,source=,region=,alarm=transitionLoop,for_reason=,severity=warning`,
		"net=orders,place=,transition=,source=,region=,alarm=netDeadlocked,for_reason=,severity=critical",
		"net=orders,place=,transition=pay,source=,region=,alarm=transitionStarved,for_reason=,severity=warning",
		"net=orders,place=awaiting payment,transition=,source=,region=,alarm=tokenStuck,for_reason=,severity=minor",
	}
	if diff := cmp.Diff(all, shownAlarms(scraped(t, e, "/metrics"))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(all[2:], shownAlarms(scraped(t, e, "/metrics/nets/orders"))); diff != "" {
		t.Error(diff)
	}
	later := *state
	later.Active = append(slices.Clone(state.Active[2:4]), alarm.Alarm{Index: 10, Kind: alarm.FailureRatio, Severity: alarm.Minor, Net: "orders", Subject: "pay"})
	state = &later // with the same View
	want := []string{all[0], all[2], "net=orders,place=,transition=pay,source=,region=,alarm=failureRatio,for_reason=,severity=minor"}
	if diff := cmp.Diff(want, shownAlarms(scraped(t, e, "/metrics"))); diff != "" {
		t.Error(diff)
	}
	worse := later
	worse.Active = slices.Clone(later.Active)
	worse.Active[1].Severity = alarm.Warning // after a reload
	state = &worse
	want[1] = strings.Replace(want[1], "critical", "warning", 1)
	if diff := cmp.Diff(want, shownAlarms(scraped(t, e, "/metrics"))); diff != "" {
		t.Error(diff)
	}
	state = &alarm.ActiveSet{}
	if got := shownAlarms(scraped(t, e, "/metrics")); got != nil {
		t.Errorf("with no alarm there are %v", got)
	}
}

func TestAcknowledgedAndSilencedAlarmsAreSeries(t *testing.T) {
	state := alarms()
	e := newExporter(t, rich(), func(c *Config) { c.Alarms = func() *alarm.ActiveSet { return state } })
	check := func(acknowledged, silenced []string) {
		t.Helper()
		families := scraped(t, e, "/metrics")
		got := [][]string{subjectsOf(families, "petrinet_alarm_acknowledged"), subjectsOf(families, "petrinet_alarm_silenced")}
		if diff := cmp.Diff([][]string{acknowledged, silenced}, got); diff != "" {
			t.Error(diff)
		}
	}
	check([]string{"net=orders,place=awaiting payment,transition=,source=,region=,alarm=tokenStuck,for_reason="}, []string{"net=,place=,transition=,source=host-2,region=,alarm=sourceLost,for_reason="})
	noted := *state
	noted.Active = slices.Clone(state.Active)
	noted.Active[0].Ack, noted.Active[2].SilencedUntil, noted.Active[3].SilencedUntil = nil, 0, 1
	state = &noted // with the same View
	check(nil, []string{"net=orders,place=,transition=,source=,region=,alarm=netDeadlocked,for_reason="})
}

func TestUnknownAlarmsAndThoseThatFollowAreSeries(t *testing.T) {
	families := scraped(t, newExporter(t, rich(), withAlarms), "/metrics")
	want := [][]string{{"net=orders,place=,transition=,source=,region=,alarm=netDeadlocked,for_reason="}, {"net=orders,place=,transition=pay,source=,region=,alarm=transitionStarved,for_reason=,follows=host-2"}}
	if diff := cmp.Diff(want, [][]string{subjectsOf(families, "petrinet_alarm_unknown"), subjectsOf(families, "petrinet_alarm_follows")}); diff != "" {
		t.Error(diff)
	}
	if got := len(shownAlarms(families)); got != 5 {
		t.Errorf("%d series of petrinet_alarm_active; want one for each alarm", got)
	}
}

func TestTheReasonOfAnAlarmIsASeries(t *testing.T) {
	state := alarms()
	e := newExporter(t, rich(), func(c *Config) { c.Alarms = func() *alarm.ActiveSet { return state } })
	reasons := func() []string { return subjectsOf(scraped(t, e, "/metrics"), "petrinet_alarm_reason") }
	const starved, stuck = "net=orders,place=,transition=pay,source=,region=,alarm=transitionStarved,for_reason=,waits_for=pay,reason=",
		"net=orders,place=awaiting payment,transition=,source=,region=,alarm=tokenStuck,for_reason=,waits_for="
	if diff := cmp.Diff([]string{starved + "enabled,blocked_by=", stuck + `ship,reason=missing,blocked_by=p\xff`}, reasons()); diff != "" {
		t.Error(diff)
	}
	state = alarms()
	for i := range state.Active[:2] {
		state.Active[i].Why = alarm.Why{Transition: "pay", Wait: stats.Wait{Reason: stats.ReasonIncident}}
	}
	if diff := cmp.Diff([]string{starved + "incident,blocked_by=", stuck + "pay,reason=incident,blocked_by="}, reasons()); diff != "" {
		t.Error(diff)
	}
	state = alarms()
	state.Active[0].Why, state.Active[1].Why = alarm.Why{}, alarm.Why{} // its source reports none
	if got := reasons(); got != nil {
		t.Errorf("without a reported wait there are %v", got)
	}
}

func TestAlarmsAreWithinTheBudgetOfTheirNet(t *testing.T) {
	few := &alarm.ActiveSet{}
	for i := range uint32(20) {
		few.Active = append(few.Active, alarm.Alarm{Index: i + 1, Kind: alarm.TokenStuck, Net: "few", Subject: strings.Repeat("p", int(i)+1)})
	}
	e := newExporter(t, rich(), func(c *Config) {
		c.Alarms, c.SeriesBudget = func() *alarm.ActiveSet { return few }, 19
	})
	families := scraped(t, e, "/metrics")
	if got := shownAlarms(families); got != nil {
		t.Errorf("over the budget there are %v", got)
	}
	if families[PnagentAlarms] != nil {
		t.Error("alarms are missing, and the sidecar counts those that are active")
	}
	if _, counted := value(families, Alarms, "net=few"); counted {
		t.Error("alarms of the net are missing, and it has a count of those that are active")
	}
	if n, counted := value(families, Alarms, "net=new"); n != 0 || !counted {
		t.Errorf("another net has %v alarms, %v; want 0", n, counted)
	}
	if dropped, _ := value(scraped(t, e, "/metrics"), "pnagent_series_dropped_total", "net=few"); dropped < 20 {
		t.Errorf("%v series were dropped, want 20 at least", dropped)
	}
}

func TestWithoutAlarmsThereAreNoCountersOfThem(t *testing.T) {
	e := newExporter(t, rich(), nil)
	for name := range scraped(t, e, "/metrics") {
		if strings.HasPrefix(name, "pnagent_alarm") || strings.HasPrefix(name, "pnagent_notif") || strings.HasPrefix(name, "petrinet_alarm") {
			t.Errorf("there is %s", name)
		}
	}
}

// Prometheus must not take alarms for over that the sidecar does not know yet. A
// number of alarms, also 0, is shown only where all of them are.
func TestTheNumberOfAlarmsIsShownWhereAllOfThemAre(t *testing.T) {
	state := alarms()
	e := newExporter(t, rich(), func(c *Config) { c.Alarms, c.AlarmCounters = func() *alarm.ActiveSet { return state }, alarmCounters })
	numbers := func(path string) string {
		families := scraped(t, e, path)
		var all []string
		for _, name := range []string{Alarms, PnagentAlarms} {
			for _, m := range families[name].GetMetric() {
				all = append(all, fmt.Sprintf("%s{%s} %v", name, seriesLabels(m), m.GetGauge().GetValue()))
			}
		}
		slices.Sort(all)
		return strings.Join(all, "\n")
	}
	for path, want := range map[string]string{
		"/metrics":             "petrinet_alarms{net=few} 0\npetrinet_alarms{net=left} 1\npetrinet_alarms{net=new} 0\npetrinet_alarms{net=orders} 3\npetrinet_alarms{net=} 1\npnagent_alarms{} 5",
		"/metrics/nets/orders": "petrinet_alarms{net=orders} 3",
		"/metrics/nets/left":   "petrinet_alarms{net=left} 1", // of which only an alarm is known
		"/metrics/self":        "petrinet_alarms{net=} 1",     // with the alarms about sources
	} {
		if got := numbers(path); got != want {
			t.Errorf("%s has\n%s\nwant\n%s", path, got, want)
		}
	}
	if self := shownAlarms(scraped(t, e, "/metrics/self")); len(self) != 1 || !strings.Contains(self[0], "alarm=sourceLost,for_reason=") {
		t.Errorf("the sidecar alone has the alarms %v; want that about a source", self)
	}
	none := alarm.ActiveSet{}
	state = &none
	if numbers("/metrics/self") != "petrinet_alarms{net=} 0" {
		t.Errorf("without alarms there is %s", numbers("/metrics/self"))
	}
	later := *alarms()
	later.Settling = true
	state = &later
	if numbers("/metrics") != "" || len(shownAlarms(scraped(t, e, "/metrics"))) != 5 {
		t.Errorf("while alarms may be missing there are %s, and %v", numbers("/metrics"), shownAlarms(scraped(t, e, "/metrics")))
	}
}

func TestServiceDiscoveryListsNetsOfWhichOnlyAlarmsAreKnown(t *testing.T) {
	body := get(newExporter(t, rich(), withAlarms).Handler(), "/sd", "").Body.String()
	if n := strings.Count(body, `"/metrics/nets/left"`); n != 1 || strings.Contains(body, `"/metrics/nets/"`) {
		t.Errorf("got the net with an alarm %d times in %s", n, body)
	}
}
