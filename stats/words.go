// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"strconv"
	"strings"
)

// Words returns a text for people about what a transition waits for: "waits for 2
// tokens in Labels". place is the name of the place concerned, or "", and count is
// as in [Wait], or 0 if it is not known or not of one token. manual is what a transition
// waits for that fires only from outside, such as "waits for a message".
func (r Reason) Words(place string, count uint32, manual string) string {
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
		return manual
	case ReasonDead:
		return "nothing in its instance can ever enable it"
	case ReasonIncident:
		return "failed permanently: an operator must act"
	case ReasonNoWorker:
		return "no worker that is alive takes it"
	}
	return "waits for something that its engine does not report"
}

// Text returns what w waits for, for people: What, followed by the words of the
// reason in parentheses, or the one of them that there is. words are those of
// Reason.Words, or of the caller.
func (w Wait) Text(words string) string {
	switch {
	case w.What == "":
		return words
	case w.Reason == ReasonUnknown:
		return w.What
	}
	return w.What + " (" + words + ")"
}

// Clip returns a text of at most most bytes, 3 or more: control characters are
// spaces, bytes that are not UTF-8 are replaced, and what is too long is cut at a
// character and ends with "…".
func Clip(text string, most int) string {
	text = strings.ToValidUTF8(strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, text), "\uFFFD")
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-3], "") + "…"
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
