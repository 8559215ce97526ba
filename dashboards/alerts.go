// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"fmt"
	"strings"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/metrics"
)

// Severity is how soon an operator should react to an alert.
type Severity string

// The severities.
const (
	Critical Severity = "critical" // now: the figures are unreliable, or work has stopped
	Warning  Severity = "warning"  // today
	None     Severity = "none"     // never: the alert only inhibits others
)

// Alert is an alerting rule. It fires if Signal Condition holds for For, and stops firing
// KeepFiringFor later. For is at most 2m: it begins again when Prometheus is restarted, and
// Alertmanager takes an alert for resolved that it does not receive for 4m.
type Alert struct {
	Name      string
	Group     string
	Signal    string     // the compared expression; it has series also without a problem, if the families allow it
	Condition string     // on Signal
	For       string     // Prometheus duration; "" is at once
	Severity  Severity   // "" with a Kind
	Kind      alarm.Kind // of the sidecar's own alarm that the alert is about, which has the severity; 0 for none
	// KeepFiringFor bridges a restart of the process that the alert is about; "" with a
	// recording of holds, or where no series is an end.
	KeepFiringFor string
	Summary       string
	Description   string
	Runbook       string // page below Options.Runbooks
}

// Expr is the expression of the rule.
func (a Alert) Expr() string {
	if a.Condition == "" {
		return a.Signal
	}
	return a.Signal + " " + a.Condition
}

// Alerts returns the alerting rules, for a sidecar that Prometheus scrapes as
// job.
func Alerts(job string) []Alert {
	all := append(append(netAlerts(), dispatchAlerts()...), regionAlerts()...)
	return append(append(append(all, sidecarAlerts(job)...), accessAlerts()...), noticeAlerts()...)
}

// ofKind returns the signal of the sidecar's own alarm of a kind, with the severities that it
// has had.
func ofKind(k alarm.Kind) string {
	return most(subjectOf(k)+", severity", fmt.Sprintf("%s{alarm=%q}", heldAlarms, k.String()))
}

// labels returns the labels of the rule. Those of the sidecar's own alarm include its kind,
// which alerts that inhibit it have too. An alarm that becomes more or less severe keeps the
// alert with its former severity: the end of an alert is sent as the end of the condition.
func (a Alert) labels() *labels {
	if a.Kind == 0 {
		return &labels{Severity: a.Severity}
	}
	return &labels{Alarm: a.Kind.String(), Severity: "{{ $labels.severity }}"}
}

// subjectOf returns the labels of the subject of a kind's alarms.
func subjectOf(k alarm.Kind) string {
	place, transition, source, region := (&alarm.Alarm{Kind: k, Subject: "x"}).About()
	switch {
	case place != "":
		return "net, place"
	case transition != "":
		return "net, transition"
	case source != "":
		return "source"
	case region != "":
		return "net, region"
	}
	return "net"
}

// ask returns a template for a current value in the text of an alert: the largest of a
// family with the alert's own net and another label, formatted by one of Prometheus'
// template functions.
func ask(family, label, format string) string {
	query := fmt.Sprintf(`printf "max(%s{net=%%q,%s=%%q})" $labels.net $labels.%s`, family, label, label)
	return "{{ with " + query + " | query }}{{ . | first | value | " + format + " }}{{ else }}an unknown time{{ end }}"
}

