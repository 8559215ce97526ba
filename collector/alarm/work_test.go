// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"slices"
	"testing"
	"time"

	"github.com/pnagent/pnagent/collector/alarm/alarmtest"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// An instance that waits in an activity raises one alarm, where it waits. A step on the way that
// does not fire raises that of the activity.
//
//promise:work none
func TestWhatIsNotWorkRaisesNoAlarm(t *testing.T) {
	def := &petri.Net{ID: "n",
		Places: []petri.Place{{ID: "a/active", Role: petri.RoleState}, {ID: "a/list", Role: petri.RoleData}, {ID: "a/run"}, {ID: "a/ended", Role: petri.RoleState}},
		Transitions: []petri.Transition{{ID: "a", Trigger: petri.Trigger{Kind: petri.TriggerEvent, Name: "a"}}, {ID: "a/counted", Role: petri.RoleState},
			{ID: "a/begins", Role: petri.RoleState, Trigger: petri.Trigger{Kind: petri.TriggerEvent, Name: "b"}}},
		Arcs: []petri.Arc{{Source: "a/run", Target: "a", Weight: 1}, {Source: "a", Target: "a/ended", Weight: 1}, {Source: "a/ended", Target: "a/counted", Weight: 1},
			{Source: "a/active", Target: "a/counted", Weight: 1}, {Source: "a/list", Target: "a/counted", Weight: 1}, {Source: "a/active", Target: "a/begins", Weight: 1}}}
	for _, tt := range []struct {
		name  string
		token int // in which place
		steps []int
		want  []string
	}{
		{"it waits in its run", 2, nil, []string{"tokenStuck a/run"}},
		{"it waits between two steps", 3, []int{1}, []string{"transitionStarved a"}},
		{"it waits for the outside", 2, []int{2}, []string{"tokenStuck a/run"}},
		{"a user does not do it", 2, []int{0}, []string{"tokenStuck a/run"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rows := stats.NewRows(4, 3)
			rows.Columns = stats.AllColumns
			for _, p := range []int{0, 1, tt.token} {
				rows.Places[p] = stats.Place{Tokens: 5, Oldest: t0}
			}
			for _, i := range tt.steps {
				rows.Transitions[i] = stats.Transition{Enabled: 5, EnabledSince: t0}
			}
			m := NewMachine(DefaultRules(), Saved{}, forgetAfter)
			var got []string
			for _, c := range m.Step(alarmtest.ViewOf(&merge.NetView{Name: "n", Def: def, Final: def.FinalPlaces(), Rows: rows}), t0+time.Hour.Microseconds()) {
				got = append(got, c.Alarm.Kind.String()+" "+c.Alarm.Subject)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("raised %v; want %v", got, tt.want)
			}
		})
	}
}
