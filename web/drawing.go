// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"github.com/pnagent/pnagent/collector"
	"github.com/pnagent/pnagent/draw"
	"github.com/pnagent/pnagent/petri"
)

// drawing is how a definition is drawn. It is laid out when somebody first asks
// for it; its hash is that of what it is made from, so it is there at once.
type drawing struct {
	def    *petri.Net
	final  func(place int) bool
	hash   string
	layout func() *draw.Drawing
	text   func() []byte // as JSON
}

// drawingOf returns the drawing of a net, a new one if its definition grew.
func (s *Server) drawingOf(n *collector.Net) *drawing {
	def := n.Def
	if d := s.drawings[n.Name]; d != nil && d.def == def {
		return d
	}
	d := &drawing{def: def, final: n.IsFinal, hash: hashOf(def, s.cfg.Version)}
	d.layout = sync.OnceValue(func() *draw.Drawing { return draw.Net(def) })
	d.text = sync.OnceValue(func() []byte { return drawingText(d) })
	s.drawings[n.Name] = d
	return d
}

// hashOf is different for definitions that are drawn differently, and for
// versions of pnagent, which may draw differently.
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
		fmt.Fprintf(h, "\np %q %q %q %d %t %v", p.ID, p.Name, p.Doc, p.Initial, p.At != nil, at(p.At))
	}
	for i := range def.Transitions {
		t := &def.Transitions[i]
		fmt.Fprintf(h, "\nt %q %q %q %t %v", t.ID, t.Name, t.Doc, t.At != nil, at(t.At))
	}
	for i := range def.Arcs {
		a := &def.Arcs[i]
		fmt.Fprintf(h, "\na %q %q %d %d", a.Source, a.Target, a.Kind, a.Weight)
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

type drawingDoc struct {
	Net       string         `json:"net"`
	Name      string         `json:"name"`
	Doc       string         `json:"doc"`
	Hash      string         `json:"hash"`
	Width     float64        `json:"width"`
	Height    float64        `json:"height"`
	Positions string         `json:"positions"`
	Nodes     []drawnNodeDoc `json:"nodes"`
	Arcs      []drawnArcDoc  `json:"arcs"`
}

type drawnNodeDoc struct {
	ID      string  `json:"id"`
	Kind    string  `json:"kind"`
	Name    string  `json:"name"`
	Doc     string  `json:"doc"`
	Label   string  `json:"label"`
	X       float64 `json:"x"`
	Y       float64 `json:"y"`
	W       float64 `json:"w"`
	H       float64 `json:"h"`
	Initial uint32  `json:"initial,omitempty"`
	Final   bool    `json:"final,omitempty"` // no transition takes tokens from the place
}

type drawnArcDoc struct {
	From   int          `json:"from"`
	To     int          `json:"to"`
	Kind   string       `json:"kind"`
	Weight uint32       `json:"weight"`
	Points [][2]float64 `json:"points"`
}

func drawingText(d *drawing) []byte {
	l, def := d.layout(), d.def
	doc := drawingDoc{Net: def.ID, Name: def.Name, Doc: def.Doc, Hash: d.hash, Width: l.Width, Height: l.Height, Positions: "layered",
		Nodes: make([]drawnNodeDoc, len(l.Nodes)), Arcs: make([]drawnArcDoc, len(l.Arcs))}
	if l.Given {
		doc.Positions = "given"
	}
	for i := range l.Nodes {
		n := &l.Nodes[i]
		out := drawnNodeDoc{Label: n.Label, X: n.X, Y: n.Y, W: n.W, H: n.H}
		if i < len(def.Places) {
			p := &def.Places[i]
			out.Kind, out.ID, out.Name, out.Doc, out.Initial, out.Final = "place", p.ID, p.Name, p.Doc, p.Initial, d.final(i)
		} else {
			t := &def.Transitions[i-len(def.Places)]
			out.Kind, out.ID, out.Name, out.Doc = "transition", t.ID, t.Name, t.Doc
		}
		doc.Nodes[i] = out
	}
	for i := range l.Arcs {
		a := &l.Arcs[i]
		out := drawnArcDoc{From: a.From, To: a.To, Kind: a.Kind.String(), Weight: a.Weight, Points: make([][2]float64, len(a.Points))}
		for k, p := range a.Points {
			out.Points[k] = [2]float64{p.X, p.Y}
		}
		doc.Arcs[i] = out
	}
	text, err := json.Marshal(&doc)
	if err != nil {
		panic("web: drawing: " + err.Error()) // all its numbers are finite
	}
	return append(text, '\n')
}

// netOf returns what is shown of the net that a request is about, or answers
// that there is none.
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

func (s *Server) serveDrawing(w http.ResponseWriter, r *http.Request) {
	n := s.netOf(w, r)
	if n == nil || unchanged(w, r, `"`+n.drawing.hash+`"`) {
		return
	}
	answer(w, r, "application/json", n.drawing.text())
}

// serveOverview answers with what the last overview event said.
func (s *Server) serveOverview(w http.ResponseWriter, r *http.Request) {
	answer(w, r, "application/json", s.board.Load().text())
}

// hotAfter are the ages, in seconds, from which a place is of one class of heat
// more.
func hotAfter() [draw.MaxHeat]float64 { return [...]float64{10, 60, 600, 3600} }

// servePicture answers with the drawing as a picture, with what is there now.
func (s *Server) servePicture(w http.ResponseWriter, r *http.Request) {
	n := s.netOf(w, r)
	if n == nil {
		return
	}
	f, now := n.frame(), s.cfg.Now().UnixMicro()
	o := &draw.Overlay{Tokens: make([]uint64, len(f.places)), Heat: make([]uint8, len(f.places)),
		Rates: make([]float64, len(f.transitions)), Enabled: make([]bool, len(f.transitions))}
	for i := range f.places {
		o.Tokens[i] = f.places[i].tokens
		if n.net.IsFinal(i) {
			continue // finished work has no heat
		}
		age := ageAt(n.net.Rows.Places[i].Oldest, now)
		for _, from := range hotAfter() {
			if age >= from {
				o.Heat[i]++
			}
		}
	}
	for i := range f.transitions {
		o.Rates[i], o.Enabled[i] = float64(f.transitions[i].rate), f.transitions[i].enabled > 0
	}
	var picture bytes.Buffer
	if err := n.drawing.layout().SVG(&picture, n.drawing.def, o); err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	// A picture that is opened by itself has its own style.
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	answer(w, r, "image/svg+xml", picture.Bytes())
}
