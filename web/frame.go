// SPDX-License-Identifier: Apache-2.0

package web

import (
	"encoding/json"
	"iter"
	"slices"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/plaintext"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/web/api"
)

// frame is the state of a net for viewers. It is immutable. A frame of newFrame has the numbers of
// its View. The frames that follow it share what has not changed, and have what has in memory of
// their own: so they keep the rows of one View at most.
type frame struct {
	api.Frame
	columns stats.Columns
}

// newFrame returns the frame of a net. Tokens may stay in the places of resting.
func newFrame(n *merge.NetView, drawing string, resting []int, generation uint64, at int64) *frame {
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

// follows reports whether a frame of the net can be sent as a difference to f.
func (f *frame) follows(n *merge.NetView, drawing string, resting []int) bool {
	return f.Drawing == drawing && f.columns == n.Rows.Columns && slices.Equal(f.Resting, resting) &&
		len(f.Places) == len(n.Rows.Places) && len(f.Transitions) == len(n.Rows.Transitions)
}

// next returns the frame of a later View of a net that f follows, and its difference to f. before is
// the net of f.
func (f *frame) next(before, n *merge.NetView, generation uint64, at int64) (*frame, *api.Diff) {
	next := &frame{columns: f.columns, Frame: f.Frame}
	next.Generation, next.At = generation, api.Time(at)
	d := &api.Diff{Generation: generation, At: next.At, Places: []api.PlaceDiff{}, Transitions: []api.TransitionDiff{}}
	places, transitions := changed(before, n)
	for i := range places {
		if p := placeNow(n, i); !samePlace(&p, &f.Places[i]) {
			d.Places = append(d.Places, api.PlaceDiff{Index: i, PlaceNow: ownPlace(p)})
		}
	}
	for i := range transitions {
		if t := transitionNow(n, i); !sameTransition(&t, &f.Transitions[i]) {
			d.Transitions = append(d.Transitions, api.TransitionDiff{Index: i, TransitionNow: ownTransition(t)})
		}
	}
	if len(d.Places) > 0 {
		next.Places = slices.Clone(f.Places)
	}
	for _, p := range d.Places {
		next.Places[p.Index] = p.PlaceNow
	}
	if len(d.Transitions) > 0 {
		next.Transitions = slices.Clone(f.Transitions)
	}
	for _, t := range d.Transitions {
		next.Transitions[t.Index] = t.TransitionNow
	}
	return next, d
}

// changed returns the places and the transitions that may differ between two Views of a net: all, if
// anything does.
func changed(before, n *merge.NetView) (places, transitions iter.Seq[int]) {
	if before == n {
		return numbers(0), numbers(0)
	}
	return numbers(len(n.Rows.Places)), numbers(len(n.Rows.Transitions))
}

// numbers returns the numbers below n.
func numbers(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := 0; i < n && yield(i); i++ {
		}
	}
}

func samePlace(p, b *api.PlaceNow) bool {
	return p.OldestSince == b.OldestSince && same(p.Tokens, b.Tokens) && same(p.Instances, b.Instances) && same(p.ArrivalRate, b.ArrivalRate)
}

func sameTransition(t, b *api.TransitionNow) bool {
	return t.EnabledSince == b.EnabledSince && same(t.Rate, b.Rate) && same(t.Enabled, b.Enabled) && same(t.Running, b.Running) &&
		same(t.Blocked, b.Blocked) && same(t.Failures, b.Failures)
}

func same[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// ownPlace returns p with numbers in memory of its own.
func ownPlace(p api.PlaceNow) api.PlaceNow {
	var own struct {
		tokens, instances uint64
		rate              float64
	}
	p.Tokens, p.Instances, p.ArrivalRate = copied(p.Tokens, &own.tokens), copied(p.Instances, &own.instances), copied(p.ArrivalRate, &own.rate)
	return p
}

// ownTransition returns t with numbers in memory of its own.
func ownTransition(t api.TransitionNow) api.TransitionNow {
	var own struct {
		enabled, running, blocked, failures uint64
		rate                                float64
	}
	t.Enabled, t.Running, t.Rate = copied(t.Enabled, &own.enabled), copied(t.Running, &own.running), copied(t.Rate, &own.rate)
	t.Blocked, t.Failures = copied(t.Blocked, &own.blocked), copied(t.Failures, &own.failures)
	return t
}

// copied copies a number to a place and returns that; nil stays nil.
func copied[T any](n, to *T) *T {
	if n == nil {
		return nil
	}
	*to = *n
	return to
}

// encoded returns a document as JSON.
func encoded(document any) []byte {
	text, err := json.Marshal(document)
	if err != nil {
		panic("web: " + err.Error()) // all numbers are finite
	}
	return plaintext.Lines(text)
}
