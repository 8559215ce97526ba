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

func transitionColumns() []column[transitionRow] {
	return numbers("transition", values[transitionRow]{
		"Id":          func(r *transitionRow) smi.Value { return text(r.def.ID) },
		"Name":        func(r *transitionRow) smi.Value { return text(cmp.Or(r.def.Name, r.def.ID)) },
		"Rate1":       func(r *transitionRow) smi.Value { return thousandths(r.rate.Min1) },
		"Rate5":       func(r *transitionRow) smi.Value { return thousandths(r.rate.Min5) },
		"Rate15":      func(r *transitionRow) smi.Value { return thousandths(r.rate.Min15) },
		"DurationP50": func(r *transitionRow) smi.Value { return quantile(&r.transition.Duration, 0.50) },
		"DurationP95": func(r *transitionRow) smi.Value { return quantile(&r.transition.Duration, 0.95) },
		"DurationP99": func(r *transitionRow) smi.Value { return quantile(&r.transition.Duration, 0.99) },
		"Net":         func(r *transitionRow) smi.Value { return text(r.net) },
	}, stats.TransitionTable, func(r *transitionRow) (*stats.Transition, *clock) { return r.transition, r.at })
}

// stuckRow is one of the oldest tokens of a place.
type stuckRow struct {
	token *stats.Token
	why   func() string
	at    *clock
}

func stuckColumns() []column[stuckRow] {
	return columns("stuck", values[stuckRow]{
		"Instance": func(r *stuckRow) smi.Value { return text(r.token.Instance) },
		"Age":      func(r *stuckRow) smi.Value { return r.at.age(r.token.Injected) },
		"Since":    func(r *stuckRow) smi.Value { return r.at.date(r.token.Injected) },
		"Reason":   func(r *stuckRow) smi.Value { return reasonValue(firstReason(r.token)) },
		"Why":      func(r *stuckRow) smi.Value { return text(r.why()) },
	})
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

func blockColumns() []column[blockRow] {
	return columns("block", values[blockRow]{
		"PlaceId":   func(r *blockRow) smi.Value { return text(r.place) },
		"Instances": func(r *blockRow) smi.Value { return gauge(r.block.Instances) },
	})
}

// sourceRow is one source of one net.
type sourceRow struct {
	source *merge.Source
	net    uint32 // 0 if the net has no number
	at     *clock
}

func sourceColumns() []column[sourceRow] {
	return columns("source", values[sourceRow]{
		"Name":       func(r *sourceRow) smi.Value { return text(r.source.Name) },
		"Net":        func(r *sourceRow) smi.Value { return text(r.source.Net) },
		"NetIndex":   func(r *sourceRow) smi.Value { return smi.Gauge32(r.net) },
		"Region":     func(r *sourceRow) smi.Value { return text(r.source.Region) },
		"State":      func(r *sourceRow) smi.Value { return smi.Integer(int32(r.source.State) + 1) },
		"LastHeard":  func(r *sourceRow) smi.Value { return r.at.date(r.source.LastMessage) },
		"Silence":    func(r *sourceRow) smi.Value { return r.at.age(r.source.LastMessage) },
		"Interval":   func(r *sourceRow) smi.Value { return thousandths(r.source.Interval.Seconds()) },
		"Started":    func(r *sourceRow) smi.Value { return r.at.date(r.source.Epoch) },
		"Digest":     func(r *sourceRow) smi.Value { return digestText(r.source.Digest) },
		"Skew":       func(r *sourceRow) smi.Value { return signedMillis(r.source.Skew.Milliseconds()) },
		"Gaps":       func(r *sourceRow) smi.Value { return counter32(r.source.Gaps) },
		"Duplicates": func(r *sourceRow) smi.Value { return counter32(r.source.Duplicates) },
		"Restarts":   func(r *sourceRow) smi.Value { return counter32(r.source.Restarts) },
	})
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
		{func(s *merge.Source) bool { return s.Region != "" && s.Fence > 0 }, columns("source", values[sourceRow]{
			"RegionEpoch":    func(r *sourceRow) smi.Value { return gauge(r.source.Fence) },
			"RegionSetbacks": func(r *sourceRow) smi.Value { return counter32(r.source.Setbacks) },
		})},
		{func(s *merge.Source) bool { return s.Position != nil }, columns("source", values[sourceRow]{
			"RegionPosition": func(r *sourceRow) smi.Value { return counter32(*r.source.Position) },
			"RegionStandbys": func(r *sourceRow) smi.Value { return gauge(*r.source.Standbys) },
		})},
		{func(s *merge.Source) bool { return s.Lag != nil }, columns("source", values[sourceRow]{
			"RegionLag": func(r *sourceRow) smi.Value { return gauge(*r.source.Lag) },
		})},
		{func(*merge.Source) bool { return true }, columns("source", values[sourceRow]{
			"Reason": func(r *sourceRow) smi.Value { return text(r.source.Reason) },
		})},
		{func(s *merge.Source) bool { return s.Position != nil }, columns("source", values[sourceRow]{
			"RegionStopped": func(r *sourceRow) smi.Value { return text(r.source.RegionStopped) },
		})},
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

func queueColumns() []column[queueRow] {
	return numbers("queue", values[queueRow]{}, stats.QueueTable, func(r *queueRow) (*stats.Queue, *clock) { return r.queue, r.at })
}
