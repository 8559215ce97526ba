// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// netWatch watches one net.
type netWatch struct {
	name        string
	def         *petri.Net
	step        uint64
	columns     stats.Columns
	whole       watch
	wholeRule   Rule
	places      []subject
	transitions []subject // starved
	failures    []subject
	loops       []subject
	traces      traces
}

// subject watches a place or transition by one rule.
type subject struct {
	watch
	rule   *Rule
	at     int   // index in the definition
	steps  []int // of a transition: see stepsOf
	window *window
}

// watchNet returns the netWatch of a net. A definition only grows, so its subjects stay.
func (m *Machine) watchNet(n *merge.NetView) *netWatch {
	w := m.nets[n.Name]
	if w == nil {
		w = &netWatch{name: n.Name}
		w.whole.alarm = m.byKey[key{NetDeadlocked, n.Name, ""}]
		m.nets[n.Name] = w
	}
	w.step = m.step
	if w.def != n.Def || m.linked {
		m.define(w, n)
	}
	return w
}

// define finds the rules of all places and transitions.
func (m *Machine) define(w *netWatch, n *merge.NetView) {
	def := n.Def
	w.def = def
	rules := m.rules.net(w.name)
	w.wholeRule = rules.whole(NetDeadlocked)
	placeAt, transitionAt := make(map[string]int, len(def.Places)), make(map[string]int, len(def.Transitions))
	for i := range def.Places {
		placeAt[def.Places[i].ID] = i
	}
	for i := range def.Transitions {
		transitionAt[def.Transitions[i].ID] = i
	}
	begin := begins(def, placeAt, transitionAt)
	shared := map[Rule]*Rule{}
	share := func(r Rule) *Rule {
		if shared[r] == nil {
			shared[r] = &r
		}
		return shared[r]
	}
	var resting []string
	w.places = m.subjects(w.places, TokenStuck, w.name, len(def.Places), func(i int) (string, *Rule) {
		r := rules.place(TokenStuck, def.Places[i].ID)
		if m.rules.base[TokenStuck].On && !r.On {
			resting = append(resting, def.Places[i].ID)
		}
		r.On = r.On && !n.IsFinal(i) && n.Work(i) // tokens stay there, or are counted where the instance waits
		return def.Places[i].ID, share(r)
	})
	slices.Sort(resting)
	m.noteResting(w.name, resting)
	steps := stepsOf(def)
	transitions := func(before []subject, kind Kind) []subject {
		return m.subjects(before, kind, w.name, len(def.Transitions), func(i int) (string, *Rule) {
			r := rules.transition(kind, def.Transitions[i].ID)
			r.On = r.On && (kind != TransitionStarved || !begin[i] && len(steps[i]) > 0)
			return def.Transitions[i].ID, share(r)
		})
	}
	w.transitions = transitions(w.transitions, TransitionStarved)
	for i := range w.transitions {
		w.transitions[i].steps = steps[w.transitions[i].at]
	}
	w.failures = transitions(w.failures, FailureRatio)
	w.loops = transitions(w.loops, TransitionLoop)
}

// stepsOf returns, of each transition that is work, the transitions whose waiting is its starving.
// One that waits for a user, another program or a time does not starve: its tokens wait, and are
// stuck.
func stepsOf(def *petri.Net) map[int][]int {
	steps := map[int][]int{}
	for i, owner := range def.Owners() {
		switch def.Transitions[i].Trigger.Kind {
		case petri.TriggerNone:
		case petri.TriggerWork:
			if owner != i {
				continue
			}
		default:
			continue
		}
		if owner >= 0 {
			steps[owner] = append(steps[owner], i)
		}
	}
	return steps
}

// noteResting notes in which places of a net tokens may stay; nil for none, or no net.
func (m *Machine) noteResting(net string, places []string) {
	if slices.Equal(m.resting[net], places) {
		return
	}
	m.moved()
	m.resting = maps.Clone(m.resting)
	if places == nil {
		delete(m.resting, net)
	} else {
		m.resting[net] = places
	}
}

