// SPDX-License-Identifier: Apache-2.0

package act

import (
	"fmt"
	"slices"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// Held are tokens of the instance that a request is about.
type Held struct {
	Place  string                  `json:"place"`
	Tokens uint64                  `json:"tokens"`
	Age    float64                 `json:"age_seconds"`
	Wait   *telemetry.InstanceWait `json:"wait,omitempty"` // of the transition that should fire
}

// held returns the tokens that a request is about: those in a place, or those that wait for a transition.
func held(have []holder, place, transition string) []Held {
	var held []Held
	for _, h := range have {
		for _, t := range h.found.Tokens {
			one := Held{Place: t.Place, Tokens: t.Tokens, Age: float64(max(h.found.At-t.Injected, 0)) / 1e6}
			i := slices.IndexFunc(t.Waits, func(w telemetry.InstanceWait) bool { return w.Transition == transition })
			switch {
			case place != "" && t.Place == place:
				held = append(held, one)
			case place == "" && i >= 0:
				one.Wait = &t.Waits[i]
				held = append(held, one)
			}
		}
	}
	return held
}

// fires are the reasons for which a token waits and a request fires the transition.
var fires = []stats.Reason{stats.ReasonEnabled, stats.ReasonManual, stats.ReasonDelayed, stats.ReasonIncident}

// judge returns why an engine would refuse a request, as far as the tokens show it; nil
// if it would not.
func (r *Request) judge(def *petri.Net, element int, held []Held) error {
	if r.Verb == Inject {
		return nil
	}
	t := &def.Transitions[element]
	reason := func(h Held) stats.Reason { return stats.ReasonNamed(h.Wait.Reason) }
	if r.Verb == Retry {
		if slices.ContainsFunc(held, func(h Held) bool { return reason(h) == stats.ReasonIncident }) {
			return nil
		}
		return fmt.Errorf("transition %q of %s is no incident: %s", t.ID, r.Instance, state(def, held))
	}
	if len(held) == 0 && !takes(def, t.ID) || slices.ContainsFunc(held, func(h Held) bool { return slices.Contains(fires, reason(h)) }) {
		return nil
	}
	return fmt.Errorf("transition %q of %s is not enabled: %s", t.ID, r.Instance, state(def, held))
}

// state says what a transition waits for.
func state(def *petri.Net, held []Held) string {
	if len(held) == 0 {
		return "no token waits for it"
	}
	h := &held[0]
	return fmt.Sprintf("the token in %q waits with the reason %s (%s)", h.Place, h.Wait.Reason, WaitText(def, h.Wait))
}

// WaitText returns what a token waits for, in words for people. What def lacks is called by its id.
func WaitText(def *petri.Net, w *telemetry.InstanceWait) string {
	reason, place, transition := stats.ReasonNamed(w.Reason), w.Place, &petri.Transition{}
	if i := slices.IndexFunc(def.Places, func(p petri.Place) bool { return p.ID == w.Place }); i >= 0 {
		place = def.Places[i].Label()
	}
	if i := slices.IndexFunc(def.Transitions, func(t petri.Transition) bool { return t.ID == w.Transition }); i >= 0 {
		transition = &def.Transitions[i]
	}
	return stats.Wait{Reason: reason, What: w.What}.Text(reason.Words(place, w.Count, transition.Called.Awaits()))
}

// takes reports whether a transition needs tokens.
func takes(def *petri.Net, id string) bool {
	return slices.ContainsFunc(def.Arcs, func(a petri.Arc) bool {
		return a.Target == id && (a.Kind == petri.Normal || a.Kind == petri.Read || a.Kind == petri.Join)
	})
}
