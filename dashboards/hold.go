// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"fmt"

	"github.com/pnagent/pnagent/metrics"
)

// Recordings that remember what alerts fire for. Each value is the time at which it was
// last seen, in seconds of Unix time.
const (
	heldAlarms   = "instance_alarm:petrinet_alarm_active:held"
	heldSilences = "instance_alarm:petrinet_alarm_silenced:held"
	heldFollows  = "instance_alarm:petrinet_alarm_follows:held"
	heldLost     = "net_source:petrinet_source_up:held"
	heldStarving = "net_priority:petrinet_queue_unserved_age_seconds:held"
	heldAlone    = "net_region:petrinet_region_standbys:held"
	heldFailing  = "net_transition:petrinet_transition_failures:held"
)

// Times in seconds for which something is remembered that no sidecar reports.
const (
	// restart is how long a sidecar may be away, whatever other sidecars report.
	restart = 5 * 60
	// forgotten is how long nothing is known of it though each sidecar can be scraped, or
	// the one that reported it is no target any more.
	forgotten = 60 * 60
)

// firstSeen is how long an alarm is active before an alert fires for it. It is not the "for"
// of a rule: an alarm that becomes more severe has been active for long, and after a restart
// of Prometheus nothing waits again.
const firstSeen = "1m"

// holds returns the recordings that the alerts about nets need, in the order of their use.
//
// An absent series is not the end of an alarm: the sidecar may be restarted, or a scrape
// may have failed. An alarm is over once its sidecar shows the number of its alarms, which it
// shows only with all of them (metrics.Alarms for a net, metrics.PnagentAlarms for all), and
// not the alarm. While the sidecar is away for longer than restart, another one that shows the
// net or the source decides. If there is none, the alarm stays until the sidecar is back.
func holds(job string) []Recording {
	failures := "net_transition:petrinet_transition_failures:rate5m"
	ratio := "net_transition:petrinet_transition_failures:ratio_rate5m"
	return []Recording{
		{heldAlarms, held(heldAlarms, admitted()+" or "+heldAlarms+" and on("+identity+") "+metrics.AlarmActive)},
		{heldSilences, held(heldSilences, most(identity, metrics.AlarmSilenced))},
		{heldFollows, held(heldFollows, most(identity+", follows", metrics.AlarmFollows))},
		heldUntilSeen(job, heldLost, "net, source",
			most("net, source", metrics.SourceUp)+" == 0 and on(source) "+metrics.AlarmActive+`{alarm="sourceLost"}`, metrics.SourceUp),
		heldUntilSeen(job, heldStarving, "net, priority", most("net, priority", metrics.QueueUnservedAgeSeconds)+" > 60", metrics.QueueUnservedAgeSeconds),
		heldUntilSeen(job, heldAlone, "net, region", most("net, region", "max_over_time("+metrics.RegionStandbys+"[5m])")+" == 0", metrics.RegionStandbys),
		heldUntilSeen(job, heldFailing, "net, transition",
			fmt.Sprintf("min_over_time(%s[5m]) > 0.5 and on(net, transition) %s offset 5m and on(net, transition) %s * 300 >= 10", ratio, ratio, failures),
			fmt.Sprintf("(%s and on(net, transition) %s offset 5m)", failures, failures)), // rates of less than the window show no end
	}
}

// identity are the labels by which alarms of all sidecars differ.
const identity = "job, instance, " + alarmLabels

// admitted returns the expression of the alarms that have been active for firstSeen, with
// the severity of an alert.
func admitted() string {
	graded := func(severities string, s Severity) string {
		return fmt.Sprintf(`label_replace(%s{severity%s"critical|major"}, "severity", %q, "", "")`, metrics.AlarmActive, severities, s)
	}
	return most(identity+", severity", "("+graded("=~", Critical)+" or "+graded("!~", Warning)+") and on("+identity+") "+metrics.AlarmActive+" offset "+firstSeen)
}

// held returns the expression of a recording of alarms that are seen now, or of which
// nothing is known.
func held(record, seen string) string {
	unknown := fmt.Sprintf("%s unless on(job, instance, net) %s unless on(job, instance) %s", record, metrics.Alarms, metrics.PnagentAlarms)
	alone := fmt.Sprintf(`%s unless on(net) %s{net!=""} unless on(source) %s`, unknown, metrics.Alarms, metrics.SourceUp)
	return fmt.Sprintf("time() + 0 * (%s or %s and on(job, instance) (up == 0)) or (%s) > time() - %d or (%s) > time() - %d", seen, alone, unknown, restart, alone, forgotten)
}

// heldUntilSeen returns a recording of a condition that holds now, or held when a family that
// shows its end was last seen.
func heldUntilSeen(job, record, labels, holds, family string) Recording {
	unknown := fmt.Sprintf("%s unless on(%s) %s", record, labels, family)
	return Recording{record, fmt.Sprintf("time() + 0 * (%s or %s and on() (up{job=%q} == 0)) or (%s) > time() - %d", holds, unknown, job, unknown, forgotten)}
}
