// SPDX-License-Identifier: Apache-2.0

package pnml

import (
	"bytes"
	"errors"
	"io"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// File is the content of a PNML file. No two of its nets have the same id.
type File struct {
	Nets     []*petri.Net  // in the order of the file; may be none
	Warnings []petri.Fault // what was ignored, or where the reading may be unexpected, in the order of the file
}

// Read reads the nets of a PNML file, whose name is used in messages only. It
// returns all nets or none. Each net passes [petri.Net.Validate].
//
// The error joins all faults, each a *petri.Fault, in the order of the file. If
// reading ended early, the last fault is the reason: XML that is not well-formed,
// a root element other than <pnml>, a limit ([ErrLimit] is in its chain), or an
// error of r (which is in its chain).
func Read(r io.Reader, file string, lim Limits) (*File, error) {
	d := &document{
		scanner: newScanner(r, file, lim),
		found:   xmlscan.Faults{File: file},
		netIDs:  make(map[string]petri.Pos),
	}
	fatal := d.read()
	if err := d.found.Join(fatal); err != nil {
		return nil, err
	}
	if len(d.nets) == 0 {
		d.Warnings.Add(d.root, "no net in the file")
	}
	return &File{Nets: d.nets, Warnings: d.Warnings.Faults()}, nil
}

// document reads one file.
type document struct {
	*scanner
	found  xmlscan.Faults
	root   petri.Pos // of the root element, once it is read
	nets   []*petri.Net
	netIDs map[string]petri.Pos
	opened int // nets so far, counted against Limits.Nets
	nodes  int // counted against Limits.Nodes
}

func (d *document) read() error {
	for {
		kind, err := d.Next()
		if errors.Is(err, io.EOF) {
			if d.root.Line == 0 {
				return d.Fatal(d.At, "the file has no root element; expected an XML document with the root <pnml>")
			}
			return nil
		}
		if err != nil {
			return err
		}
		switch kind {
		case xmlscan.StartTag:
			err = d.rootElement()
		case xmlscan.CharData:
			if out := bytes.TrimLeft(d.Data, xmlscan.Space); len(out) > 0 {
				err = d.Fatal(xmlscan.After(d.At, d.Data[:len(d.Data)-len(out)]),
					"the text %s outside any element; expected an XML document with the root <pnml>", xmlscan.Quote(string(out)))
			}
		}
		if err != nil {
			return err
		}
	}
}

func (d *document) rootElement() error {
	if d.root.Line > 0 {
		return d.Fatal(d.At, "a second root element %s; expected the end of the file", xmlscan.Tag(d.Name.Local))
	}
	if d.Name.Local != "pnml" {
		return d.Fatal(d.At, "the root element is %s; expected <pnml>", xmlscan.Tag(d.Name.Local))
	}
	d.root = d.At
	e := element{name: d.Name.Local, space: d.Name.Space, attrs: d.Attrs, pos: d.At}
	return d.each(&e, elements, func(c *element) error {
		switch c.name {
		case "net":
			return d.net(c)
		case "toolspecific":
			return d.Skip()
		case "shared-place", "shared-transition":
			d.found.Add(c.pos, "%s joins several nets into one; expected nets without shared nodes", xmlscan.Tag(c.name))
			return d.Skip()
		}
		return d.ignore(c)
	})
}

// countNode counts a node of a net against the limit.
func (d *document) countNode() error {
	if d.nodes++; d.nodes > d.lim.Nodes {
		return d.Limit("places, transitions, arcs and references", int64(d.lim.Nodes))
	}
	return nil
}
