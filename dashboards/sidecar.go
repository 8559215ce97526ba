// SPDX-License-Identifier: Apache-2.0

package dashboards

import "github.com/pnagent/pnagent/metrics"

func sidecar() Dashboard {
	return Dashboard{
		UID: uidSidecar, File: "sidecar.json", Title: brand + "Sidecar",
		Description: "The sidecar itself: what it receives, whether the data that it shows are current, the notifications that it sends, and its use of resources.",
		Rows: []Row{
			{Title: "Now", Panels: sidecarStats()},
			{Title: "Received", Panels: sidecarReceived()},
			{Title: "Sent", Panels: sidecarSent()},
			{Title: "Traffic", Panels: sidecarTraffic(), Folded: true},
			{Title: "Resources", Panels: sidecarResources(), Folded: true},
			{Title: "Regions", Panels: []Panel{regionTable()}, Folded: true},
			{Title: "Scrapes", Panels: sidecarScrapes(), Folded: true},
		},
	}
}

func sidecarStats() []Panel {
	stat := func(title, description, unit, legend, expr string, steps []Step) Panel {
		p := quarter(number(title, description, unit, expr, steps))
		p.Queries[0].Legend = legend
		return p
	}
	version := stat("Version", "The versions of the sidecars.", "short", "{{version}}", "count by (version) ("+of(metrics.PnagentBuildInfo)+")", []Step{{0, calm}})
	version.Named = true
	return []Panel{
		stat("Scraped", "Sidecars that Prometheus can scrape.", "short", "scraped", "sum("+of("up")+")", noneIsBad()),
		stat("Age of the view", "Time since the View was made. A new View is made when messages have arrived, at most once a second.", "s", "{{instance}}",
			"max by (instance) ("+of(metrics.PnagentViewAgeSeconds)+")", []Step{{0, calm}, {5, warm}, {10, burnt}}),
		stat("Sources not up", "Sources that are silent, whose messages are refused, or whose net is unknown.", "short", "{{instance}}",
			"max by (instance) ("+sum("instance", of(metrics.PnagentSources, `state!~"up|gone"`))+")", anyIsBad()),
		version,
	}
}

func sidecarReceived() []Panel {
	return []Panel{
		side("Connected to NATS", "1 while a process of pnagent is connected to NATS; otherwise a sidecar receives no engine. The series named above are connections of a sidecar in a tree to the one above it.", "short",
			Query{"min by (job, instance) (" + of(natsConnected) + ")", "{{job}} {{instance}}"},
			Query{"min by (job, instance) (" + of(upNATSConnected) + ")", "above {{job}} {{instance}}"}),
		side("Sources by state", "Sources that each sidecar knows, by state.", "short", Query{sum("instance, state", of(metrics.PnagentSources)+" > 0"), "{{state}} {{instance}}"}),
		side("Sources refused", "Sources that publish and whose messages are refused, by reason. Should be 0.", "short",
			Query{orNone("sum by (reason) ("+most("net, source, reason", of(metrics.SourceRefused))+")", "reason"), "{{reason}}"}),
		rare("Lost and rejected messages", "Snapshots per second that did not arrive, and those that were rejected, by reason. All should be 0.", each,
			Query{sum("instance", rate(metrics.PnagentMessagesLostTotal)), "lost {{instance}}"},
			Query{counted(sum("reason", rate(metrics.PnagentMessagesRejectedTotal)), "reason"), "rejected {{reason}}"}),
	}
}

func sidecarTraffic() []Panel {
	refused := sum("source, reason", most("net, source, reason", rate(metrics.SourceRequestsRefusedTotal)))
	return []Panel{
		side("Messages", "Snapshots received per second.", each, Query{sum("instance", rate(metrics.PnagentMessagesTotal)), "{{instance}}"}),
		side("Bytes of messages", "Bytes of snapshots received per second.", "Bps", Query{sum("instance", rate(metrics.PnagentBytesTotal)), "{{instance}}"}),
		side("Views", "Views made per second: one each second while messages arrive.", each,
			Query{"clamp_min(sum by (instance) (deriv(" + of(metrics.PnagentViewGeneration) + "[$__rate_interval])), 0)", "{{instance}}"}),
		side("Connections that ended", "Connections to NATS that ended, per second. Should be 0.", each,
			Query{sum("instance", rate(natsDisconnectsTotal)), "{{instance}}"},
			Query{sum("instance", rate(upNATSDisconnectsTotal)), "above {{instance}}"}),
		side("Gaps by source", "Snapshots of a source that did not arrive, per second.", each, Query{most("net, source", rate(metrics.SourceGapsTotal)), "{{source}} {{net}}"}),
		rare("Refused requests", "Requests per second that engines refused because they exceed a bound, by reason. Should be 0.", each,
			Query{counted(refused, "reason"), "{{source}} {{reason}}"}),
	}
}

