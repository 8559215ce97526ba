// SPDX-License-Identifier: Apache-2.0

package query

import (
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/explore"
)

// Result is the answer to one property.
type Result struct {
	Property *Property
	// Known is false if the visit ended before the property was decided.
	Known bool
	Holds bool  // the answer to Exists and Always
	Most  int64 // the answer to Bound; if it is not known, there are this many tokens or more
}

// Answer visits markings, as the options say, until all properties are decided. It calls
// no other Options.Each. No answer is known if several runs of a scope were taken together.
func Answer(t *petri.Tables, properties []Property, o explore.Options) ([]Result, explore.Result) {
	results := make([]Result, len(properties))
	open := 0
	for i := range properties {
		results[i] = Result{Property: &properties[i], Holds: properties[i].Kind == Always}
		open++
	}
	o.Reduce = false
	o.Each = func(m []uint32, dead bool) bool {
		for i := range results {
			if r := &results[i]; !r.Known && r.see(m, dead) {
				open--
			}
		}
		return open > 0
	}
	visit := explore.Explore(t, o)
	for i := range results {
		results[i].Known = visit.Complete || results[i].Known && visit.Together == nil
		if visit.Together != nil {
			results[i].Most = 0
		}
	}
	return results, visit
}

// see considers a marking and reports whether it decides the property.
func (r *Result) see(m []uint32, dead bool) bool {
	p := r.Property
	switch {
	case p.Kind == Bound:
		r.Most = max(r.Most, p.sum(m))
		return false
	case p.holds(m, dead) == (p.Kind == Exists): // a witness, or a counterexample
		r.Holds, r.Known = p.Kind == Exists, true
	}
	return r.Known
}
