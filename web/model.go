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
	var read []*diagram.File
	if err == nil {
		read, m.files, err = withDiagrams(texts)
	}
	if err != nil {
		m.drawn.Missing = cmp.Or(def.Model.Missing, "the file is not valid: "+firstLine(err.Error()))
		return m
	}
	m.drawn.Digest, m.drawn.Files, m.drawn.Elements = def.Model.Digest(), len(texts), elementsOf(def, read)
	m.drawn.File = max(0, slices.IndexFunc(read, func(f *diagram.File) bool { return f.Has(def.ID) }))
	return m
}

// withDiagrams returns files as they were read, and with a diagram of each process.
func withDiagrams(texts [][]byte) (read []*diagram.File, files [][]byte, err error) {
	if len(texts) > maxModelFiles {
		return nil, nil, fmt.Errorf("%d files; expected at most %d", len(texts), maxModelFiles)
	}
	read, files = make([]*diagram.File, len(texts)), make([][]byte, len(texts))
	for i, text := range texts {
		read[i], err = diagram.Read(bytes.NewReader(text), "", modelLimits())
		if err != nil {
			return nil, nil, err
		}
		files[i], err = read[i].Complete(text)
		if err != nil {
			return nil, nil, err
		}
	}
	return read, files, nil
}

// elementsOf returns the elements of the files that rows of a net are of.
func elementsOf(def *petri.Net, files []*diagram.File) []api.DrawnElement {
	x := elements{files: files, known: map[string]int{}, list: []api.DrawnElement{}}
	for i := range def.Places {
		p := &def.Places[i]
		e, _ := x.of(p.ID)
		e.Places = append(e.Places, i)
		if at := p.Shown(); at != "" {
			if e, drawn := x.of(at); drawn {
				e.Tokens = append(e.Tokens, i)
			}
		}
	}
	for i := range def.Transitions {
		t := &def.Transitions[i]
		e, drawn := x.of(t.ID)
		e.Transitions = append(e.Transitions, i)
		if drawn && t.Role == petri.RoleWork {
			e.Fires = append(e.Fires, i)
		}
	}
	return x.list
}

// elements are the elements of a net while they are collected.
type elements struct {
	files []*diagram.File
	list  []api.DrawnElement
	known map[string]int // by the calls and the id
}

// of returns the element of which a row with an id is. drawn is false if that is in a called
// process whose file is missing: the element is then the outermost call.
func (x *elements) of(id string) (e *api.DrawnElement, drawn bool) {
	calls, element := petri.ElementOf(id)
	drawn = len(calls) == 0 || slices.ContainsFunc(x.files, func(f *diagram.File) bool { return f.Has(element) })
	if !drawn {
		calls, element = nil, calls[0]
	}
	key := strings.Join(append(slices.Clone(calls), element), "\n")
	i, known := x.known[key]
	if !known {
		i, x.known[key] = len(x.list), len(x.list)
		x.list = append(x.list, api.DrawnElement{ID: element, Calls: calls, Places: []int{}, Transitions: []int{}, Tokens: []int{}, Fires: []int{}})
	}
	return &x.list[i], drawn
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// serveModel answers with a file that a net was made from. A browser that opens it as a
// document runs nothing of it.
func (s *Server) serveModel(w http.ResponseWriter, r *http.Request, n *netBoard) {
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
