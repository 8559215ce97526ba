// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/engine/ready"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/petri/split"
)

func TestATimerThatBeginsInstancesIsRefused(t *testing.T) {
	net := func(trigger petri.Trigger) []NetConfig {
		return []NetConfig{{Tables: petritest.Compile(t, &petri.Net{ID: "n", Places: []petri.Place{{ID: "p"}},
			Transitions: []petri.Transition{{ID: "nightly", Trigger: trigger}}, Arcs: []petri.Arc{{Source: "nightly", Target: "p", Weight: 1}}})}}
	}
	hourly := petri.Trigger{Kind: petri.TriggerDelay, Micros: 3600e6, Begins: true}
	for _, c := range []struct {
		rule string
		cfg  Config
		want string
	}{
		{"in a region, which does not see all of an instance", Config{Nets: net(hourly), Part: &Part{Name: "r", Cut: &split.Part{}}}, `transition "nightly" begins instances by a timer; expected none in a region`},
		{"with a dispatcher of several workers", Config{Nets: net(hourly), Dispatch: &Dispatch{Policy: ready.PolicyDedicated}}, `or begin instances by a timer`},
		{"with more spare instances than there are", Config{Nets: net(hourly), Instances: 2, Spare: 3, Workers: 1}, `3 of 2 instances are spare; expected 0 to 2`},
	} {
		e := &Engine{cfg: c.cfg}
		err := e.checkEvents()
		if err == nil {
			_, err = New(c.cfg)
		}
		if !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.rule, err, c.want)
		}
	}
}
