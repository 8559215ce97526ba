// SPDX-License-Identifier: Apache-2.0

package web

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/web/api"
)

const (
	maxQuery = 200  // bytes of what is searched for
	maxFound = 1000 // matches that are collected, of which the best are returned
	maxShown = 20
)

// serveSearch answers with the places, transitions and instances of all nets whose name or id has a
// text in upper or lower case. Of the instances it knows those with the oldest tokens of a place.
func (s *Server) serveSearch(w http.ResponseWriter, r *http.Request) {
	query := strings.ToLower(r.URL.Query().Get("q"))
	if query == "" || len(query) > maxQuery {
		refuse(w, http.StatusBadRequest, fmt.Sprintf("q has %d bytes; expected 1 to %d", len(query), maxQuery))
		return
	}
	f := finder{query: query}
	for _, n := range s.board.Load().view.Present().Nets {
		f.look(n)
	}
	slices.SortStableFunc(f.found, func(a, b ranked) int { return cmp.Compare(a.rank, b.rank) })
	d := api.Matches{Matches: []api.Match{}, LeftOut: max(0, len(f.found)-maxShown)}
	for _, m := range f.found[:min(len(f.found), maxShown)] {
		d.Matches = append(d.Matches, m.Match)
	}
	answerJSON(w, &d)
}

// finder collects what a query finds.
type finder struct {
	query string
	found []ranked
}

// ranked is a match; its rank is 0 if a name begins with the query, and 1 otherwise.
type ranked struct {
	api.Match
	rank int
}

func (f *finder) look(n *merge.NetView) {
	seen := map[string]bool{}
	for i := range n.Def.Places {
		p := &n.Def.Places[i]
		f.add(n, "place", p.ID, p.Name, p.Called)
		for k := range n.Rows.Places[i].Stuck {
			if t := n.Rows.Places[i].Stuck[k].Instance; t != "" && !seen[t] {
				seen[t] = true
				f.add(n, "instance", t, "", petri.Called{})
			}
		}
	}
	for i := range n.Def.Transitions {
		t := &n.Def.Transitions[i]
		f.add(n, "transition", t.ID, t.Name, t.Called)
	}
}

// add adds what has the query in one of its names.
func (f *finder) add(n *merge.NetView, kind, id, name string, of petri.Called) {
	if len(f.found) >= maxFound {
		return
	}
	best := -1
	for _, text := range []string{of.Name, name, id, of.Kind} {
		if at := strings.Index(strings.ToLower(text), f.query); at >= 0 && (best < 0 || at < best) {
			best = at
		}
	}
	if best >= 0 {
		f.found = append(f.found, ranked{api.Match{Kind: kind, Net: n.Name, NetName: n.Def.Name, ID: id, Name: name, Called: called(of)}, min(best, 1)})
	}
}
