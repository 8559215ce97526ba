// SPDX-License-Identifier: Apache-2.0

package query

import (
	"cmp"
	"io"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// Kind is the kind of a property.
type Kind uint8

// The kinds.
const (
	Exists Kind = iota // a marking that can be reached satisfies the formula
	Always             // every marking that can be reached satisfies it
	Bound              // the most tokens in some places together
)

// Property is one property of a file.
type Property struct {
	ID   string
	Kind Kind

	holds formula
	sum   term // of Bound
}

// Limits bound a file. A field that is not positive means its default: 64 MiB, tokens
// of 1 MiB and a depth of 200.
type Limits = xmlscan.Limits

func orDefault(l Limits) Limits {
	return Limits{Bytes: cmp.Or(max(l.Bytes, 0), 64<<20), Token: cmp.Or(max(l.Token, 0), 1<<20), Depth: cmp.Or(max(l.Depth, 0), 200)}
}

// Read reads the properties of a file for a net. The file's name is used in messages
// only. The error joins all faults, each a *petri.Fault with its position.
func Read(r io.Reader, file string, t *petri.Tables, lim Limits) ([]Property, error) {
	s := xmlscan.New(r, file, orDefault(lim))
	tree := &xmlscan.Tree{Scanner: s, Count: func() error { return nil }} // the bytes are bounded
	root, err := tree.Root(func(n xmlscan.Name) bool { return n.Local == "property-set" }, "<property-set>")
	c := compiler{tables: t, faults: xmlscan.Faults{File: file}}
	if err == nil {
		c.file(root)
	}
	if err := c.faults.Join(err); err != nil {
		return nil, err
	}
	return c.properties, nil
}
