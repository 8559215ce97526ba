// SPDX-License-Identifier: Apache-2.0

//go:build peers

package page

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/browsertest"
)

// TestTheButtonOfThePageClosesWhatAKilledEngineLeft: the page sets the alarms of a killed and
// forgotten engine apart, and closes all of them by one button. What another engine holds stays.
func TestTheButtonOfThePageClosesWhatAKilledEngineLeft(t *testing.T) {
	t.Parallel()
	natsURL := kit.StartNATS(t)
	rules := kit.Write(t, "alarms.yaml", strings.Replace(kit.Impatient, "lost: off", "lost: {clear_after: 0s}", 1))
	side := kit.Serve(t, natsURL, "--alarms", rules, "--forget-after", "5s", "--web.actions")
	engine := func(source, net string) *kit.Engine {
		return kit.RunEngine(t, natsURL, source, "--bindings", kit.Write(t, "bindings.yaml", strings.ReplaceAll(kit.StuckBindings, "claims", net)), kit.Write(t, net+".pnml", strings.ReplaceAll(kit.StuckNet, `"claims"`, `"`+net+`"`)))
	}
	doomed := engine("berlin", "claims")
	engine("osaka", "refunds")
	alarms := func(n int) {
		t.Helper()
		kit.Until(t, fmt.Sprintf("%d alarms are active", n), func() error {
			if a := side.Alarms(t); len(a) != n {
				return fmt.Errorf("%+v", a)
			}
			return nil
		})
	}
	alarms(2)
	b := browsertest.Start(t).Tab(t)
	b.Open(side.URL + "/#net=claims")
	doomed.Kill(t)
	const doubts = `[...document.querySelectorAll('.lists section')].find((s) => s.querySelector('h2').innerText.startsWith('Unknown alarms'))`
	b.Until(doubts + `.querySelector('h2').innerText === 'Unknown alarms 2' && /^Unknown: it is silent since .* and was forgotten$/.test(` + doubts + `.querySelector('.alarm .text').innerText) && document.querySelector('.lists h2').innerText === 'Alarms 1'`)
	b.Until(`document.querySelector('.row.net[aria-current] .mark').title === 'alarms of which it is not known whether they hold'`)
	b.Click(".group > .acts .close-it")
	b.Until(`document.activeElement.getAttribute('aria-label') === 'Comment, may be empty'`)
	b.Keys("g", "o", "n", "e", "\r")
	b.Until(doubts + `.hidden && document.querySelector('.lists h2').innerText === 'Alarms 1'`)
	alarms(1)
	kit.Matches(t, "the ends name the comment", side.AlarmsOf(t, "--cleared"), 0, `closed by [^\n]+: gone`)
	side.Says(t, `alarms closed.*"source":"berlin","for_reason":"","comment":"gone"`)
}