// regionTable returns a table of the owners of regions.
func regionTable() Panel {
	by := func(expr string) string { return most("net, region, source", expr) }
	return Panel{
		Title: "Regions", Kind: Table, Unit: "short", Width: 24, Height: 8,
		Description: "Parts of nets that move between processes: the owner of each, the number of processes that are ready to take it over, and by how many commits the nearest is behind.",
		Queries: []Query{
			{by(of(metrics.RegionEpoch)), "epoch"},
			{by(of(metrics.RegionStandbys)), "standbys"},
			{by(of(metrics.RegionLagCommits)), "lag"},
			{by(rate(metrics.RegionCommitsTotal)), "commits"},
		},
		Columns: []Column{
			{Label: "region", Title: "Region"},
			{Label: "net", Title: "Net", Link: uidNet},
			{Label: "source", Title: "Owner"},
			{Value: "epoch", Title: "Owner's number", Unit: "short"},
			{Value: "standbys", Title: "Standbys", Unit: "short", Steps: noneIsBad()},
			{Value: "lag", Title: "Lag of the nearest", Unit: "short"},
			{Value: "commits", Title: "Commits", Unit: each},
		},
	}
}

func sidecarScrapes() []Panel {
	return []Panel{
		side("Scrape duration", "Time that Prometheus needed for a scrape.", "s", Query{"max by (instance) (" + of("scrape_duration_seconds") + ")", "{{instance}}"}),
		side("Samples", "Samples in a scrape.", "short", Query{"max by (instance) (" + of("scrape_samples_scraped") + ")", "{{instance}}"}),
		full(side("Series left out, scrapes refused", "Series beyond the budget of a net, and scrapes refused because too many were in progress, per second. All should be 0.", each,
			Query{sum("net", rate(metrics.PnagentSeriesDroppedTotal)), "series of {{net}}"},
			Query{sum("instance", rate(metrics.PnagentScrapesRefusedTotal)), "scrapes {{instance}}"})),
	}
}

func sidecarSent() []Panel {
	snmp := side("SNMP requests", "Requests answered by the built-in responder and by the AgentX session, per second, by operation.", "reqps",
		Query{sum("operation", rate(snmpRequestsTotal)), "{{operation}}"},
		Query{sum("type", rate(agentXRequestsTotal)), "AgentX {{type}}"})
	faults := rare("SNMP faults", "SNMP packets without an answer, faults of the AgentX session, and whether it is up.", "short",
		Query{counted(sum("reason", rate(snmpDroppedTotal)), "reason"), "SNMP {{reason}}"},
		Query{sum("reason", rate(agentXFaultsTotal)), "AgentX {{reason}}"},
		Query{"min by (instance) (" + of(agentXUp) + ")", "AgentX up {{instance}}"})
	return []Panel{
		rare("Alarms raised and cleared", "Alarms raised and cleared per second, by kind.", each,
			Query{counted(sum("alarm", rate(metrics.PnagentAlarmsRaisedTotal)), "alarm"), "raised {{alarm}}"},
			Query{counted(sum("alarm", rate(metrics.PnagentAlarmsClearedTotal)), "alarm"), "cleared {{alarm}}"}),
		side("Notifications", "Notifications per second, by result. Another sidecar sends those that are skipped.", each,
			Query{sum("sink", rate(metrics.PnagentNotificationsSentTotal)), "sent to {{sink}}"},
			Query{sum("sink", rate(metrics.PnagentNotificationsFailedTotal)), "failed at {{sink}}"},
			Query{sum("instance", rate(metrics.PnagentNotificationsSuppressedTotal)), "suppressed {{instance}}"},
			Query{sum("reason", rate(metrics.PnagentNotificationsSkippedTotal)), "skipped {{reason}}"}),
		side("Alarms not saved", "Alarms that could not be raised because there were too many, and failed writes of the alarm file, per second. All should be 0.", each,
			Query{sum("instance", rate(metrics.PnagentAlarmsDroppedTotal)), "dropped {{instance}}"},
			Query{sum("instance", rate(metrics.PnagentAlarmSaveFailuresTotal)), "not saved {{instance}}"}),
		snmp, full(faults),
	}
}

func sidecarResources() []Panel {
	by := func(expr string) string { return sum("instance", expr) }
	return []Panel{
		side("Processor", "Processor time used per second: 100 % is one processor.", "percentunit", Query{by(rate("process_cpu_seconds_total")), "{{instance}}"}),
		side("Memory", "Memory of the process, and of Go's heap in it.", "bytes",
			Query{by(of("process_resident_memory_bytes")), "resident {{instance}}"}, Query{by(of("go_memstats_heap_inuse_bytes")), "heap {{instance}}"}),
		side("Goroutines", "Goroutines of the process.", "short", Query{by(of("go_goroutines")), "{{instance}}"}),
		side("Garbage collection", "Share of the time for which garbage collection stops the process.", "percentunit", Query{by(rate("go_gc_duration_seconds_sum")), "{{instance}}"}),
		side("Allocation", "Memory allocated per second.", "Bps", Query{by(rate("go_memstats_alloc_bytes_total")), "{{instance}}"}),
		side("Open files", "Open files and sockets, as a share of the limit.", "percentunit",
			Query{by(of("process_open_fds")) + " / " + by(of("process_max_fds")), "{{instance}}"}),
	}
}
