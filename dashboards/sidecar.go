// SPDX-License-Identifier: Apache-2.0

package dashboards

import "github.com/pnagent/pnagent/metrics"

func sidecar() Dashboard {
	return Dashboard{
		UID: uidSidecar, File: "sidecar.json", Title: "pnagent / Sidecar",
		Description: "The sidecar itself: does it hear everything, is what it shows fresh, does it tell whom it should, what does it cost.",
		Rows: []Row{
			{"Now", sidecarStats()},
			{"Hears", sidecarHears()},
			{"Regions", []Panel{regionTable()}},
			{"Shows", sidecarShows()},
			{"Tells", sidecarTells()},
			{"Costs", sidecarCosts()},
		},
	}
}

func sidecarStats() []Panel {
	stat := func(title, description, unit, legend, expr string, steps []Step) Panel {
		p := quarter(number(title, description, unit, expr, steps))
		p.Queries[0].Legend = legend
		return p
	}
	return []Panel{
		stat("Scraped", "Sidecars that Prometheus can scrape.", "short", "scraped", "sum("+of("up")+")", noneIsBad()),
		stat("Age of the view", "Time since what is shown was put together. It is made anew when something was heard, once a second at most.", "s", "{{instance}}",
			"max by (instance) ("+of(metrics.PnagentViewAgeSeconds)+")", []Step{{0, calm}, {5, warm}, {10, burnt}}),
		stat("Sources not up", "Sources that are silent, whose messages are refused, or of which the net is not known.", "short", "{{instance}}",
			"max by (instance) ("+sum("instance", of(metrics.PnagentSources, `state!~"up|gone"`))+")", anyIsBad()),
		stat("Version", "What runs, of each sidecar: the number is how many run it.", "short", "{{version}}",
			"count by (version) ("+of(metrics.PnagentBuildInfo)+")", []Step{{0, calm}}),
	}
}

func sidecarHears() []Panel {
	return []Panel{
		side("Connected to NATS", "1 while a process of pnagent is connected to NATS: a sidecar that is not hears no engine. Above is the connection of a sidecar of a tree to the one above.", "short",
			Query{"min by (job, instance) (" + of(natsConnected) + ")", "{{job}} {{instance}}"},
			Query{"min by (job, instance) (" + of(upNATSConnected) + ")", "above {{job}} {{instance}}"}),
		side("Sources refused", "Sources that are heard and whose messages are refused, by why. Should be 0.", "short",
			Query{orNone("sum by (reason) ("+most("net, source, reason", of(metrics.SourceRefused))+")", "reason"), "{{reason}}"}),
		side("Connections that ended", "Times that a connection to NATS ended, a second. Should be 0.", "ops",
			Query{sum("instance", rate(natsDisconnectsTotal)), "{{instance}}"},
			Query{sum("instance", rate(upNATSDisconnectsTotal)), "above {{instance}}"}),
		side("Messages", "Snapshots that were heard, a second.", "ops", Query{sum("instance", rate(metrics.PnagentMessagesTotal)), "{{instance}}"}),
		side("Bytes of messages", "Size of the snapshots that were heard, a second.", "Bps", Query{sum("instance", rate(metrics.PnagentBytesTotal)), "{{instance}}"}),
		side("Lost and rejected messages", "Snapshots that never came, and those that were not taken, by reason, a second. All should be 0.", "ops",
			Query{sum("instance", rate(metrics.PnagentMessagesLostTotal)), "lost {{instance}}"},
			Query{sum("reason", rate(metrics.PnagentMessagesRejectedTotal)), "{{reason}}"}),
		side("Sources by state", "Engines, by what they are doing.", "short", Query{"max by (state) (" + of(metrics.PnagentSources) + ")", "{{state}}"}),
		side("Views", "Views that were put together, a second: one a tick while engines are heard.", "ops",
			Query{"sum by (instance) (deriv(" + of(metrics.PnagentViewGeneration) + "[$__rate_interval]))", "{{instance}}"}),
		side("Gaps by source", "Snapshots of a source that never came, a second.", "ops", Query{most("net, source", rate(metrics.SourceGapsTotal)), "{{source}} {{net}}"}),
	}
}

