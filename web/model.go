// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/bpmn"
	"github.com/pnagent/pnagent/petri/bpmn/diagram"
	"github.com/pnagent/pnagent/web/api"
)

// model is the files that a net was made from, checked. It has none if they are missing.
type model struct {
	drawn api.DrawnModel
	files [][]byte
}

// maxModelFiles is how many files a model may have: a file and those with processes that it calls.
const maxModelFiles = 100

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
	texts, err := def.Model.Texts()
	if err == nil {
		m.files, err = withDiagrams(texts)
	}
	if err != nil {
		m.drawn.Missing = cmp.Or(def.Model.Missing, "the file is not valid: "+firstLine(err.Error()))
		return m
	}
	file, parts := partsOf(def, texts)
	m.drawn.Digest, m.drawn.Files, m.drawn.File, m.drawn.Elements = def.Model.Digest(), len(texts), file, elementsOf(def, parts)
	return m
}

// withDiagrams returns files with a diagram of each process.
func withDiagrams(texts [][]byte) ([][]byte, error) {
	if len(texts) > maxModelFiles {
		return nil, fmt.Errorf("%d files; expected at most %d", len(texts), maxModelFiles)
	}
	files := make([][]byte, len(texts))
	for i, text := range texts {
		var err error
		if files[i], err = diagram.Complete(text, modelLimits()); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// partsOf returns in which of its files a net is, and its parts, if pnagent would make it of
// the files. Otherwise another engine runs the first file.
func partsOf(def *petri.Net, texts [][]byte) (file int, parts []bpmn.Part) {
	sources := make([]bpmn.Source, len(texts))
	for i, text := range texts {
		sources[i].Reader = bytes.NewReader(text)
	}
	files, err := bpmn.ReadAll(sources, modelLimits())
	if err != nil {
		return 0, nil
	}
	for i, f := range files {
		for k, n := range f.Nets {
			if n.ID == def.ID {
				return i, f.Parts[k]
			}
		}
	}
	return 0, nil
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

// serveModel answers with a file that a net was made from. A browser that opens it as a
// document runs nothing of it.
func (s *Server) serveModel(w http.ResponseWriter, r *http.Request) {
	n := s.netOf(w, r)
	if n == nil {
		return
	}
	m := n.drawing.model()
	if m == nil || m.files == nil {
		refuse(w, http.StatusNotFound, "there is no file of this net")
		return
	}
	file, etag := m.drawn.File, m.drawn.Digest
	if text := r.URL.Query().Get("file"); text != "" {
		i, err := strconv.Atoi(text)
		if err != nil || i < 0 || i >= len(m.files) {
			refuse(w, http.StatusBadRequest, fmt.Sprintf("file=%q; expected a number from 0 to %d", text, len(m.files)-1))
			return
		}
		file, etag = i, fmt.Sprintf("%s-%d", m.drawn.Digest, i)
	}
	w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Disposition", `attachment; filename="model.bpmn"`)
	if !unchanged(w, r, `"`+etag+`"`) {
		answer(w, "application/xml", m.files[file])
	}
}
