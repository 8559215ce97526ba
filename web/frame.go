// SPDX-License-Identifier: Apache-2.0

package web

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/pnagent/pnagent/collector"
	"github.com/pnagent/pnagent/stats"
)

// frame is the state of a net as viewers see it. It is immutable.
type frame struct {
	net         string
	drawing     string // hash
	generation  uint64
	at          int64 // milliseconds since the Unix epoch
	columns     stats.Columns
	places      []placeCells
	transitions []transitionCells

	// Of a frame of the past: rows that the net has now and did not have then.
	laterPlaces, laterTransitions int
}

// placeCells is what a frame says of a place.
type placeCells struct {
	tokens    uint64
	oldest    int64 // milliseconds since the Unix epoch; 0 without a token
	instances uint64
	arrivals  rate
}

// transitionCells is what a frame says of a transition.
type transitionCells struct {
	rate     rate
	enabled  uint64
	since    int64 // milliseconds since the Unix epoch; 0 where it is enabled nowhere
	running  uint64
	blocked  uint64 // instances in which something holds it back, see blockedIn
	failures uint64
}

// rate is what happens in a second; unknownRate is no number.
type rate float64

const unknownRate rate = -1

// newFrame returns the frame of a net. Rates are those of places, then of
// transitions; nil says that there are none yet.
func newFrame(n *collector.Net, drawing string, generation uint64, at int64, rates []rate) *frame {
	f := &frame{net: n.Name, drawing: drawing, generation: generation, at: at / 1000, columns: n.Rows.Columns,
		places: make([]placeCells, len(n.Rows.Places)), transitions: make([]transitionCells, len(n.Rows.Transitions))}
	for i := range n.Rows.Places {
		p := &n.Rows.Places[i]
		f.places[i] = placeCells{tokens: p.Tokens, oldest: p.Oldest / 1000, instances: p.Instances, arrivals: rateAt(rates, i)}
	}
	blocked := blockedIn(n.Rows)
	for i := range n.Rows.Transitions {
		t := &n.Rows.Transitions[i]
		f.transitions[i] = transitionCells{rate: rateAt(rates, len(f.places)+i), enabled: t.Enabled, since: t.EnabledSince / 1000,
			running: t.Running, blocked: blocked[i], failures: t.Failures}
	}
	return f
}

func rateAt(rates []rate, i int) rate {
	if i >= len(rates) {
		return unknownRate
	}
	return rates[i]
}

// blockedIn returns in how many instances each transition is held back: those
// of the condition that holds back most. An instance in which two conditions
// fail counts at each, so a sum could count it twice.
func blockedIn(rows *stats.Rows) []uint64 {
	out := make([]uint64, len(rows.Transitions))
	for _, b := range rows.Blocks {
		out[b.Transition] = max(out[b.Transition], b.Instances)
	}
	return out
}

// appendFrame appends a whole frame as JSON.
func appendFrame(dst []byte, f *frame) []byte {
	dst = append(dst, `{"net":`...)
	dst = appendString(dst, f.net)
	dst = append(dst, `,"drawing":"`...)
	dst = append(dst, f.drawing...)
	dst = append(dst, `","generation":`...)
	dst = strconv.AppendUint(dst, f.generation, 10)
	dst = append(dst, `,"at":`...)
	dst = strconv.AppendInt(dst, f.at, 10)
	dst = append(dst, `,"places":[`...)
	for i := range f.places {
		dst = append(comma(dst, i), '[')
		dst = append(f.places[i].append(dst, f.columns), ']')
	}
	for i := range f.laterPlaces {
		dst = append(comma(dst, len(f.places)+i), "[null,null,null,null]"...)
	}
	dst = append(dst, `],"transitions":[`...)
	for i := range f.transitions {
		dst = append(comma(dst, i), '[')
		dst = append(f.transitions[i].append(dst, f.columns), ']')
	}
	for i := range f.laterTransitions {
		dst = append(comma(dst, len(f.transitions)+i), "[null,null,null,null,null,null]"...)
	}
	return append(dst, "]}"...)
}

