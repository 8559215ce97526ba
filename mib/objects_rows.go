// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"cmp"
	"math"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// transitionRow is one transition of a net.
type transitionRow struct {
	net        string // id
	transition *stats.Transition
	def        *petri.Transition
	rate       *merge.Rate
	at         *clock
}

func transitionTable() table {
	return table{
		sub: tableTransitions, name: "transition", must: true,
		text:    "The transitions of every net, each summed over all sources and instances. Sort by pnTransitionEnabledAge for work that is not done, by pnTransitionRunningAge for work that hangs.",
		rowText: "One transition of the net.", reference: petriNets,
		index: []string{"pnNetIndex", "pnTransitionIndex"},
		keys: []object{{sub: 1, suffix: "Index", syntax: syntaxIndex(false),
			text: "The number of the transition in its net. It never changes and is never used again for another transition of the net."}},
		columns: objectsOf(transitionColumns()),
		group:   "How often and how fast a transition fires, and where it is blocked.",
	}
}

func transitionColumns() []column[transitionRow] {
	return []column[transitionRow]{
		{object{2, "Id", syntaxText(), "", "The id of the transition, as in the definition of the net. It is the same in Prometheus and on the page.", 0, false},
			func(r *transitionRow) smi.Value { return text(r.def.ID) }},
		{object{3, "Name", syntaxText(), "", "The name of the transition for people, or its id if the definition gives none.", 0, false},
			func(r *transitionRow) smi.Value { return text(cmp.Or(r.def.Name, r.def.ID)) }},
		{object{4, "Firings", syntaxCounter(), "firings", "How often it fired. If it does not change while pnTransitionEnabled is not 0, the work is not done: look at pnTransitionRunning and at pnSourceTable." + discontinuity, stats.ColFirings, true},
			func(r *transitionRow) smi.Value { return smi.Counter64(r.transition.Firings) }},
		{object{5, "Rate1", syntaxRate(), "firings per second", "Firings a second, damped over one minute as a load average is. Compare it with pnTransitionRate15: far below means that it slows down now, far above that it speeds up, or is part of a loop.", stats.ColFirings, true},
			func(r *transitionRow) smi.Value { return thousandths(r.rate.Min1) }},
		{object{6, "Rate5", syntaxRate(), "firings per second", "Firings a second, damped over five minutes as a load average is. It is between pnTransitionRate1 and pnTransitionRate15 in how fast it follows.", stats.ColFirings, true},
			func(r *transitionRow) smi.Value { return thousandths(r.rate.Min5) }},
		{object{7, "Rate15", syntaxRate(), "firings per second", "Firings a second, damped over fifteen minutes as a load average is: what is usual now. pnTransitionRate1 far below it means that the transition slows down: see pnTransitionEnabled for whether it has work at all.", stats.ColFirings, true},
			func(r *transitionRow) smi.Value { return thousandths(r.rate.Min15) }},
		{object{8, "Enabled", syntaxGauge(), "instances", "Instances in which it is enabled now. Anything but 0 for long, while it does not fire, means that the work is not done: see pnTransitionEnabledAge for how long, and pnQueueTable for which priority is served first.", stats.ColEnabled, true},
			func(r *transitionRow) smi.Value { return gauge(r.transition.Enabled) }},
		{object{9, "EnabledAge", syntaxLength(), "seconds", "How long it has been enabled, in the instance that has waited longest; 0 if it is enabled in none. A growing age is starvation: the process that does its work is slow, busy or gone. Look at pnTransitionRunningAge and at pnSourceTable.", stats.ColEnabled, true},
			func(r *transitionRow) smi.Value { return r.at.age(r.transition.EnabledSince) }},
		{object{10, "EnabledSince", syntaxDate(), "", "Since when it has been enabled in that instance; all zero if it is enabled in none. It is the moment to look for in the logs.", stats.ColEnabled, true},
			func(r *transitionRow) smi.Value { return r.at.date(r.transition.EnabledSince) }},
		{object{11, "Running", syntaxGauge(), "firings", "How many of its firings are in progress now. If that is the largest number allowed, and pnTransitionEnabled is not 0, it is the bottleneck; see pnTransitionDurationP95 for how slow it is.", stats.ColRunning, true},
			func(r *transitionRow) smi.Value { return gauge(r.transition.Running) }},
		{object{12, "RunningAge", syntaxLength(), "seconds", "How long the longest of these firings has been in progress; 0 if there is none. Far beyond pnTransitionDurationP99 means that it hangs: look at what it calls, and at its time limit.", stats.ColRunning, true},
			func(r *transitionRow) smi.Value { return r.at.age(r.transition.RunningSince) }},
		{object{13, "Failures", syntaxCounter32(), "firings", "How often its work failed. The tokens stayed. A rise while pnTransitionFirings does not rise is a peer that refuses or is down: the log of the engine has the error." + discontinuity, stats.ColFailures, true},
			func(r *transitionRow) smi.Value { return counter32(r.transition.Failures) }},
		{object{14, "Retries", syntaxCounter32(), "firings", "How often it was tried again after a failure. Rising together with pnTransitionFirings is a peer that fails now and then; rising alone, one that is down: see pnTransitionFailures." + discontinuity, stats.ColFailures, true},
			func(r *transitionRow) smi.Value { return counter32(r.transition.Retries) }},
		{object{15, "Cancels", syntaxCounter32(), "firings", "How often a firing was cancelled. Its tokens went back with their age. It rises with pnTransitionTimeouts, and when engines are stopped; otherwise the log of the engine has the reason." + discontinuity, stats.ColFailures, true},
			func(r *transitionRow) smi.Value { return counter32(r.transition.Cancels) }},
		{object{16, "LastFiring", syntaxDate(), "", "When it last fired; all zero if never. Long ago is a fault only if it had something to do: see pnTransitionEnabledAge.", stats.ColLastFiring, true},
			func(r *transitionRow) smi.Value { return r.at.date(r.transition.LastFiring) }},
		{object{17, "DurationP50", syntaxPercentile(), "milliseconds", "Half of its firings took at most this long; 0 if there was none. It is right within 4.4 percent and counts since pnNetDiscontinuityTime of this net, so it changes slowly. It is the usual time.", stats.ColDuration, true},
			func(r *transitionRow) smi.Value { return quantile(&r.transition.Duration, 0.50) }},
		{object{18, "DurationP95", syntaxPercentile(), "milliseconds", "95 of 100 of its firings took at most this long; 0 if there was none. It is right within 4.4 percent and counts since pnNetDiscontinuityTime of this net. Far above pnTransitionDurationP50 means that what it calls is sometimes slow.", stats.ColDuration, true},
			func(r *transitionRow) smi.Value { return quantile(&r.transition.Duration, 0.95) }},
		{object{19, "DurationP99", syntaxPercentile(), "milliseconds", "99 of 100 of its firings took at most this long; 0 if there was none. It is right within 4.4 percent and counts since pnNetDiscontinuityTime of this net. A firing that takes longer by far, see pnTransitionRunningAge, most likely hangs.", stats.ColDuration, true},
			func(r *transitionRow) smi.Value { return quantile(&r.transition.Duration, 0.99) }},
		{object{20, "Timeouts", syntaxCounter32(), "firings", "How often a firing was cancelled by its time limit. Each is counted in pnTransitionCancels too. A rise is a peer that does not answer in time, or a limit that is too short: compare pnTransitionDurationP99 with the limit." + discontinuity, stats.ColTimeouts, true},
			func(r *transitionRow) smi.Value { return counter32(r.transition.Timeouts) }},
		{object{21, "LateAnswers", syntaxCounter32(), "answers", "How many answers came after their firing was cancelled. They were ignored: their work was in vain, and may be done twice. A rise together with pnTransitionTimeouts means that the limit is too short for the peer." + discontinuity, stats.ColTimeouts, true},
			func(r *transitionRow) smi.Value { return counter32(r.transition.Late) }},
		{object{22, "Net", syntaxText(), "", "The id of the net: pnNetName of its row in pnNetTable. A tool that cannot join tables shows it beside the transition.", 0, false},
			func(r *transitionRow) smi.Value { return text(r.net) }},
	}
}

