// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"math"

	"github.com/pnagent/pnagent/collector"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/smi"
	"github.com/pnagent/pnagent/stats"
)

// transitionRow is one transition of a net.
type transitionRow struct {
	transition *stats.Transition
	def        *petri.Transition
	rate       *rate
	at         *clock
}

func transitionTable() table {
	return table{
		sub: 5, name: "transition", must: true,
		text:    "The transitions of every net, each summed over all sources and instances.",
		rowText: "One transition.",
		index:   []string{"netIndex", "transitionIndex"},
		keys: []object{{sub: 1, suffix: "Index", syntax: syntaxIndex(false),
			text: "The number of the transition in its net. It never changes and is never used again for another transition of the net."}},
		columns: objectsOf(transitionColumns()),
		group:   "How often and how fast a transition fires, and where it is held up.",
	}
}

func transitionColumns() []column[transitionRow] {
	return []column[transitionRow]{
		{object{2, "Id", syntaxText(), "", "The id of the transition, as in the definition of the net. It is the same in Prometheus and on the page.", 0, false},
			func(r *transitionRow) smi.Value { return text(r.def.ID) }},
		{object{3, "Name", syntaxText(), "", "The name of the transition for people, or its id if the definition gives none.", 0, false},
			func(r *transitionRow) smi.Value { return text(label(r.def.Name, r.def.ID)) }},
		{object{4, "Firings", syntaxCounter(), "firings", "How often it fired." + discontinuity, stats.ColFirings, true},
			func(r *transitionRow) smi.Value { return smi.Counter64(r.transition.Firings) }},
		{object{5, "Rate1", syntaxRate(), "firings per second", "How often a second it fires, damped over one minute as a load average is: after a change it takes a minute to show two thirds of it.", stats.ColFirings, true},
			func(r *transitionRow) smi.Value { return r.rate.value(0) }},
		{object{6, "Rate5", syntaxRate(), "firings per second", "The same over five minutes.", stats.ColFirings, true},
			func(r *transitionRow) smi.Value { return r.rate.value(1) }},
		{object{7, "Rate15", syntaxRate(), "firings per second", "The same over fifteen minutes. Rate1 far below Rate15 says that it slows down.", stats.ColFirings, true},
			func(r *transitionRow) smi.Value { return r.rate.value(2) }},
		{object{8, "Enabled", syntaxGauge(), "instances", "Instances in which it could fire now. Anything but 0 for long, while it does not fire, says that nobody does the work.", stats.ColEnabled, true},
			func(r *transitionRow) smi.Value { return gauge(r.transition.Enabled) }},
		{object{9, "EnabledAge", syntaxLength(), "seconds", "How long it could have fired, in the instance that has waited longest; 0 if it can fire nowhere. Growing is starving.", stats.ColEnabled, true},
			func(r *transitionRow) smi.Value { return r.at.age(r.transition.EnabledSince) }},
		{object{10, "EnabledSince", syntaxDate(), "", "Since when it could have fired in that instance; all zero if it can fire nowhere.", stats.ColEnabled, true},
			func(r *transitionRow) smi.Value { return r.at.date(r.transition.EnabledSince) }},
		{object{11, "Running", syntaxGauge(), "firings", "How many of its firings are under way now.", stats.ColRunning, true},
			func(r *transitionRow) smi.Value { return gauge(r.transition.Running) }},
		{object{12, "RunningAge", syntaxLength(), "seconds", "How long the firing that runs longest has been under way; 0 if there is none. Far beyond DurationP99 says that it hangs.", stats.ColRunning, true},
			func(r *transitionRow) smi.Value { return r.at.age(r.transition.RunningSince) }},
		{object{13, "Failures", syntaxCounter(), "firings", "How often its work failed. The tokens stayed." + discontinuity, stats.ColFailures, true},
			func(r *transitionRow) smi.Value { return smi.Counter64(r.transition.Failures) }},
		{object{14, "Retries", syntaxCounter(), "firings", "How often it was tried again after a failure." + discontinuity, stats.ColFailures, true},
			func(r *transitionRow) smi.Value { return smi.Counter64(r.transition.Retries) }},
		{object{15, "Cancels", syntaxCounter(), "firings", "How often a firing was broken off. Its tokens went back with the age they had." + discontinuity, stats.ColFailures, true},
			func(r *transitionRow) smi.Value { return smi.Counter64(r.transition.Cancels) }},
		{object{16, "LastFiring", syntaxDate(), "", "When it last fired; all zero if never.", stats.ColLastFiring, true},
			func(r *transitionRow) smi.Value { return r.at.date(r.transition.LastFiring) }},
		{object{17, "DurationP50", syntaxLength(), "milliseconds", "Half of its firings took at most this long; 0 if there was none. It is right within 4.4 percent and counts since netDiscontinuityTime of this net.", stats.ColDuration, true},
			func(r *transitionRow) smi.Value { return quantile(&r.transition.Duration, 0.50) }},
		{object{18, "DurationP95", syntaxLength(), "milliseconds", "The same for 95 of 100 firings.", stats.ColDuration, true},
			func(r *transitionRow) smi.Value { return quantile(&r.transition.Duration, 0.95) }},
		{object{19, "DurationP99", syntaxLength(), "milliseconds", "The same for 99 of 100 firings.", stats.ColDuration, true},
			func(r *transitionRow) smi.Value { return quantile(&r.transition.Duration, 0.99) }},
		{object{20, "Timeouts", syntaxCounter(), "firings", "How often a firing was broken off because its time was over. Each is one of Cancels too. Rising is a peer that does not answer in time, or a limit that is too short." + discontinuity, stats.ColTimeouts, true},
			func(r *transitionRow) smi.Value { return smi.Counter64(r.transition.Timeouts) }},
		{object{21, "LateAnswers", syntaxCounter(), "answers", "How many answers came after their firing was broken off. They were not used: what was done for them was done in vain." + discontinuity, stats.ColTimeouts, true},
			func(r *transitionRow) smi.Value { return smi.Counter64(r.transition.Late) }},
	}
}

