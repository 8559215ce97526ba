// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"errors"
	"fmt"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// unevaluated is where the failure of an evaluation becomes an incident: of a guard or a branch
// that panicked, of what runs get and give, of a time (see Binding.Until), or of the name or the key
// of an event (see Binding.Event). tokens are those that the transition takes or tests. It is
// evaluated again when a call fires it, and when a place of it changes, as it does when variables
// are written. If it can depend on the time, and the binding has retries, it is first tried again as
// these say.
func (x *change) unevaluated(f *frame, t int, tokens []Placed, what string, err error, timed bool) {
	err = x.s.located(t, err)
	took, _ := x.s.rules[t].split(tokens)
	x.s.done.fault(x.i, t, what, err)
	if timed && x.s.rules[t].Retry != (Retry{}) {
		x.s.count(opFailed, x.i, t)
		x.setBack(f, t, firstID(took), 0, err.Error())
		return
	}
	x.incident(f, t, firstID(took), stats.NoPlace, err.Error()).again = true
}

// located returns an error with a position in the source of a net, unless it has one.
func located(n *petri.Net, pos petri.Pos, err error) error {
	if errors.As(err, new(*petri.Fault)) {
		return err
	}
	return &petri.Fault{File: n.File, Pos: pos, Msg: err.Error()}
}

// located returns an error with the position of a transition, unless it has one.
func (s *Shard) located(t int, err error) error {
	return located(s.Tables.Net, s.Tables.Net.Transitions[t].Pos, err)
}

// Why a transition that is enabled cannot fire, besides expressions.
var (
	errGuard         = errors.New("its guard is false")
	errNoBranch      = errors.New("none of its branches can be taken")
	errNoAlternative = errors.New("no condition of its alternatives holds, and there is no default")
	errVariables     = fmt.Errorf("%w, and so do the variables of a run", ErrTooLarge)
)

// refusedAll reports each alternative that is refused permanently as a fault, once.
func (x *change) refusedAll() {
	for id := range x.s.notes.each(x.in) {
		if n := &x.s.notes.all[id]; n.kind == noteNo && !n.reported && x.s.refusedForGood(id) {
			n.reported = true
			x.s.done.fault(x.i, int(n.transition), "no alternative can be taken", x.s.located(int(n.transition), errNoAlternative))
		}
	}
}

// refused returns the error of a call that cannot fire a transition, and counts it as a failure
// unless its conditions just do not hold.
func (s *Shard) refused(i, t int, err error) error {
	if !errors.Is(err, errGuard) && !errors.Is(err, errNoBranch) {
		s.count(opFailed, i, t)
	}
	return fmt.Errorf("transition %q: %w: %w", s.Tables.Net.Transitions[t].ID, petri.ErrNotEnabled, err)
}