// subjects returns the subjects that have an alarm, or whose rule is on.
func (m *Machine) subjects(before []subject, kind Kind, net string, n int, rule func(i int) (id string, r *Rule)) []subject {
	known := make(map[int]*subject, len(before))
	for i := range before {
		known[before[i].at] = &before[i]
	}
	var out []subject
	for i := range n {
		id, r := rule(i)
		s := subject{at: i, watch: watch{alarm: m.byKey[key{kind, net, id}]}}
		if old := known[i]; old != nil {
			if s = *old; s.alarm == nil {
				s.alarm = m.byKey[key{kind, net, id}]
			}
		}
		s.rule = r
		if !r.On && s.alarm == nil {
			continue
		}
		if s.window == nil && r.Window > 0 {
			s.window = &window{}
		}
		out = append(out, s)
	}
	return out
}

// look judges everything of the net.
func (w *netWatch) look(m *Machine, n *merge.NetView) {
	w.columns = n.Rows.Columns
	w.trace(n)
	known := w.columns.Has(stats.ColInstances)
	dead := n.Rows.Net.Deadlocked
	f := finding{wrong: w.wholeRule.On && known && float64(dead) > w.wholeRule.Above, affected: dead, unknown: reported(known), trace: w.traces.net}
	f.elsewhere = f.trace.deadlockedElsewhere(dead, w.wholeRule.Above)
	m.judge(&w.whole, key{NetDeadlocked, w.name, ""}, &w.wholeRule, f, func(_ int64, wrong bool) string {
		if wrong {
			return fmt.Sprintf("deadlocked instances of net %q: %d", w.name, dead)
		}
		return w.why(&w.wholeRule, known, fmt.Sprintf("net %q has no more than %d deadlocked instances", w.name, uint64(w.wholeRule.Above)))
	})
	for i := range w.places {
		w.stuck(m, &w.places[i], n)
	}
	for i := range w.transitions {
		w.starved(m, &w.transitions[i], n)
	}
	if m.interrupted { // counters of before the break would make the next rates too high
		return
	}
	for i := range w.failures {
		w.failing(m, &w.failures[i], n)
	}
	for i := range w.loops {
		w.looping(m, &w.loops[i], n)
	}
}

// why returns the reason of a clear; ok is the reason if the condition is known not to
// hold. If it is not known, the sources of the net have stopped, see Machine.ended.
func (w *netWatch) why(r *Rule, known bool, ok string) string {
	if !known {
		ok = fmt.Sprintf("the sources of net %q stopped", w.name)
	}
	return why(r, ok)
}

// reported returns the reason of doubt about a condition.
func reported(known bool) string {
	if known {
		return ""
	}
	return noReport
}

func (w *netWatch) stuck(m *Machine, s *subject, n *merge.NetView) {
	row := &n.Rows.Places[s.at]
	known := w.columns.Has(stats.ColOldest)
	after := s.rule.After.Microseconds()
	wrong := s.rule.On && known && row.Oldest != 0 && m.now-row.Oldest > after
	if !wrong && known {
		m.wakeForStuck(s, row, false, 0)
	}
	if !wrong && s.idle() {
		return
	}
	f := finding{wrong: wrong, since: row.Oldest, unknown: reported(known), trace: w.traces.places[s.at]}
	if wrong {
		f.elsewhere = f.trace.stuckElsewhere(row, w.columns, m.now-after)
		f.affected = max(1, min(row.Tokens, row.Ages.InjectedBefore(m.now-after)))
		if !w.columns.Has(stats.ColAges) {
			f.affected = max(1, row.Tokens)
		}
		m.wakeForStuck(s, row, w.columns.Has(stats.ColAges), f.affected)
	}
	id := w.def.Places[s.at].ID
	m.judge(&s.watch, key{TokenStuck, w.name, id}, s.rule, f, func(since int64, wrong bool) string {
		if wrong {
			return fmt.Sprintf("tokens in place %q of net %q for more than %s: %d, the oldest since %s", id, w.name, span(s.rule.After), f.affected, date(since))
		}
		return w.why(s.rule, known, fmt.Sprintf("no token in place %q of net %q is older than %s", id, w.name, span(s.rule.After)))
	})
}

