// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"strings"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// Places and transitions have the ids of elements, and those ids with "/" and a word behind them or
// ":" and an id inside of a call. So an id of the file must not look like that of another element.

// unused returns an id that no element has, and takes it for x: the text, or that with a number behind it.
func (d *document) unused(text string, x named) string {
	id := text
	for k := 2; ; k++ {
		if _, taken := d.ids[id]; !taken {
			d.ids[id] = x
			return id
		}
		id = text + "-" + itoa(k)
	}
}

// nameNodes gives ids to the flow nodes of a scope that have none: BPMN requires none where no
// sequence flow leads.
func (d *document) nameNodes(s *scope) {
	for _, n := range s.nodes {
		if n.id == "" {
			n.id = d.unused(n.kind, named{pos: n.pos, in: s, node: n})
			d.Warnings.Add(n.pos, xmlscan.Tag(n.kind)+" has no id; it is called "+xmlscan.Quote(n.id))
		}
		if n.inner != nil {
			n.inner.id = n.id
			d.nameNodes(n.inner)
		}
	}
}

// separate renames the nodes and flows of a scope whose ids begin with that of another element, and
// "/" or ":".
func (d *document) separate(s *scope) {
	if s.call != nil { // choice made all of it
		return
	}
	for _, n := range s.nodes {
		n.id = d.apart(n.id, n.pos)
		if n.inner != nil {
			n.inner.id = n.id
			d.separate(n.inner)
		}
	}
	for _, f := range s.flows {
		f.id = d.apart(f.id, f.pos)
	}
}

// apart returns the id of an element of the file, or another one that is apart from the others.
func (d *document) apart(id string, pos petri.Pos) string {
	if strings.IndexByte(id, '/') < 0 && strings.IndexByte(id, ':') < 0 {
		return id
	}
	for end := strings.LastIndexAny(id, "/:"); end > 0; end = strings.LastIndexAny(id[:end], "/:") {
		if _, taken := d.ids[id[:end]]; taken {
			other := d.unused(strings.NewReplacer("/", "%2F", ":", "%3A").Replace(id), named{pos: pos})
			if at, drawn := d.drawn.at[id]; drawn {
				d.drawn.at[other] = at
			}
			d.Warnings.Add(pos, "the id "+xmlscan.Quote(id)+" begins with that of another element; its places and transitions are called "+xmlscan.Quote(other))
			return other
		}
	}
	return id
}
