// SPDX-License-Identifier: Apache-2.0

package suites

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/pnagent/pnagent/petri"
)

// reading is in the ids of transitions that read variables.
const reading = "/reads "

// addReads adds a transition for each step that reads variables. It reads the tokens that
// the activity takes, and its guard is the expression of the step.
func addReads(n *petri.Net, steps []step) {
	activities, arcs := slices.Clone(n.Transitions), slices.Clone(n.Arcs)
	for i := range steps {
		s := &steps[i]
		if s.verb != "reads" {
			continue
		}
		for _, tr := range activities {
			if _, id, _ := cutLast(tr.ID, ":"); id != s.args[0] {
				continue
			}
			id := tr.ID + reading + strconv.Itoa(s.line)
			n.Transitions = append(n.Transitions, petri.Transition{ID: id, Guard: strings.Join(s.args[1:], " "), Trigger: petri.Trigger{Kind: petri.TriggerEvent, Name: id}})
			for _, a := range arcs {
				if a.Target == tr.ID && a.Kind == petri.Normal {
					n.Arcs = append(n.Arcs, petri.Arc{Source: a.Source, Target: id, Kind: petri.Read, Weight: 1})
				}
			}
		}
	}
}

// reads returns an error unless the expression of a step holds for the variables of a token
// that waits for the activity.
func (p *player) reads(ctx context.Context, s *step) error {
	err := errors.New("no token waits for the activity")
	for net, tables := range p.nets {
		for _, tr := range tables.Net.Transitions {
			if !strings.HasSuffix(tr.ID, s.args[0]+reading+strconv.Itoa(s.line)) {
				continue
			}
			for number := p.deleted[net]; number < instances; number++ {
				fault := p.engine.Fire(ctx, tables.Net.ID, number, tr.ID)
				if fault == nil {
					return nil
				}
				if strings.Contains(fault.Error(), "guard") {
					err = fault
				}
			}
		}
	}
	return err
}
