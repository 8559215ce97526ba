// SPDX-License-Identifier: Apache-2.0

package pagetest

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"
)

func nowMS() int64 { return time.Now().UnixMilli() }

// opened is the page of the shop's net in a tab.
func opened(t *testing.T) (*tab, *fake, *scripted) {
	t.Helper()
	s := shop(t, nowMS())
	other := shop(t, nowMS())
	copied := *other.def
	other.def = &copied
	other.def.ID, other.def.Name, other.since = "returns", "Returns and refunds", nowMS()-20_000
	f := newFake(t, other, s)
	f.alarms = []map[string]any{{"index": 7, "kind": "stuck", "net": s.def.ID, "subject": "paymentUnclear", "since": moment(nowMS() - 32*minute),
		"text": "the oldest token of Payment unclear is older than 10 minutes"}}
	b := newTab(t)
	b.open(f.url())
	return b, f, s
}

// node returns the index of a place or transition in the drawing.
func node(s *scripted, id string) int {
	for i, n := range s.drawing["nodes"].([]map[string]any) {
		if n["id"] == id {
			return i
		}
	}
	return -1
}

func TestTheNetThatNeedsLookingAtOpensFirst(t *testing.T) {
	b, f, s := opened(t)
	if got := b.text("#net-name"); got != "Order fulfilment" {
		t.Errorf("the page opens %q; want the net with an alarm", got)
	}
	b.until(`document.querySelector('#vitals').innerText.includes('42 m')`)
	b.moveMouse(5, 5)
	b.screenshot("light")
	x, y := b.point(s, node(s, "paymentUnclear"))
	if hot, ground := b.colour(x, y+8), b.colour(x, y+150); hot == ground {
		t.Errorf("the stuck place has the colour %v of the ground", hot)
	}
	b.clean(f, false)
}

func TestTokensMoveWithinTwoSeconds(t *testing.T) {
	b, _, _ := opened(t)
	moves := eval[int](b, `new Promise((done) => {
		const c = document.querySelector('#net'), ctx = c.getContext('2d'), begun = performance.now();
		let before = '', changes = 0;
		const look = () => {
			const now = c.toDataURL();
			if (before && now !== before) changes++;
			before = now;
			if (performance.now() - begun < 2000) requestAnimationFrame(look); else done(changes);
		};
		look();
	})`)
	if moves < 4 { // numbers change twice a second
		t.Errorf("the drawing changed %d times within two seconds; want dots that travel", moves)
	}
}

// While nothing may move, the drawing changes with the numbers and the ages only.
func TestNothingMovesForWhoPrefersThat(t *testing.T) {
	b, _, _ := opened(t)
	b.media("prefers-reduced-motion", "reduce")
	b.until(`document.querySelector('.worth').textContent === ''`)
	b.media("prefers-reduced-motion", "no-preference")
	b.until(`document.querySelector('.worth').textContent !== ''`)
}

func TestTheStuckPlaceIsTheHottest(t *testing.T) {
	b, _, s := opened(t)
	b.keys("t")
	b.until(`document.querySelector('.tables tbody tr')`)
	if got := eval[string](b, `document.querySelector('.tables tbody th').innerText`); got != "Payment unclear" {
		t.Errorf("the hottest of the table is %q", got)
	}
	b.screenshot("table")
	b.keys("t")
	b.until(`document.querySelector('#tables').hidden`)
	b.media("prefers-reduced-motion", "reduce")
	// On light ground the hotter is the darker.
	light := func(i int) int {
		x, y := b.point(s, i)
		c := b.colour(x, y+8) // below the number
		return c[0] + c[1] + c[2]
	}
	b.keys("+", "+", "0") // painted anew, without dots
	stuck := node(s, "paymentUnclear")
	for i := range s.def.Places {
		if p := s.place(i, nowMS()); i != stuck && p[0] != 0 && light(i) <= light(stuck) {
			t.Errorf("%s is as dark as the stuck place", s.def.Places[i].ID)
		}
	}
}

