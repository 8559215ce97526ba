// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"strconv"
	"strings"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/iso8601"
)

// parseTimer reads a constant of ISO 8601. It returns how often the timer occurs; 0 is
// without end. The length of months is determined when the timer begins.
func parseTimer(kind, s string) (trigger petri.Trigger, times uint32, err error) {
	s = strings.Join(strings.Fields(s), "")
	read := iso8601.Duration
	switch kind {
	case "timeDate":
		read = iso8601.Date
	case "timeCycle":
		read = iso8601.Cycle
	}
	t, err := read(s)
	switch {
	case err != nil:
		return petri.Trigger{}, 0, err
	case t.Date:
		return petri.Trigger{Kind: petri.TriggerTime, Micros: t.Micros}, 1, nil
	case t.Months > 0:
		return petri.Trigger{Kind: petri.TriggerTimer, Name: strconv.Quote(s[strings.Index(s, "P"):])}, t.Times, nil
	}
	return petri.Trigger{Kind: petri.TriggerDelay, Micros: t.Micros}, t.Times, nil
}