func netAlerts() []Alert {
	const group = "pnagent-nets"
	failing := "net_transition:petrinet_transition_failures:ratio_rate5m"
	return []Alert{
		{Name: alarmSilenced, Group: group, Severity: None, Runbook: "prometheus/PetrinetAlarmSilenced.md",
			Signal: most(alarmLabels, heldSilences), Condition: "> 0 and on(" + alarmLabels + ") " + heldAlarms,
			Summary: "A {{ $labels.alarm }} is silenced.",
			Description: "The alarm {{ $labels.alarm }} about " + anyOf("net", "place", "transition", "source", "region") + "is active and silenced at a sidecar. " +
				"This alert inhibits the one for the alarm."},
		// A sidecar that has the alarm from data of its own decides against one that lost the source.
		{Name: alarmFollows, Group: group, Severity: None, Runbook: "prometheus/PetrinetAlarmFollows.md",
			Signal:    most(alarmLabels+", follows", heldFollows),
			Condition: fmt.Sprintf("> 0 unless on(%s) (%s unless on(%s) %s)", alarmLabels, heldAlarms, identity, heldFollows),
			Summary:   "A {{ $labels.alarm }} follows from the loss of {{ $labels.follows }}.",
			Description: "The alarm {{ $labels.alarm }} about " + anyOf("net", "place", "transition", "source", "region") + "is active only because source {{ $labels.follows }} is lost. " +
				"This alert inhibits the one for the alarm."},
		{Name: netSilent, Group: group, Severity: None, Runbook: "prometheus/PetrinetNetSilent.md",
			Signal: most("net, source", heldLost), Condition: "> 0 unless on(net) " + metrics.SourceUp + " == 1",
			Summary:     "No source of {{ $labels.net }} reports.",
			Description: "Source {{ $labels.source }} of net {{ $labels.net }} is silent, and so are all others. This alert inhibits those about its queues and regions, which follow from that."},
		{Name: "PetrinetTokenStuck", Group: group, Kind: alarm.TokenStuck, Runbook: "tokenStuck.md",
			Signal: ofKind(alarm.TokenStuck), Condition: "> 0",
			Summary:     "A token is stuck in {{ $labels.place }} of {{ $labels.net }}.",
			Description: "The oldest token in place {{ $labels.place }} of net {{ $labels.net }} has been there for " + ask(metrics.PlaceOldestTokenAgeSeconds, "place", "humanizeDuration") + "."},
		{Name: "PetrinetTransitionStarved", Group: group, Kind: alarm.TransitionStarved, Runbook: "transitionStarved.md",
			Signal: ofKind(alarm.TransitionStarved), Condition: "> 0",
			Summary:     "Transition {{ $labels.transition }} of {{ $labels.net }} is enabled and does not fire.",
			Description: "Transition {{ $labels.transition }} of net {{ $labels.net }} has been enabled for " + ask(metrics.TransitionEnabledAgeSeconds, "transition", "humanizeDuration") + "; it has not fired in any instance."},
		{Name: "PetrinetNetDeadlocked", Group: group, Kind: alarm.NetDeadlocked, Runbook: "netDeadlocked.md",
			Signal: ofKind(alarm.NetDeadlocked), Condition: "> 0",
			Summary: "Instances of {{ $labels.net }} are deadlocked.",
			Description: "{{ with printf \"max(" + metrics.Instances + "{net=%q,state=\\\"deadlocked\\\"})\" $labels.net | query }}{{ . | first | value }}{{ else }}Some{{ end }}" +
				" instances of net {{ $labels.net }} can never continue on their own."},
		{Name: "PetrinetTransitionFailing", Group: group, Kind: alarm.FailureRatio, Runbook: "transitionFailing.md",
			Signal: most("net, transition, severity", fmt.Sprintf(`%s{alarm=%q} or label_replace(%s, "severity", %q, "", "")`, heldAlarms, alarm.FailureRatio.String(), heldFailing, Warning)), Condition: "> 0",
			Summary: "Transition {{ $labels.transition }} of {{ $labels.net }} fails.",
			Description: "Too many runs of transition {{ $labels.transition }} of net {{ $labels.net }} fail: " +
				"{{ with printf \"" + failing + "{net=%q,transition=%q}\" $labels.net $labels.transition | query }}{{ . | first | value | humanizePercentage }}{{ else }}an unknown share{{ end }} in the last 5 minutes."},
		{Name: "PetrinetTransitionLooping", Group: group, Kind: alarm.TransitionLoop, Runbook: "transitionLooping.md",
			Signal: ofKind(alarm.TransitionLoop), Condition: "> 0",
			Summary: "Transition {{ $labels.transition }} of {{ $labels.net }} fires too often.",
			Description: "Transition {{ $labels.transition }} of net {{ $labels.net }} fires " +
				"{{ with printf \"net_transition:petrinet_transition_firings:rate5m{net=%q,transition=%q}\" $labels.net $labels.transition | query }}{{ . | first | value | humanize }}{{ else }}very many{{ end }} times a second, as in a loop."},
		{Name: "PetrinetSourceLost", Group: group, Kind: alarm.SourceLost, Runbook: "sourceLost.md",
			Signal: ofKind(alarm.SourceLost), Condition: "> 0",
			Summary: "Source {{ $labels.source }} is silent.",
			Description: "No messages arrive from source {{ $labels.source }}, which runs {{ range printf \"count by (net) (" + metrics.SourceUp + "{source=%q})\" $labels.source | query }}net {{ .Labels.net }}, {{ end }}" +
				"so the data shown about it are getting old."},
		{Name: "PetrinetSourceConflict", Group: group, Kind: alarm.SourceConflict, Runbook: "sourceConflict.md",
			Signal: ofKind(alarm.SourceConflict), Condition: "> 0",
			Summary:     "Two processes publish as source {{ $labels.source }}.",
			Description: "Two processes publish as source {{ $labels.source }}" + refusedNets(`reason="conflict"`, "") + ". One of them is refused, and tokens that only this one has are not shown."},
		{Name: "PetrinetSourceRefused", Group: group, Kind: alarm.SourceRefused, Runbook: "sourceRefused.md",
			Signal: ofKind(alarm.SourceRefused), Condition: "> 0",
			Summary:     "Messages of source {{ $labels.source }} are refused.",
			Description: "Source {{ $labels.source }} publishes, and its messages are refused" + refusedNets(`reason!="conflict"`, ": {{ .Labels.reason }}") + ". The data shown are those of its last accepted message."},
	}
}

