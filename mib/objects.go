// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"cmp"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry/natslink"
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
	return columns("agent", values[agentRow]{
		"Version":                 func(r *agentRow) smi.Value { return text(r.agent.Version) },
		"Name":                    func(r *agentRow) smi.Value { return text(r.agent.Name) },
		"Role":                    agentRole,
		"StartTime":               func(r *agentRow) smi.Value { return r.at.date(r.agent.Started) },
		"ViewTime":                func(r *agentRow) smi.Value { return r.at.date(r.view.At) },
		"ViewAge":                 func(r *agentRow) smi.Value { return r.at.age(r.view.At) },
		"Views":                   func(r *agentRow) smi.Value { return counter32(r.view.Generation) },
		"Nets":                    func(r *agentRow) smi.Value { return gauge(uint64(len(r.view.Nets))) },
		"SourcesUp":               count(merge.Up),
		"SourcesStale":            count(merge.Stale),
		"SourcesGone":             count(merge.Gone),
		"SourcesUndefined":        count(merge.Undefined),
		"MessagesReceived":        func(r *agentRow) smi.Value { return smi.Counter64(r.view.Traffic.Messages) },
		"BytesReceived":           func(r *agentRow) smi.Value { return smi.Counter64(r.view.Traffic.Bytes) },
		"MessagesLost":            func(r *agentRow) smi.Value { return counter32(r.view.Traffic.Lost) },
		"MessagesBad":             func(r *agentRow) smi.Value { return counter32(r.view.Traffic.Bad) },
		"NotificationsSuppressed": func(r *agentRow) smi.Value { return counter32(r.state.Suppressed) },
		"Priority":                func(r *agentRow) smi.Value { return smi.Gauge32(uint32(r.agent.Priority)) },
		"NatsState":               agentNATSState, "NatsSince": agentNATSSince, "NatsReason": agentNATSReason,
		"SourcesRefused": count(merge.Refused),
	})
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

func netColumns() []column[netRow] {
	return numbers("net", values[netRow]{
		"Name":              func(r *netRow) smi.Value { return text(r.net.Name) },
		"Label":             func(r *netRow) smi.Value { return text(r.net.Def.Name) },
		"Digest":            netDigest,
		"Versions":          func(r *netRow) smi.Value { return gauge(uint64(len(r.net.Digests))) },
		"SourcesUp":         func(r *netRow) smi.Value { return gauge(uint64(max(r.net.Up, 0))) },
		"SourcesStale":      func(r *netRow) smi.Value { return gauge(uint64(max(r.net.Stale, 0))) },
		"Tokens":            func(r *netRow) smi.Value { return gauge(r.net.Tokens) },
		"OldestAge":         func(r *netRow) smi.Value { return r.at.age(r.oldest) },
		"Firings":           func(r *netRow) smi.Value { return smi.Counter64(r.net.Firings) },
		"Rate1":             func(r *netRow) smi.Value { return thousandths(r.net.Rates.Firings.Min1) },
		"Rate5":             func(r *netRow) smi.Value { return thousandths(r.net.Rates.Firings.Min5) },
		"Rate15":            func(r *netRow) smi.Value { return thousandths(r.net.Rates.Firings.Min15) },
		"DiscontinuityTime": func(r *netRow) smi.Value { return r.at.date(r.since) },
		"WaitingWork":       func(r *netRow) smi.Value { return gauge(r.net.Rows.Waiting) },
	}, stats.NetTable, func(r *netRow) (*stats.NetRow, *clock) { return &r.net.Rows.Net, r.at })
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
	return columns("module", values[netRow]{
		"NetIndex":     func(r *netRow) smi.Value { return smi.Gauge32(r.number) },
		"NetName":      func(r *netRow) smi.Value { return text(r.net.Name) },
		"CountedSince": func(r *netRow) smi.Value { return r.at.date(r.net.Since) },
	})
}

// placeRow is one place of a net.
type placeRow struct {
	net   string // id
	place *stats.Place
	def   *petri.Place
	final bool
	at    *clock
}

func placeColumns() []column[placeRow] {
	return numbers("place", values[placeRow]{
		"Id":       func(r *placeRow) smi.Value { return text(r.def.ID) },
		"Name":     func(r *placeRow) smi.Value { return text(cmp.Or(r.def.Name, r.def.ID)) },
		"MeanAge":  func(r *placeRow) smi.Value { return r.at.age(r.place.Injected.Mean(r.place.Tokens)) },
		"DwellP50": func(r *placeRow) smi.Value { return quantile(&r.place.Dwell, 0.50) },
		"DwellP95": func(r *placeRow) smi.Value { return quantile(&r.place.Dwell, 0.95) },
		"DwellP99": func(r *placeRow) smi.Value { return quantile(&r.place.Dwell, 0.99) },
		"Final":    func(r *placeRow) smi.Value { return truth(r.final) },
		"Net":      func(r *placeRow) smi.Value { return text(r.net) },
	}, stats.PlaceTable, func(r *placeRow) (*stats.Place, *clock) { return r.place, r.at })
}

// ageColumns returns a column for each age threshold.
func ageColumns() []column[placeRow] {
	var out []column[placeRow]
	for i, step := range stats.AgeSteps() {
		about := "Tokens that have been here for more than " + step.Text + ". The age is taken within a sixteenth. Read from left to right, the columns show whether everything is late or few tokens are left behind. pnStuckTable names the oldest."
		out = append(out, column[placeRow]{object{sub: uint32(i + 1), suffix: step.Label, syntax: plain("Gauge32", smi.TypeGauge32), units: "tokens", text: about, needs: stats.ColAges},
			func(r *placeRow) smi.Value { return gauge(r.place.Ages.InjectedBefore(r.at.now - step.Age)) }})
	}
	return out
}

// agentNATSState and what follows are about the agent's connection. A View without one, as in
// tests, counts as connected.
func agentNATSState(r *agentRow) smi.Value {
	if r.view.NATS != nil && !r.view.NATS.Connected {
		return smi.Integer(2)
	}
	return smi.Integer(1)
}

func agentNATSSince(r *agentRow) smi.Value {
	return r.at.date(cmp.Or(r.view.NATS, &natslink.ConnState{}).Since)
}

func agentNATSReason(r *agentRow) smi.Value {
	return text(cmp.Or(r.view.NATS, &natslink.ConnState{}).Reason)
}
