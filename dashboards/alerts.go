// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	_ "embed"
	"encoding/csv"
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

// texts are the alerts without what they fire for: a line for each, for spreadsheets and people.
//
//go:embed alerts.csv
var texts string

// Alerts returns the alerting rules, for a sidecar that Prometheus scrapes as
// job.
func Alerts(job string) []Alert {
	lines, err := csv.NewReader(strings.NewReader(texts)).ReadAll()
	if err != nil {
		panic(err) // the file is part of the program, and a test reads it
	}
	of := signals(job)
	all := make([]Alert, 0, len(lines)-1)
	for _, l := range lines[1:] {
		a := Alert{Name: l[0], Group: l[1], For: l[2], KeepFiringFor: l[3], Severity: Severity(l[4]), Runbook: l[6], Summary: l[7], Description: l[8],
			Signal: of[l[0]].expr, Condition: of[l[0]].condition}
		if l[5] != "" {
			a.Kind, _ = alarm.KindNamed(l[5])
		}
		if a.Signal == "" {
			a.Signal, a.Condition = ofKind(a.Kind), "> 0"
		}
		all = append(all, a)
	}
	return all
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
		return "net, place, for_reason"
	case transition != "":
		return "net, transition"
	case source != "":
		return "source"
	case region != "":
		return "net, region"
	}
	return "net"
}

// signal is an expression and what it is compared with; see Alert.
type signal struct{ expr, condition string }

// signals returns what alerts fire for, with a sidecar that Prometheus scrapes as job. The others
// fire for the sidecar's own alarm that they are about.
func signals(job string) map[string]signal {
	refused := func(family string) string { return rose("job, instance, reason", family) }
	return map[string]signal{
		alarmSilenced: {most(alarmLabels, heldSilences), "> 0 and on(" + alarmLabels + ") " + heldAlarms},
		// A sidecar that has the alarm from data of its own decides against one that lost the source.
		alarmFollows:                     {most(alarmLabels+", follows", heldFollows), fmt.Sprintf("> 0 unless on(%s) (%s unless on(%s) %s)", alarmLabels, heldAlarms, identity, heldFollows)},
		netSilent:                        {most("net, source", heldLost), "> 0 unless on(net) " + metrics.SourceUp + " == 1"},
		"PetrinetTransitionFailing":      {most("net, transition, severity", fmt.Sprintf(`%s{alarm=%q} or label_replace(%s, "severity", %q, "", "")`, heldAlarms, alarm.FailureRatio.String(), heldFailing, Warning)), "> 0"},
		"PetrinetQueueStarving":          {most("net, priority", heldStarving), "> 0"},
		"PetrinetRegionWithoutStandby":   {most("net, region", heldAlone), "> 0"},
		"PnagentDown":                    {fmt.Sprintf("up{job=%q}", job), "== 0"},
		"PnagentAbsent":                  {fmt.Sprintf("absent(up{job=%q} == 1)", job), ""},
		"PnagentViewStale":               {"max by (instance) (" + metrics.PnagentViewAgeSeconds + ")", "> 10"},
		"PnagentNatsDisconnected":        {"min by (job, instance) (" + natsConnected + ")", "== 0"},
		"PnagentUpNatsDisconnected":      {"min by (job, instance) (" + upNATSConnected + ")", "== 0"},
		"PnagentMessagesLost":            {most("net, source", "increase("+metrics.SourceGapsTotal+"[10m])"), "> 3"},
		"PnagentRequestsRefused":         {most("net, source, reason", "increase("+metrics.SourceRequestsRefusedTotal+"[10m])"), "> 0"},
		"PnagentMessagesRejected":        {rose("instance, reason", metrics.PnagentMessagesRejectedTotal), "> 0"},
		"PnagentSeriesDropped":           {rose("net", metrics.PnagentSeriesDroppedTotal), "> 0"},
		"PnagentScrapesRefused":          {rose("instance", metrics.PnagentScrapesRefusedTotal), "> 0"},
		"PnagentConfigReloadFailed":      {"min by (instance) (" + metrics.PnagentConfigLastReloadSuccessful + ")", "== 0"},
		"PnagentHTTPRefused":             {"(" + refused(httpConnectionsClosedTotal) + " or " + refused(httpRequestsRefusedTotal) + " or " + refused(webRequestsRefusedTotal) + ")", "> 0"},
		"PnagentSNMPDropped":             {rose("instance, reason", snmpDroppedTotal+droppedManagers), "> 0"},
		"PnagentNotificationsSuppressed": {rose("instance", metrics.PnagentNotificationsSuppressedTotal), "> 0"},
		"PnagentAlarmsUnannounced":       {"max by (instance) (" + metrics.PnagentAlarmsUnannounced + ")", "> 0"},
		"PnagentSidecarMessagesRejected": {rose("instance, reason", sidecarRejectedTotal+unexpectedOfSidecars), "> 0"},
		"PnagentNotificationsFailed":     {rose("instance, sink", metrics.PnagentNotificationsFailedTotal), "> 0"},
		"PnagentNotificationsLate":       {"max by (instance, sink) (" + metrics.PnagentNotificationsQueuedOldestAgeSeconds + ")", "> 600"},
		"PnagentAgentXDown":              {"min by (instance) (" + agentXUp + ")", "== 0"},
		"PnagentAlarmsNotKept":           {rose("instance", metrics.PnagentAlarmSaveFailuresTotal) + " + " + rose("instance", metrics.PnagentAlarmsDroppedTotal), "> 0"},
		"PnagentCountersNotKept":         {rose("instance", stateSaveFailuresTotal), "> 0"},
	}
}

// rose returns the expression of a counter's increase in ten minutes.
func rose(labels, family string) string {
	return sum(labels, "increase("+family+"[10m])")
}

// droppedManagers matches the reasons for dropping packets of SNMP that concern managers
// too. The others are packets that no manager sends, and packets that it sends again.
const droppedManagers = `{reason=~"network|version|community|rate|octets|send"}`

// unexpectedOfSidecars leaves out the first message of each member of a pair with a key,
// which is rejected until the member has answered a challenge.
const unexpectedOfSidecars = `{reason!="unproven"}`
