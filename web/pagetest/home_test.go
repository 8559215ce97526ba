// SPDX-License-Identifier: Apache-2.0

//go:build peers

package pagetest

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/pnagent/pnagent/internal/browsertest"
)

// sizes are the screens of which pictures are looked at.
var sizes = []struct {
	name          string
	width, height int64
}{{"wide", 1440, 900}, {"tablet", 1024, 768}, {"phone", 390, 844}}

// everySize takes a picture of what is shown on each screen, dark and light.
func everySize(b *browsertest.Tab, name string) {
	for _, size := range sizes {
		b.Do(chromedp.EmulateViewport(size.width, size.height))
		for range 2 {
			b.Keys("d")
			b.Until(`document.documentElement.dataset.theme`)
			b.Screenshot(fmt.Sprintf("%s-%s-%s", name, size.name, browsertest.Eval[string](b, `document.documentElement.dataset.theme`)))
		}
	}
	b.Do(chromedp.EmulateViewport(1440, 900))
}

// Without a net in the address the page shows all, the one with an alarm first; each opens, and the
// product's name leads back.
func homeHasAllNetsTheWorstFirst(t *testing.T, chromium *browsertest.Browser) {
	f, s := served(t)
	b := chromium.Tab(t)
	b.Do(chromedp.EmulateViewport(1440, 900))
	b.Visit(f.url())
	b.Until(`document.querySelectorAll('#home .net-card').length === 2 && document.querySelectorAll('#home .trend .line').length === 2`)
	const row = `document.querySelector('#home li .net-card')`
	b.Until(row + `.innerText.includes('Order fulfilment') && ` + row + `.innerText.includes('42 min') && ` + row + `.innerText.includes('in Payment unclear') && ` + row + `.innerText.includes('1 alarm')`)
	b.Until(row + `.querySelector('.mark').getAttribute('aria-label') === 'alarm, minor'`)
	if got := b.Text("#net-name"); got != "pnagent" {
		t.Errorf("home has the title %q; want the product's name", got)
	}
	everySize(b, "home")
	b.Click("#home li .net-card")
	b.Until(`location.hash.includes('net=` + s.def.ID + `') && document.querySelector('#home').hidden && document.querySelector('#net-name').textContent === 'Order fulfilment'`)
	b.Keys("a")
	b.Until(`!document.querySelector('#home').hidden && !location.hash.includes('net=')`)
	b.Do(chromedp.NavigateBack())
	b.Until(`document.querySelector('#home').hidden`)
	b.Click("#to-home")
	b.Until(`!document.querySelector('#home').hidden && document.querySelector('#to-home').hidden`)
	b.Until(`document.querySelectorAll('.row.source').length === 2 && document.querySelectorAll('.row.source .inner li').length === 4`) // two engines of two nets
	b.Clean(f.addr, false)
}

