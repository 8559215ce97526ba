// SPDX-License-Identifier: Apache-2.0

package diagram

import (
	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/stats"
)

// Row is an activity instance that started or ended.
type Row struct {
	ID       string
	At       int64
	Node     string
	Micros   int64 // dwell time of one that ended
	Canceled bool  // of one that ended
}

// Started counts an arrival. A node without a place has none.
func (n *Process) Started(r *Row) {
	if n.scope[r.Node] || n.Knows(r.Node) && n.placeOf(r.Node) < 0 {
		return
	}
	if i := n.at(r.Node); i >= 0 {
		n.Arrive(i, r.At)
	}
}

// Ended counts a departure, and a firing if the activity was not canceled.
func (n *Process) Ended(r *Row) {
	i := n.placeOf(r.Node)
	if !n.Knows(r.Node) {
		i = n.at(r.Node)
	}
	j := n.fires(r.Node)
	if i >= 0 && !n.scope[r.Node] {
		n.Depart(i, r.Micros)
	}
	if j >= 0 && !r.Canceled {
		n.Fire(j, r.At)
	}
}

// missing sets how many tokens each gateway lacks that waits for several flows: of
// the tokens of an instance that are together in its place.
func (p *presence) missing() {
	type spot struct {
		instance string
		place    int
	}
	together := map[spot]int{}
	for i := range p.joins {
		together[spot{p.tokens[i].Instance, p.tokens[i].Place}]++
	}
	for i, flows := range p.joins {
		t := &p.tokens[i]
		for k := range t.Waits {
			if w := &t.Waits[k]; w.Reason == stats.ReasonMissing {
				w.Count = uint32(max(flows-together[spot{t.Instance, t.Place}], 0))
			}
		}
	}
}

// presence are the tokens of a net that were added since Begin. Events after an
// event gateway may have one row each; those of an instance, one of each event, are
// one token.
type presence struct {
	tokens []ledger.Token
	rows   map[[2]string]int // by instance and event
	at     map[gatewayKey]int
	joins  map[int]int // tokens at a gateway that waits for several flows: how many
	due    []ledger.Due
}

// gatewayKey is the count-th token of an instance at an event gateway.
type gatewayKey struct {
	instance, gateway string
	count             int
}

// Begin begins a list of all tokens that are open now.
func (n *Process) Begin() {
	n.presence = presence{rows: map[[2]string]int{}, at: map[gatewayKey]int{}, joins: map[int]int{}}
}

// Add adds a token at a node to the list. version is the net of the version that the token
// is of, alone: it says how many flows a gateway waits for. Add sets the token's place and
// waits. It returns false if there is no room for the place.
func (n *Process) Add(version *Process, node string, t ledger.Token, whys []Why) bool {
	n.learn(node)
	flows, join := version.joins[node]
	t.Waits = n.waits(node, whys, join)
	p := &n.presence
	if gateway, chosen := n.chosen[node]; chosen {
		row := [2]string{t.Instance, node}
		key := gatewayKey{t.Instance, gateway, p.rows[row]}
		p.rows[row]++
		if i, again := p.at[key]; again {
			p.tokens[i].Waits = append(p.tokens[i].Waits, t.Waits...)
			return true
		}
		p.at[key], node = len(p.tokens), gateway
	}
	if t.Place = n.at(node); t.Place < 0 {
		return false
	}
	if join {
		p.joins[len(p.tokens)] = flows
	}
	p.tokens = append(p.tokens, t)
	return true
}

// learn adds a node that no version of the model has.
func (n *Process) learn(node string) {
	if !n.Knows(node) && n.at(node) >= 0 && n.fires(node) >= 0 {
		n.takes(node, node)
	}
}

// Due adds when a node is to run next, and did last; 0 for not known. It returns false if there is no room
// for its transition.
func (n *Process) Due(node string, next, last int64) bool {
	n.learn(node)
	j := n.fires(node)
	if j >= 0 {
		n.presence.due = append(n.presence.due, ledger.Due{Transition: j, Next: next, Last: last})
	}
	return j >= 0
}

// End replaces the tokens and schedules of the ledger by those of the list.
func (n *Process) End() {
	n.presence.missing()
	n.Present(n.presence.tokens)
	n.Schedule(n.presence.due)
	n.presence = presence{}
}