func TestFromAPlaceToItsOldestInstanceAndItsHistory(t *testing.T) {
	b, f, s := opened(t)
	x, y := b.point(s, node(s, "paymentUnclear"))
	b.do(chromedp.MouseClickXY(x, y))
	b.until(`document.querySelector('#panel .tokens button')`)
	if got := b.text("#panel .tokens li"); !strings.Contains(got, "berlin/customer 17") || !strings.Contains(got, "somebody in accounting must clear it") || !strings.Contains(got, "42 m") {
		t.Errorf("the oldest token is shown as %q", got)
	}
	b.moveMouse(700, 30)
	b.screenshot("place")
	b.click("#panel .tokens button")
	b.until(`document.querySelector('#panel .seen li')`)
	if got := b.text("#panel .seen"); !strings.Contains(got, "Cart") || !strings.Contains(got, "Payment unclear") {
		t.Errorf("the instance was seen in %q", got)
	}
	b.screenshot("instance")
	if got := eval[string](b, "location.hash"); !strings.Contains(got, "instance=berlin%2Fcustomer+17") {
		t.Errorf("the address is %s; want the instance in it", got)
	}
	b.do(chromedp.NavigateBack())
	b.until(`document.querySelector('#panel h2').innerText === 'Payment unclear'`)
	b.clean(f, false)
}

func TestATransitionSaysWhyItWaits(t *testing.T) {
	b, _, s := opened(t)
	i := len(s.def.Places) + 3
	x, y := b.point(s, i)
	b.moveMouse(x, y)
	b.until(`document.querySelector('#tip .reason')`)
	if got := b.text("#tip"); !strings.Contains(got, "short of 1 token in Idle") {
		t.Errorf("the tip says %q", got)
	}
	b.screenshot("transition-tip")
	b.do(chromedp.MouseClickXY(x, y))
	b.until(`document.querySelector('#panel .waits')`)
	if got := b.text("#panel .waits"); !strings.Contains(got, "12 instances") {
		t.Errorf("blocked: %q", got)
	}
	b.moveMouse(700, 30)
	b.screenshot("transition")
}

func TestAnAlarmLeadsToItsPlace(t *testing.T) {
	b, _, _ := opened(t)
	b.click(".alarm")
	b.until(`document.querySelector('#panel h2')?.innerText === 'Payment unclear'`)
}

func TestTheSliderGoesToThePastAndBack(t *testing.T) {
	b, f, _ := opened(t)
	b.until(`!document.querySelector('#time').disabled`)
	slide := func(share float64) {
		b.t.Helper()
		eval[bool](b, fmt.Sprintf(`(() => { const s = document.querySelector('#time'); s.value = Math.round(s.max * %f);
			s.dispatchEvent(new Event('input', {bubbles: true})); return true; })()`, share))
	}
	slide(0.1) // 54 minutes ago: nothing was stuck yet
	b.until(`document.querySelector('.banner.past')`)
	b.until(`!document.querySelector('#vitals').innerText.includes('Payment unclear')`)
	slide(0.6) // 24 minutes ago it was stuck for 18
	b.until(`document.querySelector('#vitals').innerText.includes('18 m') || document.querySelector('#vitals').innerText.includes('17 m')`)
	b.screenshot("past")
	b.click(".banner.past button")
	b.until(`!document.querySelector('.banner.past') && document.querySelector('#vitals').innerText.includes('42 m')`)
	b.keys("[", "[")
	b.until(`document.querySelector('.banner.past')`)
	b.keys("l")
	b.until(`!document.querySelector('.banner.past')`)
	b.clean(f, false)
}

func TestALinkShowsTheSameToSomebodyElse(t *testing.T) {
	_, f, s := opened(t)
	at := time.Now().Add(-24 * time.Minute).UTC().Format(time.RFC3339)
	link := f.url() + "#" + url.Values{"net": {s.def.ID}, "place": {"paymentUnclear"}, "at": {at}}.Encode()
	b := newTab(t)
	b.open(link)
	b.until(`document.querySelector('#panel h2')?.innerText === 'Payment unclear' && document.querySelector('.banner.past')`)
	b.until(`/1[78] m/.test(document.querySelector('#vitals').innerText)`)
	b.clean(f, false)
}

