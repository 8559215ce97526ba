// SPDX-License-Identifier: Apache-2.0

package petri

import "testing"

func TestWhatFiresFromOutsideAwaitsWhatItsKindSays(t *testing.T) {
	for kind, want := range map[string]string{
		"":                                 "waits to be fired from outside",
		"user task":                        "waits for a person to complete it",
		"manual task":                      "waits for a person to report that it is done",
		"receive task":                     "waits for a message",
		"message receive task":             "waits for a message",
		"message intermediate catch event": "waits for a message",
		"message boundary event":           "waits for a message",
		"signal start event":               "waits for a signal",
		"conditional boundary event":       "waits for its condition to come true",
		"service task":                     "waits to be completed from outside",
	} {
		if got := (Called{Kind: kind}).Awaits(); got != want {
			t.Errorf("%q: %q, want %q", kind, got, want)
		}
	}
}
