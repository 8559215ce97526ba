// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"cmp"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// discontinuity ends the description of every counter that is summed over sources.
const discontinuity = " The discontinuity time is pnNetDiscontinuityTime of this net."

// agentRow has the input of the scalars.
type agentRow struct {
	view   *merge.View
	state  *alarm.ActiveSet
	agent  *Agent
	others Others
	at     *clock
}

func agentScalars() []column[agentRow] {
	count := func(s merge.SourceState) func(*agentRow) smi.Value {
		return func(r *agentRow) smi.Value { return gauge(uint64(r.view.States[s])) }
	}
	return append([]column[agentRow]{
		{object{1, "Version", syntaxText(), "", "The version of the agent that answers. While agents are updated one after the other, two versions may answer in turn: pnAgentName shows which.", 0, false},
			func(r *agentRow) smi.Value { return text(r.agent.Version) }},
		{object{2, "Name", syntaxText(), "", "The name of the agent that answers, such as its host. If two agents form a pair, it shows which of them answers, and so on which host to look at logs.", 0, false},
			func(r *agentRow) smi.Value { return text(r.agent.Name) }},
		{object{3, "Role", syntaxEnum("primary", "standby").seeing(agentXPriorities), "", "Whether the primary agent answers or its standby. The standby answers only while the primary does not: everything is served, but after a second fault no agent would be left. Find out why the primary does not answer: look at its host, its process, its connection to the SNMP master agent. pnAgentName is the agent that answers instead.", 0, false},
			agentRole},
		{object{4, "StartTime", syntaxDate(), "", "When the agent that answers began to count. Its counters began at 0 then: a change is a discontinuity of every counter in the agent and source groups. A recent time that was not planned means that the agent was restarted or that the other one took over; pnAgentRole and pnAgentName show which.", 0, false},
			func(r *agentRow) smi.Value { return r.at.date(r.agent.Started) }},
		{object{5, "ViewTime", syntaxDate(), "", "When the numbers of this module were last added up. It should never be more than a few seconds ago; pnAgentViewAge is how long.", 0, false},
			func(r *agentRow) smi.Value { return r.at.date(r.view.At) }},
		{object{6, "ViewAge", syntaxLength(), "seconds", "How old the sums were when the values of this module were last made. While it grows, ages grow and counters do not change, so no other object here can be trusted. More than 10 seconds is a fault of the agent: look at its log and its load, and restart it.", 0, false},
			func(r *agentRow) smi.Value { return r.at.age(r.view.At) }},
		{object{7, "Views", syntaxCounter32(), "views", "How many times the numbers were added up since pnAgentStartTime. It rises by one for each time; if it does not change, look at pnAgentViewAge.", 0, false},
			func(r *agentRow) smi.Value { return counter32(r.view.Generation) }},
		{object{8, "Nets", syntaxGauge(), "nets", "How many nets are in pnNetTable. A fall means that all sources of a net were forgotten: look in pnSourceTable for sources that are gone.", 0, false},
			func(r *agentRow) smi.Value { return gauge(uint64(len(r.view.Nets))) }},
		{object{9, "SourcesUp", syntaxGauge(), "sources", "How many sources sent a message within three of their intervals. Set an alarm below the number of engines that you run; pnSourceTable shows which one is missing.", 0, false}, count(merge.Up)},
		{object{10, "SourcesStale", syntaxGauge(), "sources", "How many sources are silent. Their tokens stay in the sums and grow older, so ages may be too high until they publish again. Anything but 0 for more than a minute is worth a look at pnSourceTable.", 0, false}, count(merge.Stale)},
		{object{11, "SourcesGone", syntaxGauge(), "sources", "How many sources stopped, or were silent for so long that their tokens left the sums. It rises when engines are stopped on purpose; an unplanned rise is an engine that died: see pnSourceState and pnSourceLastHeard.", 0, false}, count(merge.Gone)},
		{object{12, "SourcesUndefined", syntaxGauge(), "sources", "How many sources publish but are not in the sums, because the definition of their net is not known. It is 0 except for moments after a start. Anything else for more than a minute is a fault of the source: pnSourceTable shows which one, and its log has the reason.", 0, false}, count(merge.Undefined)},
		{object{13, "MessagesReceived", syntaxCounter(), "messages", "Messages received from sources since pnAgentStartTime, rejected ones included. It rises all the time while any source runs. If it does not change, no message reaches the agent: look at the transport, not at the engines.", 0, false},
			func(r *agentRow) smi.Value { return smi.Counter64(r.view.Traffic.Messages) }},
		{object{14, "BytesReceived", syntaxCounter(), "octets", "Octets of the messages received since pnAgentStartTime. It serves to plan the network; a sudden change of its rate means that nets or sources came or went: see pnAgentNets and pnAgentSourcesUp.", 0, false},
			func(r *agentRow) smi.Value { return smi.Counter64(r.view.Traffic.Bytes) }},
		{object{15, "MessagesLost", syntaxCounter32(), "messages", "Messages that sources sent and that never arrived, since pnAgentStartTime. A lost message delays the numbers and never changes counts, so a few are harmless. A steady rise is a fault of the transport: pnSourceGaps shows whose messages they are.", 0, false},
			func(r *agentRow) smi.Value { return counter32(r.view.Traffic.Lost) }},
		{object{16, "MessagesBad", syntaxCounter32(), "messages", "Messages that were rejected since pnAgentStartTime. Any rise is a fault of a source, or of a client that should not publish: the log of the agent and its Prometheus metrics show the reason and the sender.", 0, false},
			func(r *agentRow) smi.Value { return counter32(r.view.Traffic.Bad) }},
		{object{17, "NotificationsSuppressed", syntaxCounter32(), "notifications", "Notifications that were suppressed since pnAgentStartTime because too many were due at once. Their alarms are in pnAlarmTable: read it when this rises, because some changes were not sent.", 0, false},
			func(r *agentRow) smi.Value { return counter32(r.state.Suppressed) }},
		{object{18, "Priority", syntaxPriorityAgentX(), "", "The priority with which the agent that answers is registered at the SNMP master agent; 0 if it answers by itself. Of two agents the one of the lower number answers: up to 100 is a primary, more a standby. If it is not the number that you gave to the primary, look at pnAgentName for the agent that answers and at pnAgentRole for what to do.", 0, false},
			func(r *agentRow) smi.Value { return smi.Gauge32(uint32(r.agent.Priority)) }},
	}, append(natsScalars(), column[agentRow]{object{22, "SourcesRefused", syntaxGauge(), "sources", "How many sources publish messages that are refused. Their last rows stay in the sums and grow older. Anything but 0 is a fault of a source, a bound of the agent that is reached, or two processes of one name: pnSourceReason has the reason.", 0, false}, count(merge.Refused)})...)
}