func TestSearchJumps(t *testing.T) {
	b, _, s := opened(t)
	b.keys("/")
	b.until(`document.activeElement.id === 'query'`)
	b.keys(kb.Backspace) // the slash, which only a real keyboard keeps to itself
	b.do(chromedp.SendKeys(chromedp.CSS("#query"), "refunded"))
	b.until(`document.querySelector('#matches li')?.innerText.includes('Refunded')`)
	b.screenshot("search")
	b.keys("\r")
	b.until(`document.querySelector('#panel h2')?.innerText === 'Refunded'`)
	x, y := b.point(s, node(s, "refunded"))
	box := eval[[]float64](b, `(() => { const r = document.querySelector('#net').getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; })()`)
	if x < box[0] || y < box[1] || x > box[2] || y > box[3] {
		t.Errorf("what was found is at %v, %v, outside of %v", x, y, box)
	}
}

func TestAllIsReachedWithTheKeyboard(t *testing.T) {
	b, f, _ := opened(t)
	b.do(chromedp.Focus(chromedp.CSS("#net")))
	b.keys("h")
	b.until(`document.querySelector('#panel h2')?.innerText === 'Payment unclear'`)
	b.keys(kb.Escape)
	b.until(`document.querySelector('#panel').hidden`)
	b.do(chromedp.Focus(chromedp.CSS("#net")), chromedp.KeyEvent(kb.ArrowRight))
	b.until(`document.querySelector('#said').textContent !== ''`)
	said := b.text("#said")
	b.keys("\r")
	b.until(`!document.querySelector('#panel').hidden`)
	if got := b.text("#panel h2"); !strings.Contains(said, got) {
		t.Errorf("Enter opened %q where the cursor was at %q", got, said)
	}
	b.keys("?")
	b.until(`document.querySelector('#help').open`)
	b.screenshot("help")
	b.keys(kb.Escape)
	b.until(`!document.querySelector('#help').open`)
	// The tab key reaches everything that can be pressed, once.
	b.do(chromedp.Evaluate[chromedp.Void](`document.activeElement.blur()`))
	seen := map[string]bool{}
	for range 60 {
		b.keys("\t")
		seen[eval[string](b, `(document.activeElement.id || document.activeElement.className || document.activeElement.tagName)`)] = true
	}
	var missing []string
	for _, want := range []string{"skip", "query", "as-table", "theme", "help-open", "row alarm", "row net", "net", "zoom-in", "time", "live", "icon close"} {
		if !seen[want] {
			missing = append(missing, want)
		}
	}
	if d := cmp.Diff([]string(nil), missing); d != "" {
		t.Errorf("not reached: %s\nreached: %v", d, seen)
	}
	b.clean(f, false)
}

func TestDarkAndLight(t *testing.T) {
	b, f, s := opened(t)
	ground := func() string { return eval[string](b, `getComputedStyle(document.body).backgroundColor`) }
	light := ground()
	b.media("prefers-color-scheme", "dark")
	b.until(`document.documentElement.dataset.theme === 'dark'`)
	if ground() == light {
		t.Error("dark has the ground of light")
	}
	b.moveMouse(5, 5)
	b.screenshot("dark")
	x, y := b.point(s, node(s, "paymentUnclear"))
	b.do(chromedp.MouseClickXY(x, y))
	b.until(`document.querySelector('#panel .tokens button')`)
	b.moveMouse(700, 30)
	b.screenshot("dark-place")
	b.click("#theme")
	b.until(`document.documentElement.dataset.theme === 'light'`)
	b.do(chromedp.Reload())
	b.until(`document.documentElement.dataset.theme === 'light'`) // what was chosen is remembered
	b.clean(f, false)
}

