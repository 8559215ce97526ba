// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"sync"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/draw"
	"github.com/pnagent/pnagent/web/api"
)

// drawing is how a definition is drawn. The layouts are computed on first use. The
// hash is computed from the definition, so it is available at once.
type drawing struct {
	def    *petri.Net
	final  func(place int) bool
	hash   string
	layout func() *draw.Drawing
	model  func() *model // nil for a net without one
	text   func() []byte // as JSON
	tall   func() []byte // for upright screens
}

// upright is the ratio of width to height of an upright screen.
const upright = 0.6

// drawingOf returns the drawing of a net, a new one if its definition changed.
func (s *Server) drawingOf(n *merge.NetView) *drawing {
	def := n.Def
	if d := s.drawings[n.Name]; d != nil && d.def == def {
		return d
	}
	d := &drawing{def: def, final: n.IsFinal, hash: hashOf(def, s.cfg.Version)}
	d.layout = sync.OnceValue(func() *draw.Drawing { return draw.Net(def, draw.Wide) })
	d.model = sync.OnceValue(func() *model { return modelOf(def) })
	d.text = sync.OnceValue(func() []byte { return drawingText(d, d.layout()) })
	d.tall = sync.OnceValue(func() []byte { return drawingText(d, draw.Net(def, upright)) })
	s.drawings[n.Name] = d
	return d
}

// hashOf returns a hash that differs for definitions that are drawn differently,
// and for versions of pnagent, which may draw differently.
func hashOf(def *petri.Net, version string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %q", version, def.ID, def.Name, def.Doc)
	at := func(p *petri.Point) petri.Point {
		if p == nil {
			return petri.Point{}
		}
		return *p
	}
	for i := range def.Places {
		p := &def.Places[i]
		fmt.Fprintf(h, "\np %q %q %q %d %t %v %d %q %q", p.ID, p.Name, p.Doc, p.Initial, p.At != nil, at(p.At), p.Role, p.Element, p.Called)
	}
	for i := range def.Transitions {
		t := &def.Transitions[i]
		fmt.Fprintf(h, "\nt %q %q %q %t %v %d %q", t.ID, t.Name, t.Doc, t.At != nil, at(t.At), t.Role, t.Called)
	}
	for i := range def.Arcs {
		a := &def.Arcs[i]
		fmt.Fprintf(h, "\na %q %q %d %d", a.Source, a.Target, a.Kind, a.Weight)
	}
	if def.Model != nil {
		fmt.Fprintf(h, "\nm %q %s %q", def.Model.Kind, def.Model.Digest(), def.Model.Missing)
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

func drawingText(d *drawing, l *draw.Drawing) []byte {
	def := d.def
	doc := api.Drawing{Net: def.ID, Name: def.Name, Doc: def.Doc, Hash: d.hash, Width: l.Width, Height: l.Height, Positions: "layered",
		Nodes: make([]api.DrawnNode, len(l.Nodes)), Arcs: make([]api.DrawnArc, len(l.Arcs))}
	if l.Given {
		doc.Positions = "given"
	}
	for i := range l.Nodes {
		n := &l.Nodes[i]
		out := api.DrawnNode{Label: n.Label, X: n.X, Y: n.Y, W: n.W, H: n.H}
		if i < len(def.Places) {
			p := &def.Places[i]
			out.Kind = "place"
			out.ID = p.ID
			out.Name = p.Name
			out.Doc = p.Doc
			out.Initial = p.Initial
			out.Final = d.final(i)
			out.Called = called(p.Called)
			out.Role = bookkeeping(p.Role)
		} else {
			t := &def.Transitions[i-len(def.Places)]
			out.Kind, out.ID, out.Name, out.Doc = "transition", t.ID, t.Name, t.Doc
			out.Called, out.Role = called(t.Called), bookkeeping(t.Role)
		}
		doc.Nodes[i] = out
	}
	for i := range l.Arcs {
		a := &l.Arcs[i]
		out := api.DrawnArc{From: a.From, To: a.To, Kind: a.Kind.String(), Weight: a.Weight, Points: make([][2]float64, len(a.Points))}
		for k, p := range a.Points {
			out.Points[k] = [2]float64{p.X, p.Y}
		}
		doc.Arcs[i] = out
	}
	if m := d.model(); m != nil {
		doc.Model = &m.drawn
	}
	return append(encoded(&doc), '\n')
}

// netOf returns the board of the net that a request names, or answers with an
// error and returns nil.
func (s *Server) netOf(w http.ResponseWriter, r *http.Request) *netBoard {
	name := r.URL.Query().Get("net")
	if name == "" {
		refuse(w, http.StatusBadRequest, "expected the id of a net as ?net=")
		return nil
	}
	n := s.board.Load().nets[name]
	if n == nil {
		refuse(w, http.StatusNotFound, fmt.Sprintf("there is no net %q", name))
	}
	return n
}

// ofNet returns the handler of requests about a net, given one that also takes its board.
func (s *Server) ofNet(serve func(http.ResponseWriter, *http.Request, *netBoard)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if n := s.netOf(w, r); n != nil {
			serve(w, r, n)
		}
	}
}

func (s *Server) serveDrawing(w http.ResponseWriter, r *http.Request, n *netBoard) {
	q := r.URL.Query()
	if q.Has("place") || q.Has("transition") {
		s.serveNear(w, r, n)
		return
	}
	tag, text := n.drawing.hash, n.drawing.text
	if q.Has("upright") {
		tag, text = tag+"-upright", n.drawing.tall
	}
	if !unchanged(w, r, `"`+tag+`"`) {
		answer(w, "application/json", text())
	}
}

// servePicture answers with the drawing as a picture of the current state.
func (s *Server) servePicture(w http.ResponseWriter, _ *http.Request, n *netBoard) {
	rows, now := n.net.Rows, s.cfg.Now().UnixMicro()
	o := &draw.Overlay{Tokens: make([]uint64, len(rows.Places)), Heat: make([]uint8, len(rows.Places)),
		Rates: make([]float64, len(rows.Transitions)), Enabled: make([]bool, len(rows.Transitions))}
	for i := range rows.Places {
		o.Tokens[i] = rows.Places[i].Tokens
		if n.net.IsFinal(i) || !n.net.Work(i) {
			continue // finished work has no heat, and what is not work counts elsewhere
		}
		age := ageAt(rows.Places[i].Oldest, now)
		for _, from := range [draw.MaxHeat]float64{10, 60, 600, 3600} { // seconds at which the heat rises by one class
			if age >= from {
				o.Heat[i]++
			}
		}
	}
	for i := range rows.Transitions {
		o.Rates[i], o.Enabled[i] = n.net.Rates.Transitions[i].Now, rows.Transitions[i].Enabled > 0
	}
	var picture bytes.Buffer
	if err := n.drawing.layout().SVG(&picture, n.drawing.def, o); err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	// A picture that is opened on its own needs its own style.
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	answer(w, "image/svg+xml", picture.Bytes())
}
