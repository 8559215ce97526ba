// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"github.com/pnagent/pnagent/metrics"
	"github.com/pnagent/pnagent/stats"
)

func oneNet() Dashboard {
	return Dashboard{
		UID: uidNet, File: "net.json", Title: brand + "Net",
		Description: "One net: which places hold old tokens, what blocks them, how fast each transition fires.",
		Variables:   []Variable{netVariable(false)},
		Rows: []Row{
			{Title: "Now", Panels: append(netStats(), netAlarms())},
			{Title: "Places", Panels: []Panel{placesByAge(), ladder("Age of tokens", " Final places are left out.", unfinished, thisNet)}},
			{Title: "Why", Panels: []Panel{blockers(), transitionTable(), reasonTable(), scheduleTable()}},
			{Title: "Flow", Panels: netFlow(), Folded: true},
			{Title: "Dwell", Panels: netDwell(), Folded: true},
		},
	}
}

func netStats() []Panel {
	return []Panel{
		number("Oldest token", "Age of the oldest token of the net. Places in which tokens stay on purpose are left out: final ones, and those for which the rules for alarms turn tokenStuck off. 0 without a token elsewhere.", "s", "max("+waiting(metrics.PlaceOldestTokenAgeSeconds, thisNet)+") or 0 * max("+of(metrics.PlaceOldestTokenAgeSeconds, thisNet)+")", heat()),
		number("Active alarms", "Active alarms of this net, by the sidecar's thresholds.", "short", orZero("count("+alarms(thisNet)+")"), anyIsBad()),
		number("Deadlocked", "Instances that can never continue on their own.", "short",
			"max("+of(metrics.Instances, thisNet, `state="deadlocked"`)+")", anyIsBad()),
		number("Active instances", "Instances that have not finished.", "short",
			"max("+of(metrics.Instances, thisNet, `state="active"`)+")", []Step{{0, calm}}),
		number("Tokens", "Tokens in all places of the net except final ones.", "short", sum("", most("place", unfinished(metrics.PlaceTokens, thisNet))), []Step{{0, calm}}),
		number("Firings", "Firings per second.", each,
			sum("", most("transition", rate(metrics.TransitionFiringsTotal, thisNet))), []Step{{0, calm}}),
	}
}

// placesByAge is a heat table: a row for each place, a column for each step of
// the ladder. Final places have tokens and no age.
func placesByAge() Panel {
	p := Panel{
		Title: "Places by age", Kind: Table, Unit: "short", Width: 24, Height: 10,
		Description: "Tokens in each place that have at least this age. The further right a colour is, the longer tokens are stuck. Final places have no ages. Click a place to open it.",
		Queries: []Query{
			{most("place", waiting(metrics.PlaceOldestTokenAgeSeconds, thisNet)), "oldest"},
			{most("place", of(metrics.PlaceTokens, thisNet)), "tokens"},
		},
		Columns: []Column{
			{Label: "place", Title: "Place", Link: uidPlace},
			{Value: "oldest", Title: "Oldest token", Unit: "s", Steps: heat()},
			{Value: "tokens", Title: "Tokens", Unit: "short"},
		},
	}
	for i, step := range stats.AgeSteps() {
		if i == 0 { // nearly all tokens are so old
			continue
		}
		p.Queries = append(p.Queries, Query{most("place", waiting(metrics.PlaceTokensOlderThan, thisNet, `age="`+step.Label+`"`)), step.Label})
		p.Columns = append(p.Columns, Column{Value: step.Label, Title: "≥ " + step.Label, Unit: "short", Steps: glow(i), Blank: true})
	}
	return p
}

// ladder is the age of tokens over time: a row for each rung, of the tokens
// between it and the next older. It is of the places that selector selects.
func ladder(title, about string, selector func(family string, matchers ...string) string, matcher string) Panel {
	older := func(label string) string {
		return sum("", most("place", selector(metrics.PlaceTokensOlderThan, matcher, `age="`+label+`"`)))
	}
	tokens := sum("", most("place", selector(metrics.PlaceTokens, matcher)))
	some := func(expr, legend string) Query { // without tokens Grafana gives the colours a range from infinity
		return Query{expr + " and on() (" + tokens + " > 0)", legend}
	}
	p := Panel{
		Title: title, Kind: Heatmap, Unit: "short", Width: 24, Height: 9,
		Description: "Number of tokens by age, over time; the oldest are at the top. A colour that climbs is a group of tokens that do not move." + about,
	}
	steps := stats.AgeSteps()
	p.Queries = append(p.Queries, some(tokens+" - "+older(steps[0].Label), "< "+steps[0].Label))
	for i, step := range steps {
		if i+1 == len(steps) {
			p.Queries = append(p.Queries, some(older(step.Label), "≥ "+step.Label))
			break
		}
		next := steps[i+1].Label
		p.Queries = append(p.Queries, some(older(step.Label)+" - "+older(next), step.Label+" – "+next))
	}
	return p
}

func netAlarms() Panel {
	p := alarmTable(thisNet, Column{Label: "place", Title: "Place", Link: uidPlace}, Column{Label: "transition", Title: "Transition"}, Column{Label: "region", Title: "Region"})
	p.Height = 6
	p.Description = "Active alarms of this net, the oldest on top, with the reason of the oldest token: the transition that it waits for, why that does not fire, and the place that blocks it, if there is one. Click a place to open it."
	return p
}

