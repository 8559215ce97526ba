// SPDX-License-Identifier: Apache-2.0

package web

import (
	"sync"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/web/api"
)

// board is what is shown of one View. It is immutable, except for parts that are
// made on first use.
type board struct {
	view     *merge.View // nil before the first View
	alarms   *alarm.ActiveSet
	nets     map[string]*netBoard
	actions  bool // see api.Overview
	acts     bool
	links    *api.Links
	sidecar  *api.Sidecar
	serial   uint64 // one more than that of the previous board
	history  extent
	text     func() []byte // the overview
	overview func() *event
	next     chan struct{} // closed when a later board exists
}

// netBoard is what is shown of a net.
type netBoard struct {
	net     *merge.NetView
	drawing *drawing
	resting []int // places in which tokens may stay
	frame   func() *frame
	whole   func() *event // the frame
	diff    *event        // against the frame of the previous board; nil if that had no viewers
}

// advance returns the board of a View. It makes differences only for nets with
// viewers.
func (s *Server) advance(before *board, view *merge.View, alarms *alarm.ActiveSet) *board {
	b := &board{view: view, alarms: alarms, actions: s.cfg.Actions != nil, serial: before.serial + 1,
		nets: make(map[string]*netBoard, len(view.Nets)), next: make(chan struct{})}
	for _, n := range view.Nets {
		nb := &netBoard{net: n, drawing: s.drawingOf(n), resting: alarms.RestingOf(n)}
		nb.frame = sync.OnceValue(func() *frame { return newFrame(n, nb.drawing.hash, nb.resting, view.Generation, view.At) })
		nb.whole = sync.OnceValue(func() *event {
			return newEvent("frame", view.Generation, nb.frame().AppendJSON(nil))
		})
		if last := before.nets[n.Name]; last != nil && s.lookedAt(n.Name) && last.frame().follows(n, nb.drawing.hash, nb.resting) {
			next, diff := last.frame().next(last.net, n, view.Generation, view.At)
			nb.frame = func() *frame { return next }
			nb.diff = newEvent("diff", view.Generation, diff.AppendJSON(nil))
		}
		b.nets[n.Name] = nb
	}
	for name := range s.drawings {
		if b.nets[name] == nil {
			delete(s.drawings, name)
		}
	}
	b.links = s.links
	b.sidecar = s.cfg.about()
	b.acts = b.actions && s.cfg.Actions.Act != nil
	b.history = s.record(view, alarms, view != before.view)
	b.sum()
	return b
}

// about returns what the sidecar is now; nil if that is not known.
func (c *Config) about() *api.Sidecar {
	if c.Sidecar == nil {
		return nil
	}
	return new(c.Sidecar())
}

// emptyBoard returns the board before the first View.
func (s *Server) emptyBoard() *board {
	b := &board{serial: 1, sidecar: s.cfg.about(), view: &merge.View{}, alarms: s.alarms.Load(), next: make(chan struct{})}
	b.sum()
	return b
}

// sum makes the overview of the board available on first use.
func (b *board) sum() {
	b.text = sync.OnceValue(b.overviewText)
	b.overview = sync.OnceValue(func() *event { return newEvent("overview", b.view.Generation, b.text()) })
}
