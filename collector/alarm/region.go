// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"fmt"

	"github.com/pnagent/pnagent/collector/merge"
)

// regionWatch watches a region of a net, whose owner may change.
type regionWatch struct {
	watch
	net, name string
	rule      Rule
	step      uint64
	reason    string // why it is stopped, as reported by that owner; "" if it runs
	left      bool   // that owner said goodbye
	unknown   string // why that owner does not report it now; "" if it does
}

type regionKey struct{ net, name string }

// lookAtRegions judges each region by the report of its latest owner.
func (m *Machine) lookAtRegions(sources []merge.Source) {
	var order []*regionWatch
	owners := make(map[*regionWatch]*merge.Source)
	for i := range sources {
		src := &sources[i]
		if src.Region == "" {
			continue
		}
		k := regionKey{src.Net, src.Region}
		w := m.regions[k]
		if w == nil && src.State == merge.Gone && m.byKey[keyOf(RegionStopped, src.Net, src.Region)] == nil {
			continue
		}
		if w == nil {
			net := m.rules.net(src.Net)
			w = &regionWatch{net: src.Net, name: src.Region, rule: net.whole(RegionStopped)}
			w.alarm = m.byKey[keyOf(RegionStopped, src.Net, src.Region)]
			m.regions[k] = w
		}
		last := owners[w]
		if last == nil {
			w.step, order = m.step, append(order, w)
		}
		if last == nil || src.Claim().Compare(last.Claim()) >= 0 {
			owners[w], w.reason, w.left, w.unknown = src, src.RegionStopped, src.State == merge.Gone, ""
			switch {
			case src.Forgotten:
				w.unknown = fmt.Sprintf("its owner, source %q, is silent since %s and was forgotten", src.Name, date(src.LastMessage))
			case src.State != merge.Up && src.State != merge.Gone:
				w.unknown = fmt.Sprintf("its owner, source %q, is %s", src.Name, src.State)
			}
		}
	}
	for _, w := range order {
		m.judge(&w.watch, keyOf(RegionStopped, w.net, w.name), &w.rule, finding{wrong: w.rule.On && w.reason != "", affected: 1, unknown: w.unknown}, w.text)
	}
}

func (w *regionWatch) text(since int64, wrong bool) string {
	switch {
	case wrong:
		return fmt.Sprintf("region %q of net %q is stopped since %s: %s", w.name, w.net, date(since), w.reason)
	case !w.rule.On:
		return ruleOff
	}
	if w.left {
		return fmt.Sprintf("the owner of region %q of net %q stopped", w.name, w.net)
	}
	return fmt.Sprintf("region %q of net %q is running", w.name, w.net)
}
