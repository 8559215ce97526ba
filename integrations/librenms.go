// SPDX-License-Identifier: Apache-2.0

package integrations

import "github.com/pnagent/pnagent/mib"

// librenmsClass returns the class of the sensors of a number in LibreNMS, with ages in minutes;
// "" for a counter, which has none.
func librenmsClass(o mib.Object) string {
	switch {
	case isCounter(o):
		return ""
	case len(o.Labels) > 0:
		return "state"
	case o.Units == "seconds":
		return "runtime"
	}
	return "count"
}

// librenmsState returns the meaning of a state of a source: 0 for the good one, 1 for a warning,
// 2 and 3 for those in which it is refused and undefined.
func librenmsState(label string) int {
	meaning, known := map[string]int{"up": 0, "refused": 2, "undefined": 3}[label]
	if !known {
		return 1
	}
	return meaning
}