func TestNamesAreOnlyText(t *testing.T) {
	s := hostile(nowMS())
	f := newFake(t, s)
	f.alarms = []map[string]any{{"index": 1, "kind": "stuck", "net": s.def.ID, "subject": "p1", "since": moment(nowMS() - minute), "text": `<script>alert("alarm")</script>`}}
	b := newTab(t)
	b.open(f.url())
	b.keys("h")
	b.until(`document.querySelector('#panel .tokens button')`)
	b.screenshot("hostile")
	b.click("#panel .tokens button")
	b.until(`document.querySelector('#panel .seen li')`)
	b.keys("t")
	b.until(`document.querySelectorAll('.tables tbody tr').length === 8`)
	b.screenshot("hostile-table")
	for i := range s.def.Places {
		b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelectorAll('.tables tbody button')[%d].click()`, i)))
		b.until(`document.querySelector('#panel dl')`)
	}
	if n := eval[int](b, `document.querySelectorAll('body script, body img, [onclick], [onerror], [onmouseover], b').length`); n != 0 {
		t.Errorf("%d elements were made of names", n)
	}
	if wide := eval[bool](b, `document.documentElement.scrollWidth > innerWidth`); wide {
		t.Error("a long name makes the page wider than the window")
	}
	b.clean(f, false)
}

func TestItGoesOnAfterARestart(t *testing.T) {
	b, f, s := opened(t)
	f.close()
	b.until(`document.querySelector('.banner.stale')?.innerText.includes('old') && document.documentElement.classList.contains('lost')`)
	b.screenshot("lost")
	f.version = "-next"
	s.since = nowMS() - 50*minute
	f.start()
	b.until(`document.querySelector('#link').textContent === 'live' && !document.documentElement.classList.contains('lost')`)
	b.until(`document.querySelector('#vitals').innerText.includes('50 m')`)
	b.until(`document.querySelector('.banner.newer button')`) // another page came with it
	b.click(".banner.newer button")
	b.until(`document.querySelector('#link')?.textContent === 'live' && !document.querySelector('.banner.newer')`)
	b.clean(f, true)
}

func TestWhatIsNotThereIsSaid(t *testing.T) {
	t.Run("no net", func(t *testing.T) {
		f := newFake(t)
		b := newTab(t)
		b.do(chromedp.Navigate(f.url()))
		b.until(`document.querySelector('#empty').innerText.includes('Waiting for the first engine')`)
		b.screenshot("empty")
		s := shop(t, nowMS())
		f.nets = append(f.nets, s) // an engine comes
		b.until(`document.querySelector('#empty').hidden && document.querySelector('#net-name').innerText === 'Order fulfilment'`)
		b.clean(f, false)
	})
	t.Run("no source is up, nothing is known", func(t *testing.T) {
		s := shop(t, nowMS())
		s.unknown, s.down = true, true
		f := newFake(t, s)
		b := newTab(t)
		b.open(f.url() + "#table=&net=" + s.def.ID)
		b.until(`document.querySelector('.banner.stale')?.innerText.includes('No source')`)
		b.until(`document.querySelector('.tables tbody tr')`)
		if got := eval[string](b, `[...document.querySelectorAll('.tables td')].map((c) => c.innerText).filter((c) => c !== '–').join()`); got != "" {
			t.Errorf("unknown numbers are shown as %s", got)
		}
		b.keys("t")
		b.screenshot("unknown")
		b.clean(f, false)
	})
}

func TestOnAPhone(t *testing.T) {
	b, f, _ := opened(t)
	b.do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulateScale(2)))
	b.until(`innerWidth === 390`)
	b.screenshot("phone")
	b.click("#menu")
	b.until(`getComputedStyle(document.querySelector('#lists')).visibility === 'visible'`)
	b.screenshot("phone-lists")
	b.click(".alarm")
	b.until(`document.querySelector('#panel .tokens button')`)
	b.screenshot("phone-place")
	if wide := eval[bool](b, `document.documentElement.scrollWidth > innerWidth`); wide {
		t.Error("the page is wider than a phone")
	}
	b.clean(f, false)
}
