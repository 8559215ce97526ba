// SPDX-License-Identifier: Apache-2.0

package top

import (
	"strings"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/web/api"
)

// inWords makes what tokens wait for, and what blocks transitions, name the elements that authors of
// BPMN drew instead of ids, and say what a person or a message has to do. A token that waits for the element at which it is names no transition.
func inWords(v *api.View) {
	for i := range v.Nets {
		n := &v.Nets[i]
		places, transitions := map[string]*api.Called{}, map[string]*api.Called{}
		for k := range n.Places {
			places[n.Places[k].ID] = n.Places[k].Called
		}
		for k := range n.Transitions {
			transitions[n.Transitions[k].ID] = n.Transitions[k].Called
		}
		for k := range n.Places {
			p := &n.Places[k]
			for _, t := range tokensOf(p) {
				for j := range t.Waits {
					w := &t.Waits[j]
					to := transitions[w.Transition]
					w.Transition, w.Place = to.Or(w.Transition), places[w.Place].Or(w.Place)
					if to != nil && w.Reason == stats.ReasonManual.String() {
						w.Reason = strings.TrimPrefix(to.Awaits(), "waits for ")
					}
					if to != nil && p.Called != nil && *to == *p.Called {
						w.Transition = ""
					}
				}
			}
		}
		if n.Blocks != nil {
			for k := range *n.Blocks {
				b := &(*n.Blocks)[k]
				b.Place = places[b.Place].Or(b.Place)
			}
		}
	}
}

// tokensOf returns the tokens of a place of which it is known what they wait for.
func tokensOf(p *api.Place) (all []*api.Token) {
	if p.Stuck != nil {
		for i := range *p.Stuck {
			all = append(all, &(*p.Stuck)[i])
		}
	}
	if p.Reasons != nil {
		for i := range *p.Reasons {
			all = append(all, &(*p.Reasons)[i].Oldest)
		}
	}
	return all
}
