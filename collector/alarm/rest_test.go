// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/collector/alarm/alarmtest"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/telemetry/natslink"
)

// stepped takes a step of a Machine. Where the Machine would rest it judges everything, and
// the test fails if that changes anything: a Machine that rests is the Machine that does not.
func stepped(t *testing.T, m *Machine, view *merge.View, now int64) []Change {
	t.Helper()
	if !m.rests(view, now) {
		return m.Step(view, now)
	}
	picture := func() []any {
		return []any{m.State(0).Active, m.State(0).Settling, m.Saved(), m.book.digest(), m.Tally(), len(m.byKey), len(m.unnumbered), m.followed, m.resting}
	}
	due := m.Due()
	m.now = now // of State
	before := picture()
	m.rest.still = false
	changes := m.Step(view, now)
	if d := cmp.Diff(before, picture()); d != "" || len(changes) > 0 || m.Due() != due && (due == 0 || m.Due() < due) {
		t.Errorf("at %d it would have rested until %d, but it changed %v, and is due at %d:\n%s", now-t0, due-t0, texts(changes), m.Due()-t0, d)
	}
	return changes
}

// Whatever is alarmed, Views that report the same cost no judgement until time alone changes
// something.
func TestAMachineRestsWhileNothingIsReported(t *testing.T) {
	net := alarmtest.Wide("n", 3, t0)
	source := merge.Source{Name: "a", Net: "n", State: merge.Stale, LastMessage: t0 - 5e6}
	view := &merge.View{Nets: []*merge.NetView{net}, Sources: []merge.Source{source}}
	again := func() *merge.View { v := *view; return &v }
	m := NewMachine(DefaultRules(), Saved{}, forgetAfter)
	var raised []string
	var full []string
	for at := int64(0); at <= 3600e6; at += 1e6 {
		v := again()
		if !m.rests(v, t0+at) {
			full = append(full, (time.Duration(at) * time.Microsecond).String())
		}
		raised = append(raised, texts(m.Step(v, t0+at))...)
	}
	wants(t, "all are raised", []string{"raise 1 a", "raise 2 p0", "raise 3 p1", "raise 4 p2"}, raised)
	settle, stuck := DefaultRules().Settle, 10*time.Minute
	wants(t, "it judges when it begins, has settled, and tokens are stuck", []string{"0s", "1s", settle.String(), (stuck + time.Second).String(), (stuck + 2*time.Second).String()}, full)
	if m.Due() != 0 {
		t.Errorf("it is due at %d; want never", m.Due())
	}
	for name, change := range map[string]func(v *merge.View){
		"a source is another one":  func(v *merge.View) { v.Sources = []merge.Source{source} },
		"a net is another one":     func(v *merge.View) { v.Nets = []*merge.NetView{alarmtest.Moved(net, t0)} },
		"the View is interrupted":  func(v *merge.View) { v.Interrupted = true },
		"the connection is known":  func(v *merge.View) { v.NATS = &natslink.ConnState{Connected: true} },
		"a net is there no more":   func(v *merge.View) { v.Nets = nil },
		"there are no sources yet": func(v *merge.View) { v.Sources = nil },
	} {
		v := again()
		change(v)
		if m.rests(v, t0+3601e6) {
			t.Errorf("it rests although %s", name)
		}
	}
	if m.rests(again(), t0) {
		t.Error("it rests although the clock was set back")
	}
	m.With(DefaultRules())
	if m.rests(again(), t0+3601e6) {
		t.Error("it rests although its rules are others")
	}
}

// BenchmarkAFleetThatIsAlarmed judges 10,000 sources that are silent and alarmed: of Views
// that report nothing new, and of Views whose sources are all read again.
func BenchmarkAFleetThatIsAlarmed(b *testing.B) {
	const fleet = 10_000
	sources := make([]merge.Source, fleet)
	for i := range sources {
		sources[i] = merge.Source{Name: fmt.Sprintf("e%05d", i), Net: "n", State: merge.Stale, LastMessage: t0 - 5e6}
	}
	net := alarmtest.Wide("n", 50, t0-3600e6)
	for name, fresh := range map[string]bool{"at-rest": false, "all-read-again": true} {
		b.Run(name, func(b *testing.B) {
			m, now := NewMachine(DefaultRules(), Saved{}, forgetAfter), t0
			step := func() {
				now += 1e6
				view := &merge.View{Nets: []*merge.NetView{net}, Sources: sources}
				if fresh {
					view.Sources = slices.Clone(sources)
				}
				m.Step(view, now)
			}
			for range 60 {
				step()
			}
			b.ReportAllocs()
			for b.Loop() {
				step()
			}
			b.ReportMetric(float64(len(m.active)), "alarms")
		})
	}
}
