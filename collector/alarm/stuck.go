// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"fmt"
	"math"
	"slices"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// reasonSet is a set of reasons.
type reasonSet uint32

func (s reasonSet) with(r stats.Reason) reasonSet { return s | 1<<r }

func (s reasonSet) has(r stats.Reason) bool { return s>>r&1 != 0 }

// part is what a rule judges of the tokens of a place: all of them, those of one reason, or those
// whose reason no other rule selects.
type part struct {
	since  int64        // since when the first of them counts: its injection, or when it was due; 0 for none
	tokens uint64       // an upper limit of how many they are
	token  *stats.Token // the first, or nil if it is not known which it is
	// untold is when the oldest of those was injected of which it is not known why they wait, so that
	// they may belong to the part; 0 for none.
	untold int64
}

// consider adds tokens to the part, of which the first counts since a time.
func (p *part) consider(since int64, tokens uint64, t *stats.Token) {
	p.tokens = stats.Sum(p.tokens, tokens)
	if since != 0 && (p.since == 0 || since < p.since) {
		p.since, p.token = since, t
	}
}

// partOf returns what a rule judges of a place.
func partOf(row *stats.Place, rule *Rule, others reasonSet) (p part) {
	var first *stats.Token
	if len(row.Stuck) > 0 {
		first = &row.Stuck[0]
	}
	if rule.Reason == stats.ReasonUnknown && others == 0 && !rule.Due {
		p.consider(row.Oldest, row.Tokens, first)
		return p
	}
	grouped, oldest := uint64(0), int64(0)
	for i := range row.Groups {
		g := &row.Groups[i]
		grouped, oldest = stats.Sum(grouped, g.Tokens), stats.Earlier(oldest, g.Oldest.Injected)
		if rule.Reason != g.Reason && (rule.Reason != stats.ReasonUnknown || others.has(g.Reason)) {
			continue
		}
		since := g.Oldest.Injected
		if rule.Due {
			since = g.Due
		}
		token := &g.Oldest
		if rule.Due && token.Due() != since {
			token = nil // another one was due first
		}
		p.consider(since, g.Tokens, token)
	}
	if row.Tokens <= grouped && (grouped > 0 || row.Oldest == 0) {
		return p
	}
	untold, token := row.Oldest, first
	if oldest != 0 && oldest <= untold { // it is another one, which is known if it is among the oldest
		untold, token = untoldAmong(row.Stuck)
	}
	if rule.Reason != stats.ReasonUnknown {
		p.untold = untold
		return p
	}
	p.consider(untold, max(row.Tokens, grouped)-grouped, token)
	return p
}

// untoldAmong returns the oldest of some tokens of which it is not known why they wait, and when it
// was injected; 0 for none.
func untoldAmong(tokens []stats.Token) (int64, *stats.Token) {
	for i := range tokens {
		if stats.Foremost(tokens[i].Waits).Reason == stats.ReasonUnknown {
			return tokens[i].Injected, &tokens[i]
		}
	}
	return 0, nil
}

// placesToJudge returns the places of a net with their rules, and the ids of those in which tokens may
// stay. share returns a rule in memory that equal ones share.
func (m *Machine) placesToJudge(n *merge.NetView, rules *netRules, share func(Rule) *Rule) (places []candidate, resting []string) {
	for i := range n.Def.Places {
		id := n.Def.Places[i].ID
		all := rules.stuck(id)
		if m.rules.base[TokenStuck].On && !all[0].On {
			resting = append(resting, id)
		}
		first := len(places)
		for _, r := range all {
			r.On = r.On && !n.IsFinal(i) && n.Work(i) // tokens stay there, or are counted where the instance waits
			places = append(places, candidate{at: i, id: id, rule: share(r)})
		}
		for _, r := range all[1:] {
			places[first].others = places[first].others.with(r.Reason)
		}
	}
	return places, resting
}

