// SPDX-License-Identifier: Apache-2.0

package web

import (
	"encoding/json"
	"slices"

	"github.com/pnagent/pnagent/collector"
	"github.com/pnagent/pnagent/internal/plaintext"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/web/api"
)

// frame is the state of a net for viewers. It is immutable.
type frame struct {
	api.Frame
	columns stats.Columns
}

// newFrame returns the frame of a net. Tokens may stay in the places of resting.
func newFrame(n *collector.NetView, drawing string, resting []int, generation uint64, at int64) *frame {
	f := &frame{columns: n.Rows.Columns, Frame: api.Frame{Net: n.Name, Drawing: drawing, Generation: generation, At: api.Time(at), Resting: resting,
		Places: make([]api.PlaceNow, len(n.Rows.Places)), Transitions: make([]api.TransitionNow, len(n.Rows.Transitions))}}
	for i := range f.Places {
		f.Places[i] = placeNow(n, i)
	}
	for i := range f.Transitions {
		f.Transitions[i] = transitionNow(n, i)
	}
	return f
}

// follows reports whether f can be sent as a difference to an earlier frame.
func (f *frame) follows(before *frame) bool {
	return before.Drawing == f.Drawing && before.columns == f.columns && slices.Equal(before.Resting, f.Resting) &&
		len(before.Places) == len(f.Places) && len(before.Transitions) == len(f.Transitions)
}

// diff returns the rows of f that changed since before.
func (f *frame) diff(before *frame) *api.Diff {
	d := &api.Diff{Generation: f.Generation, At: f.At, Places: []api.PlaceDiff{}, Transitions: []api.TransitionDiff{}}
	for i, p := range f.Places {
		b := &before.Places[i]
		if p.OldestSince != b.OldestSince || !same(p.Tokens, b.Tokens) || !same(p.Instances, b.Instances) || !same(p.ArrivalRate, b.ArrivalRate) {
			d.Places = append(d.Places, api.PlaceDiff{Index: i, PlaceNow: p})
		}
	}
	for i, t := range f.Transitions {
		b := &before.Transitions[i]
		if t.EnabledSince != b.EnabledSince || !same(t.Rate, b.Rate) || !same(t.Enabled, b.Enabled) || !same(t.Running, b.Running) ||
			!same(t.Blocked, b.Blocked) || !same(t.Failures, b.Failures) {
			d.Transitions = append(d.Transitions, api.TransitionDiff{Index: i, TransitionNow: t})
		}
	}
	return d
}

func same[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// encoded returns a document as JSON.
func encoded(document any) []byte {
	text, err := json.Marshal(document)
	if err != nil {
		panic("web: " + err.Error()) // all numbers are finite
	}
	return plaintext.Lines(text)
}