func (w *netWatch) starved(m *Machine, s *subject, n *merge.NetView) {
	known := w.columns.Has(stats.ColEnabled | stats.ColLastFiring)
	row, since := waitsLongest(n.Rows.Transitions, s)
	waits := s.rule.On && known && since != 0
	wrong := waits && m.now-since > s.rule.After.Microseconds()
	if waits && !wrong {
		m.wake(since + s.rule.After.Microseconds() + 1)
	}
	if !wrong && s.idle() {
		return
	}
	id := w.def.Transitions[s.at].ID
	f := finding{wrong: wrong, since: since, affected: row.Enabled, unknown: reported(known), trace: w.traces.transitions[s.at]}
	f.elsewhere = f.trace.enabledElsewhere(row.Enabled)
	m.judge(&s.watch, key{TransitionStarved, w.name, id}, s.rule, f, func(since int64, wrong bool) string {
		if wrong {
			return fmt.Sprintf("transition %q of net %q is enabled and has not fired since %s; instances: %d", id, w.name, date(since), row.Enabled)
		}
		return w.why(s.rule, known, fmt.Sprintf("transition %q of net %q has fired, or is not enabled", id, w.name))
	})
}

// waitsLongest returns the row of the steps of a transition which is enabled and has not fired for
// longest, and since when that is.
func waitsLongest(rows []stats.Transition, s *subject) (row *stats.Transition, since int64) {
	row = &stats.Transition{}
	for _, i := range s.steps {
		if from := rows[i].Waits(); from != 0 && (since == 0 || from < since) {
			row, since = &rows[i], from
		}
	}
	return row, since
}

func (w *netWatch) failing(m *Machine, s *subject, n *merge.NetView) {
	row := &n.Rows.Transitions[s.at]
	known := w.columns.Has(stats.ColFirings | stats.ColFailures)
	f, runs := finding{unknown: reported(known), trace: w.traces.fired[s.at], elsewhere: true}, uint64(0)
	if s.rule.On && known {
		m.wake(m.now) // the window moves
		fired, failed, _ := s.window.count(s.rule.Window.Microseconds(), sample{m.now, row.Firings, row.Failures}, m.countersSince(n))
		runs, f.affected = fired+failed, failed
		f.also = float64(runs)
		enough := runs >= max(s.rule.Runs, 1)
		f.wrong = enough && float64(failed) > s.rule.Above*float64(runs)
		f.proved = enough && !f.wrong
		f.unknown = s.counted(m.now, f.trace)
	}
	if !f.wrong && s.idle() {
		return
	}
	id := w.def.Transitions[s.at].ID
	m.judge(&s.watch, key{FailureRatio, w.name, id}, s.rule, f, func(_ int64, wrong bool) string {
		text := fmt.Sprintf("failed runs of transition %q of net %q in %s: %d of %d", id, w.name, span(s.rule.Window), f.affected, runs)
		if wrong {
			return text
		}
		return w.why(s.rule, known, text)
	})
}

func (w *netWatch) looping(m *Machine, s *subject, n *merge.NetView) {
	row := &n.Rows.Transitions[s.at]
	known := w.columns.Has(stats.ColFirings)
	f, rate := finding{unknown: reported(known), trace: w.traces.fired[s.at], elsewhere: true}, 0.0
	if s.rule.On && known {
		m.wake(m.now) // the window moves
		fired, _, over := s.window.count(s.rule.Window.Microseconds(), sample{at: m.now, firings: row.Firings}, m.countersSince(n))
		rate = float64(fired) * 1e6 / float64(over)
		f.wrong, f.affected, f.also = rate > s.rule.Above, fired, rate
		f.unknown = s.counted(m.now, f.trace)
	}
	if !f.wrong && s.idle() {
		return
	}
	id := w.def.Transitions[s.at].ID
	m.judge(&s.watch, key{TransitionLoop, w.name, id}, s.rule, f, func(_ int64, wrong bool) string {
		text := fmt.Sprintf("transition %q of net %q fires %.6g times a second over %s; expected at most %.6g", id, w.name, rate, span(s.rule.Window), s.rule.Above)
		if wrong {
			return text
		}
		return w.why(s.rule, known, text)
	})
}

// counted returns why the counters of a window do not show that a condition is over, or "".
func (s *subject) counted(now int64, t *trace) string {
	switch {
	case !s.window.spans(s.rule.Window.Microseconds(), now):
		return sinceText(s.rule.Window)
	case t != nil && len(t.silent) > 0:
		if t.silent[0] == "" {
			return "sources of a sidecar below are silent"
		}
		return sourceText(t.silent[0]) + " is silent"
	}
	return ""
}

// idle reports whether a condition that does not hold changes nothing.
func (s *subject) idle() bool { return s.alarm == nil && s.wrong == 0 }

// date formats a time in microseconds since the Unix epoch.
func date(micros int64) string { return time.UnixMicro(micros).UTC().Format(time.RFC3339) }
