// SPDX-License-Identifier: Apache-2.0

package web_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/metrics"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/top"
	"github.com/pnagent/pnagent/web"
	"github.com/pnagent/pnagent/web/api"
)

// number is one that several faces show: the field of the JSON of a View, which
// frames of the page and overviews have under the same name, the object of
// PETRINET-MIB, the metric, and the column of top. A face that does not show it
// has "".
type number struct{ field, object, metric, column string }

// numbers are all of a View that two faces show, by what they are about.
func numbers() map[string][]number {
	return map[string][]number{
		"agent": {
			{"at", "pnAgentViewTime", "", ""}, {"nets", "pnAgentNets", "", ""}, {"nats.since", "pnAgentNatsSince", "", ""},
			{"generation", "pnAgentViews", "pnagent_view_generation", ""}, {"source_states.up", "pnAgentSourcesUp", `pnagent_sources{state="up"}`, ""},
			{"source_states.stale", "pnAgentSourcesStale", `pnagent_sources{state="stale"}`, ""}, {"source_states.gone", "pnAgentSourcesGone", `pnagent_sources{state="gone"}`, ""},
			{"source_states.undefined", "pnAgentSourcesUndefined", `pnagent_sources{state="undefined"}`, ""}, {"source_states.refused", "pnAgentSourcesRefused", `pnagent_sources{state="refused"}`, ""},
			{"traffic.messages", "pnAgentMessagesReceived", "pnagent_messages_total", ""}, {"traffic.bytes", "pnAgentBytesReceived", "pnagent_bytes_total", ""},
			{"traffic.lost", "pnAgentMessagesLost", "pnagent_messages_lost_total", ""}, {"traffic.rejected_total", "pnAgentMessagesBad", `pnagent_messages_rejected_total{reason="bad_name"}`, ""},
		},
		"net": {
			{"tokens", "pnNetTokens", "", "TOKENS"}, {"oldest_age_seconds", "pnNetOldestAge", "", "OLDEST"}, {"firings", "pnNetFirings", "", ""}, {"rate", "", "", "FIRED/S"},
			{"rate_1m", "pnNetRate1", "", ""}, {"rate_5m", "pnNetRate5", "", ""}, {"rate_15m", "pnNetRate15", "", ""}, {"finished_rate", "", "", "DONE/S"},
			{"instances.active", "pnNetActiveInstances", `petrinet_instances{net="net",state="active"}`, "ACTIVE"},
			{"instances.deadlocked", "pnNetDeadlockedInstances", `petrinet_instances{net="net",state="deadlocked"}`, "DEADLOCK"},
			{"instances.created", "pnNetCreatedInstances", "petrinet_instances_created_total", ""}, {"instances.finished", "pnNetFinishedInstances", "petrinet_instances_finished_total", ""},
			{"instances.failed", "pnNetFailedInstances", "petrinet_instances_failed_total", "FAILED"}, {"waiting", "pnNetWaitingWork", "petrinet_queue_waiting", "WAITING"},
			{"since", "pnNetDiscontinuityTime", "", ""}, {"digests", "pnNetVersions", "", ""},
			{"sources_up", "pnNetSourcesUp", "", "UP"}, {"sources_stale", "pnNetSourcesStale", "", "STALE"},
		},
		"place": {
			{"tokens", "pnPlaceTokens", "petrinet_place_tokens", "TOKENS"}, {"instances", "pnPlaceInstances", "petrinet_place_instances", ""},
			{"oldest_age_seconds", "pnPlaceOldestAge", "petrinet_place_oldest_token_age_seconds", "OLDEST"}, {"mean_age_seconds", "pnPlaceMeanAge", "", "MEAN"},
			{"arrivals", "pnPlaceArrivals", "petrinet_place_arrivals_total", ""}, {"departures", "pnPlaceDepartures", "petrinet_place_departures_total", ""},
			{"oldest_since", "pnPlaceOldestSince", "", ""}, {"last_injection", "pnPlaceLastInjected", "", ""},
			{"arrival_rate", "", "", "IN/S"}, {"departure_rate", "", "", "OUT/S"},
			{"older_than.1s", "pnPlaceOlderThan1s", `petrinet_place_tokens_older_than{age="1s"}`, ""}, {"older_than.10s", "pnPlaceOlderThan10s", `petrinet_place_tokens_older_than{age="10s"}`, ""},
			{"older_than.1m", "pnPlaceOlderThan1m", `petrinet_place_tokens_older_than{age="1m"}`, ">1m"}, {"older_than.10m", "pnPlaceOlderThan10m", `petrinet_place_tokens_older_than{age="10m"}`, ""},
			{"older_than.1h", "pnPlaceOlderThan1h", `petrinet_place_tokens_older_than{age="1h"}`, ">1h"}, {"older_than.6h", "pnPlaceOlderThan6h", `petrinet_place_tokens_older_than{age="6h"}`, ""},
			{"older_than.1d", "pnPlaceOlderThan1d", `petrinet_place_tokens_older_than{age="1d"}`, ""}, {"older_than.7d", "pnPlaceOlderThan7d", `petrinet_place_tokens_older_than{age="7d"}`, ""},
			{"dwell.p50", "pnPlaceDwellP50", "", ""}, {"dwell.p95", "pnPlaceDwellP95", "", "P95"}, {"dwell.p99", "pnPlaceDwellP99", "", ""},
			{"dwell.count", "", "petrinet_place_dwell_seconds_count", ""}, {"dwell.sum", "", "petrinet_place_dwell_seconds_sum", ""},
		},
		"transition": {
			{"firings", "pnTransitionFirings", "petrinet_transition_firings_total", "FIRINGS"}, {"rate", "", "", "FIRED/S"},
			{"rate_1m", "pnTransitionRate1", "", ""}, {"rate_5m", "pnTransitionRate5", "", ""}, {"rate_15m", "pnTransitionRate15", "", ""},
			{"enabled", "pnTransitionEnabled", "petrinet_transition_enabled_instances", "ENABLED"}, {"enabled_age_seconds", "pnTransitionEnabledAge", "petrinet_transition_enabled_age_seconds", "SINCE"},
			{"enabled_since", "pnTransitionEnabledSince", "", ""}, {"last_firing", "pnTransitionLastFiring", "petrinet_transition_last_firing_timestamp_seconds", ""},
			{"next_due", "pnTransitionNextDue", "petrinet_transition_next_due_timestamp_seconds", ""},
			{"running", "pnTransitionRunning", "petrinet_transition_running", "RUNNING"}, {"running_age_seconds", "pnTransitionRunningAge", "petrinet_transition_running_age_seconds", "LONGEST"},
			{"failures", "pnTransitionFailures", "petrinet_transition_failures_total", "FAILED"}, {"retries", "pnTransitionRetries", "petrinet_transition_retries_total", "RETRIED"},
			{"cancels", "pnTransitionCancels", "petrinet_transition_cancels_total", ""}, {"timeouts", "pnTransitionTimeouts", "petrinet_transition_timeouts_total", ""},
			{"late_answers", "pnTransitionLateAnswers", "petrinet_transition_late_answers_total", ""}, {"blocked", "pnBlockInstances", "petrinet_transition_blocked_instances", ""},
			{"duration.p50", "pnTransitionDurationP50", "", ""}, {"duration.p95", "pnTransitionDurationP95", "", "P95"}, {"duration.p99", "pnTransitionDurationP99", "", ""},
			{"duration.count", "", "petrinet_transition_duration_seconds_count", ""}, {"duration.sum", "", "petrinet_transition_duration_seconds_sum", ""},
		},
		"queue": {
			{"ready", "pnQueueReady", "petrinet_queue_ready", ""}, {"oldest_age_seconds", "pnQueueOldestAge", "petrinet_queue_oldest_age_seconds", ""},
			{"unserved_age_seconds", "pnQueueUnservedAge", "petrinet_queue_unserved_age_seconds", ""}, {"served", "pnQueueServed", "petrinet_queue_served_total", ""},
			{"oldest_age_seconds", "pnQueueOldestSince", "", ""}, {"unserved_age_seconds", "pnQueueUnservedSince", "", ""},
			{"quote_switches", "pnQueueQuoteSwitches", "petrinet_queue_quote_switches_total", ""},
		},
		"source": {
			{"last_heard_age_seconds", "pnSourceSilence", "petrinet_source_last_snapshot_age_seconds", "SILENT"}, {"interval_seconds", "pnSourceInterval", "", "EVERY"},
			{"skew_seconds", "pnSourceSkew", "", "SKEW"}, {"gaps", "pnSourceGaps", "petrinet_source_gaps_total", "GAPS"}, {"duplicates", "pnSourceDuplicates", "", "TWICE"},
			{"restarts", "pnSourceRestarts", "", "RESTARTS"}, {"fence", "pnSourceRegionEpoch", "petrinet_region_epoch", ""}, {"setbacks", "pnSourceRegionSetbacks", "petrinet_region_setbacks_total", ""},
			{"position", "pnSourceRegionPosition", "petrinet_region_commits_total", ""}, {"standbys", "pnSourceRegionStandbys", "petrinet_region_standbys", ""},
			{"last_heard", "pnSourceLastHeard", "", ""}, {"epoch", "pnSourceStarted", "", ""},
			{"lag", "pnSourceRegionLag", "petrinet_region_lag_commits", ""},
			{"refused_requests.tokens", "", `petrinet_source_requests_refused_total{reason="too many tokens"}`, ""},
			{"refused_requests.place", "", `petrinet_source_requests_refused_total{reason="place full"}`, ""},
			{"refused_requests.queue", "", `petrinet_source_requests_refused_total{reason="queue full"}`, ""},
			{"refused_requests.size", "", `petrinet_source_requests_refused_total{reason="request too large"}`, ""},
		},
		"stuck":  {{"age_seconds", "pnStuckAge", "", ""}, {"injected", "pnStuckSince", "", ""}},
		"reason": {{"tokens", "", `petrinet_place_reason_tokens{reason="missing"}`, ""}},
		"block":  {{"instances", "pnBlockInstances", "petrinet_transition_blocked_instances", ""}},
		"alarm": {{"age_seconds", "pnAlarmAge", "", "SINCE"}, {"since", "pnAlarmAge", "", "SINCE"}, {"raised", "pnAlarmRaised", "petrinet_alarm_raised_timestamp_seconds", ""}, {"affected", "pnAlarmAffected", "", "AFFECTED"},
			{"severity", "pnAlarmSeverity", "", ""}, {"acknowledged.at", "pnAlarmAckTime", "", ""}},
		"silenced": {{"silenced_until", "pnAlarmSilencedUntil", "", ""}},
		"cleared":  {{"raised", "pnClearedRaised", "", ""}, {"cleared", "pnClearedCleared", "", ""}, {"severity", "pnClearedSeverity", "", ""}},
		"summary": {{"active", "pnAlarmActive", "", ""}, {"critical", "pnAlarmCritical", "", ""}, {"major", "pnAlarmMajor", "", ""}, {"minor", "pnAlarmMinor", "", ""},
			{"warning", "pnAlarmWarning", "", ""}, {"last_cleared", "pnClearedLastChange", "", ""}},
		"alarms": {{"notifications_suppressed", "pnAgentNotificationsSuppressed", "pnagent_notifications_suppressed_total", ""}, {"last_change", "pnAlarmLastChange", "", ""}},
	}
}