// follows reports whether f can be said as a difference to an earlier frame.
func (f *frame) follows(before *frame) bool {
	return before.drawing == f.drawing && before.columns == f.columns &&
		len(before.places) == len(f.places) && len(before.transitions) == len(f.transitions)
}

// appendDiff appends, as JSON, the rows of f that are others than before.
func appendDiff(dst []byte, before, f *frame) []byte {
	dst = append(dst, `{"generation":`...)
	dst = strconv.AppendUint(dst, f.generation, 10)
	dst = append(dst, `,"at":`...)
	dst = strconv.AppendInt(dst, f.at, 10)
	dst = append(dst, `,"p":[`...)
	n := 0
	for i := range f.places {
		if f.places[i] != before.places[i] {
			dst = strconv.AppendInt(append(comma(dst, n), '['), int64(i), 10)
			dst = append(f.places[i].append(append(dst, ','), f.columns), ']')
			n++
		}
	}
	dst = append(dst, `],"t":[`...)
	n = 0
	for i := range f.transitions {
		if f.transitions[i] != before.transitions[i] {
			dst = strconv.AppendInt(append(comma(dst, n), '['), int64(i), 10)
			dst = append(f.transitions[i].append(append(dst, ','), f.columns), ']')
			n++
		}
	}
	return append(dst, "]}"...)
}

func (p *placeCells) append(dst []byte, cols stats.Columns) []byte {
	dst = appendKnown(dst, cols.Has(stats.ColTokens), p.tokens)
	dst = appendKnown(append(dst, ','), cols.Has(stats.ColOldest), uint64(p.oldest))
	dst = appendKnown(append(dst, ','), cols.Has(stats.ColPlaceInstances), p.instances)
	return appendRate(append(dst, ','), cols.Has(stats.ColArrivals), p.arrivals)
}

func (t *transitionCells) append(dst []byte, cols stats.Columns) []byte {
	dst = appendRate(dst, cols.Has(stats.ColFirings), t.rate)
	dst = appendKnown(append(dst, ','), cols.Has(stats.ColEnabled), t.enabled)
	dst = appendKnown(append(dst, ','), cols.Has(stats.ColEnabled), uint64(t.since))
	dst = appendKnown(append(dst, ','), cols.Has(stats.ColRunning), t.running)
	dst = appendKnown(append(dst, ','), cols.Has(stats.ColBlocks), t.blocked)
	return appendKnown(append(dst, ','), cols.Has(stats.ColFailures), t.failures)
}

func comma(dst []byte, i int) []byte {
	if i > 0 {
		return append(dst, ',')
	}
	return dst
}

func appendKnown(dst []byte, known bool, v uint64) []byte {
	if !known {
		return append(dst, "null"...)
	}
	return strconv.AppendUint(dst, v, 10)
}

func appendRate(dst []byte, known bool, r rate) []byte {
	if !known || r < 0 {
		return append(dst, "null"...)
	}
	return strconv.AppendFloat(dst, float64(r), 'f', -1, 64)
}

// appendString appends a JSON string; bytes that are no UTF-8 become U+FFFD.
func appendString(dst []byte, s string) []byte {
	text, _ := json.Marshal(s) // a string always marshals
	return append(dst, text...)
}

// rounded keeps four digits of a rate, so that a tick that comes a millisecond
// late does not make every row of a steady net differ.
func rounded(r float64) rate {
	if r <= 0 {
		return 0
	}
	digits := 3 - int(math.Floor(math.Log10(r)))
	if digits < 0 {
		unit := math.Pow10(-digits)
		return rate(math.Round(r/unit) * unit)
	}
	scale := math.Pow10(digits)
	return rate(math.Round(r*scale) / scale)
}
