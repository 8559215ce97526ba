// SPDX-License-Identifier: Apache-2.0

package dashboards

import "github.com/pnagent/pnagent/metrics"

func dispatch() Dashboard {
	return Dashboard{
		UID: uidDispatch, File: "dispatch.json", Title: brand + "Engine dispatch",
		Description: "Queues of engines that run with a dispatcher: how many instances wait, at which priority and for how long, and which are served.",
		Variables:   []Variable{netVariable(true)},
		Rows: []Row{
			{Title: "Now", Panels: dispatchStats()},
			{Title: "Waiting", Panels: dispatchWaiting()},
			{Title: "Served", Panels: dispatchServed()},
		},
	}
}

// starving colours the time since a priority was served.
func starving() []Step { return []Step{{0, calm}, {10, warm}, {60, burnt}} }

func dispatchStats() []Panel {
	return []Panel{
		quarter(number("Ready instances", "Instances with an enabled transition that wait for their turn.", "short",
			sum("", most("net, priority", of(metrics.QueueReady, anyNet))), []Step{{0, calm}})),
		quarter(number("Longest wait", "Time for which the longest-waiting instance has been ready.", "s", "max("+of(metrics.QueueOldestAgeSeconds, anyNet)+")", starving())),
		quarter(number("Longest without service", "Time for which a priority has had ready instances and was not served. A long time means starvation.", "s",
			"max("+of(metrics.QueueUnservedAgeSeconds, anyNet)+")", starving())),
		quarter(number("Work not started", "Pieces of work that wait in instances.", "short",
			sum("", most("net", of(metrics.QueueWaiting, anyNet))), []Step{{0, calm}})),
	}
}

func dispatchWaiting() []Panel {
	lines := func(title, description, unit, expr string) Panel {
		return side(title, description, unit, Query{expr, "p{{priority}} {{net}}"})
	}
	work := side("Work not started, by net", "Pieces of work that wait in instances, by net.", "short",
		Query{most("net", of(metrics.QueueWaiting, anyNet)), "{{net}}"})
	return []Panel{
		lines("Ready by priority", "Instances with an enabled transition that wait for their turn.", "short", most("net, priority", of(metrics.QueueReady, anyNet))),
		lines("Longest wait by priority", "Time for which the longest-waiting instance has been ready. Higher priorities should have lower values.", "s",
			most("net, priority", of(metrics.QueueOldestAgeSeconds, anyNet))),
		lines("Starvation by priority", "Time for which a priority has had ready instances and was not served. A line that keeps rising means starvation.", "s",
			most("net, priority", of(metrics.QueueUnservedAgeSeconds, anyNet))),
		work,
	}
}

func dispatchServed() []Panel {
	served := most("net, priority", rate(metrics.QueueServedTotal, anyNet))
	share := side("Share of priorities", "Share of each priority in all served events.", "percentunit",
		Query{sum("priority", served) + " / on() group_left() (" + sum("", served) + " > 0)", "p{{priority}}"})
	share.Stacked = true
	return []Panel{
		side("Served by priority", "Firings and pieces of work served per second.", each, Query{served, "p{{priority}} {{net}}"}),
		share,
		side("Quotes used up", "Turns per second that ended because the quote of the priority was used up. Only a quoted dispatcher has quotes.", each,
			Query{most("net, priority", rate(metrics.QueueQuoteSwitchesTotal, anyNet)), "p{{priority}} {{net}}"}),
		side("Firings against service", "Firings of the nets, and events that the dispatcher served, per second.", each,
			Query{sum("net", most("net, transition", rate(metrics.TransitionFiringsTotal, anyNet))), "firings {{net}}"},
			Query{sum("net", served), "served {{net}}"}),
	}
}
