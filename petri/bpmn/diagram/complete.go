// SPDX-License-Identifier: Apache-2.0

package diagram

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Complete returns the content from which f was read with a picture of each process that a viewer finds. If a
// flow node or a sequence flow of a process is in no diagram of the file, it adds those of [File.Layout]
// before the others; the rest remains, byte for byte. A sequence flow without an id is not in them. What is
// inside of a sub-process counts only if that is drawn expanded. The error says that the file is in UTF-16.
func (f *File) Complete(content []byte) ([]byte, error) {
	if f.covered() {
		return content, nil
	}
	if bytes.HasPrefix(content, []byte("\xff\xfe")) || bytes.HasPrefix(content, []byte("\xfe\xff")) || bytes.IndexByte(content[:min(len(content), 2)], 0) >= 0 {
		return nil, errors.New("adding a diagram to a file in UTF-16; expected UTF-8")
	}
	at, err := f.end(content)
	if err != nil {
		return nil, err
	}
	var added bytes.Buffer
	w := writer{&added, f, f.unused()}
	for _, d := range f.Layout() {
		w.write(&d)
	}
	return bytes.Join([][]byte{content[:at], added.Bytes(), content[at:]}, nil), nil
}

// drawn returns the ids of the elements in the diagrams, and id/ of those that are expanded.
func (f *File) drawn() map[string]bool {
	drawn := map[string]bool{}
	for i := range f.Diagrams {
		d := &f.Diagrams[i]
		for k := range d.Shapes {
			s := &d.Shapes[k]
			drawn[s.Element] = true
			drawn[s.Element+"/"] = drawn[s.Element+"/"] || s.Expanded
		}
		for k := range d.Edges {
			drawn[d.Edges[k].Element] = true
		}
	}
	return drawn
}

// covered reports whether each flow node and sequence flow of the processes is drawn.
func (f *File) covered() bool {
	drawn := f.drawn()
	return !slices.ContainsFunc(f.root.Kids, func(k *elem) bool { return named(k, modelSpace, "process") && !f.coveredIn(k, drawn) })
}

func (f *File) coveredIn(e *elem, drawn map[string]bool) bool {
	nodes := map[string]bool{}
	for _, k := range e.Kids {
		id := k.Attr("id")
		if k.Name.Space != modelSpace || !isNode(k.Name.Local) || !f.first(k) {
			continue
		}
		nodes[id] = true
		if !drawn[id] || drawn[id+"/"] && !f.coveredIn(k, drawn) {
			return false
		}
	}
	return !slices.ContainsFunc(e.Kids, func(k *elem) bool {
		return named(k, modelSpace, "sequenceFlow") && f.first(k) && nodes[ref(k, "sourceRef")] && nodes[ref(k, "targetRef")] && !drawn[k.Attr("id")]
	})
}

// end returns where diagrams are added: before the first one, or before the end of the root.
func (f *File) end(content []byte) (int64, error) {
	d := xml.NewDecoder(masked{bytes.NewReader(content)})
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	for depth := 0; ; {
		at := d.InputOffset()
		tok, err := d.Token()
		if err != nil {
			return 0, fmt.Errorf("finding the end of the file: %w", err)
		}
		switch t := tok.(type) {
		case xml.StartElement:
			if depth++; depth == 2 && t.Name.Space == diagramSpace {
				return at, nil
			}
		case xml.EndElement:
			if depth--; depth == 0 {
				return at, nil
			}
		}
	}
}

// masked reads bytes, and "_" for each that is not ASCII, so that the positions of tags are
// those in the file, in any encoding that extends ASCII.
type masked struct{ io.Reader }

func (m masked) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	for i, b := range p[:n] {
		if b >= 0x80 {
			p[i] = '_'
		}
	}
	return n, err //nolint:wrapcheck // io.EOF must stay as it is
}

// unused returns the beginning of ids that no element of the file has.
func (f *File) unused() string {
	for n := 1; ; n++ {
		if prefix := fmt.Sprintf("layout%d_", n); !uses(f.root, prefix) {
			return prefix
		}
	}
}

func uses(e *elem, prefix string) bool {
	return strings.HasPrefix(e.Attr("id"), prefix) || slices.ContainsFunc(e.Kids, func(k *elem) bool { return uses(k, prefix) })
}

// writer writes diagrams as BPMN has them.
type writer struct {
	*bytes.Buffer
	*File
	prefix string
}

func (w writer) write(d *Diagram) {
	fmt.Fprintf(w, "<bpmndi:BPMNDiagram xmlns:bpmndi=\"%s\" xmlns:dc=\"%s\" xmlns:di=\"%s\" id=\"%s\">\n", diagramSpace, dcSpace, diSpace, w.id("diagram_"+d.Plane))
	fmt.Fprintf(w, "<bpmndi:BPMNPlane id=\"%s\" bpmnElement=\"%s\">\n", w.id("plane_"+d.Plane), ascii(d.Plane))
	for i := range d.Shapes {
		w.writeShape(&d.Shapes[i])
	}
	for i := range d.Edges {
		g := &d.Edges[i]
		if w.byID[g.Element] == nil { // a flow without an id, to which no edge can refer
			continue
		}
		fmt.Fprintf(w, "<bpmndi:BPMNEdge id=\"%s\" bpmnElement=\"%s\">", w.id(g.Element), ascii(g.Element))
		for _, p := range g.Points {
			fmt.Fprintf(w, "<di:waypoint x=\"%s\" y=\"%s\"/>", decimal(p.X), decimal(p.Y))
		}
		w.label(g.Label)
		w.put("</bpmndi:BPMNEdge>\n")
	}
	w.put("</bpmndi:BPMNPlane>\n</bpmndi:BPMNDiagram>\n")
}

func (w writer) put(s string) { w.WriteString(s) }

func (w writer) writeShape(s *Shape) {
	fmt.Fprintf(w, "<bpmndi:BPMNShape id=\"%s\" bpmnElement=\"%s\"", w.id(s.Element), ascii(s.Element))
	switch {
	case s.Kind == "participant", s.Kind == "lane":
		w.put(" isHorizontal=\"true\"")
	case isSub(s.Kind):
		fmt.Fprintf(w, " isExpanded=\"%t\"", s.Expanded)
	case s.Marker:
		w.put(" isMarkerVisible=\"true\"")
	}
	w.put(">")
	w.bounds(&s.Bounds)
	w.label(s.Label)
	w.put("</bpmndi:BPMNShape>\n")
}

func (w writer) bounds(b *Bounds) {
	fmt.Fprintf(w, "<dc:Bounds x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"/>", decimal(b.X), decimal(b.Y), decimal(b.W), decimal(b.H))
}

func (w writer) label(b *Bounds) {
	if b != nil {
		w.put("<bpmndi:BPMNLabel>")
		w.bounds(b)
		w.put("</bpmndi:BPMNLabel>")
	}
}

func (w writer) id(s string) string { return w.prefix + ascii(s) }

// ascii returns a text for an attribute, in ASCII: it is right in each encoding of the file.
func ascii(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < 0x20 || r > 0x7e || strings.ContainsRune(`<>&"'`, r) {
			b.WriteString("&#" + strconv.Itoa(int(r)) + ";")
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// decimal formats a coordinate with at most one decimal.
func decimal(x float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(x+0, 'f', 1, 64), ".0")
}