// anyOf returns a template with those of some labels that the alert has, and their values.
func anyOf(labels ...string) string {
	var b strings.Builder
	for _, l := range labels {
		fmt.Fprintf(&b, "{{ with $labels.%s }}%s {{ . }} {{ end }}", l, l)
	}
	return b.String()
}

// refusedNets returns a template with the nets of the alert's source that are refused for
// matching reasons, each with more.
func refusedNets(reason, more string) string {
	query := fmt.Sprintf(`printf "count by (net, reason) (%s{source=%%q,%s})" $labels.source`, metrics.SourceRefused, strings.ReplaceAll(reason, `"`, `\"`))
	return "{{ range " + query + " | query }}, net {{ .Labels.net }}" + more + "{{ end }}"
}

func dispatchAlerts() []Alert {
	return []Alert{
		{Name: "PetrinetQueueStarving", Group: "pnagent-nets", For: "1m", Severity: Warning, Runbook: "prometheus/PetrinetQueueStarving.md",
			Signal: most("net, priority", heldStarving), Condition: "> 0",
			Summary:     "Priority {{ $labels.priority }} of {{ $labels.net }} is not served.",
			Description: "Instances of net {{ $labels.net }} with priority {{ $labels.priority }} are ready, and the dispatcher has served none for " + ask(metrics.QueueUnservedAgeSeconds, "priority", "humanizeDuration") + "."},
	}
}

func regionAlerts() []Alert {
	return []Alert{
		{Name: "PetrinetRegionStopped", Group: "pnagent-nets", Kind: alarm.RegionStopped, Runbook: "regionStopped.md",
			Signal: ofKind(alarm.RegionStopped), Condition: "> 0",
			Summary:     "Region {{ $labels.region }} of {{ $labels.net }} has stopped.",
			Description: "Region {{ $labels.region }} of net {{ $labels.net }} has stopped, because a log that it reads has lost commits. The alarm's text names the log."},
		{Name: "PetrinetRegionWithoutStandby", Group: "pnagent-nets", For: "1m", Severity: Warning, Runbook: "prometheus/PetrinetRegionWithoutStandby.md",
			Signal: most("net, region", heldAlone), Condition: "> 0",
			Summary:     "Region {{ $labels.region }} of {{ $labels.net }} has no standby.",
			Description: "No process follows the log of region {{ $labels.region }} of net {{ $labels.net }}: if its owner ends, the region stops."},
	}
}

