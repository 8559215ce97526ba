// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/pnagent/pnagent/attach/internal/diagram"
	"github.com/pnagent/pnagent/telemetry"
)

// listEvery is the time between two readings of the list of definitions, in
// microseconds. A definition that a row names is looked up at once.
const listEvery = 60_000_000

const (
	maxDefinitions = 100_000
	maxModels      = 100 // in one poll, of nets that know the nodes already
)

// definition is one version of a process.
type definition struct {
	id, key, net, name string // net is the key, or key and version
	version            int64
	used               int64 // the last poll in which a row named it
	unfit              bool  // that its model cannot be used was logged

	// What is read when a row names it first.
	model  *diagram.Process // of this version alone; nil if it was not read
	delays map[string]int64 // microseconds between tries, by task
}

// after reports whether a definition is a later version than another one.
func (d *definition) after(o *definition) bool {
	return cmp.Or(cmp.Compare(d.version, o.version), cmp.Compare(d.id, o.id)) > 0
}

// errVanished is returned if the database has no definition any more. An engine keeps those
// that it stores a model of, so the rows are hidden, or of another schema or database.
var errVanished = errors.New("the database has none of the definitions that it had")

// readDefinitions reads the list of definitions. It forgets those that are not listed,
// and the models of others, if no row named them since the last list and the last tokens.
func (s *Adapter) readDefinitions(ctx context.Context) error {
	s.reread = true
	listed := map[string]*definition{}
	err := s.each(ctx, "definitions", nil, func(row []any) error {
		id := asText(row[0])
		if len(listed) == maxDefinitions {
			s.Drop("definition")
			return nil
		}
		d := s.definitions[id]
		if d == nil {
			d = &definition{id: id, key: asText(row[1]), net: asText(row[1]), version: asNumber(row[2]), name: asText(row[3])}
			if s.cfg.ByVersion {
				d.net += ":" + strconv.FormatInt(d.version, 10)
			}
		}
		listed[id] = d
		return nil
	})
	if err != nil {
		return err
	}
	if len(listed) == 0 && len(s.definitions) > 0 && s.cfg.Mapping.queries["model"] != nil {
		return fmt.Errorf("query definitions: %w, of %d", errVanished, len(s.definitions))
	}
	since := min(s.listedAt, s.presenceAt)
	for id, d := range s.definitions {
		if d.used < since {
			d.model, d.delays = nil, nil
		} else {
			listed[id] = d
		}
	}
	s.definitions = listed
	return nil
}

// list reads the list of definitions, and makes a net of the newest version of each
// key. Others get one when a row names them.
func (s *Adapter) list(ctx context.Context) error {
	if err := s.readDefinitions(ctx); err != nil {
		return err
	}
	newest := map[string]*definition{}
	for _, d := range s.definitions {
		if of := newest[d.key]; of == nil || d.after(of) {
			newest[d.key] = d
		}
	}
	for _, key := range slices.Sorted(maps.Keys(newest)) {
		if _, err := s.ledger(ctx, newest[key].net); err != nil {
			return err
		}
	}
	return nil
}

// ledger returns the ledger of a net, and makes it. It returns nil for one that is
// not wanted, or cannot have one; a refusal is counted once.
func (s *Adapter) ledger(ctx context.Context, net string) (*diagram.Process, error) {
	if n, known := s.nets[net]; known {
		return n, nil
	}
	d := s.newest(net)
	var n *diagram.Process
	switch {
	case len(s.cfg.Nets) > 0 && !slices.Contains(s.cfg.Nets, d.key):
	case len(s.nets) >= maxNets || telemetry.CheckName(net) != nil:
		s.Drop("net")
	default:
		if err := s.readModel(ctx, d); err != nil {
			return nil, err
		}
		n = d.model
		s.Add(n.Ledger)
	}
	s.nets[net] = n
	return n, nil
}

// newest returns the newest version of a net.
func (s *Adapter) newest(net string) *definition {
	var out *definition
	for _, d := range s.definitions {
		if d.net == net && (out == nil || d.after(out)) {
			out = d
		}
	}
	return out
}

// net returns the definition that a row names, and the net of it. If the definition is new,
// it reads the list of definitions, once in a poll. It reads the model when a row names the
// definition first; tasks again if the net lacks the node, because those of a definition may
// change. The net is nil for a definition that is not listed or not wanted, or if there is
// no room.
func (s *Adapter) net(ctx context.Context, id, node string) (*definition, *diagram.Process, error) {
	if s.definitions[id] == nil && !s.reread {
		if err := s.readDefinitions(ctx); err != nil {
			return nil, nil, err
		}
	}
	d := s.definitions[id]
	if d == nil {
		s.Drop("definition")
		return nil, nil, nil
	}
	d.used = s.at
	n, err := s.ledger(ctx, d.net)
	if n == nil || err != nil {
		return d, nil, err
	}
	unknown := node != "" && !n.Knows(node)
	again := unknown && s.cfg.Mapping.queries["tasks"] != nil
	if unknown && d.model == nil || (again || d.model == nil) && s.models < maxModels {
		s.models++
		if err := s.readModel(ctx, d); err != nil {
			return nil, nil, err
		}
		n.Merge(d.model)
		if d == s.newest(d.net) {
			n.Show(d.model)
		}
	}
	return d, n, nil
}

// readModel reads the model of a definition. One that cannot be used is logged; its nodes
// are added as rows name them.
func (s *Adapter) readModel(ctx context.Context, d *definition) error {
	read := s.readDiagram
	if s.cfg.Mapping.queries["tasks"] != nil {
		read = s.readTasks
	}
	l, unfit, err := read(ctx, d)
	if err != nil {
		return err
	}
	d.model = l
	l.Def.ID = d.net
	l.SetColumns(s.columns)
	if unfit != nil && !d.unfit {
		d.unfit = true
		s.cfg.Log.Warn("the model cannot be used; places are added as rows name them", "net", d.net, "definition", d.id, "err", unfit)
	}
	return nil
}
