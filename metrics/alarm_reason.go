// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"slices"

	dto "github.com/prometheus/client_model/go"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/stats"
)

// waitOf returns the wait of the oldest token that an alarm is about, the one that is most
// likely its cause.
func waitOf(net *merge.NetView, a *alarm.Alarm) (worst stats.Wait, found bool) {
	if net == nil {
		return stats.Wait{}, false
	}
	consider := func(waits []stats.Wait, of func(stats.Wait) bool) {
		for _, w := range waits {
			if of(w) && (!found || gravity(w.Reason) > gravity(worst.Reason)) {
				worst, found = w, true
			}
		}
	}
	for i := range net.Rows.Places {
		stuck := net.Rows.Places[i].Stuck
		if len(stuck) == 0 {
			continue
		}
		switch a.Kind {
		case alarm.TokenStuck:
			if net.Def.Places[i].ID == a.Subject {
				consider(stuck[0].Waits, func(stats.Wait) bool { return true })
				return worst, found
			}
		case alarm.TransitionStarved:
			for k := range stuck {
				consider(stuck[k].Waits, func(w stats.Wait) bool { return net.Def.Transitions[w.Transition].ID == a.Subject })
			}
		}
	}
	return worst, found
}

// gravity orders reasons: the higher, the less likely it goes away by itself.
func gravity(r stats.Reason) int {
	return slices.Index([]stats.Reason{stats.ReasonUnknown, stats.ReasonEnabled, stats.ReasonRunning, stats.ReasonDelayed, stats.ReasonGuarded,
		stats.ReasonMissing, stats.ReasonInhibited, stats.ReasonManual, stats.ReasonDead, stats.ReasonIncident}, r)
}

// reasonLabels returns the labels of the reason of an alarm; nil if none is known. It reuses
// those of before if they are the same.
func (n *netSeries) reasonLabels(a *alarm.Alarm, subject, before []*dto.LabelPair) []*dto.LabelPair {
	w, found := waitOf(n.net, a)
	if !found {
		return nil
	}
	blocker := ""
	if w.Place != stats.NoPlace {
		blocker = n.net.Def.Places[w.Place].ID
	}
	own := [...]string{n.net.Def.Transitions[w.Transition].ID, w.Reason.String(), blocker}
	if k := len(subject); len(before) == k+len(own) && slices.EqualFunc(before[k:], own[:], func(l *dto.LabelPair, v string) bool { return l.GetValue() == v }) {
		return before
	}
	return append(slices.Clone(subject), pair("waits_for", own[0]), pair("reason", own[1]), pair("blocked_by", own[2]))
}