func agentRole(r *agentRow) smi.Value {
	if r.others.Lower || r.agent.Priority > PrimaryPriority {
		return smi.Integer(2)
	}
	return smi.Integer(1)
}

// netRow is one net.
type netRow struct {
	net    *merge.NetView
	number uint32
	at     *clock
	oldest int64 // injection of its oldest token, see alarm.ActiveSet.Oldest
	since  int64 // from when on differences of its counters are valid for readers of this agent
}

func netTable() table {
	return table{
		sub: tableNets, name: "net", must: true,
		text:    "All nets, each summed over all its sources and instances. Begin here: pnNetOldestAge shows where something is stuck, pnNetDeadlockedInstances where an operator has to act, pnNetSourcesStale what may be out of date.",
		rowText: "One net of which a message came since the agent started.",
		index:   []string{"pnNetIndex"},
		keys: []object{{sub: 1, suffix: "Index", syntax: syntaxIndex(false),
			text: "The number of the net. It never changes and is never used again for another net. A net's own module is registered below petrinetNets with it."}},
		columns: objectsOf(netColumns()),
		group:   "The state of a whole net.",
	}
}

func netColumns() []column[netRow] {
	return []column[netRow]{
		{object{2, "Name", syntaxText(), "", "The id of the net, as its sources give it. It is the same in Prometheus and on the page.", 0, false},
			func(r *netRow) smi.Value { return text(r.net.Name) }},
		{object{3, "Label", syntaxText(), "", "The name of the net for people; empty if its definition gives none.", 0, false},
			func(r *netRow) smi.Value { return text(r.net.Def.Name) }},
		{object{4, "Digest", syntaxDigest(), "", "The definition that most sources run, as the beginning of its digest. It changes when a new version of the net is rolled out; an unplanned change is a wrong deployment, which pnSourceDigest shows source by source.", 0, false},
			netDigest},
		{object{5, "Versions", syntaxGauge(), "definitions", "How many definitions of the net are in use at once. More than 1 is normal while a new version is rolled out, and a forgotten source if it lasts: compare pnSourceDigest in pnSourceTable.", 0, false},
			func(r *netRow) smi.Value { return gauge(uint64(len(r.net.Digests))) }},
		{object{6, "SourcesUp", syntaxGauge(), "sources", "How many sources of the net are up. 0 while there are tokens means that no process runs the net: see pnSourceTable for the last message of each.", 0, false},
			func(r *netRow) smi.Value { return gauge(uint64(max(r.net.Up, 0))) }},
		{object{7, "SourcesStale", syntaxGauge(), "sources", "How many sources of the net are silent. Their tokens stay in the sums and grow older: what this net shows may be out of date. Anything but 0 for more than a minute is worth a look at pnSourceTable.", 0, false},
			func(r *netRow) smi.Value { return gauge(uint64(max(r.net.Stale, 0))) }},
		{object{8, "ActiveInstances", syntaxGauge(), "instances", "Instances that have not finished. A steady growth means that more are created than finish: compare the rates of pnNetCreatedInstances and pnNetFinishedInstances, then look in pnPlaceTable for the place that fills.", stats.ColInstances, false},
			func(r *netRow) smi.Value { return gauge(r.net.Rows.Net.Active) }},
		{object{9, "DeadlockedInstances", syntaxGauge(), "instances", "Active instances in which nothing is enabled, nothing is running and no end is reached. They cannot continue without help: anything but 0 needs an operator. See pnStuckTable for which they are and where their tokens are.", stats.ColInstances, false},
			func(r *netRow) smi.Value { return gauge(r.net.Rows.Net.Deadlocked) }},
		{object{10, "CreatedInstances", syntaxCounter32(), "instances", "Instances that were created. If it does not change in business hours, no work arrives: look at what feeds the net." + discontinuity, stats.ColInstances, false},
			func(r *netRow) smi.Value { return counter32(r.net.Rows.Net.Created) }},
		{object{11, "FinishedInstances", syntaxCounter32(), "instances", "Instances that reached their end. If it does not change while pnNetCreatedInstances rises, work piles up: pnNetOldestAge and pnPlaceTable show where." + discontinuity, stats.ColInstances, false},
			func(r *netRow) smi.Value { return counter32(r.net.Rows.Net.Finished) }},
		{object{12, "FailedInstances", syntaxCounter32(), "instances", "Instances that were given up. Each is a case that has to be finished by hand: the log of the engine has its name and the reason. pnTransitionFailures shows where they failed." + discontinuity, stats.ColInstances, false},
			func(r *netRow) smi.Value { return counter32(r.net.Rows.Net.Failed) }},
		{object{13, "Tokens", syntaxGauge(), "tokens", "Tokens in all places now. A steady growth is work that piles up: see pnPlaceTokens for where.", stats.ColTokens, false},
			func(r *netRow) smi.Value { return gauge(r.net.Tokens) }},
		{object{14, "OldestAge", syntaxLength(), "seconds", "How long the oldest token of the net has been in its place; 0 if there is none. Places in which tokens stay on purpose are left out: those with pnPlaceFinal, and those for which the agent's rules turn tokenStuck off. Longer than the slowest step should take means that something is stuck: see pnPlaceTable for which place, then pnStuckTable for what the token waits for.", stats.ColOldest, false},
			func(r *netRow) smi.Value { return r.at.age(r.oldest) }},
		{object{15, "Firings", syntaxCounter(), "firings", "Firings of all transitions. If it does not change while there are tokens, nothing moves: see pnNetRate1, pnNetDeadlockedInstances and pnSourceTable." + discontinuity, stats.ColFirings, false},
			func(r *netRow) smi.Value { return smi.Counter64(r.net.Firings) }},
		{object{16, "Rate1", syntaxRate(), "firings per second", "Firings a second of all transitions, damped over one minute as a load average is. Compare it with pnNetRate15: far below means that the net slows down now, far above that it speeds up.", stats.ColFirings, false},
			func(r *netRow) smi.Value { return thousandths(r.net.Rates.Firings.Min1) }},
		{object{17, "Rate5", syntaxRate(), "firings per second", "Firings a second of all transitions, damped over five minutes as a load average is. It is between pnNetRate1 and pnNetRate15 in how fast it follows.", stats.ColFirings, false},
			func(r *netRow) smi.Value { return thousandths(r.net.Rates.Firings.Min5) }},
		{object{18, "Rate15", syntaxRate(), "firings per second", "Firings a second of all transitions, damped over fifteen minutes as a load average is: what is usual now. pnNetRate1 far below it means that the net slows down: look for the transition whose pnTransitionRate1 fell first.", stats.ColFirings, false},
			func(r *netRow) smi.Value { return thousandths(r.net.Rates.Firings.Min15) }},
		{object{19, "DiscontinuityTime", syntaxDate(), "", "When the counters of this net, its places and its transitions began. It stays the same over a restart of an agent that continues its counters, and changes when counters begin at 0 or another agent answers: a difference of two readings of a counter is valid only while this is the same. After a change, wait for the next two readings. A Counter64 that reaches 9223372036854775807 stays there; a Counter32 begins at 0 again after 4294967295.", 0, false},
			func(r *netRow) smi.Value { return r.at.date(r.since) }},
		{object{20, "WaitingWork", syntaxGauge(), "pieces", "Pieces of work that no engine has started. A long growth means that more work arrives than is done: see pnQueueTable for what is ready and not served.", stats.ColWaiting, false},
			func(r *netRow) smi.Value { return gauge(r.net.Rows.Waiting) }},
	}
}

