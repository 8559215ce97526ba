// SPDX-License-Identifier: Apache-2.0

//go:build peers

package sqldb

import (
	"fmt"
	"strings"

	"github.com/pnagent/pnagent/snmp/snmptest"
	"github.com/pnagent/pnagent/stats"
)

// trappedRules raise an alarm at once for every reason but a time that has not come.
const trappedRules = `
settle: 1s
defaults:
  starved: off
  stuck: [{after: off}, {reason: enabled, after: 0s}, {reason: running, after: 0s}, {reason: missing, after: 0s}, {reason: manual, after: 0s}, {reason: incident, after: 0s}, {reason: noWorker, after: 0s}]
`

// traps waits until a trap with its reason, an instance and what that waits for has come of each reason for which tokens
// wait now, but of a time that has not come. The first call starts a sidecar and snmptrapd.
func (w *watch) traps() {
	w.t.Helper()
	if w.sink == nil {
		w.sink = snmptest.StartTrapd(w.t)
		newSidecar(w.t, w.url, trappedRules, w.sink)
	}
	w.until(func() string {
		came := map[string]bool{}
		for _, n := range w.sink.Wait(w.t, 0) {
			v := n.Variables
			if !strings.HasSuffix(fmt.Sprint(v[1].Value), ".1") {
				continue
			}
			reason := stats.Reason(v[11].Value.Num - 1)
			if v[12].Value.Str == "" || v[13].Value.Str == "" || reason == stats.ReasonDelayed || reason == stats.ReasonUnknown {
				w.t.Errorf("a trap of net %s and place %s with reason %s, instance %q: %q", v[3].Value.Str, v[4].Value.Str, reason, v[12].Value.Str, v[13].Value.Str)
			}
			came[fmt.Sprint(v[3].Value.Str, " ", v[4].Value.Str, " ", reason)] = true
		}
		for net, s := range w.last {
			for i := range s.Rows.Places {
				for _, g := range s.Rows.Places[i].Groups {
					key := fmt.Sprint(net, " ", w.net(net).Places[i].ID, " ", g.Reason)
					if g.Reason != stats.ReasonDelayed && g.Reason != stats.ReasonUnknown && !came[key] {
						return "no trap of " + key
					}
				}
			}
		}
		return ""
	})
}
