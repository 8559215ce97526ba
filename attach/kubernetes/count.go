// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"cmp"
	"maps"
	"slices"

	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// counted is what was counted of a run that exists.
type counted struct {
	Collection string                 `json:"c"`
	Net        string                 `json:"n"`
	Part       bool                   `json:"p,omitempty"`
	Ended      bool                   `json:"e,omitempty"`
	Steps      map[string]countedStep `json:"s,omitempty"` // of a run that has not ended, by their keys
}

// countedStep is a step that was counted.
type countedStep struct {
	Name  string `json:"n"`
	Since int64  `json:"t"`
	Ended bool   `json:"e,omitempty"`
}

// net is the net of what runs are made of.
type net struct {
	*ledger.Definition
	*ledger.Ledger
	scheduled bool  // see isSchedule
	success   int64 // when the last one started of the runs that succeeded
}

// started is the transition of runs that start. No step has a name with a space.
const started = "run started"

// in is what the id of the place of a step ends in; its transition has the name of the step.
const in = "/in"

// net returns a net, and adds it; nil if there is no room.
func (a *Adapter) net(id string) *net {
	n, known := a.nets[id]
	switch {
	case known:
		return n
	case len(a.nets) < maxNets && telemetry.CheckName(id) == nil:
		def := ledger.NewDefinition(id, "")
		n = &net{Definition: def, scheduled: isSchedule(id)}
		columns := ledger.Presence | ledger.Flow | ledger.Instances
		if n.scheduled {
			columns |= stats.ColNextDue
		}
		n.Ledger = ledger.New(def, columns)
		n.Transition(started, "")
		a.Add(n.Ledger)
	default:
		a.Drop("net")
	}
	a.nets[id] = n
	return n
}

// at returns the indices of the place and the transition of a step, and adds them if the net
// lacks them; -1 if there is no room.
func (a *Adapter) at(n *net, step string) (p, t int) {
	p, t = n.Place(step+in, step), n.Transition(step, "")
	if p < 0 || t < 0 {
		a.Drop("place")
		return -1, -1
	}
	n.Arc(step+in, step)
	return p, t
}

// connect adds the arcs of a run whose places the net has.
func (a *Adapter) connect(n *net, r *run) {
	for _, arc := range r.arcs {
		from := cmp.Or(arc[0], started)
		if n.FindTransition(from) >= 0 && n.FindPlace(arc[1]+in) >= 0 {
			n.Arc(from, arc[1]+in)
		}
	}
}

// apply applies what happened to objects. What existed before the first list ever is not
// counted. What existed as the adapter was stopped, and is not in the first list after that, is
// gone.
func (a *Adapter) apply(byUID map[string]change, lists map[string]bool) {
	for _, uid := range slices.Sorted(maps.Keys(byUID)) {
		a.take(uid, byUID[uid])
	}
	for name := range lists {
		a.state.Begun[name] = true
		if a.swept[name] {
			continue
		}
		a.swept[name] = true
		for uid, k := range a.state.Counted {
			if k.Collection == name && a.runs[uid] == nil {
				a.end(uid)
			}
		}
	}
}

func (a *Adapter) take(uid string, c change) {
	switch o := c.last.(type) {
	case *run:
		if a.runs[uid] == nil && len(a.runs) >= maxRuns {
			a.Drop("run")
			return
		}
		if before := a.runs[uid]; before != nil && before.over {
			o.ended = cmp.Or(o.ended, before.ended)
		}
		if o.over && o.ended == 0 {
			o.ended = a.Now()
		}
		a.runs[uid] = o
		a.count(o, c.collection)
	case *pod:
		a.forgetPod(uid)
		a.pods[uid] = o
		a.podsOf[o.key] = append(a.podsOf[o.key], o)
	case *refusal:
		a.refusals[uid] = o
		if last := a.refused[o.of]; last == nil || last.at <= o.at {
			a.refused[o.of] = o
		}
	case *schedule:
		a.schedules[uid] = o
		if n := a.net(o.net); n != nil && o.step != "" {
			a.at(n, o.step)
			n.Arc(started, o.step+in)
		}
	}
	if !c.gone {
		return
	}
	if a.runs[uid] != nil {
		delete(a.runs, uid)
		a.end(uid)
	}
	a.forgetPod(uid)
	delete(a.schedules, uid)
	if r := a.refusals[uid]; r != nil {
		delete(a.refusals, uid)
		if a.refused[r.of] == r {
			delete(a.refused, r.of)
		}
	}
}

