// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/iso8601"
)

// timer compiles the expression of a timer.
func (d *declarer) timer(transition int) {
	tr := &d.tables.Net.Transitions[transition]
	if tr.Trigger.Kind != petri.TriggerTimer {
		return
	}
	value, err := d.compiler.Text(tr.Trigger.Name)
	if err != nil {
		d.faults = append(d.faults, &petri.Fault{File: d.tables.Net.File, Pos: tr.Pos, Msg: fmt.Sprintf("the time of transition %q: %v", tr.ID, err)})
		return
	}
	repeats := slices.ContainsFunc(d.tables.Effects(transition), func(e petri.Effect) bool { return e.Take > 0 && e.Put > 0 })
	until := func(tokens []coloured.Placed, since int64) (int64, error) {
		return dueAt(value(tokens, since), since, repeats || tr.Trigger.Begins && tr.Trigger.Times == 0)
	}
	if !tr.Trigger.Begins {
		d.out[transition].Until = until
		return
	}
	d.out[transition].Begins = beginsUntil(until)
}

// dueAt returns when a timer is due whose value is JSON. One that repeats puts back the token
// that it takes, so it cannot count.
func dueAt(value []byte, since int64, repeats bool) (int64, error) {
	var text string
	if json.Unmarshal(value, &text) != nil || text == "" {
		return 0, fmt.Errorf("the value %.100s of a timer; expected a text such as PT1H or 2030-01-31T10:00:00Z", value)
	}
	t, err := iso8601.Parse(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("the value %.100q of a timer %w; expected a text such as PT1H or 2030-01-31T10:00:00Z", text, err)
	case repeats && t.Times > 0 && t.Cycle:
		return 0, fmt.Errorf("the value %.100q of a timer that occurs again and again; expected a cycle without a number, such as R/PT1H", text)
	}
	return t.Due(since), nil
}