// stuckRow is one of the oldest tokens of a place.
type stuckRow struct {
	token *stats.Token
	why   func() string
	at    *clock
}

func stuckTable() table {
	return table{
		sub: 6, name: "stuck",
		text:    "The oldest tokens of every place, as far as its sources report them, and what each waits for. Places with pnPlaceFinal true(1) have no rows here: their tokens are finished work. pnPlaceTable shows where tokens are stuck, and this table why.",
		rowText: "One of the oldest tokens of the place. It leaves the table when it leaves the place or older ones are reported.",
		index:   []string{"pnNetIndex", "pnPlaceIndex", "pnStuckRank"},
		keys: []object{{sub: 1, suffix: "Rank", syntax: syntaxIndex(false),
			text: "1 for the oldest token of the place, 2 for the next."}},
		columns: objectsOf(stuckColumns()),
		group:   "Which tokens are oldest, in which instance, and why.",
	}
}

func stuckColumns() []column[stuckRow] {
	return []column[stuckRow]{
		{object{2, "Instance", syntaxText(), "", "The instance that holds the token: the name to look for in the logs and in the business system.", 0, false},
			func(r *stuckRow) smi.Value { return text(r.token.Instance) }},
		{object{3, "Age", syntaxLength(), "seconds", "How long the token has been in its place. Compare it with pnPlaceDwellP99 of the place for what is usual; pnStuckWhy shows what it waits for.", 0, false},
			func(r *stuckRow) smi.Value { return r.at.age(r.token.Injected) }},
		{object{4, "Since", syntaxDate(), "", "When the token came to its place. It is the moment to look for in the logs and in the history of deployments.", 0, false},
			func(r *stuckRow) smi.Value { return r.at.date(r.token.Injected) }},
		{object{5, "Reason", syntaxReason(), "", "What the first transition that could take the token waits for. enabled and running continue without help, unless they last; missing and inhibited depend on another place, which pnStuckWhy names; incident and dead need an operator.", 0, false},
			func(r *stuckRow) smi.Value { return reasonValue(firstReason(r.token)) }},
		{object{6, "Why", syntaxText(), "", "What each transition that could take the token waits for, in words. Begin here: it names the place that is short of tokens, or the guard that is false.", 0, false},
			func(r *stuckRow) smi.Value { return text(r.why()) }},
	}
}