func (a *Adapter) forgetPod(uid string) {
	p := a.pods[uid]
	if p == nil {
		return
	}
	delete(a.pods, uid)
	a.podsOf[p.key] = slices.DeleteFunc(a.podsOf[p.key], func(o *pod) bool { return o == p })
	if len(a.podsOf[p.key]) == 0 {
		delete(a.podsOf, p.key)
	}
}

// count counts what is new of a run.
func (a *Adapter) count(r *run, collection string) {
	n := a.net(r.net)
	if n == nil {
		return
	}
	counting := a.state.Begun[collection]
	k := a.state.Counted[r.id]
	if k == nil {
		k = &counted{Collection: collection, Net: r.net, Part: r.part, Steps: map[string]countedStep{}}
		a.state.Counted[r.id] = k
		if counting && !r.part {
			n.Create()
			n.Fire(n.Transition(started, ""), r.started)
		}
	}
	if k.Ended && !r.over { // it was retried: the steps that ended are those of before
		k.Ended, k.Steps = false, map[string]countedStep{}
		for _, s := range r.steps {
			if s.ended != 0 {
				k.Steps[s.key] = countedStep{Name: s.name, Since: s.since, Ended: true}
			}
		}
	}
	if !k.Ended {
		a.countSteps(n, r, k, counting)
	}
	a.connect(n, r)
	if !r.over {
		return
	}
	if !k.Ended {
		a.leave(n, k, r.ended)
		if counting && !r.part {
			n.Finish(r.failed)
		}
	}
	r.steps, r.arcs = nil, nil
}

// countSteps counts the steps of a run that are new, that ended, or that are no longer there.
func (a *Adapter) countSteps(n *net, r *run, k *counted, counting bool) {
	present := make(map[string]bool, len(r.steps))
	for i := range r.steps {
		s := &r.steps[i]
		p, t := a.at(n, s.name)
		if s.rest || p < 0 {
			continue
		}
		present[s.key] = true
		c, seen := k.Steps[s.key]
		if !seen {
			c = countedStep{Name: s.name, Since: cmp.Or(s.since, a.Now())}
			if counting {
				n.Arrive(p, c.Since)
			}
		}
		s.since = c.Since
		if s.over && s.ended == 0 {
			s.ended = a.Now()
		}
		if s.ended != 0 && !c.Ended {
			c.Ended = true
			if counting {
				n.Depart(p, max(s.ended-s.since, 0))
			}
			if counting && !s.failed {
				n.Fire(t, s.ended)
			}
		}
		k.Steps[s.key] = c
	}
	for key, c := range k.Steps {
		if !present[key] {
			a.depart(n, c, a.Now())
			delete(k.Steps, key)
		}
	}
}

// depart counts the departure of a step that did not end.
func (a *Adapter) depart(n *net, c countedStep, at int64) {
	if p := n.FindPlace(c.Name + in); p >= 0 && !c.Ended {
		n.Depart(p, max(at-c.Since, 0))
	}
}

// leave counts the departures of all steps of a run, which has ended.
func (a *Adapter) leave(n *net, k *counted, at int64) {
	for _, c := range k.Steps {
		a.depart(n, c, at)
	}
	k.Ended, k.Steps = true, nil
}

// end forgets a run that was deleted.
func (a *Adapter) end(uid string) {
	k := a.state.Counted[uid]
	if k == nil {
		return
	}
	delete(a.state.Counted, uid)
	n := a.net(k.Net)
	if n == nil || k.Ended {
		return
	}
	for _, c := range k.Steps {
		a.at(n, c.Name)
	}
	a.leave(n, k, a.Now())
	if !k.Part {
		n.Finish(true)
	}
}