func netDigest(r *netRow) smi.Value {
	if len(r.net.Digests) == 0 {
		return smi.OctetString("")
	}
	return digestText(r.net.Digests[0].Digest)
}

// moduleScalars returns the scalars at the head of a net's own module. They are named after
// the net.
func moduleScalars() []column[netRow] {
	return []column[netRow]{
		{object{1, "NetIndex", syntaxIndex(false), "", "The number of this net: pnNetIndex in the tables of PETRINET-MIB.", 0, true},
			func(r *netRow) smi.Value { return smi.Gauge32(r.number) }},
		{object{2, "NetName", syntaxText(), "", "The id of this net: pnNetName in PETRINET-MIB.", 0, true},
			func(r *netRow) smi.Value { return text(r.net.Name) }},
		{object{3, "CountedSince", syntaxDate(), "", "When the counters of this module began, as counted by the agent that answers. A difference of two readings of a counter is valid only while this is the same. After a change, wait for the next two readings.", 0, true},
			func(r *netRow) smi.Value { return r.at.date(r.net.Since) }},
	}
}

// placeRow is one place of a net.
type placeRow struct {
	net   string // id
	place *stats.Place
	def   *petri.Place
	final bool
	at    *clock
}

func placeTable() table {
	return table{
		sub: tablePlaces, name: "place", must: true,
		text:    "The places of every net, each summed over all sources and instances. Sort by pnPlaceOldestAge: of the places with pnPlaceFinal false(2), the one at the top is where to look, and pnStuckTable shows what its tokens wait for.",
		rowText: "One place of the net.", reference: petriNets,
		index: []string{"pnNetIndex", "pnPlaceIndex"},
		keys: []object{{sub: 1, suffix: "Index", syntax: syntaxIndex(false),
			text: "The number of the place in its net. It never changes and is never used again for another place of the net."}},
		columns: objectsOf(placeColumns()),
		group:   "How many tokens are in a place, for how long, and how many came and went.",
	}
}