func firstReason(t *stats.Token) stats.Reason {
	if len(t.Waits) == 0 {
		return stats.ReasonUnknown
	}
	return t.Waits[0].Reason
}

// reasonValue returns the enumeration of PetrinetReason, which begins at 1.
func reasonValue(r stats.Reason) smi.Value { return smi.Integer(int32(reasonNumber(r))) }

func reasonNumber(r stats.Reason) uint32 {
	return uint32(min(r, stats.LastReason+1)%(stats.LastReason+1)) + 1
}

// blockRow is one condition that blocks a transition.
type blockRow struct {
	block *stats.Block
	place string
}

func blockTable() table {
	return table{
		sub: 7, name: "block",
		text:    "What blocks transitions, and in how many instances: a row for each transition, place and reason. Where many tokens are stuck, the row with the largest pnBlockInstances is the cause to begin with.",
		rowText: "One condition that blocks a transition in at least one instance now.",
		index:   []string{"pnNetIndex", "pnTransitionIndex", "pnBlockPlace", "pnBlockReason"},
		keys: []object{
			{sub: 1, suffix: "Place", syntax: syntaxIndex(true),
				text: "pnPlaceIndex of the place whose tokens, or lack of tokens, block the transition; 0 if no single place does."},
			{sub: 2, suffix: "Reason", syntax: syntaxReason(), text: "In which way the place, or another condition, blocks the transition."},
		},
		columns: objectsOf(blockColumns()),
		group:   "Which arc blocks a transition.",
	}
}

