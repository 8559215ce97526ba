// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"strings"

	"github.com/pnagent/pnagent/metrics"
)

// UIDs of the dashboards.
const (
	uidOverview = "pnagent-overview"
	uidNet      = "pnagent-net"
	uidPlace    = "pnagent-place"
	uidSidecar  = "pnagent-sidecar"
	uidDispatch = "pnagent-dispatch"
)

// orNoNet matches series of a chosen net or without a net.
const orNoNet = `net=~"$net|"`

// netVariable returns the variable of one net or of several.
func netVariable(multi bool) Variable {
	return Variable{Name: "net", Title: "Net", From: of(metrics.Instances), Multi: multi}
}

// alarmLabels identify an alarm of a sidecar.
const alarmLabels = "net, place, transition, source, region, alarm, for_reason"

// alarms returns the active alarms of the chosen nets, once each. Alarms about sources
// have no net.
func alarms(matchers ...string) string {
	return most(alarmLabels, of(metrics.AlarmActive, matchers...))
}

// graded returns the same with the severity of each.
func graded(matchers ...string) string {
	return most(alarmLabels+", severity", of(metrics.AlarmActive, matchers...))
}

func overview() Dashboard {
	return Dashboard{
		UID: uidOverview, File: "overview.json", Title: brand + "Overview",
		Description: "All nets: the oldest tokens, active alarms, deadlocks, sources and rates.",
		Variables:   []Variable{netVariable(true)},
		Rows: []Row{
			{Title: "Now", Panels: append(overviewStats(), allAlarms())},
			{Title: "Nets", Panels: []Panel{netTable()}},
			{Title: "Over time", Panels: overviewLines()},
			{Title: "Instances and sources", Panels: overviewDetails(), Folded: true},
		},
	}
}

func overviewStats() []Panel {
	instances := func(state string) string {
		return sum("", most("net", of(metrics.Instances, anyNet, `state="`+state+`"`)))
	}
	return []Panel{
		number("Oldest token", "Age of the oldest token in all places but those in which tokens stay on purpose: final ones, and those for which the rules for alarms turn tokenStuck off.", "s",
			"max("+waiting(metrics.PlaceOldestTokenAgeSeconds, anyNet)+")", heat()),
		number("Active alarms", "Active alarms, by the sidecar's thresholds.", "short",
			orZero("count("+alarms(orNoNet)+")"), anyIsBad()),
		number("Deadlocked", "Instances that have not ended, and in which no transition is enabled or running.", "short",
			instances("deadlocked"), anyIsBad()),
		number("Active instances", "Instances that have not finished.", "short", instances("active"), []Step{{0, calm}}),
		number("Sources up", "Sources whose messages arrive.", "short",
			sum("", most("net, source", of(metrics.SourceUp, anyNet))), noneIsBad()),
		number("Firings", "Firings per second.", each,
			sum("", most("net, transition", rate(metrics.TransitionFiringsTotal, anyNet))), []Step{{0, calm}}),
	}
}

func netTable() Panel {
	return Panel{
		Title: "Nets", Kind: Table, Unit: "short", Width: 24, Height: 8,
		Description: "One row for each net. Click a name to open the net.",
		Queries: []Query{
			{sum("net", most("net, state", of(metrics.Instances, anyNet, `state="active"`))), "active"},
			{sum("net", most("net, state", of(metrics.Instances, anyNet, `state="deadlocked"`))), "deadlocked"},
			{most("net", waiting(metrics.PlaceOldestTokenAgeSeconds, anyNet)), "oldest"},
			{sum("net", most("net, transition", rate(metrics.TransitionFiringsTotal, anyNet))), "firings"},
			{sum("net", most("net, transition", rate(metrics.TransitionFailuresTotal, anyNet))), "failures"},
			{most("net", rate(metrics.InstancesFinishedTotal, anyNet)), "finished"},
		},
		Columns: []Column{
			{Label: "net", Title: "Net", Link: uidNet},
			{Value: "oldest", Title: "Oldest token", Unit: "s", Steps: heat()},
			{Value: "deadlocked", Title: "Deadlocked", Unit: "short", Steps: anyIsBad()},
			{Value: "active", Title: "Active", Unit: "short"},
			{Value: "firings", Title: "Firings", Unit: each},
			{Value: "failures", Title: "Failures", Unit: each, Steps: anyIsWarm()},
			{Value: "finished", Title: "Finished", Unit: each},
		},
	}
}

