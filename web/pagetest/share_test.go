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

	"github.com/pnagent/pnagent/internal/browsertest"
)

// Whatever an address has, the page shows a net and complains of nothing.
func anyAddressIsHarmless(t *testing.T, chromium *browsertest.Browser) {
	b, f, s := opened(t, chromium)
	for i, hash := range []string{
		"net=" + s.def.ID + "&place=<script>alert(1)</script>", "net=" + s.def.ID + "&around=place+none&steps=1e99&quiet&view=<b>", "net=" + s.def.ID + "&around=__proto__&steps=NaN",
		"net=" + s.def.ID + "&severity=<img+src=x>&of=__proto__&alarm=constructor&acknowledged=maybe&silenced=%00", "net=" + s.def.ID + "&at=2999-01-01", "net=" + s.def.ID + "&at=-271821-04-20",
		"net=" + s.def.ID + "&at=javascript:alert(2)", "net=" + s.def.ID + "&transition=&place=&instance=", "net=" + s.def.ID + "&place=" + strings.Repeat("x", 100_000), "net=" + s.def.ID + "&__proto__=x&hasOwnProperty=y",
		"net=" + s.def.ID + "&look=1e999+place+idle", "net=" + s.def.ID + "&look=-1+place", "net=" + s.def.ID + "&look=0.5+place+__proto__&q=x", "net=" + s.def.ID + "&net=x&place=idle&transition=pay&table&table=&q=" + url.QueryEscape("\u202e\x00<script>"),
	} {
		b.Open(fmt.Sprintf("%s?%d#%s", f.url(), i, hash)) // loads the page again
		b.Until(`document.querySelector('#net-name').textContent === 'Order fulfilment' && document.querySelector('#net').dataset.drawn`)
		if browsertest.Eval[bool](b, `[...document.querySelectorAll('script, img, b')].some((e) => e.matches('script:not([src]), img') || e.textContent.includes('alert'))`) {
			t.Errorf("#%.80s: text became an element", hash)
		}
	}
	for i, hash := range []string{"%", "=&&=&#?net=x"} { // all nets
		b.Visit(fmt.Sprintf("%s?home%d#%s", f.url(), i, hash))
		b.Until(`document.querySelectorAll('#home .net-card').length === 2`)
	}
	for _, c := range b.Complaints() {
		if !strings.Contains(c, "404") && !strings.Contains(c, "400") && !strings.Contains(c, "431") { // of places and times that are not there
			t.Errorf("the page complains: %s", c)
		}
	}
}

func backAndForthRestoreWhatWasSeen(t *testing.T, chromium *browsertest.Browser) {
	b, f, s := opened(t, chromium)
	steps := []struct{ hash, holds string }{
		{"net=" + s.def.ID, `document.querySelector('#panel').hidden`},
		{"net=" + s.def.ID + "&place=paymentUnclear", `document.querySelector('#panel h2')?.innerText === 'Payment unclear'`},
		{"net=" + s.def.ID + "&place=paymentUnclear&table", `!document.querySelector('#tables').hidden`},
		{"net=" + s.def.ID + "&place=paymentUnclear&severity=minor", `document.querySelector('.filter summary').textContent.includes('severity minor') && document.querySelector('#tables').hidden`},
		{"net=" + s.def.ID + "&around=place+paymentUnclear&steps=2", `document.querySelector('#sight').innerText.includes('2 steps')`},
		{"net=returns", `document.querySelector('#net-name').textContent === 'Returns and refunds'`},
	}
	for _, step := range steps {
		browsertest.Eval[bool](b, fmt.Sprintf(`(() => { location.hash = %q; return true; })()`, step.hash))
		b.Until(step.holds)
	}
	for _, step := range slices.Backward(steps[:len(steps)-1]) {
		b.Do(chromedp.NavigateBack())
		b.Until(step.holds)
	}
	for _, step := range steps[1:] {
		b.Do(chromedp.NavigateForward())
		b.Until(step.holds)
	}
	b.Clean(f.addr, false)
}