// rose returns the expression of a counter's increase in ten minutes.
func rose(labels, family string) string {
	return sum(labels, "increase("+family+"[10m])")
}

// whileRestarted is the KeepFiringFor of alerts about the state of a process, which
// has no series while it is restarted. If it is away for longer, PnagentDown says so.
const whileRestarted = "5m"

func sidecarAlerts(job string) []Alert {
	const group = "pnagent-sidecar"
	return []Alert{
		{Name: "PnagentDown", Group: group, For: "2m", Severity: Warning, Runbook: "prometheus/PnagentDown.md",
			Signal: fmt.Sprintf("up{job=%q}", job), Condition: "== 0",
			Summary:     "Sidecar {{ $labels.instance }} cannot be scraped.",
			Description: "Prometheus cannot scrape pnagent at {{ $labels.instance }}. Its nets and places are missing from Prometheus; a standby may still provide them."},
		{Name: "PnagentAbsent", Group: group, For: "2m", Severity: Critical, Runbook: "prometheus/PnagentDown.md",
			Signal:      fmt.Sprintf("absent(up{job=%q} == 1)", job),
			Summary:     "Prometheus finds no pnagent.",
			Description: "Prometheus cannot scrape any pnagent: no net is monitored, and no other alert about nets can fire."},
		{Name: "PnagentViewStale", Group: group, For: "1m", KeepFiringFor: whileRestarted, Severity: Critical, Runbook: "prometheus/PnagentViewStale.md",
			Signal: "max by (instance) (" + metrics.PnagentViewAgeSeconds + ")", Condition: "> 10",
			Summary:     "Sidecar {{ $labels.instance }} shows old data.",
			Description: "Sidecar {{ $labels.instance }} has made no View for {{ $value | humanizeDuration }}: the data that it shows about all nets and places are unreliable."},
		{Name: "PnagentNatsDisconnected", Group: group, For: "30s", KeepFiringFor: whileRestarted, Severity: Critical, Runbook: "prometheus/PnagentNatsDisconnected.md",
			Signal: "min by (job, instance) (" + natsConnected + ")", Condition: "== 0",
			Summary:     "{{ $labels.instance }} is not connected to NATS.",
			Description: "The process of job {{ $labels.job }} at {{ $labels.instance }} has no connection to NATS. A sidecar then shows every net and place with its last known state, and raises no alarms about them."},
		{Name: "PnagentUpNatsDisconnected", Group: group, For: "30s", KeepFiringFor: whileRestarted, Severity: Critical, Runbook: "prometheus/PnagentUpNatsDisconnected.md",
			Signal: "min by (job, instance) (" + upNATSConnected + ")", Condition: "== 0",
			Summary:     "{{ $labels.instance }} does not reach the NATS of the sidecar above.",
			Description: "The sidecar of job {{ $labels.job }} at {{ $labels.instance }} has no connection to the NATS servers of --up.nats. The data that it shows itself are current; the sidecar above shows its nets with its last known state."},
		{Name: "PnagentMessagesLost", Group: group, For: "1m", Severity: Warning, Runbook: "prometheus/PnagentMessagesLost.md",
			Signal: most("net, source", "increase("+metrics.SourceGapsTotal+"[10m])"), Condition: "> 3",
			Summary:     "Snapshots of {{ $labels.source }} are lost.",
			Description: "{{ $value | humanize }} snapshots of net {{ $labels.net }} from source {{ $labels.source }} did not arrive in the last 10 minutes."},
		{Name: "PnagentRequestsRefused", Group: group, For: "1m", Severity: Warning, Runbook: "prometheus/PnagentRequestsRefused.md",
			Signal: most("net, source, reason", "increase("+metrics.SourceRequestsRefusedTotal+"[10m])"), Condition: "> 0",
			Summary:     "Engine {{ $labels.source }} refuses requests.",
			Description: "Source {{ $labels.source }} of net {{ $labels.net }} has refused {{ $value | humanize }} requests to inject, fire or send in the last 10 minutes, with the reason {{ $labels.reason }}."},
		{Name: "PnagentMessagesRejected", Group: group, For: "1m", Severity: Warning, Runbook: "prometheus/PnagentMessagesRejected.md",
			Signal: rose("instance, reason", metrics.PnagentMessagesRejectedTotal), Condition: "> 0",
			Summary:     "Sidecar {{ $labels.instance }} rejects messages.",
			Description: "{{ $labels.instance }} has rejected {{ $value | humanize }} messages in the last 10 minutes, with the reason {{ $labels.reason }}: some net is missing, or shown with old data."},
		{Name: "PnagentSeriesDropped", Group: group, For: "1m", Severity: Warning, Runbook: "prometheus/PnagentSeriesDropped.md",
			Signal: rose("net", metrics.PnagentSeriesDroppedTotal), Condition: "> 0",
			Summary:     "Net {{ $labels.net }} has too many series.",
			Description: "Net {{ $labels.net }} exceeds its budget of series, so whole families of its places and transitions are left out of scrapes."},
		{Name: "PnagentScrapesRefused", Group: group, For: "1m", Severity: Warning, Runbook: "prometheus/PnagentScrapesRefused.md",
			Signal: rose("instance", metrics.PnagentScrapesRefusedTotal), Condition: "> 0",
			Summary:     "Sidecar {{ $labels.instance }} refuses scrapes.",
			Description: "{{ $value | humanize }} scrapes of {{ $labels.instance }} were refused in the last 10 minutes, because too many were in progress at the same time."},
		{Name: "PnagentConfigReloadFailed", Group: group, For: "1m", KeepFiringFor: whileRestarted, Severity: Warning, Runbook: "prometheus/PnagentConfigReloadFailed.md",
			Signal: "min by (instance) (" + metrics.PnagentConfigLastReloadSuccessful + ")", Condition: "== 0",
			Summary:     "Sidecar {{ $labels.instance }} could not read its configuration.",
			Description: "The last reload of {{ $labels.instance }} failed, so it continues with its previous configuration."},
	}
}