// The search at home finds places and instances of all nets.
func searchFindsWhatIsInOtherNets(t *testing.T, chromium *browsertest.Browser) {
	f, s := served(t)
	b := chromium.Tab(t)
	b.Visit(f.url())
	b.Until(`!document.querySelector('#home').hidden`)
	find(b, "unclear")
	b.Until(`[...document.querySelectorAll('#matches li')].filter((li) => li.innerText.includes('Payment unclear') && li.innerText.includes('Returns and refunds')).length === 1`)
	b.Screenshot("home-search")
	b.Do(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll('#matches li')].find((li) => li.innerText.includes('Order fulfilment')).click()`))
	b.Until(`location.hash.includes('net=` + s.def.ID + `') && location.hash.includes('place=paymentUnclear')`)
	find(b, "osaka")
	b.Until(`[...document.querySelectorAll('#matches li')].some((li) => li.innerText.includes('osaka/customer 3') && li.innerText.includes('instance'))`)
	b.Clean(f.addr, false)
}

// The hint for the first visit is dismissed once.
func aHintIsDismissedOnce(t *testing.T, chromium *browsertest.Browser) {
	b, f, _ := opened(t, chromium)
	b.Until(`document.querySelector('#hint').hidden`)
	b.Do(chromedp.Evaluate[chromedp.Void](`sessionStorage.setItem('first time', 'yes'); localStorage.removeItem('pnagent hint'); location.reload()`))
	b.Until(`document.querySelector('#hint p')?.innerText.split('. ').length === 3 && document.querySelector('#net').getBoundingClientRect().height > 300`)
	everySize(b, "hint")
	b.Click("#hint button")
	b.Until(`document.querySelector('#hint').hidden`)
	b.Do(chromedp.Reload())
	b.Until(`document.querySelector('#net').dataset.camera && document.querySelector('#hint').hidden`)
	b.Keys("?")
	b.Until(`document.querySelector('#help').open && document.querySelector('#help').scrollTop === 0 && document.activeElement.id === 'help-title'`)
	b.Screenshot("help-at-its-top")
	b.Clean(f.addr, false)
}

// find searches for a text.
func find(b *browsertest.Tab, text string) {
	b.Keys("/")
	b.Until(`document.activeElement.id === 'query'`)
	b.Keys(kb.Backspace) // the slash, which only a real keyboard keeps to itself
	b.Do(chromedp.SendKeys(chromedp.CSS("#query"), text))
}

// Fifty places with one name are one line, which opens.
func equalAlarmsAreOneLine(t *testing.T, chromium *browsertest.Browser) {
	f, s := served(t)
	f.change(func() {
		f.alarms = nil
		for i := range 50 {
			f.alarms = append(f.alarms, map[string]any{"index": 10 + i, "alarm": "tokenStuck", "severity": "minor", "net": s.def.ID, "net_name": s.def.Name, "place": fmt.Sprint("queue", i), "name": "Queued",
				"since": moment(nowMS() - 4*minute - int64(i)), "affected": 1, "after_seconds": 60, "text": "stuck"})
		}
	})
	b := chromium.Tab(t)
	b.Open(f.url() + "#net=" + s.def.ID)
	const equal = `[...document.querySelectorAll('.lists .group > .row')].find((row) => row.innerText.includes('Queued ×50'))`
	b.Until(equal + `?.querySelector('.age').textContent.startsWith('4 min')`)
	b.Do(chromedp.Evaluate[chromedp.Void](equal + `.click()`))
	b.Until(`document.querySelectorAll('.lists .group .inner li').length === 50`)
	b.Clean(f.addr, false)
}

// everyKindOfPageOnEveryScreen is for people who look at the pictures: of a process, a net, an instance and the past.
// What a reader needs is inside of each screen.
func everyKindOfPageOnEveryScreen(t *testing.T, chromium *browsertest.Browser) {
	b, f := openedClaims(t, chromium, "#net=claims")
	b.Until(drawnBPMN)
	everySize(b, "process")
	b.Keys("h")
	b.Until(`document.querySelector('#panel .panel-head .quiet')?.textContent === 'user task' && document.querySelector('#panel .tokens button')`)
	b.Until(`!/place|→/.test(document.querySelector('#panel .panel-head').innerText)`)
	everySize(b, "element")
	b.Click("#panel .tokens button")
	b.Until(`location.hash.includes('instance=') && document.querySelector('#panel h3')`)
	everySize(b, "instance")
	b.Keys(kb.Escape)
	b.Until(`document.querySelector('#panel').hidden`)
	const inside = `(() => { const box = ` + "document.querySelector('[data-element-id=decide]')" + `.getBoundingClientRect(), stage = document.querySelector('#bpmn').getBoundingClientRect(); return box.left >= stage.left && box.right <= stage.right; })()`
	b.Keys("0")
	b.Until(inside)
	b.Keys("[")
	b.Until(`document.querySelector('.banner.past')`)
	everySize(b, "past")
	b.Visit(f.url() + "#net=claims&view=net")
	b.Until(`document.querySelector('#bpmn').hidden && document.querySelector('#net').dataset.camera`)
	everySize(b, "net")
	b.Clean(f.addr, false)
}
