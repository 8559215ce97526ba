// SPDX-License-Identifier: Apache-2.0

package web

import (
	"os"
	"testing"

	"github.com/pnagent/pnagent/collector/alarm"
)

func TestEachKindOfAlarmHasARunbook(t *testing.T) {
	for kind, address := range (Links{Runbooks: "../docs/runbooks/"}).document().Runbooks {
		if _, err := os.Stat(address); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if (Links{}).document() != nil {
		t.Error("no addresses are links")
	}
	if got, want := len((Links{Runbooks: "x"}).document().Runbooks), len(alarm.Kinds()); got != want {
		t.Errorf("%d runbooks; want %d", got, want)
	}
}

func TestLinksAreAddressesOfPages(t *testing.T) {
	for address, ok := range map[string]bool{"": true, "https://g.example/d/x?var-net={net}&from={from}": true, "http://g": true,
		"javascript:alert(1)": false, "g.example/d": false, "data:text/html,x": false, "https://g\n": false} {
		if err := (Links{Grafana: address}).Check(); (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
	}
}
