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
	inputs      [][]int // by transition
	whole       watch
	wholeRule   Rule
	places      []subject
	transitions []subject // starved
	failures    []subject
	loops       []subject
	expects     []subject
	told        bool // sources have said when transitions are due
	traces      traces
}

// subject watches a place or transition by one rule.
type subject struct {
	watch
	rule     *Rule
	at       int       // index in the definition
	others   reasonSet // of a rule of a place that selects no reason: those that others of the place select
	steps    []int     // of a transition: see stepsOf
	window   *window
	schedule *schedule // of one that is expected to fire; nil if nothing says when
}

// watchNet returns the netWatch of a net. A definition only grows, so its subjects stay.
func (m *Machine) watchNet(n *merge.NetView) *netWatch {
	w := m.nets[n.Name]
	if w == nil {
		w = &netWatch{name: n.Name}
		w.whole.alarm = m.byKey[keyOf(NetDeadlocked, n.Name, "")]
		m.nets[n.Name] = w
	}
	w.step = m.step
	told := w.told || n.Rows.Columns.Has(stats.ColNextDue)
	if w.def != n.Def || m.linked || told != w.told {
		w.told = told
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
	w.inputs = inputsOf(def, placeAt, transitionAt)
	shared := map[Rule]*Rule{}
	share := func(r Rule) *Rule {
		if shared[r] == nil {
			shared[r] = &r
		}
		return shared[r]
	}
	stuck, resting := m.placesToJudge(n, &rules, share)
	w.places = m.subjects(w.places, TokenStuck, w.name, stuck)
	slices.Sort(resting)
	m.noteResting(w.name, resting)
	steps := stepsOf(def)
	transitions := func(before []subject, kind Kind) []subject {
		all := make([]candidate, len(def.Transitions))
		for i := range all {
			r := rules.transition(kind, def.Transitions[i].ID)
			r.On = r.On && (kind != TransitionStarved || len(w.inputs[i]) > 0 && len(steps[i]) > 0)
			all[i] = candidate{at: i, id: def.Transitions[i].ID, rule: share(r)}
		}
		return m.subjects(before, kind, w.name, all)
	}
	w.transitions = transitions(w.transitions, TransitionStarved)
	for i := range w.transitions {
		w.transitions[i].steps = steps[w.transitions[i].at]
	}
	w.failures = transitions(w.failures, FailureRatio)
	w.loops = transitions(w.loops, TransitionLoop)
	w.expects = slices.DeleteFunc(transitions(w.expects, FiringMissed), func(s subject) bool { return s.alarm == nil && !s.rule.scheduled() && !w.told })
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

// candidate is a place or a transition with one of its rules.
type candidate struct {
	at     int
	id     string
	rule   *Rule
	others reasonSet // see subject
}

// subjects returns the subjects that have an alarm, or whose rule is on.
func (m *Machine) subjects(before []subject, kind Kind, net string, all []candidate) []subject {
	type which struct {
		at      int
		selects stats.Reason
	}
	known := make(map[which]*subject, len(before))
	for i := range before {
		known[which{before[i].at, before[i].rule.Reason}] = &before[i]
	}
	var out []subject
	for _, j := range all {
		r, about := j.rule, key{kind, net, j.id, j.rule.Reason}
		s := subject{at: j.at, watch: watch{alarm: m.byKey[about]}}
		if old := known[which{j.at, r.Reason}]; old != nil {
			if s = *old; s.alarm == nil {
				s.alarm = m.byKey[about]
			}
		}
		s.rule, s.others = r, j.others
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
	m.judge(&w.whole, keyOf(NetDeadlocked, w.name, ""), &w.wholeRule, f, func(_ int64, wrong bool) string {
		if wrong {
			return fmt.Sprintf("deadlocked instances of %s: %d", w.def.Words(), dead)
		}
		return w.why(&w.wholeRule, known, fmt.Sprintf("%s has no more than %d deadlocked instances", w.def.Words(), uint64(w.wholeRule.Above)))
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
	for i := range w.expects {
		w.expected(m, &w.expects[i], n)
	}
}

// transition returns what a transition of the net is called, for a text.
func (w *netWatch) transition(at int) string {
	return fmt.Sprintf("%s of %s", w.def.Transitions[at].Words(), w.def.Words())
}

// why returns the reason of a clear; ok is the reason if the condition is known not to
// hold. If it is not known, the sources of the net have stopped, see Machine.ended.
func (w *netWatch) why(r *Rule, known bool, ok string) string {
	if !known {
		ok = fmt.Sprintf("the sources of %s stopped", w.def.Words())
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
	if wrong {
		f.why = w.whyStarved(s, n)
	}
	m.judge(&s.watch, keyOf(TransitionStarved, w.name, id), s.rule, f, func(since int64, wrong bool) string {
		if wrong {
			return fmt.Sprintf("%s is enabled and has not fired since %s; instances: %d", w.transition(s.at), date(since), row.Enabled) + f.why.text()
		}
		return w.why(s.rule, known, fmt.Sprintf("%s has fired, or is not enabled", w.transition(s.at)))
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
	m.judge(&s.watch, keyOf(FailureRatio, w.name, id), s.rule, f, func(_ int64, wrong bool) string {
		text := fmt.Sprintf("failed runs of %s in %s: %d of %d", w.transition(s.at), span(s.rule.Window), f.affected, runs)
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
	m.judge(&s.watch, keyOf(TransitionLoop, w.name, id), s.rule, f, func(_ int64, wrong bool) string {
		text := fmt.Sprintf("%s fires %.6g times a second over %s; expected at most %.6g", w.transition(s.at), rate, span(s.rule.Window), s.rule.Above)
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
