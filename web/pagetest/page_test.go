// SPDX-License-Identifier: Apache-2.0

//go:build peers

package pagetest

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/internal/browsertest"
	"github.com/pnagent/pnagent/petri"
)

func nowMS() int64 { return time.Now().UnixMilli() }

// opened is the page of the shop's net in a tab.
func opened(t *testing.T, chromium *browsertest.Browser) (*browsertest.Tab, *fake, *scripted) {
	t.Helper()
	f, s := served(t)
	b := chromium.Tab(t)
	b.Open(f.url() + "#net=" + s.def.ID)
	return b, f, s
}

// served serves the shop's net, in which a place is stuck, and another one.
func served(t *testing.T) (*fake, *scripted) {
	t.Helper()
	s := shop(t, nowMS())
	other := shop(t, nowMS())
	copied := *other.def
	other.def = &copied
	other.def.ID, other.def.Name, other.since = "returns", "Returns and refunds", nowMS()-20_000
	f := newFake(t, other, s)
	f.change(func() {
		f.alarms = []map[string]any{{"index": 7, "alarm": "tokenStuck", "severity": "minor", "net": s.def.ID, "place": "paymentUnclear", "since": moment(nowMS() - 32*minute),
			"net_name": s.def.Name, "name": "Payment unclear", "affected": 3, "after_seconds": 600, "text": "tokens in place \"paymentUnclear\" of net \"order-fulfilment\" for more than 10m: 3"}}
	})
	return f, s
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

func theStuckPlaceOfANetIsSeen(t *testing.T, chromium *browsertest.Browser) {
	b, f, s := opened(t, chromium)
	b.Until(`document.querySelector('#vitals').innerText.includes('42 min')`)
	b.MoveMouse(5, 5)
	b.Screenshot("light")
	x, y := b.Point(s.at(node(s, "paymentUnclear")))
	if hot, ground := b.Colour(x, y+8), b.Colour(x, y+150); hot == ground {
		t.Errorf("the stuck place has the colour %v of the ground", hot)
	}
	b.Clean(f.addr, false)
}

func regionsAreListedWithTheirStandbys(t *testing.T, chromium *browsertest.Browser) {
	b, _, _ := opened(t, chromium)
	for _, text := range []string{"eu, owner 3 · 1 standby, 2 behind", "jp, owner 1 · no standby"} {
		b.Until(fmt.Sprintf(`[...document.querySelectorAll('.row.source .text')].some((e) => e.textContent.includes(%q))`, text))
	}
}

func tokensMove(t *testing.T, chromium *browsertest.Browser) {
	b, _, _ := opened(t, chromium)
	b.Moves()
}

// While nothing may move, the drawing changes with the numbers and the ages only.
func nothingMovesForWhoPrefersThat(t *testing.T, chromium *browsertest.Browser) {
	b, _, _ := opened(t, chromium)
	b.Motion()
	b.Until(`document.querySelector('.worth').textContent !== ''`)
	b.Media("prefers-reduced-motion", "reduce")
	b.Until(`document.querySelector('.worth').textContent === ''`)
	b.Motion()
	b.Until(`document.querySelector('.worth').textContent !== ''`)
}

func theStuckPlaceIsTheHottest(t *testing.T, chromium *browsertest.Browser) {
	b, _, s := opened(t, chromium)
	b.Keys("t")
	b.Until(`document.querySelector('.tables tbody tr')`)
	if got := browsertest.Eval[string](b, `document.querySelector('.tables tbody th').innerText`); got != "Payment unclear" {
		t.Errorf("the hottest of the table is %q", got)
	}
	b.Screenshot("table")
	b.Keys("t")
	b.Until(`document.querySelector('#tables').hidden`)
	// On light ground the hotter is the darker.
	light := func(i int) int {
		x, y := b.Point(s.at(i))
		c := b.Colour(x, y+8) // below the number
		return c[0] + c[1] + c[2]
	}
	b.Keys("+", "+", "0") // painted again, without dots
	browsertest.Eval[bool](b, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
	stuck := node(s, "paymentUnclear")
	for i := range s.def.Places {
		if p := s.place(i, nowMS()); i != stuck && p[0] != 0 && light(i) <= light(stuck) {
			t.Errorf("%s is as dark as the stuck place", s.def.Places[i].ID)
		}
	}
}

// In a place from which nothing takes tokens lie thousands for a month. The page
// is about the three that are stuck.
func finishedWorkIsNoProblem(t *testing.T, chromium *browsertest.Browser) {
	s := shop(t, nowMS())
	def := *s.def
	def.Arcs = slices.DeleteFunc(slices.Clone(def.Arcs), func(a petri.Arc) bool { return a.Source == "closed" })
	s = newScripted(&def, "paymentUnclear", s.since, s.instances...)
	f := newFake(t, s)
	b := chromium.Tab(t)
	b.Open(f.url())
	b.Until(`document.querySelector('#vitals').innerText.includes('Payment unclear')`)
	b.MoveMouse(5, 5)
	b.Screenshot("finished")
	x, y := b.Point(s.at(node(s, "closed")))
	c := b.Colour(x, y+8) // below the number
	if slices.Max(c[:])-slices.Min(c[:]) > 8 {
		t.Errorf("the end has the colour %v; want grey", c)
	}
	for dy := -40.0; dy < 0; dy++ { // no age above it
		if got, ground := b.Colour(x, y+dy-12), b.Colour(x, y-60); got != ground {
			t.Errorf("%v pixels above the end is %v; want the ground %v", 12-dy, got, ground)
			break
		}
	}
	b.MoveMouse(x, y)
	b.Until(`document.querySelector('#tip').innerText.includes('4711 tokens, finished work: no transition takes them')`)
	b.Keys("t")
	b.Until(`document.querySelector('#tables tbody tr th')?.innerText === 'Payment unclear'`)
	b.Until(`[...document.querySelectorAll('#tables tr')].some((r) => r.innerText.includes('Closed') && r.innerText.includes('finished') && !r.classList.contains('hot'))`)
	b.Keys("t", "h") // to the hottest
	b.Until(`document.querySelector('#panel h2').innerText === 'Payment unclear'`)
	b.Clean(f.addr, false)
}

// Where the rules of alarms let tokens stay, their age is shown, and is no problem.
func tokensThatMayStayAreNoProblem(t *testing.T, chromium *browsertest.Browser) {
	s := shop(t, nowMS())
	s.resting = []int{s.stuck}
	f := newFake(t, s)
	b := chromium.Tab(t)
	b.Open(f.url())
	b.Until(`document.querySelector('#vitals').innerText.includes('oldest') && !document.querySelector('#vitals').innerText.includes('Payment unclear')`)
	b.MoveMouse(5, 5)
	x, y := b.Point(s.at(s.stuck))
	c := b.Colour(x, y+8) // below the number
	if slices.Max(c[:])-slices.Min(c[:]) > 8 {
		t.Errorf("the place has the colour %v; want grey", c)
	}
	b.MoveMouse(x, y)
	b.Until(`/ tokens, oldest 42 min/.test(document.querySelector('#tip').innerText)`)
	b.Do(chromedp.MouseClickXY(x, y))
	b.Until(`document.querySelector('#panel').innerText.includes('Tokens may stay here') && document.querySelector('#panel .tokens li')`)
	b.Clean(f.addr, false)
}

func fromAPlaceToItsOldestInstanceAndItsHistory(t *testing.T, chromium *browsertest.Browser) {
	b, f, s := opened(t, chromium)
	x, y := b.Point(s.at(node(s, "paymentUnclear")))
	b.Do(chromedp.MouseClickXY(x, y))
	b.Until(`document.querySelector('#panel .tokens button')`)
	if got := b.Text("#panel .tokens li"); !strings.Contains(got, "berlin/customer 17") || !strings.Contains(got, "accounting must clear it") || !strings.Contains(got, "42 min") {
		t.Errorf("the oldest token is shown as %q", got)
	}
	if got := b.Text("#panel .reasons > li:nth-child(2)"); !strings.Contains(got, "noWorker") || !strings.Contains(got, "berlin/customer 4711") || !strings.Contains(got, "held by clerk 3") {
		t.Errorf("a young token that another one hides is shown as %q", got)
	}
	if got, want := b.Text("#panel .commands"), "pnagent fire "+s.def.ID+" 'berlin/customer 17' clarify"; got != want {
		t.Errorf("the command line of the place is %q, want %q", got, want)
	}
	b.MoveMouse(700, 30)
	b.Screenshot("place")
	b.Click("#panel .tokens button")
	b.Until(`document.querySelector('#panel .seen li')`)
	if got := b.Text("#panel .seen"); !strings.Contains(got, "Cart") || !strings.Contains(got, "Payment unclear") {
		t.Errorf("the instance was seen in %q", got)
	}
	if got, want := b.Text("#panel .commands"), "pnagent fire "+s.def.ID+" 'berlin/customer 17' clarify\npnagent inject "+s.def.ID+" 'berlin/customer 17' paymentUnclear 3"; got != want {
		t.Errorf("the command lines of the instance are %q, want %q", got, want)
	}
	if got := b.Text("#panel .panel-body"); !strings.Contains(got, "inject paymentUnclear ×3") || !strings.Contains(got, "by kim@desk: by mail") || !strings.Contains(got, "refused: too many") || !strings.Contains(got, "by unknown") {
		t.Errorf("what people did is shown as %q", got)
	}
	b.Screenshot("instance")
	if got := browsertest.Eval[string](b, "location.hash"); !strings.Contains(got, "instance=berlin%2Fcustomer+17") {
		t.Errorf("the address is %s; want the instance in it", got)
	}
	b.Do(chromedp.NavigateBack())
	b.Until(`document.querySelector('#panel h2').innerText === 'Payment unclear'`)
	b.Clean(f.addr, false)
}

func aTransitionSaysWhyItWaits(t *testing.T, chromium *browsertest.Browser) {
	b, _, s := opened(t, chromium)
	i := len(s.def.Places) + 3
	x, y := b.Point(s.at(i))
	b.MoveMouse(x, y)
	b.Until(`document.querySelector('#tip .reason')`)
	if got := b.Text("#tip"); !strings.Contains(got, "short of 1 token in Idle") {
		t.Errorf("got tip %q; want that a token is missing in Idle", got)
	}
	b.Screenshot("transition-tip")
	b.Do(chromedp.MouseClickXY(x, y))
	b.Until(`document.querySelector('#panel .waits')`)
	if got := b.Text("#panel .waits"); !strings.Contains(got, "12 instances") {
		t.Errorf("blocked: %q", got)
	}
	b.MoveMouse(700, 30)
	b.Screenshot("transition")
}

func theSliderGoesToThePastAndBack(t *testing.T, chromium *browsertest.Browser) {
	b, f, _ := opened(t, chromium)
	b.Until(`!document.querySelector('#time').disabled`)
	slide := func(share float64) {
		t.Helper()
		browsertest.Eval[bool](b, fmt.Sprintf(`(() => { const s = document.querySelector('#time'); s.value = Math.round(s.max * %f);
			s.dispatchEvent(new Event('input', {bubbles: true})); return true; })()`, share))
	}
	slide(0.1) // 54 minutes ago: nothing was stuck yet
	b.Until(`document.querySelector('.banner.past')`)
	b.Until(`!document.querySelector('#vitals').innerText.includes('Payment unclear')`)
	slide(0.6) // 24 minutes ago it was stuck for 18
	b.Until(`document.querySelector('#vitals').innerText.includes('18 min') || document.querySelector('#vitals').innerText.includes('17 min')`)
	b.Screenshot("past")
	b.Click(".banner.past button")
	b.Until(`!document.querySelector('.banner.past') && document.querySelector('#vitals').innerText.includes('42 min')`)
	b.Keys("[", "[")
	b.Until(`document.querySelector('.banner.past')`)
	b.Keys("l")
	b.Until(`!document.querySelector('.banner.past')`)
	b.Clean(f.addr, false)
}

func aLinkShowsTheSameToAnotherReader(t *testing.T, chromium *browsertest.Browser) {
	_, f, s := opened(t, chromium)
	at := time.Now().Add(-24 * time.Minute).UTC().Format(time.RFC3339)
	link := f.url() + "#" + url.Values{"net": {s.def.ID}, "place": {"paymentUnclear"}, "at": {at}}.Encode()
	b := chromium.Tab(t)
	b.Open(link)
	b.Until(`document.querySelector('#panel h2')?.innerText === 'Payment unclear' && document.querySelector('.banner.past')`)
	b.Until(`/1[78] m/.test(document.querySelector('#vitals').innerText)`)
	b.Clean(f.addr, false)
}

func searchJumps(t *testing.T, chromium *browsertest.Browser) {
	b, _, s := opened(t, chromium)
	b.Keys("/")
	b.Until(`document.activeElement.id === 'query'`)
	b.Keys(kb.Backspace) // the slash, which only a real keyboard keeps to itself
	b.Do(chromedp.SendKeys(chromedp.CSS("#query"), "refunded"))
	b.Until(`document.querySelector('#matches li')?.innerText.includes('Refunded')`)
	b.Screenshot("search")
	b.Keys("\r")
	b.Until(`document.querySelector('#panel h2')?.innerText === 'Refunded'`)
	x, y := b.Point(s.at(node(s, "refunded")))
	box := browsertest.Eval[[]float64](b, `(() => { const r = document.querySelector('#net').getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; })()`)
	if x < box[0] || y < box[1] || x > box[2] || y > box[3] {
		t.Errorf("what was found is at %v, %v, outside of %v", x, y, box)
	}
}

func theHandMovesAndScalesTheDrawing(t *testing.T, chromium *browsertest.Browser) {
	b, f, s := opened(t, chromium)
	i := node(s, "paid")
	x, y := b.Point(s.at(i))
	b.Do(chromedp.DragAndDropXY(900, 600, 1000, 560, 5))
	if x2, y2 := b.Point(s.at(i)); math.Abs(x2-x-100) > 2 || math.Abs(y2-y+40) > 2 {
		t.Errorf("dragged by 100, -40 the drawing moved by %v, %v", x2-x, y2-y)
	}
	if !browsertest.Eval[bool](b, `document.querySelector('#panel').hidden`) {
		t.Error("a drag selects something")
	}
	x, y = b.Point(s.at(i))
	b.Do(chromedp.MouseEvent(chromedp.MouseWheel, x, y, func(p *input.DispatchMouseEventParams) { p.DeltaX, p.DeltaY = 1, -300 }))
	scale := func() float64 {
		return browsertest.Eval[float64](b, `Number(document.querySelector('#net').dataset.camera.split(' ')[2])`)
	}
	b.Until(fmt.Sprintf(`Number(document.querySelector('#net').dataset.camera.split(' ')[2]) > %f`, 0.4))
	if x2, y2 := b.Point(s.at(i)); math.Abs(x2-x) > 1 || math.Abs(y2-y) > 1 {
		t.Errorf("what is under the mouse moved by %v, %v as the wheel turned", x2-x, y2-y)
	}
	near := scale()
	browsertest.Eval[bool](b, `(() => { // two fingers that part
		const c = document.querySelector('#net'), box = c.getBoundingClientRect();
		const finger = (type, id, x) => c.dispatchEvent(new PointerEvent(type, {pointerId: id, button: 0, bubbles: true, clientX: box.left + x, clientY: box.top + 300}));
		c.setPointerCapture = () => {}; // which only real fingers have
		finger('pointerdown', 11, 500); finger('pointerdown', 12, 600);
		finger('pointermove', 11, 450); finger('pointermove', 12, 650);
		finger('pointerup', 11, 450); finger('pointerup', 12, 650);
		delete c.setPointerCapture;
		return true;
	})()`)
	if got := scale() / near; math.Abs(got-2) > 0.01 {
		t.Errorf("fingers at twice the distance scale by %v", got)
	}
	near = scale()
	b.Keys("-", "-")
	if scale() >= near {
		t.Error("- does not move away")
	}
	b.Keys("0")
	for _, corner := range []string{"closed", "feedback", "idle", "returned"} {
		if x, y := b.Point(s.at(node(s, corner))); x < 264 || x > 1440 || y < 46 || y > 680 {
			t.Errorf("0 leaves %s outside, at %v, %v", corner, x, y)
		}
	}
	b.Clean(f.addr, false)
}

func allIsReachedWithTheKeyboard(t *testing.T, chromium *browsertest.Browser) {
	b, f, _ := opened(t, chromium)
	b.Do(chromedp.Focus(chromedp.CSS("#net")))
	b.Keys("h")
	b.Until(`document.querySelector('#panel h2')?.innerText === 'Payment unclear'`)
	b.Keys(kb.Escape)
	b.Until(`document.querySelector('#panel').hidden`)
	b.Do(chromedp.Focus(chromedp.CSS("#net")), chromedp.KeyEvent(kb.ArrowRight))
	b.Until(`document.querySelector('#said').textContent !== ''`)
	said := b.Text("#said")
	b.Keys("\r")
	b.Until(`!document.querySelector('#panel').hidden`)
	if got := b.Text("#panel h2"); !strings.Contains(said, got) {
		t.Errorf("Enter opened %q where the cursor was at %q", got, said)
	}
	b.Keys("?")
	b.Until(`document.querySelector('#help').open`)
	b.Screenshot("help")
	b.Keys(kb.Escape)
	b.Until(`!document.querySelector('#help').open`)
	// The tab key reaches everything that can be pressed, once.
	b.Do(chromedp.Evaluate[chromedp.Void](`document.activeElement.blur()`))
	seen := map[string]bool{}
	for range 60 {
		b.Keys("\t")
		seen[browsertest.Eval[string](b, `(document.activeElement.id || document.activeElement.className || document.activeElement.tagName)`)] = true
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
	b.Clean(f.addr, false)
}

func darkAndLight(t *testing.T, chromium *browsertest.Browser) {
	b, f, s := opened(t, chromium)
	ground := func() string { return browsertest.Eval[string](b, `getComputedStyle(document.body).backgroundColor`) }
	light := ground()
	b.Media("prefers-color-scheme", "dark")
	b.Until(`document.documentElement.dataset.theme === 'dark'`)
	if ground() == light {
		t.Error("dark has the ground of light")
	}
	b.MoveMouse(5, 5)
	b.Screenshot("dark")
	x, y := b.Point(s.at(node(s, "paymentUnclear")))
	b.Do(chromedp.MouseClickXY(x, y))
	b.Until(`document.querySelector('#panel .tokens button')`)
	b.MoveMouse(700, 30)
	b.Screenshot("dark-place")
	b.Click("#theme")
	b.Until(`document.documentElement.dataset.theme === 'light'`)
	b.Do(chromedp.Reload())
	b.Until(`document.documentElement.dataset.theme === 'light'`) // what was chosen is remembered
	b.Clean(f.addr, false)
}

func namesAreOnlyText(t *testing.T, chromium *browsertest.Browser) {
	s := hostile(nowMS())
	f := newFake(t, s)
	f.change(func() {
		f.alarms = []map[string]any{{"index": 1, "alarm": "tokenStuck", "severity": "minor", "net": s.def.ID, "place": "p1", "since": moment(nowMS() - minute), "text": `<script>alert("alarm")</script>`}}
	})
	b := chromium.Tab(t)
	b.Open(f.url())
	b.Keys("h")
	b.Until(`document.querySelector('#panel .tokens button')`)
	b.Screenshot("hostile")
	b.Click("#panel .tokens button")
	b.Until(`document.querySelector('#panel .seen li')`)
	b.Keys("t")
	b.Until(`document.querySelectorAll('.tables tbody tr').length === 8`)
	b.Screenshot("hostile-table")
	for i := range s.def.Places {
		b.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelectorAll('.tables tbody button')[%d].click()`, i)))
		b.Until(`document.querySelector('#panel dl')`)
	}
	if n := browsertest.Eval[int](b, `document.querySelectorAll('body script, body img, [onclick], [onerror], [onmouseover], b').length`); n != 0 {
		t.Errorf("%d elements were made of names", n)
	}
	if wide := browsertest.Eval[bool](b, `document.documentElement.scrollWidth > innerWidth`); wide {
		t.Error("a long name makes the page wider than the window")
	}
	b.Clean(f.addr, false)
}

func itGoesOnAfterARestart(t *testing.T, chromium *browsertest.Browser) {
	b, f, _ := opened(t, chromium)
	again := func() { // the same page comes back
		f.close()
		b.Until(`document.querySelector('#link').textContent !== 'live'`)
		f.start()
		b.Until(`document.querySelector('#link').textContent === 'live'`)
	}
	again()
	f.close()
	b.Until(`document.querySelector('.banner.lost')?.innerText.includes('old') && document.documentElement.classList.contains('outdated')`)
	b.Screenshot("lost")
	later := shop(t, nowMS())
	later.since = nowMS() - 50*minute
	f.change(func() { f.version, f.nets = `"next"`, []*scripted{later} })
	f.start()
	b.Until(`document.querySelector('#link').textContent === 'live' && !document.documentElement.classList.contains('outdated')`)
	b.Until(`document.querySelector('#vitals').innerText.includes('50 min')`)
	b.Until(`document.querySelector('.banner.newer button')`) // another page came with it
	b.Click(".banner.newer button")
	b.Until(`document.querySelector('#link')?.textContent === 'live' && !document.querySelector('.banner.newer')`)
	b.Clean(f.addr, true)
}

func whatIsNotThereIsSaid(t *testing.T, chromium *browsertest.Browser) {
	t.Run("no net", func(t *testing.T) {
		f := newFake(t)
		b := chromium.Tab(t)
		b.Do(chromedp.Navigate(f.url()))
		b.Until(`document.querySelector('#empty').innerText.includes('Waiting for the first engine')`)
		b.Screenshot("empty")
		s := shop(t, nowMS())
		f.change(func() { f.nets = append(f.nets, s) }) // an engine comes
		b.Until(`document.querySelector('#empty').hidden && document.querySelector('#net-name').innerText === 'Order fulfilment'`)
		b.Clean(f.addr, false)
	})
	t.Run("no source is up, nothing is known", func(t *testing.T) {
		s := shop(t, nowMS())
		s.unknown, s.down = true, true
		f := newFake(t, s)
		b := chromium.Tab(t)
		b.Open(f.url() + "#table=&net=" + s.def.ID)
		b.Until(`document.querySelector('.banner.silent')?.innerText.includes('No source')`)
		b.Until(`document.querySelector('.tables tbody tr')`)
		if got := browsertest.Eval[string](b, `[...document.querySelectorAll('.tables td')].map((c) => c.innerText).filter((c) => c !== '–').join()`); got != "" {
			t.Errorf("unknown numbers are shown as %s", got)
		}
		b.Keys("t")
		b.Screenshot("unknown")
		b.Clean(f.addr, false)
	})
}
