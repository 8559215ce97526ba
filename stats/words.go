// SPDX-License-Identifier: Apache-2.0

package stats

import "strconv"

// Words says for people what a transition waits for: "waits for 2 tokens in
// Labels". Place is how to call the place that it is about, "" where there is
// none, and count as in [Wait], 0 where it is not known or not of one token.
func (r Reason) Words(place string, count uint32) string {
	switch r {
	case ReasonEnabled:
		return "can fire and waits for its turn"
	case ReasonRunning:
		return "the action is running"
	case ReasonDelayed:
		return "waits until its time has come"
	case ReasonGuarded:
		return "the guard says no"
	case ReasonMissing:
		return "waits for " + tokens(count) + in(place)
	case ReasonInhibited:
		return tokens(count) + in(place) + " must go first"
	case ReasonManual:
		return "waits to be fired from outside"
	case ReasonDead:
		return "nothing in its instance can ever enable it"
	case ReasonIncident:
		return "failed for good: somebody has to act"
	}
	return "waits for something that its engine does not tell"
}

// ReasonNamed is the inverse of Reason.String; of any other name it is
// ReasonUnknown.
func ReasonNamed(name string) Reason {
	for r := ReasonUnknown; r <= LastReason; r++ {
		if r.String() == name {
			return r
		}
	}
	return ReasonUnknown
}

// Words is that of the Wait's reason.
func (w Wait) Words(place string) string { return w.Reason.Words(place, w.Count) }

func tokens(n uint32) string {
	if n <= 1 {
		return "a token"
	}
	return strconv.FormatUint(uint64(n), 10) + " tokens"
}

func in(place string) string {
	if place == "" {
		return ""
	}
	return " in " + place
}