// regionTable returns a table of the owners of regions, with a row "none" if there are
// none.
func regionTable() Panel {
	by := func(expr string) string { return most("net, region, source", expr) }
	return Panel{
		Title: "Regions", Kind: Table, Unit: "short", Width: 24, Height: 8,
		Description: "Parts of nets that move between processes: who has each, how many processes are ready to take it over, and how far the nearest is behind.",
		Queries: []Query{
			{orNone(by(of(metrics.RegionEpoch)), "region"), "epoch"},
			{by(of(metrics.RegionStandbys)), "standbys"},
			{by(of(metrics.RegionLagCommits)), "lag"},
			{by(rate(metrics.RegionCommitsTotal)), "commits"},
		},
		Columns: []Column{
			{Label: "region", Title: "Region"},
			{Label: "net", Title: "Net", Link: uidNet},
			{Label: "source", Title: "Owner"},
			{Value: "epoch", Title: "Owner's number", Unit: "short"},
			{Value: "standbys", Title: "Stand-bys", Unit: "short", Steps: noneIsBad()},
			{Value: "lag", Title: "Nearest is behind", Unit: "short"},
			{Value: "commits", Title: "Commits", Unit: "ops"},
		},
	}
}

func sidecarShows() []Panel {
	return []Panel{
		side("Scrape duration", "Time that Prometheus needed for a scrape.", "s", Query{"max by (instance) (" + of("scrape_duration_seconds") + ")", "{{instance}}"}),
		side("Samples", "Samples in a scrape.", "short", Query{"max by (instance) (" + of("scrape_samples_scraped") + ")", "{{instance}}"}),
		side("Series left out, scrapes refused", "Series over the budget of a net, and scrapes that were refused because too many were under way, a second. All should be 0.", "ops",
			Query{sum("net", rate(metrics.PnagentSeriesDroppedTotal)), "series of {{net}}"},
			Query{sum("instance", rate(metrics.PnagentScrapesRefusedTotal)), "scrapes {{instance}}"}),
	}
}

func sidecarTells() []Panel {
	snmp := side("SNMP requests", "Requests that the built-in responder and the AgentX session answered, by operation, a second.", "reqps",
		Query{sum("operation", rate(snmpRequestsTotal)), "{{operation}}"},
		Query{sum("type", rate(agentXRequestsTotal)), "AgentX {{type}}"})
	faults := side("SNMP faults", "SNMP packets without an answer, faults of the AgentX session, and whether it is up.", "short",
		Query{sum("reason", rate(snmpDroppedTotal)), "SNMP {{reason}}"},
		Query{sum("reason", rate(agentXFaultsTotal)), "AgentX {{reason}}"},
		Query{"min by (instance) (" + of(agentXUp) + ")", "AgentX up {{instance}}"})
	return []Panel{
		side("Alarms raised and cleared", "Alarms of all kinds, a second.", "ops",
			Query{sum("alarm", rate(metrics.PnagentAlarmsRaisedTotal)), "raised {{alarm}}"},
			Query{sum("alarm", rate(metrics.PnagentAlarmsClearedTotal)), "cleared {{alarm}}"}),
		side("Notifications", "Notifications by what became of them, a second. Skipped are those that another sidecar sends.", "ops",
			Query{sum("sink", rate(metrics.PnagentNotificationsSentTotal)), "sent to {{sink}}"},
			Query{sum("sink", rate(metrics.PnagentNotificationsFailedTotal)), "failed at {{sink}}"},
			Query{sum("instance", rate(metrics.PnagentNotificationsSuppressedTotal)), "suppressed {{instance}}"},
			Query{sum("reason", rate(metrics.PnagentNotificationsSkippedTotal)), "skipped {{reason}}"}),
		side("Alarms not kept", "Alarms that could not be raised because there were too many, and writes of their file that failed, a second. All should be 0.", "ops",
			Query{sum("instance", rate(metrics.PnagentAlarmsDroppedTotal)), "dropped {{instance}}"},
			Query{sum("instance", rate(metrics.PnagentAlarmSaveFailuresTotal)), "not saved {{instance}}"}),
		half(snmp), half(faults),
	}
}

func sidecarCosts() []Panel {
	by := func(expr string) string { return sum("instance", expr) }
	return []Panel{
		side("Processor", "Time of processors that is used, a second: 1 is one processor.", "short", Query{by(rate("process_cpu_seconds_total")), "{{instance}}"}),
		side("Memory", "Memory of the process, and of Go's heap in it.", "bytes",
			Query{by(of("process_resident_memory_bytes")), "resident {{instance}}"}, Query{by(of("go_memstats_heap_inuse_bytes")), "heap {{instance}}"}),
		side("Goroutines", "Goroutines of the process.", "short", Query{by(of("go_goroutines")), "{{instance}}"}),
		side("Garbage collection", "Time that garbage collection holds everything up, a second.", "s", Query{by(rate("go_gc_duration_seconds_sum")), "{{instance}}"}),
		side("Allocation", "Memory that is allocated, a second.", "Bps", Query{by(rate("go_memstats_alloc_bytes_total")), "{{instance}}"}),
		side("Open files", "Files and sockets that are open, of how many may be.", "percentunit",
			Query{by(of("process_open_fds")) + " / " + by(of("process_max_fds")), "{{instance}}"}),
	}
}
