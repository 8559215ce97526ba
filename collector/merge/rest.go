// SPDX-License-Identifier: Apache-2.0

package merge

import "slices"

// AtRest reports whether v is as last but for rates over minutes, and may stand for Views of
// some time: nothing moves in it, and no source is one whose silence would be noticed.
func (v *View) AtRest(last *View) bool {
	if v.Interrupted || last.Interrupted || v.MessageRate != last.MessageRate || v.MessageRate > 0 || !SameReport(last, v) {
		return false
	}
	moves := func(n *NetView) bool { return n.Rates.now() }
	noticed := func(s Source) bool { return s.State != Stale && s.State != Gone }
	return !slices.ContainsFunc(v.Nets, moves) && !slices.ContainsFunc(v.Sources, noticed)
}

// now reports whether one of the rates of the last seconds is not 0.
func (r *Rates) now() bool {
	some := func(rate float64) bool { return rate > 0 }
	return r.Firings.Now > 0 || r.Finished > 0 || slices.ContainsFunc(r.Arrivals, some) || slices.ContainsFunc(r.Departures, some)
}
