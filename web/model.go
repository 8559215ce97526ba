// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bytes"
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/bpmn"
	"github.com/pnagent/pnagent/petri/bpmn/diagram"
	"github.com/pnagent/pnagent/web/api"
)

// model is the file that a net was made from, checked. Its text is nil if it is missing.
type model struct {
	drawn api.DrawnModel
	text  []byte
}

// modelLimits bound what a file from another process costs the sidecar, and the browser
// that draws it.
func modelLimits() bpmn.Limits {
	return bpmn.Limits{Bytes: petri.MaxModelText, Depth: 100, Elements: 20_000, Nodes: 200_000}
}

// modelOf returns the model of a net, or nil. A file that is invalid counts as missing.
func modelOf(def *petri.Net) *model {
	if def.Model == nil {
		return nil
	}
	m := &model{drawn: api.DrawnModel{Kind: def.Model.Kind, Elements: []api.DrawnElement{}}}
	text, parts, err := readModel(def)
	if err != nil {
		m.drawn.Missing = cmp.Or(def.Model.Missing, "the file is not valid: "+firstLine(err.Error()))
		return m
	}
	m.text, m.drawn.Digest, m.drawn.Elements = text, def.Model.Digest(), elementsOf(def, parts)
	return m
}

// readModel returns the file, with a diagram of each process, and the parts of the net if it
// is one that pnagent would make of the file.
func readModel(def *petri.Net) ([]byte, []bpmn.Part, error) {
	text, err := def.Model.Text()
	if err != nil {
		return nil, nil, err
	}
	drawn, err := diagram.Complete(text, modelLimits())
	if err != nil {
		return nil, nil, err
	}
	if file, err := bpmn.Read(bytes.NewReader(text), "", modelLimits()); err == nil { // otherwise another engine runs it
		for i, n := range file.Nets {
			if n.ID == def.ID {
				return drawn, file.Parts[i], nil
			}
		}
	}
	return drawn, nil, nil
}

// elementsOf returns the parts with the rows of a net. Other rows are those of the element with
// which their ids begin: of processes in files that the engine has and the sidecar has not,
// and of nets that an adapter made of the file of another engine.
func elementsOf(def *petri.Net, parts []bpmn.Part) []api.DrawnElement {
	places, transitions := indices(def.Places, func(p *petri.Place) string { return p.ID }), indices(def.Transitions, func(t *petri.Transition) string { return t.ID })
	elements := make([]api.DrawnElement, len(parts))
	known, mapped := map[string]int{}, map[string]bool{}
	for i := range parts {
		p := &parts[i]
		elements[i] = api.DrawnElement{ID: p.Element, Calls: p.Calls, Places: rowsOf(places, p.Places), Transitions: rowsOf(transitions, p.Transitions),
			Tokens: rowsOf(places, p.Tokens), Fires: rowsOf(transitions, p.Fires)}
		if len(p.Calls) == 0 {
			known[p.Element] = i
		}
		for _, id := range slices.Concat(p.Places, p.Transitions) {
			mapped[id] = true
		}
	}
	of := func(id string) (e *api.DrawnElement, word string) {
		name, word := owner(id)
		i, there := known[name]
		if !there {
			i, known[name] = len(elements), len(elements)
			elements = append(elements, api.DrawnElement{ID: name, Places: []int{}, Transitions: []int{}, Tokens: []int{}, Fires: []int{}})
		}
		return &elements[i], word
	}
	for i := range def.Places {
		if id := def.Places[i].ID; !mapped[id] {
			e, word := of(id)
			e.Places = append(e.Places, i)
			if word == "" || word == "/in" || word == "/active" {
				e.Tokens = append(e.Tokens, i)
			}
		}
	}
	for i := range def.Transitions {
		if id := def.Transitions[i].ID; !mapped[id] {
			e, word := of(id)
			e.Transitions = append(e.Transitions, i)
			if word == "" {
				e.Fires = append(e.Fires, i)
			}
		}
	}
	return elements
}

// owner returns the outermost element that a place or a transition is of, by its id, and
// the rest of the id.
func owner(id string) (element, word string) {
	if i := strings.IndexAny(id, "/:"); i > 0 {
		return id[:i], id[i:]
	}
	return id, ""
}

func indices[T any](rows []T, id func(*T) string) map[string]int {
	out := make(map[string]int, len(rows))
	for i := range rows {
		out[id(&rows[i])] = i
	}
	return out
}

// rowsOf returns the rows of those ids that the net has.
func rowsOf(index map[string]int, ids []string) []int {
	out := make([]int, 0, len(ids))
	for _, id := range ids {
		if i, known := index[id]; known {
			out = append(out, i)
		}
	}
	return out
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// serveModel answers with the file that a net was made from. A browser that opens it as a
// document runs nothing of it.
func (s *Server) serveModel(w http.ResponseWriter, r *http.Request) {
	n := s.netOf(w, r)
	if n == nil {
		return
	}
	m := n.drawing.model()
	if m == nil || m.text == nil {
		refuse(w, http.StatusNotFound, "there is no file of this net")
		return
	}
	w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Disposition", `attachment; filename="model.bpmn"`)
	if !unchanged(w, r, `"`+m.drawn.Digest+`"`) {
		answer(w, "application/xml", m.text)
	}
}