func blockColumns() []column[blockRow] {
	return []column[blockRow]{
		{object{3, "PlaceId", syntaxText(), "", "pnPlaceId of that place; empty if no single place is the cause. Its row in pnPlaceTable shows how many tokens are there, and for how long.", 0, false},
			func(r *blockRow) smi.Value { return text(r.place) }},
		{object{4, "Instances", syntaxGauge(), "instances", "In how many instances the transition is blocked in this way. Look at the largest number first. A number that only grows means that the cause does not end without help: see pnPlaceLastInjected of the place.", 0, false},
			func(r *blockRow) smi.Value { return gauge(r.block.Instances) }},
	}
}

// sourceRow is one source of one net.
type sourceRow struct {
	source *merge.Source
	net    uint32 // 0 if the net has no number
	at     *clock
}

func sourceTable() table {
	return table{
		sub: tableSources, name: "source", must: true,
		text:    "All sources: each is one engine's report of one net. Look here before you trust anything else: the numbers of a stale source are old.",
		rowText: "One source. It stays after the source is gone, as long as there is room.",
		index:   []string{"pnSourceIndex"},
		keys: []object{{sub: 1, suffix: "Index", syntax: syntaxIndex(false),
			text: "The number of the source. It is made of its net and its name, so it is the same one after a restart of the agent, and at each agent that receives the source."}},
		columns: allSourceColumns(),
		group:   "Which sources report the numbers, and whether they still do.",
	}
}

func sourceColumns() []column[sourceRow] {
	const since = " It counts since pnAgentStartTime."
	return []column[sourceRow]{
		{object{2, "Name", syntaxText(), "", "The name of the source, as it gives it. It is the name of the engine to look for among the processes and in their logs.", 0, false},
			func(r *sourceRow) smi.Value { return text(r.source.Name) }},
		{object{3, "Net", syntaxText(), "", "The id of the net that it runs.", 0, false},
			func(r *sourceRow) smi.Value { return text(r.source.Net) }},
		{object{4, "NetIndex", syntaxIndex(true), "", "pnNetIndex of that net; 0 while its definition is not known.", 0, false},
			func(r *sourceRow) smi.Value { return smi.Gauge32(r.net) }},
		{object{5, "Region", syntaxText(), "", "The region that it reports; empty if none. Where all sources of a region are stale, look at the network to it first.", 0, false},
			func(r *sourceRow) smi.Value { return text(r.source.Region) }},
		{object{6, "State", syntaxState(), "", "up: it sent a message within three of its intervals. stale: silent; its tokens stay in the sums and grow older, so find out whether it runs and reaches its collector; pnSourceLastHeard is the time to look for in its log. gone: it stopped, or was silent for so long that its tokens left the sums; its counters stay. undefined: it publishes, but is not in the sums, because the definition of its net is not known. refused: it publishes, but its messages are refused; its last rows stay in the sums and grow older, and pnSourceReason has the reason.", 0, false},
			func(r *sourceRow) smi.Value { return smi.Integer(int32(r.source.State) + 1) }},
		{object{7, "LastHeard", syntaxDate(), "", "When its last message came. For a source that is stale or gone it is the moment to look for in its log.", 0, false},
			func(r *sourceRow) smi.Value { return r.at.date(r.source.LastMessage) }},
		{object{8, "Silence", syntaxLength(), "seconds", "How long it has been silent. More than three times pnSourceInterval makes it stale: find out whether its process runs, then whether it reaches the message server.", 0, false},
			func(r *sourceRow) smi.Value { return r.at.age(r.source.LastMessage) }},
		{object{9, "Interval", syntaxLength(), "milliseconds", "The longest time between two of its messages, as it announced. Silence is measured by it: see pnSourceSilence.", 0, false},
			func(r *sourceRow) smi.Value { return thousandths(r.source.Interval.Seconds()) }},
		{object{10, "Started", syntaxDate(), "", "When it started, by its own clock. An unplanned recent time is a crash: see pnSourceRestarts.", 0, false},
			func(r *sourceRow) smi.Value { return r.at.date(r.source.Epoch) }},
		{object{11, "Digest", syntaxDigest(), "", "The beginning of the digest of the definition that it runs. If it is not pnNetDigest of the net, this source runs another version: normal during a roll-out, a forgotten source if it lasts.", 0, false},
			func(r *sourceRow) smi.Value { return digestText(r.source.Digest) }},
		{object{12, "Skew", syntaxSigned(), "milliseconds", "How far its clock seems to be ahead of the agent's; below 0 if behind. It does not change ages. More than a minute is wrong: set that clock.", 0, false},
			func(r *sourceRow) smi.Value { return signedMillis(r.source.Skew.Milliseconds()) }},
		{object{13, "Gaps", syntaxCounter32(), "messages", "Its messages that never arrived. A few are harmless. A steady rise of one source is its network or its load; of all sources, the message server: compare pnAgentMessagesLost." + since, 0, false},
			func(r *sourceRow) smi.Value { return counter32(r.source.Gaps) }},
		{object{14, "Duplicates", syntaxCounter32(), "messages", "Its messages that came again, or too late. They are not counted twice. A steady rise means that two processes use this name, or that the network duplicates messages: look for a second engine of that name." + since, 0, false},
			func(r *sourceRow) smi.Value { return counter32(r.source.Duplicates) }},
		{object{15, "Restarts", syntaxCounter32(), "restarts", "How often it restarted. An unplanned rise is an engine that crashes or is killed: see pnSourceStarted for when, and its log for why." + since, 0, false},
			func(r *sourceRow) smi.Value { return counter32(r.source.Restarts) }},
	}
}

