// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"fmt"

	"github.com/pnagent/pnagent/collector"
)

// regionWatch is a region of a net, which one source after another owns.
type regionWatch struct {
	watch
	net, name string
	rule      Rule
	step      uint64
	fence     uint64 // of the latest owner
	reason    string // why it does not play, as that owner says; "" if it does
	unknown   bool   // that owner is not heard
}

type regionKey struct{ net, name string }

// lookAtRegions takes what the latest owner of each region says.
func (m *Machine) lookAtRegions(sources []collector.Source) {
	var order []*regionWatch
	for i := range sources {
		src := &sources[i]
		if src.Region == "" || src.State == collector.Gone {
			continue
		}
		k := regionKey{src.Net, src.Region}
		w := m.regions[k]
		if w == nil {
			net := m.rules.net(src.Net)
			w = &regionWatch{net: src.Net, name: src.Region, rule: net.whole(RegionStopped)}
			w.alarm = m.byKey[key{RegionStopped, src.Net, src.Region}]
			m.regions[k] = w
		}
		if w.step != m.step {
			w.step, w.fence = m.step, 0
			order = append(order, w)
		}
		if src.Fence >= w.fence {
			w.fence, w.reason, w.unknown = src.Fence, src.RegionStopped, src.State != collector.Up
		}
	}
	for _, w := range order {
		m.judge(&w.watch, key{RegionStopped, w.net, w.name}, &w.rule, finding{wrong: w.rule.On && w.reason != "", affected: 1, unknown: w.unknown}, w.text)
	}
}

func (w *regionWatch) text(since int64, wrong bool) string {
	switch {
	case wrong:
		return fmt.Sprintf("region %q of net %q stands still since %s: %s", w.name, w.net, date(since), w.reason)
	case !w.rule.On:
		return "no rule watches it any more"
	}
	return fmt.Sprintf("region %q of net %q plays", w.name, w.net)
}