// stuckRow is one of the oldest tokens of a place.
type stuckRow struct {
	token *stats.Token
	why   string
	at    *clock
}

func stuckTable() table {
	return table{
		sub: 6, name: "stuck",
		text:    "The oldest tokens of every place, as far as its sources name them, and what each waits for.",
		rowText: "One token.",
		index:   []string{"netIndex", "placeIndex", "stuckRank"},
		keys: []object{{sub: 1, suffix: "Rank", syntax: syntaxIndex(false),
			text: "1 for the oldest token of the place, 2 for the next."}},
		columns: objectsOf(stuckColumns()),
		group:   "Which tokens are oldest, in which instance, and why.",
	}
}

func stuckColumns() []column[stuckRow] {
	return []column[stuckRow]{
		{object{2, "Instance", syntaxText(), "", "The instance that holds the token.", 0, false},
			func(r *stuckRow) smi.Value { return text(r.token.Instance) }},
		{object{3, "Age", syntaxLength(), "seconds", "How long the token has been in its place.", 0, false},
			func(r *stuckRow) smi.Value { return r.at.age(r.token.Injected) }},
		{object{4, "Since", syntaxDate(), "", "When the token came to its place.", 0, false},
			func(r *stuckRow) smi.Value { return r.at.date(r.token.Injected) }},
		{object{5, "Reason", syntaxReason(), "", "What the first transition that could take the token waits for.", 0, false},
			func(r *stuckRow) smi.Value { return reasonValue(firstReason(r.token)) }},
		{object{6, "Why", syntaxText(), "", "What each transition that could take the token waits for, in words.", 0, false},
			func(r *stuckRow) smi.Value { return text(r.why) }},
	}
}