// optional are columns of pnSourceTable of which only sources with by have an instance.
type optional struct {
	by      func(*merge.Source) bool
	columns []column[sourceRow]
}

// lists is the number of lists of rows of pnSourceTable beside that of all sources.
const lists = 5

// regionColumns returns the columns after sourceColumns.
func regionColumns() [lists]optional {
	return [lists]optional{
		{func(s *merge.Source) bool { return s.Region != "" && s.Fence > 0 }, []column[sourceRow]{
			{object{16, "RegionEpoch", syntaxGauge(), "owners", "The number of the owner of its region that this source is or was: of two sources of one pnSourceRegion the one with the higher number has the region. It rises each time that the region moves, and with each start of an engine that keeps a journal; of a source that is itself an agent with sources below, it is the second since 1970 in which that agent started. It need not rise by one. One that rises all the time while no process starts is a region that no process can keep: look at the network between its processes and their log.", 0, false},
				func(r *sourceRow) smi.Value { return gauge(r.source.Fence) }},
			{object{17, "RegionSetbacks", syntaxCounter32(), "setbacks", "How often it took its region over with lower counters than the previous owner had published: the region's log has lost commits. Anything but 0 is a fault of the storage of the log: look there. No sum fell; the sums continue from their last value. It counts since pnAgentStartTime.", 0, false},
				func(r *sourceRow) smi.Value { return counter32(r.source.Setbacks) }}}},
		{func(s *merge.Source) bool { return s.Position != nil }, []column[sourceRow]{
			{object{18, "RegionPosition", syntaxCounter32(), "commits", "How many commits the log of its region has. If it does not change while pnSourceState is up, nothing happens in the region: see pnTransitionEnabled for whether something could. It continues when the owner changes. What is seen of it counts since pnAgentStartTime.", 0, false},
				func(r *sourceRow) smi.Value { return counter32(*r.source.Position) }},
			{object{19, "RegionStandbys", syntaxGauge(), "processes", "How many processes follow the log of its region now, ready to take it over. With 0 the region stops when its owner does: start another process for it.", 0, false},
				func(r *sourceRow) smi.Value { return gauge(*r.source.Standbys) }}}},
		{func(s *merge.Source) bool { return s.Lag != nil }, []column[sourceRow]{
			{object{20, "RegionLag", syntaxGauge(), "commits", "How many commits the nearest of pnSourceRegionStandbys is behind. It has to read these before it can take over: a few are usual, a number that grows means that it cannot keep up, so look at its load.", 0, false},
				func(r *sourceRow) smi.Value { return gauge(*r.source.Lag) }}}},
		{func(*merge.Source) bool { return true }, []column[sourceRow]{
			{object{21, "Reason", syntaxText(), "", "Why its messages are refused while pnSourceState is refused; empty if they are not. If two processes publish as this source, give one of them another name. Anything else is a fault of the source, or a bound of the agent that is reached; the log of the source has the same text.", 0, false},
				func(r *sourceRow) smi.Value { return text(r.source.Reason) }}}},
		{func(s *merge.Source) bool { return s.Position != nil }, []column[sourceRow]{
			{object{22, "RegionStopped", syntaxText(), "", "Why its region is stopped; empty while it runs. Its tokens stay where they are, and tokens that are sent to it are kept: see the page of the notification pnRegionStopped.", 0, false},
				func(r *sourceRow) smi.Value { return text(r.source.RegionStopped) }}}},
	}
}