func placeColumns() []column[placeRow] {
	return []column[placeRow]{
		{object{2, "Id", syntaxText(), "", "The id of the place, as in the definition of the net. It is the same in Prometheus and on the page.", 0, false},
			func(r *placeRow) smi.Value { return text(r.def.ID) }},
		{object{3, "Name", syntaxText(), "", "The name of the place for people, or its id if the definition gives none.", 0, false},
			func(r *placeRow) smi.Value { return text(cmp.Or(r.def.Name, r.def.ID)) }},
		{object{4, "Tokens", syntaxGauge(), "tokens", "Tokens here now. A steady growth means that more arrive than the transitions behind take: see pnPlaceOldestAge for how long they wait, and pnBlockTable for what blocks the transitions.", stats.ColTokens, true},
			func(r *placeRow) smi.Value { return gauge(r.place.Tokens) }},
		{object{5, "Instances", syntaxGauge(), "instances", "Instances with a token here now. Few instances with many tokens are cases that pile up work of their own; as many as tokens is the usual. pnStuckTable names the oldest of them.", stats.ColPlaceInstances, true},
			func(r *placeRow) smi.Value { return gauge(r.place.Instances) }},
		{object{6, "OldestAge", syntaxLength(), "seconds", "How long the oldest token has been here; 0 if there is none. It grows while nothing takes that token, and while its source is silent. Longer than the work ahead should take means stuck: pnStuckTable shows which tokens, and why.", stats.ColOldest, true},
			func(r *placeRow) smi.Value { return r.at.age(r.place.Oldest) }},
		{object{7, "OldestSince", syntaxDate(), "", "When the oldest token came here; all zero if there is none. It is the moment to look for in the logs and in the history of deployments.", stats.ColOldest, true},
			func(r *placeRow) smi.Value { return r.at.date(r.place.Oldest) }},
		{object{8, "MeanAge", syntaxLength(), "seconds", "How long the tokens have been here on average; 0 if there is none. Near pnPlaceOldestAge, everything waits for one thing; far below it, few tokens are left behind while others pass, and pnStuckTable names those.", stats.ColOldest, true},
			func(r *placeRow) smi.Value { return r.at.age(r.place.Injected.Mean(r.place.Tokens)) }},
		{object{9, "LastInjected", syntaxDate(), "", "When a token was last put here; all zero if never. Long ago for a place that should be fed means that no token arrives: look at pnTransitionLastFiring of what feeds it.", stats.ColOldest, true},
			func(r *placeRow) smi.Value { return r.at.date(r.place.LastInjection) }},
		{object{10, "Arrivals", syntaxCounter(), "tokens", "Tokens that were put here, those of initial markings included. Rising much faster than pnPlaceDepartures means that the place fills up; no change in business hours means that no token arrives." + discontinuity, stats.ColArrivals, true},
			func(r *placeRow) smi.Value { return smi.Counter64(r.place.Arrivals) }},
		{object{11, "Departures", syntaxCounter(), "tokens", "Tokens that were taken from here. No change while there are tokens means that the place is stuck: see pnStuckTable for what they wait for." + discontinuity, stats.ColDepartures, true},
			func(r *placeRow) smi.Value { return smi.Counter64(r.place.Departures) }},
		{object{12, "DwellP50", syntaxPercentile(), "milliseconds", "Half of the tokens that left had been here for at most this long; 0 if none left. It is right within 4.4 percent and counts since pnNetDiscontinuityTime of this net, so it changes slowly. It is the usual time: compare pnPlaceOldestAge with it.", stats.ColDwell, true},
			func(r *placeRow) smi.Value { return quantile(&r.place.Dwell, 0.50) }},
		{object{13, "DwellP95", syntaxPercentile(), "milliseconds", "95 of 100 tokens that left had been here for at most this long; 0 if none left. It is right within 4.4 percent and counts since pnNetDiscontinuityTime of this net. A token that is older by far, see pnPlaceOldestAge, is unusual.", stats.ColDwell, true},
			func(r *placeRow) smi.Value { return quantile(&r.place.Dwell, 0.95) }},
		{object{14, "DwellP99", syntaxPercentile(), "milliseconds", "99 of 100 tokens that left had been here for at most this long; 0 if none left. It is right within 4.4 percent and counts since pnNetDiscontinuityTime of this net. A token that is older than twice this, see pnPlaceOldestAge, is most likely stuck.", stats.ColDwell, true},
			func(r *placeRow) smi.Value { return quantile(&r.place.Dwell, 0.99) }},
		{object{15, "Final", syntaxTruth(), "", "true(1) if no transition takes tokens from here: they stay here when the work is done. Old tokens in such a place are no problem, so pnNetOldestAge leaves it out, pnStuckTable has no row for it, and tokenStuck is never raised for it.", 0, false},
			func(r *placeRow) smi.Value { return truth(r.final) }},
		{object{16, "Net", syntaxText(), "", "The id of the net: pnNetName of its row in pnNetTable. A tool that cannot join tables shows it beside the place.", 0, false},
			func(r *placeRow) smi.Value { return text(r.net) }},
	}
}

func placeAgeTable() table {
	return table{
		sub: 4, name: "placeAge", prefix: "placeOlderThan",
		text:    "How many tokens of every place are older than given ages. It distinguishes a place in which everything is late from one in which a few tokens are left behind, which the mean does not.",
		rowText: "The tokens of one place, by age.",
		index:   []string{"pnNetIndex", "pnPlaceIndex"},
		columns: objectsOf(ageColumns()),
		group:   "How the tokens of a place spread over ages.",
	}
}

// ageColumns returns a column for each age threshold.
func ageColumns() []column[placeRow] {
	var out []column[placeRow]
	for i, step := range stats.AgeSteps() {
		out = append(out, column[placeRow]{object{uint32(i + 1), step.Label, syntaxGauge(), "tokens",
			"Tokens that have been here for more than " + step.Text + ". The age is taken within a sixteenth. Read from left to right, the columns show whether everything is late or few tokens are left behind. pnStuckTable names the oldest.", stats.ColAges, false},
			func(r *placeRow) smi.Value { return gauge(r.place.Ages.InjectedBefore(r.at.now - step.Age)) }})
	}
	return out
}