func (w *netWatch) stuck(m *Machine, s *subject, n *merge.NetView) {
	row, selects := &n.Rows.Places[s.at], s.rule.Reason
	known := w.columns.Has(stats.ColOldest)
	after := s.rule.After.Microseconds()
	p := partOf(row, s.rule, s.others)
	wrong := s.rule.On && known && p.since != 0 && m.now-p.since > after
	if !wrong && known {
		m.wakeForStuck(s, p.since, false)
	}
	if !wrong && s.idle() {
		return
	}
	f := finding{wrong: wrong, since: p.since, unknown: reported(known), trace: w.traces.places[s.at]}
	if known && p.untold != 0 && m.now-p.untold > max(after, stats.BlockedAfter) {
		f.unknown = untoldReason
	}
	if wrong {
		aged := selects == stats.ReasonUnknown && !s.rule.Due && w.columns.Has(stats.ColAges) // the ladder counts them by age
		f.affected = max(1, p.tokens)
		if aged {
			f.affected = max(1, min(p.tokens, row.Ages.InjectedBefore(m.now-after)))
		}
		f.elsewhere = f.trace.stuckElsewhere(row, w.columns, m.now-after)
		if selects != stats.ReasonUnknown {
			f.elsewhere = f.trace.tokensElsewhere(row.Tokens)
		}
		m.wakeForStuck(s, 0, aged && f.affected < min(p.tokens, row.Ages.InjectedBefore(math.MaxInt64)))
		f.why = whyOf(w.def, p.token)
	}
	about := &w.def.Places[s.at]
	m.judge(&s.watch, key{TokenStuck, w.name, about.ID, selects}, s.rule, f, func(since int64, wrong bool) string {
		if wrong {
			return fmt.Sprintf("tokens in %s of %s%s%s: %d, the %s since %s", about.Words(), w.def.Words(), selectsText(selects), s.rule.overText(), f.affected, s.rule.firstText(), date(since)) + f.why.text()
		}
		return w.why(s.rule, known, fmt.Sprintf("no token in %s of %s%s is %s than %s", about.Words(), w.def.Words(), selectsText(selects), s.rule.olderText(), span(s.rule.After)))
	})
}

// untoldReason is the reason of a doubt: older sources do not report why each token waits.
const untoldReason = "it is not reported why its oldest tokens wait"

// selectsText returns the part of a text that names the reason of a rule.
func selectsText(r stats.Reason) string {
	if r == stats.ReasonUnknown {
		return ""
	}
	return " with reason " + r.String()
}

func (r *Rule) overText() string {
	switch {
	case r.Due:
		return " that are overdue for more than " + span(r.After)
	case r.After == 0 && r.Reason != stats.ReasonUnknown:
		return ""
	}
	return " for more than " + span(r.After)
}

func (r *Rule) firstText() string {
	if r.Due {
		return "first due"
	}
	return "oldest"
}

func (r *Rule) olderText() string {
	if r.Due {
		return "overdue for longer"
	}
	return "older"
}

// whyOf returns why a token does not move; the zero Why if it is not known.
func whyOf(def *petri.Net, t *stats.Token) Why {
	if t == nil || len(t.Waits) == 0 {
		return Why{}
	}
	return whyWait(def, t.Instance, stats.Foremost(t.Waits))
}

func whyWait(def *petri.Net, instance string, w stats.Wait) Why {
	transition := &def.Transitions[w.Transition]
	why, blocker := Why{Instance: instance, Wait: w, Transition: transition.ID}, ""
	if w.Place != stats.NoPlace {
		why.Place, blocker = def.Places[w.Place].ID, def.Places[w.Place].Label()
	}
	why.Words = w.Text(w.Reason.Words(blocker, w.Count, transition.Called.Awaits()))
	if w.Until != 0 && w.Reason == stats.ReasonDelayed {
		why.Words += ", until " + date(w.Until)
	}
	return why
}

// text returns the end of the text of an alarm.
func (w *Why) text() string {
	if w.Words == "" {
		return ""
	}
	if w.Instance == "" { // as of the oldest of a number of messages that a metric gives
		return "; " + w.Words
	}
	return fmt.Sprintf("; instance %q: %s", w.Instance, w.Words)
}

// whyStarved returns why the oldest token that waits for a transition does not move.
func (w *netWatch) whyStarved(s *subject, n *merge.NetView) (why Why) {
	var oldest *stats.Token
	for _, step := range s.steps {
		for _, place := range w.inputs[step] {
			stuck := n.Rows.Places[place].Stuck
			for i := range stuck {
				at := slices.IndexFunc(stuck[i].Waits, func(o stats.Wait) bool { return int(o.Transition) == step })
				if at >= 0 && (oldest == nil || stuck[i].Compare(oldest) < 0) {
					oldest, why = &stuck[i], whyWait(w.def, stuck[i].Instance, stuck[i].Waits[at])
				}
			}
		}
	}
	return why
}

// inputsOf returns the places from which each transition takes.
func inputsOf(def *petri.Net, placeAt, transitionAt map[string]int) [][]int {
	inputs := make([][]int, len(def.Transitions))
	for i := range def.Arcs {
		place, from := placeAt[def.Arcs[i].Source]
		if t, to := transitionAt[def.Arcs[i].Target]; from && to {
			inputs[t] = append(inputs[t], place)
		}
	}
	return inputs
}