func blockers() Panel {
	return Panel{
		Title: "What blocks transitions", Kind: Table, Unit: "short", Width: 12, Height: 10,
		Description: "Instances in which a transition cannot fire, by the place of the arc that blocks it. The place is empty if no single place is the cause.",
		Queries:     []Query{{most("transition, place, reason", of(metrics.TransitionBlockedInstances, thisNet)), "instances"}},
		Columns: []Column{
			{Label: "transition", Title: "Transition"},
			{Label: "reason", Title: "Reason"},
			{Label: "place", Title: "Place", Link: uidPlace},
			{Value: "instances", Title: "Instances", Unit: "short"},
		},
	}
}

func transitionTable() Panel {
	by := func(expr string) string { return most("transition", expr) }
	return Panel{
		Title: "Transitions", Kind: Table, Unit: "short", Width: 12, Height: 10,
		Description: "One row for each transition: how long it has been enabled without firing, the longest on top, in how many instances, how often it fails and how fast it fires.",
		Queries: []Query{
			{by(of(metrics.TransitionEnabledAgeSeconds, thisNet)), "age"},
			{by(of(metrics.TransitionEnabledInstances, thisNet)), "enabled"},
			{by(rate(metrics.TransitionFailuresTotal, thisNet)), "failures"},
			{by(rate(metrics.TransitionFiringsTotal, thisNet)), "firings"},
			{"time() - " + by(of(metrics.TransitionLastFiringTimestampSeconds, thisNet)), "last"},
		},
		Columns: []Column{
			{Label: "transition", Title: "Transition"},
			{Value: "age", Title: "Enabled for", Unit: "s", Steps: heat()},
			{Value: "enabled", Title: "Enabled in", Unit: "short"},
			{Value: "failures", Title: "Failures", Unit: each, Steps: anyIsWarm()},
			{Value: "firings", Title: "Firings", Unit: each},
			{Value: "last", Title: "Last firing", Unit: "s"},
		},
	}
}

func reasonTable() Panel {
	return Panel{
		Title: "What tokens wait for", Kind: Table, Unit: "short", Width: 12, Height: 8,
		Description: "Tokens in each place by the reason for which they wait, such as an incident, or no worker that is alive. Tokens of sources that do not say why are left out. Click a place to open it.",
		Queries:     []Query{{most("place, reason", of(metrics.PlaceReasonTokens, thisNet)), "tokens"}},
		Columns: []Column{
			{Label: "place", Title: "Place", Link: uidPlace},
			{Label: "reason", Title: "Reason"},
			{Value: "tokens", Title: "Tokens", Unit: "short"},
		},
	}
}

// schedules is the title of a table that is empty for a net without schedules, as those of the demo are.
const schedules = "Schedules"

// scheduleTable has a row for each transition with a schedule. A time that is past was missed.
func scheduleTable() Panel {
	due, fired := most("transition", of(metrics.TransitionNextDueTimestampSeconds, thisNet)), most("transition", of(metrics.TransitionLastFiringTimestampSeconds, thisNet))
	return Panel{
		Title: schedules, Kind: Table, Unit: "s", Width: 12, Height: 8,
		Description: "One row for each transition that its engine fires by a schedule: for how long its next run has been due and was missed, in what time it is due, and how long ago it ran last. The longest missed is on top.",
		Queries: []Query{
			{"clamp_min(time() - " + due + ", 0)", "missed"},
			{"clamp_min(" + due + " - time(), 0)", "next"},
			{"time() - " + fired + " and on (transition) " + due, "last"},
		},
		Columns: []Column{
			{Label: "transition", Title: "Transition"},
			{Value: "missed", Title: "Missed since", Unit: "s", Steps: heat()},
			{Value: "next", Title: "Next run in", Unit: "s"},
			{Value: "last", Title: "Last run", Unit: "s"},
		},
	}
}

func netFlow() []Panel {
	lines := func(title, description string, queries ...Query) Panel {
		return side(title, description, each, queries...)
	}
	by := func(family string) Query {
		return called("transition", metrics.TransitionInfo, most("transition", rate(family, thisNet)))
	}
	failed := called("transition", metrics.TransitionInfo, "("+counted(most("transition", rate(metrics.TransitionFailuresTotal, thisNet)), "transition")+")")
	return []Panel{
		lines("Firings by transition", "Firings per second. Two transitions in sequence should have the same rate.", by(metrics.TransitionFiringsTotal)),
		rare("Failures by transition", "Failed runs per second of the transitions that have failed.", each, failed),
		lines("Retries and cancels", "Runs of all transitions per second that were tried again, or cancelled with their tokens put back.",
			Query{sum("", most("transition", rate(metrics.TransitionRetriesTotal, thisNet))), "retries"},
			Query{sum("", most("transition", rate(metrics.TransitionCancelsTotal, thisNet))), "cancels"}),
		lines("Instances created and finished", "Instances created, finished and failed per second.",
			Query{"max(" + rate(metrics.InstancesCreatedTotal, thisNet) + ")", "created"},
			Query{"max(" + rate(metrics.InstancesFinishedTotal, thisNet) + ")", "finished"},
			Query{"max(" + rate(metrics.InstancesFailedTotal, thisNet) + ")", "failed"}),
	}
}

func netDwell() []Panel {
	dwell := func(title, what string, q float64) Panel {
		return side(title, "Dwell time that "+what+" of the tokens that left a place did not exceed. Tokens that are still in the place are not included: see the ages. "+estimated, "s",
			called("place", metrics.PlaceInfo, "("+percentile(q, "place", metrics.PlaceDwellSeconds, thisNet)+")"))
	}
	return []Panel{dwell("Dwell, median by place", "half", 0.5), dwell("Dwell, 99th percentile by place", "99 of 100", 0.99)}
}
