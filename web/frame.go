// SPDX-License-Identifier: Apache-2.0

package web

import (
	"encoding/json"
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
	places, transitions := len(n.Rows.Places), len(n.Rows.Transitions)
	if before == n {
		places, transitions = 0, 0 // the View has the same net
	}
	for i := range places {
		if p := placeNow(n, i); !p.Equal(&f.Places[i]) {
			d.Places = append(d.Places, api.PlaceDiff{Index: i, PlaceNow: p})
		}
	}
	for i := range transitions {
		if t := transitionNow(n, i); !t.Equal(&f.Transitions[i]) {
			d.Transitions = append(d.Transitions, api.TransitionDiff{Index: i, TransitionNow: t})
		}
	}
	if len(d.Places) > 0 {
		next.Places = slices.Clone(f.Places)
	}
	for i := range d.Places {
		p := &d.Places[i]
		api.Own(p.Numbers())
		next.Places[p.Index] = p.PlaceNow
	}
	if len(d.Transitions) > 0 {
		next.Transitions = slices.Clone(f.Transitions)
	}
	for i := range d.Transitions {
		t := &d.Transitions[i]
		api.Own(t.Numbers())
		next.Transitions[t.Index] = t.TransitionNow
	}
	return next, d
}

// encoded returns a document as JSON.
func encoded(document any) []byte {
	text, err := json.Marshal(document)
	if err != nil {
		panic("web: " + err.Error()) // all numbers are finite
	}
	return plaintext.Lines(text)
}
