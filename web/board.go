// SPDX-License-Identifier: Apache-2.0

package web

import (
	"sync"

	"github.com/pnagent/pnagent/alarm"
	"github.com/pnagent/pnagent/collector"
)

// board is what is shown of one View. It is immutable but for what is made
// when it is first asked for.
type board struct {
	view     *collector.View // nil before the first
	alarms   *alarm.State
	nets     map[string]*netBoard
	serial   uint64 // one more than the board before
	history  extent
	text     func() []byte // the overview
	overview func() *event
	next     chan struct{} // closed when there is a later board
}

// netBoard is what is shown of a net.
type netBoard struct {
	net     *collector.Net
	drawing *drawing
	rates   []rate // see window.rates
	frame   func() *frame
	whole   func() *event // the frame
	diff    *event        // against the frame of the board before; nil if nobody looked at that
}

// advance makes the board of a View. What differs is told of the nets that
// somebody looks at.
func (s *Server) advance(before *board, view *collector.View, alarms *alarm.State) *board {
	b := &board{view: view, alarms: alarms, serial: before.serial + 1,
		nets: make(map[string]*netBoard, len(view.Nets)), next: make(chan struct{})}
	wide := widths(view)
	for _, n := range view.Nets {
		w := s.windows[n.Name]
		if w == nil {
			w = &window{}
			s.windows[n.Name] = w
		}
		nb := &netBoard{net: n, drawing: s.drawingOf(n), rates: w.rates(n, view.At, max(minWindow, wide[n.Name]))}
		nb.frame = sync.OnceValue(func() *frame { return newFrame(n, nb.drawing.hash, view.Generation, view.At, nb.rates) })
		nb.whole = sync.OnceValue(func() *event {
			return newEvent("frame", view.Generation, appendFrame(nil, nb.frame()))
		})
		if last := before.nets[n.Name]; last != nil && s.lookedAt(n.Name) {
			if f := nb.frame(); f.follows(last.frame()) {
				nb.diff = newEvent("diff", view.Generation, appendDiff(nil, last.frame(), f))
			}
		}
		b.nets[n.Name] = nb
	}
	for name := range s.windows {
		if b.nets[name] == nil {
			delete(s.windows, name)
			delete(s.drawings, name)
		}
	}
	b.history = s.record(view)
	b.sum()
	return b
}

// emptyBoard is what is shown before there is a View.
func emptyBoard() *board {
	b := &board{serial: 1, view: &collector.View{}, alarms: &alarm.State{}, next: make(chan struct{})}
	b.sum()
	return b
}

// sum has the overview made when it is asked for.
func (b *board) sum() {
	b.text = sync.OnceValue(b.overviewText)
	b.overview = sync.OnceValue(func() *event { return newEvent("overview", b.view.Generation, b.text()) })
}
