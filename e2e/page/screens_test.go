// SPDX-License-Identifier: Apache-2.0

//go:build peers

package page

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/browsertest"
	"github.com/pnagent/pnagent/web/api"
)

// screens are those of a desk, a tablet and a phone.
var screens = []struct {
	name          string
	width, height int64
}{{"desk", 1440, 900}, {"tablet", 1024, 768}, {"phone", 390, 844}}

// aroundWhatIsStuck lists what is wider than the window, and what stands over a node with an alarm
// that the window shows.
const aroundWhatIsStuck = `(async () => {
	const faults = [], wide = document.documentElement.scrollWidth;
	if (wide > innerWidth) faults.push('the page is ' + wide + ' pixels wide');
	const net = new URLSearchParams(location.hash.slice(1)).get('net');
	if (!net) return faults;
	const get = async (what) => (await fetch('api/v1/' + what)).json();
	const shapes = () => [...document.querySelectorAll('#bpmn :is(.alarmed, .mild)')].map((e) => [e.dataset.elementId, e.querySelector('.djs-visual').getBoundingClientRect()]);
	const nodes = async () => {
		const canvas = document.querySelector('#net'), [x, y, scale] = canvas.dataset.camera.split(' ').map(Number), box = canvas.getBoundingClientRect();
		const ids = new Set((await get('overview')).alarms.filter((a) => a.net === net).map((a) => a.place ?? a.transition));
		return (await get('drawing?net=' + net)).nodes.filter((n) => ids.has(n.id)).map((n) => [n.id, new DOMRect(box.left + x + (n.x - n.w / 2) * scale, box.top + y + (n.y - n.h / 2) * scale, n.w * scale, n.h * scale)]);
	};
	const over = [...document.querySelectorAll('#zoom, #legend, #view, #sight, #minimap')].filter((e) => e.checkVisibility()).map((e) => [e.id, e.getBoundingClientRect()]);
	for (const [what, a] of document.querySelector('#bpmn').hidden ? await nodes() : shapes())
		for (const [by, b] of over) if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom) faults.push(by + ' is over ' + what);
	return faults;
})()`

// onEveryScreen looks at what is shown on each screen, dark and light.
func onEveryScreen(t *testing.T, b *browsertest.Tab, name string) {
	t.Helper()
	for _, s := range screens {
		b.Do(chromedp.EmulateViewport(s.width, s.height))
		b.Until(fmt.Sprintf(`innerWidth === %d`, s.width))
		for _, theme := range []string{"dark", "light"} {
			b.Media("prefers-color-scheme", theme)
			b.Until(`document.documentElement.dataset.theme === '` + theme + `'`)
			browsertest.Eval[bool](b, "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
			for _, fault := range browsertest.Eval[[]string](b, aroundWhatIsStuck) {
				t.Errorf("%s, %s: %s", name, s.name, fault)
			}
			b.Screenshot(strings.Join([]string{name, s.name, theme}, "-"))
		}
	}
	b.Do(chromedp.EmulateViewport(screens[0].width, screens[0].height))
}

// stuckIn waits until the demo has a stuck token in a net, which it has about every two minutes, and
// returns its alarm.
func stuckIn(t *testing.T, d *kit.Demo, net string) api.Alarm {
	t.Helper()
	for end := time.Now().Add(10 * time.Minute); ; <-time.After(time.Second) {
		var o api.Overview
		if err := json.Unmarshal(d.Page(t, "/api/v1/overview"), &o); err != nil {
			t.Fatal(err)
		}
		for _, a := range o.Alarms {
			if a.Alarm == "tokenStuck" && a.Net == net {
				return a
			}
		}
		if time.Now().After(end) {
			t.Fatal(errors.New("nothing is stuck in " + net))
		}
	}
}

// With PNAGENT_SCREENSHOTS the pictures are kept. One of them, page, is that of README.
func TestTheDemoOnEveryScreen(t *testing.T) {
	t.Parallel()
	d := kit.StartDemo(t)
	b := browsertest.Start(t).Tab(t)
	b.Do(chromedp.EmulateViewport(screens[0].width, screens[0].height))

	a := stuckIn(t, d, "claim")
	b.Media("prefers-color-scheme", "light")
	b.Visit(d.URL + "/#net=claim&place=" + url.QueryEscape(a.Place))
	b.Until(`document.querySelector('#bpmn').dataset.drawn && document.querySelector('#panel .tokens .waits li') && document.querySelector('#bpmn :is(.alarmed, .mild)')`)
	b.Screenshot("page")
	b.Visit(d.URL + "/#net=claim")
	b.Until(`document.querySelector('#bpmn').dataset.drawn && document.querySelector('#bpmn :is(.alarmed, .mild)')`)
	onEveryScreen(t, b, "process")
	b.Keys("h")
	b.Until(`document.querySelector('#panel .tokens button')`)
	onEveryScreen(t, b, "element")
	b.Click("#panel .tokens button")
	b.Until(`location.hash.includes('instance=') && document.querySelector('#panel .seen li')`)
	onEveryScreen(t, b, "instance")
	b.Visit(d.URL + "/")
	b.Until(`document.querySelectorAll('#home .net-card').length === 4 && document.querySelector('#home .trend .line')`)
	onEveryScreen(t, b, "home")

	stuckIn(t, d, "order-fulfilment")
	b.Open(d.URL + "/#net=order-fulfilment")
	b.Until(`document.querySelector('.alarm')`)
	onEveryScreen(t, b, "net")
	b.Keys("[")
	b.Until(`document.querySelector('.banner.past')`)
	onEveryScreen(t, b, "past")
	b.Clean(strings.TrimPrefix(d.URL, "http://"), false)
}
