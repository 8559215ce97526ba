// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"strings"
	"testing"
)

func TestANameIsOnOneLine(t *testing.T) {
	for _, name := range []string{"", " ", "Task", "Ship it", " Ship", "Ship ", "Ship  it", "Ship\nit", "Ship\u00a0it", "Zahlung prüfen", "a\tb"} {
		if got, want := oneLine(name), strings.Join(strings.Fields(name), " "); got != want {
			t.Errorf("%q is %q on one line, want %q", name, got, want)
		}
	}
}