// droppedManagers matches the reasons for dropping packets of SNMP that concern managers
// too. The others are packets that no manager sends, and packets that it sends again.
const droppedManagers = `{reason=~"network|version|community|rate|octets|send"}`

func accessAlerts() []Alert {
	const group = "pnagent-access"
	refused := func(family string) string { return rose("job, instance, reason", family) }
	return []Alert{
		{Name: "PnagentHTTPRefused", Group: group, For: "1m", Severity: Warning, Runbook: "prometheus/PnagentHTTPRefused.md",
			Signal:    "(" + refused(httpConnectionsClosedTotal) + " or " + refused(httpRequestsRefusedTotal) + " or " + refused(webRequestsRefusedTotal) + ")",
			Condition: "> 0",
			Summary:   "{{ $labels.instance }} refuses clients over HTTP.",
			Description: "The process of job {{ $labels.job }} at {{ $labels.instance }} has refused {{ $value | humanize }} HTTP requests, or closed as many connections, in the last 10 minutes, " +
				"with the reason {{ $labels.reason }}."},
		{Name: "PnagentSNMPDropped", Group: group, For: "1m", Severity: Warning, Runbook: "prometheus/PnagentSNMPDropped.md",
			Signal: rose("instance, reason", snmpDroppedTotal+droppedManagers), Condition: "> 0",
			Summary:     "Sidecar {{ $labels.instance }} does not answer SNMP.",
			Description: "{{ $labels.instance }} has dropped {{ $value | humanize }} packets of SNMP in the last 10 minutes, with the reason {{ $labels.reason }}."},
	}
}

