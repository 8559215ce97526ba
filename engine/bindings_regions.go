// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"maps"
	"slices"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/split"
	"github.com/pnagent/pnagent/petri/yamlfile"
)

// regions specify which transitions are played together.
type regions struct {
	of     map[string]regionOf // by transition id
	merge  [][]string
	merged []regionOf // all names in merge
}

type regionOf struct {
	name string
	node yamlfile.Node // of the transition's id, or of the name
}

func (r *regions) read(value yamlfile.Node) error {
	r.of = map[string]regionOf{}
	return value.Each("a mapping from region names to lists of transition ids", func(key yamlfile.Key, value yamlfile.Node) error {
		ids, ok := value.List()
		if !ok || len(ids) == 0 || key.Name == "" {
			return value.Expected("a list of transition ids, of a region with a name")
		}
		for _, node := range ids {
			id, ok := node.Scalar()
			if !ok {
				return node.Expected("a transition id")
			}
			if other, dup := r.of[id]; dup {
				return node.Fault("transition %q is in region %q and in %q; expected one of them", id, other.name, key.Name)
			}
			r.of[id] = regionOf{key.Name, node}
		}
		return nil
	})
}

func (r *regions) readMerge(value yamlfile.Node) error {
	groups, ok := value.List()
	if !ok {
		return value.Expected("a list of lists of region names")
	}
	for _, g := range groups {
		names, ok := g.List()
		if !ok || len(names) < 2 {
			return g.Expected("a list of two or more region names")
		}
		var group []string
		for _, n := range names {
			name, ok := n.Scalar()
			if !ok {
				return n.Expected("a region name")
			}
			group = append(group, name)
			r.merged = append(r.merged, regionOf{name, n})
		}
		r.merge = append(r.merge, group)
	}
	return nil
}

// Split returns the regions into which the bindings cut a net, for different
// processes to play: see split.Split. Transitions that they do not name join
// those with which they share places. Faults are those of split.Split, and
// unknown transitions and regions. b may be nil.
func (b *Bindings) Split(t *petri.Tables) (*split.Plan, error) {
	var r regions
	if b != nil {
		r = b.nets[t.Net.ID].regions
	}
	var faults []error
	for id, of := range r.of {
		if _, ok := t.TransitionIndex(id); !ok {
			faults = append(faults, of.node.Fault("region %q: net %q has no transition %q", of.name, t.Net.ID, id))
		}
	}
	names := []string{split.Main}
	for _, id := range slices.Sorted(maps.Keys(r.of)) {
		if name := r.of[id].name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, m := range r.merged {
		if !slices.Contains(names, m.name) {
			faults = append(faults, m.node.Fault("region %q is merged with others, but no transition is in it; expected one of %q", m.name, names))
		}
	}
	if len(faults) > 0 {
		slices.SortFunc(faults, byPosition)
		return nil, errors.Join(faults...)
	}
	return split.Split(t, func(id string) string { return r.of[id].name }, r.merge)
}
