// SPDX-License-Identifier: Apache-2.0

package netfile

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/dmn"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/petri/textnet"
)

// readOne reads a file that is neither BPMN nor DMN; it returns nil for one that is invalid.
func readOne(r io.Reader, name, kind string, l Limits) (*File, error) {
	read := textnet.ReadLoLA
	switch kind {
	case "pnml":
		f, err := pnml.Read(r, name, l.PNML())
		if err != nil {
			return nil, err
		}
		return &File{Nets: f.Nets, Warnings: f.Warnings}, nil
	case "tina":
		read = textnet.ReadTina
	}
	n, warnings, err := read(r, name, textnet.Limits{Bytes: l.Bytes, Nodes: l.Nodes})
	if err != nil {
		return nil, err
	}
	return &File{Nets: []*petri.Net{n}, Warnings: warnings}, nil
}

// rootWithin is how far into a file its root element is looked for, in bytes.
const rootWithin = 64 << 10

// kindOf returns "bpmn", "dmn", "pnml", "tina" or "lola": by the name of a file, or else by its root
// element or, if it is not XML, its first word.
func kindOf(name string, r *bufio.Reader) string {
	ext := strings.ToLower(filepath.Ext(name))
	switch ext {
	case ".bpmn", ".bpmn2":
		return "bpmn"
	case ".dmn":
		return "dmn"
	case ".pnml":
		return "pnml"
	}
	head, _ := r.Peek(rootWithin) // a shorter file is in it completely
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	if !bytes.HasPrefix(text, []byte("<")) && bytes.IndexByte(head, 0) < 0 { // UTF-16 has zeros
		return textKind(ext, text)
	}
	return xmlKind(head)
}

// xmlKind returns "bpmn", "dmn" or "pnml": by the root element of a file.
func xmlKind(head []byte) string {
	d := xml.NewDecoder(bytes.NewReader(head))
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	for {
		token, err := d.Token()
		if err != nil {
			return "pnml"
		}
		start, ok := token.(xml.StartElement)
		switch {
		case !ok:
		case start.Name.Local != "definitions":
			return "pnml"
		case dmn.IsSpace(start.Name.Space):
			return "dmn"
		default:
			return "bpmn"
		}
	}
}

// textKind returns "tina" or "lola" for a file that is not XML, or "pnml" if it is neither.
func textKind(ext string, text []byte) string {
	switch ext {
	case ".net":
		return "tina"
	case ".lola":
		return "lola"
	}
	for {
		var comment []byte
		switch {
		case bytes.HasPrefix(text, []byte("#")), bytes.HasPrefix(text, []byte("//")):
			comment, text, _ = bytes.Cut(text, []byte("\n"))
		case bytes.HasPrefix(text, []byte("{")):
			comment, text, _ = bytes.Cut(text, []byte("}"))
		}
		text = bytes.TrimLeft(text, " \t\r\n")
		if comment == nil {
			break
		}
	}
	words := bytes.Fields(text[:min(len(text), 100)])
	switch {
	case len(words) < 2:
		return "pnml"
	case string(words[0]) == "PLACE":
		return "lola"
	case slices.Contains([]string{"net", "tr", "pl", "lb", "pr", "nt"}, string(words[0])):
		return "tina"
	}
	return "pnml"
}