// pasted returns what a paste into the search has.
func pasted(b *browsertest.Tab) string {
	b.Do(chromedp.Focus(chromedp.CSS("#query")), chromedp.KeyEvent("v", func(p *input.DispatchKeyEventParams) {
		if p.Type == input.DispatchKeyEventTypeKeyDown {
			p.Type, p.Text, p.UnmodifiedText, p.Commands = input.DispatchKeyEventTypeRawKeyDown, "", "", []string{"paste"}
		}
	}))
	b.Until(`document.querySelector('#query').value.startsWith('http')`)
	return browsertest.Eval[string](b, `document.querySelector('#query').value`)
}

func aLinkIsCopied(t *testing.T, chromium *browsertest.Browser) {
	for _, secure := range []bool{true, false} {
		s := shop(t, nowMS())
		f := newFake(t, s)
		b := chromium.Tab(t)
		if !secure {
			b.Before(`delete Navigator.prototype.clipboard`)
		}
		want := f.url() + "#net=" + s.def.ID + "&severity=" + map[bool]string{true: "major", false: "minor"}[secure]
		b.Open(want)
		b.Click("#share-open")
		b.Click("#share [data-key=copy]")
		b.Until(`document.querySelector('#share .said').textContent === 'Copied.'`)
		b.Screenshot("share")
		b.Keys("\x1b")
		b.Until(`!document.querySelector('#share').open`)
		if got := pasted(b); got != want {
			t.Errorf("secure %v: copied %q; want %q", secure, got, want)
		}
		b.Clean(f.addr, false)
	}
}

func aLinkToThisMomentShowsWhatItsSenderSaw(t *testing.T, chromium *browsertest.Browser) {
	b, f, _ := opened(t, chromium)
	b.Keys("h")
	b.Until(`!document.querySelector('#panel').hidden`)
	b.Keys("s")
	b.Until(`document.querySelector('#share').open`)
	value := `document.querySelector('#share-link').value`
	if link := browsertest.Eval[string](b, value); strings.Contains(link, "at=") {
		t.Errorf("the link %s has a time; want that of now", link)
	}
	b.Click("#share-fixed")
	link, err := url.Parse(browsertest.Eval[string](b, value))
	if err != nil {
		t.Fatal(err)
	}
	where, err := url.ParseQuery(link.Fragment)
	if err != nil {
		t.Fatal(err)
	}
	at, err := time.Parse(time.RFC3339, where.Get("at"))
	if ago := time.Since(at); err != nil || ago < 0 || ago > time.Minute || where.Get("place") != "paymentUnclear" {
		t.Errorf("the link %s is of %v ago, %v; want the moment and the place that are shown", link, ago, err)
	}
	said := b.Text("#share .fixed .num")
	b.Click("#share-fixed")
	if link := browsertest.Eval[string](b, value); strings.Contains(link, "at=") {
		t.Errorf("the link %s keeps the time", link)
	}
	other := chromium.Tab(t)
	other.Open(link.String())
	other.Until(`document.querySelector('.banner.past')?.textContent.includes('` + said + `') && document.querySelector('#panel h2').innerText === 'Payment unclear'`)
	other.Keys("s")
	other.Until(`document.querySelector('#share-fixed').checked && document.querySelector('#share-link').value === '` + link.String() + `'`)
	b.Clean(f.addr, false)
	other.Clean(f.addr, false)
}