// why is the reason of each alarm that has one, as a label: "start: inhibited failed".
func why(nets string) string {
	reasons := most(alarmLabels+", waits_for, reason, blocked_by", of(metrics.AlarmReason, nets))
	text := `label_join(label_join(` + reasons + `, "why", ": ", "waits_for", "reason"), "why", " ", "why", "blocked_by")`
	return "topk by (" + alarmLabels + ") (1, " + text + ")"
}

// alarmTable returns a table of active alarms, the oldest on top.
func alarmTable(nets string, columns ...Column) Panel {
	raised := most(alarmLabels, of(metrics.AlarmRaisedTimestampSeconds, nets))
	severity := "topk by (" + alarmLabels + ") (1, " + graded(nets) + ")"
	age := "(time() - " + raised + " * on(" + alarmLabels + ") group_left(severity) " + severity + ")"
	explained := age + " * on(" + alarmLabels + ") group_left(why) " + why(nets) + " or on(" + alarmLabels + ") " + age
	p := Panel{
		Title: "Active alarms, each", Kind: Table, Unit: "short", Width: 24, Height: 10,
		Description: "All active alarms, the oldest on top. The reason is that of the oldest token: the transition that it waits for, why that does not fire, and the place that blocks it, if there is one. " +
			"An alarm about a source has no net. Click a net or a place to open it.",
		Columns: []Column{
			{Label: "severity", Title: "Severity", Names: severities(), Width: 100},
			{Value: "age", Title: "Raised for", Unit: "s", Width: 110},
			{Label: "alarm", Title: "Alarm"},
		},
	}
	p.Columns = append(append(p.Columns, columns...), Column{Label: "why", Title: "Reason"})
	var labels []string
	for _, c := range p.Columns {
		if c.Label != "" {
			labels = append(labels, c.Label)
		}
	}
	p.Queries = []Query{{most(strings.Join(labels, ", "), explained), "age"}}
	return p
}

// allAlarms returns a table of the alarms of several nets.
func allAlarms() Panel {
	return alarmTable(orNoNet, Column{Label: "net", Title: "Net", Link: uidNet}, Column{Label: "place", Title: "Place", Link: uidPlace},
		Column{Label: "transition", Title: "Transition"}, Column{Label: "source", Title: "Source"}, Column{Label: "region", Title: "Region"})
}

// severities colour alarms.
func severities() map[string]string {
	return map[string]string{"critical": burnt, "major": burnt, "minor": hot, "warning": warm}
}

func overviewLines() []Panel {
	lines := func(title, description, unit, legend, expr string) Panel {
		return side(title, description, unit, Query{expr, legend})
	}
	return []Panel{
		lines("Oldest token by net", "A line that rises by one second per second is a token that does not move. Places in which tokens stay on purpose are left out.", "s", "{{net}}",
			most("net", waiting(metrics.PlaceOldestTokenAgeSeconds, anyNet))),
		lines("Active alarms by kind", "Active alarms, by kind.", "short", "{{alarm}}",
			orNone("count by (alarm) ("+alarms(orNoNet)+")", "alarm")),
		lines("Firings by net", "Firings per second, by net.", each, "{{net}}",
			sum("net", most("net, transition", rate(metrics.TransitionFiringsTotal, anyNet)))),
		lines("Tokens by net", "Tokens in all places of a net except final ones. A rising line is a net that accumulates tokens.", "short", "{{net}}",
			sum("net", most("net, place", unfinished(metrics.PlaceTokens, anyNet)))),
	}
}

func overviewDetails() []Panel {
	all := func(family string) string { return sum("", most("net", rate(family, anyNet))) }
	return []Panel{
		side("Instances created and finished", "Instances of all selected nets that are created, finish and fail, per second.", each,
			Query{all(metrics.InstancesCreatedTotal), "created"},
			Query{all(metrics.InstancesFinishedTotal), "finished"},
			Query{all(metrics.InstancesFailedTotal), "failed"}),
		side("Silence of sources", "Time since the last message of a source. Engines publish once a second.", "s",
			Query{most("net, source", of(metrics.SourceLastSnapshotAgeSeconds, anyNet)), "{{source}} {{net}}"}),
	}
}