// jsonOnly are numbers that no other face of a View shows, and that cannot disagree.
var jsonOnly = []string{"place dwell.mean", "transition duration.mean", "source seq", "queue priority", "alarm index", "agent traffic.message_rate", "agent age_seconds",
	"place slowest.seconds", "place slowest.at", "transition slowest.seconds", "transition slowest.at", // metrics have them as exemplars, of scrapes
	"agent agentx.since", "agent agentx.disconnects", // the metrics belong to the session, not to the View: package agentx
	"agent nats.disconnects", // the metric belongs to the connection, not to the View: package natsmetrics
	"source since",           // of the region
	"reason due", "reason oldest.age_seconds", "reason oldest.injected",
	"cleared index", "cleared since", "cleared affected", "cleared acknowledged.at",
}

// noNumbers are the objects that no face shows as a number.
var noNumbers = []struct {
	why     string
	objects []string
}{
	{"names, texts and states", []string{"pnAgentVersion", "pnAgentName", "pnAgentRole", "pnAgentNatsState", "pnAgentNatsReason", "pnNetName", "pnNetLabel", "pnNetDigest", "pnPlaceId", "pnPlaceName", "pnPlaceFinal", "pnPlaceNet",
		"pnTransitionId", "pnTransitionName", "pnTransitionNet", "pnStuckInstance", "pnStuckReason", "pnStuckWhy", "pnBlockPlaceId", "pnSourceName", "pnSourceNet", "pnSourceRegion", "pnSourceState", "pnSourceDigest", "pnSourceReason",
		"pnSourceRegionStopped", "pnAlarmKind", "pnAlarmNet", "pnAlarmSubject", "pnAlarmText", "pnAlarmReason", "pnAlarmInstance", "pnAlarmWhy",
		"pnAlarmAcknowledged", "pnAlarmAckBy", "pnAlarmComment", "pnClearedKind", "pnClearedNet", "pnClearedSubject", "pnClearedText"}},
	{"indices of other rows", []string{"pnSourceNetIndex", "pnAlarmRow"}},
	{"of the agent, not of the View", []string{"pnAgentStartTime", "pnAgentPriority"}},
	{"compared by TestTheAgeOfAViewIsTheSameOnEveryFace", []string{"pnAgentViewAge"}},
}

