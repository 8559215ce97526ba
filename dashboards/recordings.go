// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"fmt"

	"github.com/pnagent/pnagent/metrics"
)

// Recording is a recording rule, named level:metric:operations.
type Recording struct {
	Record string
	Expr   string
}

// window is the range of rates in rules.
const window = "5m"

// Recordings returns the recording rules, which are for users' own rules and long ranges.
// The dashboards do not need them.
func Recordings() []Recording {
	over := func(family string) string { return fmt.Sprintf("rate(%s[%s])", family, window) }
	all := []Recording{
		{"net:petrinet_place_tokens:sum", sum("net", most("net, place", metrics.PlaceTokens))},
		{"net:petrinet_place_oldest_token_age_seconds:max", most("net", Waiting(metrics.PlaceOldestTokenAgeSeconds, ""))},
		{"net_alarm:petrinet_alarm_active:count", "count by (net, alarm) (" + most(alarmLabels, metrics.AlarmActive) + ")"},
		{"net:petrinet_instances_created:rate5m", most("net", over(metrics.InstancesCreatedTotal))},
		{"net:petrinet_instances_finished:rate5m", most("net", over(metrics.InstancesFinishedTotal))},
		{"net:petrinet_instances_failed:rate5m", most("net", over(metrics.InstancesFailedTotal))},
		{"net_place:petrinet_place_arrivals:rate5m", most("net, place", over(metrics.PlaceArrivalsTotal))},
		{"net_place:petrinet_place_departures:rate5m", most("net, place", over(metrics.PlaceDeparturesTotal))},
		{"net_transition:petrinet_transition_firings:rate5m", most("net, transition", over(metrics.TransitionFiringsTotal))},
		{"net:petrinet_transition_firings:rate5m", sum("net", "net_transition:petrinet_transition_firings:rate5m")},
		{"net_transition:petrinet_transition_failures:rate5m", most("net, transition", over(metrics.TransitionFailuresTotal))},
		{"net_transition:petrinet_transition_failures:ratio_rate5m", "net_transition:petrinet_transition_failures:rate5m / " +
			"((net_transition:petrinet_transition_firings:rate5m + net_transition:petrinet_transition_failures:rate5m) > 0)"},
		{"net_priority:petrinet_queue_served:rate5m", most("net, priority", over(metrics.QueueServedTotal))},
	}
	for _, q := range []struct {
		name  string
		value float64
	}{{"p50", 0.5}, {"p99", 0.99}} {
		classic := sum("net, place, le", over(metrics.PlaceDwellSeconds+"_bucket"))
		native := sum("net, place", over(metrics.PlaceDwellSeconds))
		all = append(all, Recording{"net_place:petrinet_place_dwell_seconds:" + q.name + "_rate5m",
			fmt.Sprintf("histogram_quantile(%v, %s) or histogram_quantile(%v, %s)", q.value, classic, q.value, native)})
	}
	return all
}