// What is searched for and the part of the drawing that is seen are in a link too. The
// address has the part only until it is shown.
func aLinkHasTheSearchAndThePart(t *testing.T, chromium *browsertest.Browser) {
	b, f, s := opened(t, chromium)
	b.Do(chromedp.SendKeys(chromedp.CSS("#query"), "refun"))
	b.Until(`location.hash.endsWith('q=refun')`)
	b.Do(chromedp.Focus(chromedp.CSS("#net")))
	b.Keys("+", "+", "+", "+")
	b.Do(chromedp.DragAndDropXY(900, 600, 1000, 560, 5))
	b.Until(`Number(document.querySelector('#net').dataset.camera.split(' ')[2]) > 0.5`)
	b.Keys("s")
	b.Until(`document.querySelector('#share').open`)
	link := browsertest.Eval[string](b, `document.querySelector('#share-link').value`)
	camera := `document.querySelector('#net').dataset.camera.split(' ').map(Number)`
	before := browsertest.Eval[[]float64](b, camera)
	other := chromium.Tab(t)
	other.Do(chromedp.EmulateViewport(1100, 700))
	other.Open(link)
	other.Until(`document.querySelector('#query').value === 'refun' && document.querySelector('#matches').innerText.includes('Refunded') && location.hash === '#net=` + s.def.ID + `&q=refun'`)
	if after := browsertest.Eval[[]float64](other, camera); math.Abs(after[2]-before[2]) > 0.01 {
		t.Errorf("%s shows the scale %v; want %v", link, after[2], before[2])
	}
	look, err := url.ParseQuery(strings.SplitN(link, "#", 2)[1])
	if err != nil {
		t.Fatal(err)
	}
	_, id, _ := strings.Cut(strings.SplitN(look.Get("look"), " ", 2)[1], " ")
	x, y := other.Point(s.at(node(s, id)))
	box := browsertest.Eval[[]float64](other, `(() => { const r = document.querySelector('#net').getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; })()`)
	if math.Abs(x-box[0]) > 2 || math.Abs(y-box[1]) > 2 {
		t.Errorf("%s shows %s at %v, %v; want it in the middle, %v", link, id, x, y, box)
	}
	b.Keys("\x1b", "0", "s")
	b.Until(`document.querySelector('#share').open && !document.querySelector('#share-link').value.includes('look=')`)
	b.Clean(f.addr, false)
	other.Clean(f.addr, false)
}

func tablesAreSavedAsTheyAreFiltered(t *testing.T, chromium *browsertest.Browser) {
	b, f, s := opened(t, chromium)
	dir := b.Downloads()
	f.change(func() { f.tableName = "支払;=1-" })
	at := time.Now().Add(-20 * time.Minute).UTC().Truncate(time.Second)
	b.Open(f.url() + "#" + url.Values{"net": {s.def.ID}, "place": {"paymentUnclear"}, "at": {at.Format(time.RFC3339)}, "of": {"returns"}, "severity": {"minor"}}.Encode())
	b.Keys("s")
	then := "at=" + url.QueryEscape(at.Format("2006-01-02T15:04:05.000Z")) + "&net=" + s.def.ID
	for _, c := range []struct{ key, want string }{
		{"places", "places.csv " + then}, {"transitions", "transitions.csv " + then}, {"stuck", "stuck.csv net=" + s.def.ID + "&place=paymentUnclear"}, {"alarms", "alarms.csv net=returns&severity=minor"},
	} {
		b.Click("#share [data-key=" + c.key + "]")
		name, content := b.Saved(dir, c.key+".csv")
		if !strings.HasPrefix(name, "支払") || string(content) != "at,net\r\n" {
			t.Errorf("%s: saved %q with %q", c.key, name, content)
		}
		f.change(func() {
			if got := f.asked[len(f.asked)-1]; got != c.want {
				t.Errorf("%s: asked for %q; want %q", c.key, got, c.want)
			}
			f.tableName += "a"
		})
		b.Until(`document.querySelector('#share .said').textContent.startsWith('Saved as ') && document.querySelector('#share .said').textContent.includes('` + c.key + `.csv')`)
		if got := b.Text("#share .said"); strings.Contains(got, "1 sources did not answer") != (c.key == "stuck") {
			t.Errorf("%s: the page shows %q", c.key, got)
		}
	}
	f.change(func() { f.refusal = "too many requests at once" })
	b.Click("#share [data-key=places]")
	b.Until(`document.querySelector('#share .said').textContent === 'Not saved: too many requests at once'`)
	f.change(func() { f.refusal, f.tableName = "", "plain-" })
	b.Complaints()
	b.Keys("\x1b", "l")
	b.Click("#panel .all")
	b.Until(`document.querySelectorAll('.instances tbody tr').length === 50`)
	b.Do(chromedp.SendKeys(chromedp.CSS(".instances [type=search]"), "berlin"))
	b.Click(".instances .csv")
	if name, _ := b.Saved(dir, ".csv"); name != "plain-stuck.csv" {
		t.Errorf("saved %q; want the name that the server gives", name)
	}
	f.change(func() {
		if got, want := f.asked[len(f.asked)-1], "stuck.csv data=&name=berlin&net="+s.def.ID+"&older=0&place=paymentUnclear"; got != want {
			t.Errorf("asked for %q; want %q", got, want)
		}
	})
	b.Clean(f.addr, false)
}