// noFigures are the words in the heads of top's columns that have no numbers.
var noFigures = []string{"NET", "PLACE", "TRANSITION", "SOURCE", "STATE", "REGION", "NAME", "ALARM", "SEVERITY", "ABOUT", "NOTE", "TEXT", "WAITS", "FOR"}

// indices are those of the rows in PETRINET-MIB, and labels those in Prometheus.
var (
	indices = map[string][]uint32{"agent": {0}, "net": {1}, "place": {1, 1}, "transition": {1, 1}, "queue": {1, 3},
		"stuck": {1, 1, 1}, "block": {1, 1, 2, uint32(stats.ReasonMissing) + 1}, "alarm": {47}, "alarms": {0},
		"silenced": {48}, "cleared": {46}, "summary": {0}}
	labels = map[string]string{"place": `place="p0"`, "reason": `place="p0"`, "transition": `transition="t0"`}
	tabs   = map[string]top.Tab{"net": top.Nets, "place": top.Places, "transition": top.Transitions, "source": top.Sources, "alarm": top.AlarmList}
)

// accessible is an object of the module that can be read.
var accessible = regexp.MustCompile(`(?s)\n(\w+) OBJECT-TYPE.*?MAX-ACCESS\s+([\w-]+)`)

// everyObjectIsCompared holds that the compared objects and those that are no numbers are
// all of the module.
func everyObjectIsCompared(t *testing.T, compared map[string]bool) {
	t.Helper()
	without := map[string]string{}
	for _, n := range noNumbers {
		for _, name := range n.objects {
			without[name] = n.why
		}
	}
	for _, m := range accessible.FindAllStringSubmatch(module(t), -1) {
		name, is := m[1], m[2] == "read-only"
		if is && !compared[name] && without[name] == "" {
			t.Errorf("object %s is in no row of the table of numbers", name)
		}
		if why := without[name]; is && compared[name] && why != "" {
			t.Errorf("object %s is compared, and listed as %s", name, why)
		}
		delete(without, name)
	}
	for name := range without {
		t.Errorf("the module has no object %s; expected none in the list of those without numbers", name)
	}
}

