// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
)

// The words of places and transitions are those of the elements that their tokens are at.
func TestWhatAnAuthorDrewIsCalledAsItWasDrawn(t *testing.T) {
	const begins, ends = `<startEvent id="s" name="Asked"/>`, `<endEvent id="e" name="Over"/>`
	for _, tt := range []struct {
		name, content string
		places, fires []string
	}{
		{"a task has the token before it, an end event that in it", begins + `<userTask id="t" name="Approve"/>` + ends + flows("s>t", "t>e"),
			[]string{`start event "Asked"`, `user task "Approve"`, `sequence flow "Approve → Over"`, `end event "Over"`},
			[]string{`start event "Asked"`, `user task "Approve"`, `end event "Over"`}},
		{"a task with boundary events has the token of its run", begins + `<userTask id="t"/><boundaryEvent id="x" attachedToRef="t" cancelActivity="false"><timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition></boundaryEvent>` + ends + flows("s>t", "t>e"),
			[]string{`start event "Asked"`, `sequence flow "Asked → t"`, `user task "t"`, `timer boundary event "x"`, `sequence flow "t → Over"`, `end event "Over"`},
			[]string{`start event "Asked"`, `user task "t"`, `timer boundary event "x"`, `end event "Over"`}},
		{"a gateway says which way", begins + `<exclusiveGateway id="g" name="Much?" default="b"/>` + ends + `<endEvent id="f"/>` +
			`<sequenceFlow id="a" name="yes" sourceRef="g" targetRef="e"><conditionExpression>x</conditionExpression></sequenceFlow><sequenceFlow id="b" sourceRef="g" targetRef="f"/>` + flows("s>g"),
			[]string{`start event "Asked"`, `sequence flow "Asked → Much?"`, `sequence flow "yes"`, `sequence flow "Much? → f"`, `end event "Over"`, `end event "f"`},
			[]string{`start event "Asked"`, `exclusive gateway "Much? → yes"`, `exclusive gateway "Much? → f"`, `end event "Over"`, `end event "f"`}},
		{"an event gateway holds the token", begins + `<eventBasedGateway id="g"/><intermediateCatchEvent id="a"><messageEventDefinition/></intermediateCatchEvent>` + ends + flows("s>g", "g>a", "a>e"),
			[]string{`start event "Asked"`, `event-based gateway "g"`, `sequence flow "a → Over"`, `end event "Over"`},
			[]string{`start event "Asked"`, `message intermediate catch event "a"`, `end event "Over"`}},
		{"what is in a sub-process is at its node", begins + `<subProcess id="u"><startEvent id="us"/><task id="ut" name="Do"/>` + flows("us>ut") + `</subProcess>` + ends + flows("s>u", "u>e"),
			[]string{`start event "Asked"`, `sequence flow "Asked → u"`, `start event "us"`, `task "Do"`, `sequence flow "u → Over"`, `end event "Over"`},
			[]string{`start event "Asked"`, `sub-process "u"`, `start event "us"`, `task "Do"`, `end event "Over"`}},
		{"what runs several times has the token of a run", begins + `<task id="t" name="Ask"><standardLoopCharacteristics loopMaximum="3"/></task>` + ends + flows("s>t", "t>e"),
			[]string{`start event "Asked"`, `sequence flow "Asked → Ask"`, `task "Ask"`, `sequence flow "Ask → Over"`, `end event "Over"`},
			[]string{`start event "Asked"`, `task "Ask"`, `end event "Over"`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			net := read(t, process(tt.content)).Nets[0]
			var places, fires []string
			for i := range net.Places {
				if p := &net.Places[i]; p.Role == petri.RoleWork {
					places = append(places, p.Words().String())
				}
			}
			for i := range net.Transitions {
				if x := &net.Transitions[i]; x.Role == petri.RoleWork {
					fires = append(fires, x.Words().String())
				}
			}
			for _, list := range [][]string{places, fires, tt.places, tt.fires} {
				slices.Sort(list)
			}
			if diff := cmp.Diff(tt.places, places); diff != "" {
				t.Errorf("places: -want +got\n%s", diff)
			}
			if diff := cmp.Diff(tt.fires, fires); diff != "" {
				t.Errorf("transitions: -want +got\n%s", diff)
			}
		})
	}
}