func firstReason(t *stats.Token) stats.Reason {
	if len(t.Waits) == 0 {
		return stats.ReasonUnknown
	}
	return t.Waits[0].Reason
}

// reasonValue is the enumeration of PetrinetReason, which begins at 1.
func reasonValue(r stats.Reason) smi.Value { return smi.Integer(int32(reasonNumber(r))) }

func reasonNumber(r stats.Reason) uint32 {
	return uint32(min(r, stats.LastReason+1)%(stats.LastReason+1)) + 1
}

// blockRow is one condition that holds a transition back.
type blockRow struct {
	block *stats.Block
	place string
}

func blockTable() table {
	return table{
		sub: 7, name: "block",
		text:    "What holds transitions back, and in how many instances: a row for each transition, place and reason.",
		rowText: "One condition that holds a transition back.",
		index:   []string{"netIndex", "transitionIndex", "blockPlace", "blockReason"},
		keys: []object{
			{sub: 1, suffix: "Place", syntax: syntaxIndex(true),
				text: "placeIndex of the place whose tokens, or lack of tokens, hold the transition back; 0 if no single place does."},
			{sub: 2, suffix: "Reason", syntax: syntaxReason(), text: "In which way."},
		},
		columns: objectsOf(blockColumns()),
		group:   "Which arc holds a transition back.",
	}
}

func blockColumns() []column[blockRow] {
	return []column[blockRow]{
		{object{3, "PlaceId", syntaxText(), "", "placeId of that place; empty if no single place is the cause.", 0, false},
			func(r *blockRow) smi.Value { return text(r.place) }},
		{object{4, "Instances", syntaxGauge(), "instances", "In how many instances the transition is held back in this way. The largest number says where to look first.", 0, false},
			func(r *blockRow) smi.Value { return gauge(r.block.Instances) }},
	}
}

// sourceRow is one source of one net.
type sourceRow struct {
	source *collector.Source
	net    uint32 // 0 if the net has no number
	at     *clock
}

func sourceTable() table {
	return table{
		sub: 8, name: "source", must: true,
		text:    "The sources that were heard: each is one engine's word on one net.",
		rowText: "One source.",
		index:   []string{"sourceIndex"},
		keys: []object{{sub: 1, suffix: "Index", syntax: syntaxIndex(false),
			text: "The number of the source. It stays the same while the agent runs (see agentStartTime) and may be another one after that."}},
		columns: objectsOf(sourceColumns()),
		group:   "Who tells the numbers, and whether it still does.",
	}
}