// heads returns the words in the heads of a tab's columns.
func heads(t *testing.T, tab top.Tab) []string {
	t.Helper()
	m := top.New(top.Options{Tab: tab, Now: noon})
	m.Update(&api.View{Generation: 1, At: api.Time(noon.UnixMicro())}, &api.Alarms{}, noon)
	first, _, _ := strings.Cut(m.Plain(), "\n")
	if first == "" {
		t.Fatalf("tab %d has no heads", tab)
	}
	return strings.Fields(first)
}

// The age of a View grows alike in the MIB, the metrics and the JSON.
//
//promise:faces clock
func TestTheAgeOfAViewIsTheSameOnEveryFace(t *testing.T) {
	v, now := view(), noon.Add(7*time.Second)
	exporter, err := metrics.New(metrics.Config{View: func() *merge.View { return v }, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	document := web.ViewDocument(v, nil, now.UnixMicro())
	for face, got := range map[string]float64{
		"pnAgentViewAge": tableOf(t, v, now)(t, "pnAgentViewAge", "agent"), "pnagent_view_age_seconds": metric(t, get(exporter.Handler(), "/metrics"), metrics.PnagentViewAgeSeconds, ""),
		"at": now.Sub(document.At.Time()).Seconds(),
	} {
		if got != 7 {
			t.Errorf("%s: %v seconds; want 7", face, got)
		}
	}
}
