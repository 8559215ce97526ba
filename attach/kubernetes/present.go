// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/stats"
)

// noticed is how long a controller may take to notice that pods ended.
const noticed = time.Minute

// present replaces the tokens of all nets by those of the runs that are there now.
func (a *Adapter) present() {
	tokens := a.tokens()
	for _, n := range a.nets {
		if n != nil {
			n.Present(tokens[n])
		}
	}
	due := map[*net][]ledger.Due{}
	for _, s := range a.schedules {
		if n := a.net(s.net); n != nil {
			due[n] = append(due[n], ledger.Due{Transition: n.Transition(started, ""), Next: s.next, Last: s.last})
		}
	}
	for _, n := range a.nets {
		if n != nil && n.scheduled {
			n.Schedule(due[n])
		}
	}
}

// tokens returns the tokens of the runs that are there now, by their nets.
func (a *Adapter) tokens() map[*net][]ledger.Token {
	uids := slices.Sorted(maps.Keys(a.runs))
	tokens := map[*net][]ledger.Token{}
	wholes := map[string]*whole{}
	for _, n := range a.nets {
		if n != nil {
			n.success = 0
		}
	}
	for _, uid := range uids {
		r := a.runs[uid]
		n := a.net(r.net)
		if n == nil {
			continue
		}
		w := wholes[r.instance]
		if w == nil {
			w = &whole{}
			wholes[r.instance] = w
		}
		w.take(r)
		if r.over && !r.failed && !r.part {
			n.success = max(n.success, r.started)
		}
		for i := range r.steps {
			if s := &r.steps[i]; s.ended == 0 && !s.rest {
				tokens[n] = a.add(tokens[n], n, r, s.key, s.name, s.since, a.waits(r, s, 0))
			}
		}
	}
	for _, uid := range uids {
		r := a.runs[uid]
		n, w := a.net(r.net), wholes[r.instance]
		switch {
		case n == nil || r.part:
		case r.failed && (!n.scheduled || n.success <= r.started):
			tokens[n] = a.add(tokens[n], n, r, "failed", cmp.Or(w.failed, r.last), r.ended, []why{{reason: stats.ReasonIncident, text: r.why}})
		case !r.over && !w.open:
			for i := range r.steps {
				if s := &r.steps[i]; s.rest {
					tokens[n] = a.add(tokens[n], n, r, s.key, s.name, max(s.since, w.ended), a.waits(r, s, w.ended))
				}
			}
		}
	}
	return tokens
}

// whole is what the objects of one instance have in common.
type whole struct {
	open   bool   // a step is
	ended  int64  // when the last step ended; 0 for none
	failed string // the step of a part that failed
}

func (w *whole) take(r *run) {
	if r.part && r.failed {
		w.failed = r.last
	}
	if r.part {
		w.ended = max(w.ended, r.ended)
	}
	for i := range r.steps {
		s := &r.steps[i]
		w.ended = max(w.ended, s.ended)
		w.open = w.open || s.ended == 0 && !s.rest
	}
}

// add adds a token at a step, and the step to the net if it lacks it.
func (a *Adapter) add(to []ledger.Token, n *net, r *run, key, name string, since int64, whys []why) []ledger.Token {
	p, t := a.at(n, name)
	if p < 0 {
		return to
	}
	token := ledger.Token{ID: r.id + "/" + key, Place: p, Instance: r.instance, Since: since}
	for _, w := range whys {
		token.Waits = append(token.Waits, stats.Wait{Transition: int32(t), Reason: w.reason, Place: stats.NoPlace, Until: w.until, What: stats.Clip(w.text, stats.MaxWhat)})
	}
	if len(whys) == 0 {
		token.Waits = []stats.Wait{{Transition: int32(t), Reason: stats.ReasonUnknown, Place: stats.NoPlace}}
	}
	return append(to, token)
}

// waits returns what a step waits for: what its object says, or else what its pods do, or else
// that all steps ended, the last one at a time.
func (a *Adapter) waits(r *run, s *step, ended int64) []why {
	switch {
	case len(s.whys) > 0:
		return s.whys
	case s.pods != "":
		return []why{a.podsDo(r, s)}
	case ended != 0:
		return []why{a.unnoticed("its steps", ended)}
	}
	return nil
}

// unnoticed returns that what a run consists of ended, and the run did not.
func (a *Adapter) unnoticed(what string, ended int64) why {
	w := why{reason: stats.ReasonRunning, text: what + " ended at " + clock(ended)}
	if a.Now()-ended > noticed.Microseconds() {
		w.reason, w.text = stats.ReasonIncident, w.text+", and it still counts as running: does its controller run?"
	}
	return w
}

// podsDo returns what the pods of a step do.
func (a *Adapter) podsDo(r *run, s *step) why {
	worst := why{}
	runs := 0
	all := a.podsOf[s.pods]
	ends := 0
	bad := 0
	last := int64(0)
	for _, p := range all {
		if p.end != 0 {
			ends++
			last = max(last, p.end)
			if p.bad {
				bad++
			}
			continue
		}
		runs++
		if strength(p.reason) > strength(worst.reason) {
			worst = p.why
		}
	}
	refused := a.refused[r.id]
	switch {
	case runs > 1:
		return why{reason: worst.reason, text: fmt.Sprintf("%d pods; %s", runs, worst.text)}
	case runs == 1:
		return worst
	case refused != nil && refused.at >= last:
		return why{reason: stats.ReasonEnabled, text: "no pod can be created: " + refused.what}
	case ends > s.counted:
		return a.unnoticed("its pods", last)
	case bad > 0:
		return why{reason: stats.ReasonEnabled, text: fmt.Sprintf("%d pods failed, the last one at %s; the next one comes after a back-off", bad, clock(last))}
	}
	return why{reason: stats.ReasonEnabled, text: "it has no pod"}
}

// strength orders the reasons of pods, of which one is shown.
func strength(r stats.Reason) int {
	return slices.Index([]stats.Reason{stats.ReasonUnknown, stats.ReasonRunning, stats.ReasonEnabled, stats.ReasonIncident}, r)
}
