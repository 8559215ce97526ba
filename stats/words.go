// SPDX-License-Identifier: Apache-2.0

package stats

import "strconv"

// Words returns a text for people about what a transition waits for: "waits for 2
// tokens in Labels". place is the name of the place concerned, or "", and count is
// as in [Wait], or 0 if it is not known or not of one token.
func (r Reason) Words(place string, count uint32) string {
	switch r {
	case ReasonEnabled:
		return "can fire and waits for its turn"
	case ReasonRunning:
		return "the action is running"
	case ReasonDelayed:
		return "waits until its time has come"
	case ReasonGuarded:
		return "the guard is false"
	case ReasonMissing:
		return "waits for " + tokens(count) + in(place)
	case ReasonInhibited:
		return tokens(count) + in(place) + " must go first"
	case ReasonManual:
		return "waits to be fired from outside"
	case ReasonDead:
		return "nothing in its instance can ever enable it"
	case ReasonIncident:
		return "failed permanently: an operator must act"
	}
	return "waits for something that its engine does not report"
}

// ReasonNamed returns the reason with a name, the inverse of Reason.String, or
// ReasonUnknown.
func ReasonNamed(name string) Reason {
	for r := ReasonUnknown; r <= LastReason; r++ {
		if r.String() == name {
			return r
		}
	}
	return ReasonUnknown
}

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