func sourceColumns() []column[sourceRow] {
	const since = " It counts since agentStartTime."
	return []column[sourceRow]{
		{object{2, "Name", syntaxText(), "", "The name of the source, as it gives it.", 0, false},
			func(r *sourceRow) smi.Value { return text(r.source.Name) }},
		{object{3, "Net", syntaxText(), "", "The id of the net that it runs.", 0, false},
			func(r *sourceRow) smi.Value { return text(r.source.Net) }},
		{object{4, "NetIndex", syntaxIndex(true), "", "netIndex of that net; 0 while its definition is not known.", 0, false},
			func(r *sourceRow) smi.Value { return smi.Gauge32(r.net) }},
		{object{5, "Region", syntaxText(), "", "The region that it says it serves; empty if none.", 0, false},
			func(r *sourceRow) smi.Value { return text(r.source.Region) }},
		{object{6, "State", syntaxEnum("up(1), stale(2), gone(3), undefined(4)"), "", "up: heard within three of its intervals. stale: silent; its tokens stay in the sums and grow older, so find out whether it runs. gone: it said goodbye, or was silent for so long that its tokens left the sums; its counters stay. undefined: heard, but not added up, because the definition of its net is not known.", 0, false},
			func(r *sourceRow) smi.Value { return smi.Integer(int32(r.source.State) + 1) }},
		{object{7, "LastHeard", syntaxDate(), "", "When it was last heard.", 0, false},
			func(r *sourceRow) smi.Value { return r.at.date(r.source.LastHeard) }},
		{object{8, "Silence", syntaxLength(), "seconds", "How long ago that is.", 0, false},
			func(r *sourceRow) smi.Value { return r.at.age(r.source.LastHeard) }},
		{object{9, "Interval", syntaxLength(), "milliseconds", "How often it promised to be heard.", 0, false},
			func(r *sourceRow) smi.Value { return millis(r.source.Interval.Seconds()) }},
		{object{10, "Started", syntaxDate(), "", "When it started, by its own clock.", 0, false},
			func(r *sourceRow) smi.Value { return r.at.date(r.source.Epoch) }},
		{object{11, "Digest", syntaxText(), "", "The beginning of the digest of the definition that it runs.", 0, false},
			func(r *sourceRow) smi.Value { return text(r.source.Digest) }},
		{object{12, "Skew", syntaxSigned(), "milliseconds", "How far its clock seems to be ahead of the agent's; below 0 if behind. It does not change ages. More than a minute is not believed: set that clock.", 0, false},
			func(r *sourceRow) smi.Value { return signedMillis(r.source.Skew.Milliseconds()) }},
		{object{13, "Gaps", syntaxCounter(), "messages", "Its messages that never came." + since, 0, false},
			func(r *sourceRow) smi.Value { return smi.Counter64(r.source.Gaps) }},
		{object{14, "Duplicates", syntaxCounter(), "messages", "Its messages that came again, or too late." + since, 0, false},
			func(r *sourceRow) smi.Value { return smi.Counter64(r.source.Duplicates) }},
		{object{15, "Restarts", syntaxCounter(), "", "How often it started anew." + since, 0, false},
			func(r *sourceRow) smi.Value { return smi.Counter64(r.source.Restarts) }},
	}
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
		rowText: "One priority.",
		index:   []string{"netIndex", "queuePriority"},
		keys: []object{{sub: 1, suffix: "Priority", syntax: syntaxPriority(),
			text: "The priority, from 0, the lowest, to 7. 0 is a priority like the others."}},
		columns: objectsOf(queueColumns()),
		group:   "How many instances wait for their turn, and how long.",
	}
}

func queueColumns() []column[queueRow] {
	return []column[queueRow]{
		{object{2, "Ready", syntaxGauge(), "instances", "Instances that are ready: they have something to do and wait for their turn.", 0, false},
			func(r *queueRow) smi.Value { return gauge(r.queue.Ready) }},
		{object{3, "OldestAge", syntaxLength(), "seconds", "How long the instance that waits longest has been ready; 0 if none is.", 0, false},
			func(r *queueRow) smi.Value { return r.at.age(r.queue.OldestSince) }},
		{object{4, "OldestSince", syntaxDate(), "", "Since when it is ready; all zero if none is.", 0, false},
			func(r *queueRow) smi.Value { return r.at.date(r.queue.OldestSince) }},
		{object{5, "UnservedAge", syntaxLength(), "seconds", "How long the priority has had instances ready and was not served; 0 if none is ready. Growing is starving: higher priorities take all turns, or nobody takes any.", 0, false},
			func(r *queueRow) smi.Value { return r.at.age(r.queue.UnservedSince) }},
		{object{6, "UnservedSince", syntaxDate(), "", "Since when that is so; all zero if none is ready.", 0, false},
			func(r *queueRow) smi.Value { return r.at.date(r.queue.UnservedSince) }},
		{object{7, "Served", syntaxCounter(), "events", "Events that were served: firings, or pieces of work." + discontinuity, 0, false},
			func(r *queueRow) smi.Value { return smi.Counter64(r.queue.Served) }},
		{object{8, "QuoteSwitches", syntaxCounter(), "turns", "Turns that ended because the quote of the priority was used up." + discontinuity, 0, false},
			func(r *queueRow) smi.Value { return smi.Counter64(r.queue.QuoteSwitches) }},
	}
}