// allSourceColumns returns the columns of pnSourceTable.
func allSourceColumns() []object {
	all := objectsOf(sourceColumns())
	for _, t := range regionColumns() {
		all = append(all, objectsOf(t.columns)...)
	}
	return all
}

func signedMillis(n int64) smi.Value {
	return smi.Integer(int32(min(max(n, math.MinInt32), math.MaxInt32)))
}

// queueRow is one priority of the dispatchers of a net.
type queueRow struct {
	queue *stats.Queue
	at    *clock
}

func queueTable() table {
	return table{
		sub: 11, name: "queue",
		text:    "The instances of every net that wait for their turn, by priority and summed over all sources: a row for each priority in use.",
		rowText: "One priority of a net, from when it was first used.",
		index:   []string{"pnNetIndex", "pnQueuePriority"},
		keys: []object{{sub: 1, suffix: "Priority", syntax: syntaxPriority(),
			text: "The priority, from 0, the lowest, to 7. 0 is a priority like the others."}},
		columns: objectsOf(queueColumns()),
		group:   "How many instances wait for their turn, and how long.",
	}
}

func queueColumns() []column[queueRow] {
	return []column[queueRow]{
		{object{2, "Ready", syntaxGauge(), "instances", "Instances that are ready: they have something to do and wait for their turn. Some are normal under load; a long growth means that there are too few engines, or that higher priorities take all turns: see pnQueueUnservedAge.", 0, false},
			func(r *queueRow) smi.Value { return gauge(r.queue.Ready) }},
		{object{3, "OldestAge", syntaxLength(), "seconds", "How long the instance that waits longest has been ready; 0 if none is. It is the waiting time of this priority. If it is longer than its users accept: add engines, or look at which priority pnQueueServed rises.", 0, false},
			func(r *queueRow) smi.Value { return r.at.age(r.queue.OldestSince) }},
		{object{4, "OldestSince", syntaxDate(), "", "Since when it is ready; all zero if none is. See pnQueueOldestAge for how long that is.", 0, false},
			func(r *queueRow) smi.Value { return r.at.date(r.queue.OldestSince) }},
		{object{5, "UnservedAge", syntaxLength(), "seconds", "How long the priority has had instances ready and was not served; 0 if none is ready. A growing age is starvation: higher priorities take all turns, or no engine takes any. Compare pnQueueServed of all priorities of the net.", 0, false},
			func(r *queueRow) smi.Value { return r.at.age(r.queue.UnservedSince) }},
		{object{6, "UnservedSince", syntaxDate(), "", "Since when that is so; all zero if none is ready. See pnQueueUnservedAge for how long that is.", 0, false},
			func(r *queueRow) smi.Value { return r.at.date(r.queue.UnservedSince) }},
		{object{7, "Served", syntaxCounter(), "events", "Events that were served: firings, or pieces of work. No change while pnQueueReady is not 0 means that this priority gets no turn." + discontinuity, 0, false},
			func(r *queueRow) smi.Value { return smi.Counter64(r.queue.Served) }},
		{object{8, "QuoteSwitches", syntaxCounter32(), "turns", "Turns that ended because the quote of the priority was used up. A fast rise means that there is more work of this priority than its quote; the priorities below are served meanwhile, as intended. Look at pnQueueReady before you change a quote." + discontinuity, 0, false},
			func(r *queueRow) smi.Value { return counter32(r.queue.QuoteSwitches) }},
	}
}