// unexpectedOfSidecars leaves out the first message of each member of a pair with a key,
// which is rejected until the member has answered a challenge.
const unexpectedOfSidecars = `{reason!="unproven"}`

func noticeAlerts() []Alert {
	const group = "pnagent-notifications"
	return []Alert{
		{Name: "PnagentNotificationsSuppressed", Group: group, For: "1m", Severity: Warning, Runbook: "notificationsSuppressed.md",
			Signal: rose("instance", metrics.PnagentNotificationsSuppressedTotal), Condition: "> 0",
			Summary:     "Sidecar {{ $labels.instance }} held notifications back.",
			Description: "{{ $value | humanize }} notifications were held back by {{ $labels.instance }} in the last 10 minutes because too many were due at once. The list of alarms is complete."},
		{Name: "PnagentAlarmsUnannounced", Group: group, For: "1m", KeepFiringFor: whileRestarted, Severity: Critical, Runbook: "prometheus/PnagentAlarmsUnannounced.md",
			Signal: "max by (instance) (" + metrics.PnagentAlarmsUnannounced + ")", Condition: "> 0",
			Summary:     "The sidecar on duty does not announce what {{ $labels.instance }} sees.",
			Description: "{{ $labels.instance }} stands by and has {{ $value | humanize }} alarms that the sidecar on duty has not announced: no station may be notified of them."},
		{Name: "PnagentSidecarMessagesRejected", Group: group, For: "1m", Severity: Warning, Runbook: "prometheus/PnagentSidecarMessagesRejected.md",
			Signal: rose("instance, reason", sidecarRejectedTotal+unexpectedOfSidecars), Condition: "> 0",
			Summary:     "{{ $labels.instance }} rejects messages of sidecars.",
			Description: "{{ $labels.instance }} has rejected {{ $value | humanize }} messages of its group of sidecars in the last 10 minutes, with the reason {{ $labels.reason }}: they may be forged."},
		{Name: "PnagentNotificationsFailed", Group: group, For: "1m", Severity: Warning, Runbook: "prometheus/PnagentNotificationsFailed.md",
			Signal: rose("instance, sink", metrics.PnagentNotificationsFailedTotal), Condition: "> 0",
			Summary:     "Sink {{ $labels.sink }} does not accept notifications.",
			Description: "{{ $value | humanize }} notifications of {{ $labels.instance }} did not reach {{ $labels.sink }} in the last 10 minutes."},
		{Name: "PnagentAgentXDown", Group: group, For: "2m", KeepFiringFor: whileRestarted, Severity: Warning, Runbook: "prometheus/PnagentAgentXDown.md",
			Signal: "min by (instance) (" + agentXUp + ")", Condition: "== 0",
			Summary:     "Sidecar {{ $labels.instance }} is not connected to snmpd.",
			Description: "The AgentX session of {{ $labels.instance }} is down: SNMP shows no net, and notifications wait."},
		{Name: "PnagentAlarmsNotKept", Group: group, For: "1m", Severity: Warning, Runbook: "prometheus/PnagentAlarmsNotKept.md",
			Signal:      rose("instance", metrics.PnagentAlarmSaveFailuresTotal) + " + " + rose("instance", metrics.PnagentAlarmsDroppedTotal),
			Condition:   "> 0",
			Summary:     "Sidecar {{ $labels.instance }} cannot save alarms.",
			Description: "{{ $value | humanize }} times in the last 10 minutes {{ $labels.instance }} could not write the file with the alarms, or could not raise an alarm because there were too many."},
		{Name: "PnagentCountersNotKept", Group: group, For: "1m", Severity: Warning, Runbook: "prometheus/PnagentCountersNotKept.md",
			Signal: rose("instance", stateSaveFailuresTotal), Condition: "> 0",
			Summary:     "Sidecar {{ $labels.instance }} cannot save counters.",
			Description: "{{ $value | humanize }} times in the last 10 minutes {{ $labels.instance }} could not save its counters: after a restart they would begin at 0."},
	}
}
