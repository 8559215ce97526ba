// SPDX-License-Identifier: Apache-2.0

//go:build peers

package pagetest

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/internal/browsertest"
	"github.com/pnagent/pnagent/petri/petritest"
)

// aged matches the age of what is stuck for 42 minutes, and for as long as a test takes.
var aged = regexp.MustCompile(`>4[2-9] min</text>`)

// pictures saves both pictures of what is shown.
func pictures(t *testing.T, b *browsertest.Tab, dir, name string) (drawn image.Image, text string) {
	t.Helper()
	b.Keys("s")
	b.Until(`document.querySelector('#share').open`)
	b.Click("#share [data-key=png]")
	file, raw := b.Saved(dir, ".png")
	drawn, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	b.Click("#share [data-key=svg]")
	_, vector := b.Saved(dir, ".svg")
	b.Keys("\x1b")
	b.Until(`!document.querySelector('#share').open`)
	if keep := os.Getenv("PNAGENT_SCREENSHOTS"); keep != "" {
		if err := errors.Join(os.WriteFile(filepath.Join(keep, "picture-"+name+".png"), raw, 0o644), os.WriteFile(filepath.Join(keep, "picture-"+name+".svg"), vector, 0o644)); err != nil {
			t.Error(err)
		}
	}
	plain(t, vector)
	return drawn, string(vector)
}

// plain checks that a picture is XML without anything that runs or loads.
func plain(t *testing.T, vector []byte) {
	t.Helper()
	for d := xml.NewDecoder(bytes.NewReader(vector)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("the picture is no XML: %v", err)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		switch start.Name.Local {
		case "svg", "g", "rect", "path", "text", "title", "circle", "ellipse", "polygon", "polyline", "tspan", "defs", "marker", "line":
		default:
			t.Errorf("the picture has an element %s", start.Name.Local)
		}
		for _, a := range start.Attr {
			if a.Name.Local == "style" || strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" || strings.Contains(a.Value, "var(") || strings.Contains(a.Value, "url(") && !strings.Contains(a.Value, "url('#") {
				t.Errorf("the picture has %s=%q", a.Name.Local, a.Value)
			}
		}
	}
}

// colourAt returns a colour of a picture as CSS has it.
func colourAt(i image.Image, x, y float64) string {
	r, g, b, _ := i.At(int(x), int(y)).RGBA()
	return fmt.Sprintf("rgb(%d, %d, %d)", r>>8, g>>8, b>>8)
}

// size returns width and height of the drawing on the screen.
func size(b *browsertest.Tab) (w, h int) {
	box := browsertest.Eval[[]int](b, `(() => { const s = document.querySelector('#stage'); return [s.clientWidth, s.clientHeight]; })()`)
	return box[0], box[1]
}

// A picture has the nodes where the screen has them, the colours of the theme, and the
// net and moment below.
func aPictureIsOfWhatIsSeen(t *testing.T, chromium *browsertest.Browser) {
	b, f, s := opened(t, chromium)
	dir := b.Downloads()
	for _, theme := range []string{"light", "dark"} {
		b.Media("prefers-color-scheme", theme)
		b.Until(`document.documentElement.dataset.theme === '` + theme + `'`)
		drawn, text := pictures(t, b, dir, "net-"+theme)
		w, h := size(b)
		if got := drawn.Bounds().Max; got != image.Pt(2*w, 2*(h+26)) {
			t.Errorf("%s: the picture has the size %v; want two pixels for one of %d×%d and a line", theme, got, w, h)
		}
		ground := browsertest.Eval[string](b, `getComputedStyle(document.body).backgroundColor`)
		hot := browsertest.Eval[string](b, `import('/heat.js').then((m) => new m.HeatScale('`+theme+`').fill(m.heat(42 * 60)))`)
		at := browsertest.Eval[[]float64](b, `(() => { const b = document.querySelector('#net').getBoundingClientRect(); return [b.left, b.top]; })()`)
		x, y := b.Point(s.at(node(s, "paymentUnclear")))
		x, y = 2*(x-at[0]), 2*(y-at[1]+8)
		if got := colourAt(drawn, x, y); got != hot {
			t.Errorf("%s: the stuck place has the colour %s; want %s", theme, got, hot)
		}
		if got := colourAt(drawn, x, y+300); got != ground {
			t.Errorf("%s: beside it is %s; want the ground %s", theme, got, ground)
		}
		moment := regexp.MustCompile(`<title>Order fulfilment · order-fulfilment · (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)</title>`).FindStringSubmatch(text)
		if moment == nil {
			t.Fatalf("%s: the title of the picture is missing: %.200s", theme, text)
		}
		if then, err := time.Parse(time.RFC3339, moment[1]); err != nil || time.Since(then) > time.Minute {
			t.Errorf("%s: the picture is of %s, %v; want now", theme, moment[1], err)
		}
		if strings.Count(text, moment[1]) != 2 || !aged.MatchString(text) || !strings.Contains(text, ">Payment</text>") {
			t.Errorf("%s: the picture has no line below, no age or no name", theme)
		}
	}
	then := time.Now().Add(-54 * time.Minute).UTC().Truncate(time.Second)
	b.Open(f.url() + "#" + url.Values{"net": {s.def.ID}, "at": {then.Format(time.RFC3339)}, "place": {"paymentUnclear"}}.Encode())
	b.Until(`document.querySelector('.banner.past') && !document.querySelector('#vitals').innerText.includes('Payment unclear')`)
	_, text := pictures(t, b, dir, "net-past")
	accent := browsertest.Eval[string](b, `getComputedStyle(document.documentElement).getPropertyValue('--accent').trim()`)
	if !strings.Contains(text, then.Format(time.RFC3339)+"</text>") || aged.MatchString(text) || !strings.Contains(text, `stroke="`+accent+`" stroke-width="3"`) {
		t.Error("the picture of the past lacks its moment or what is selected, or has numbers of now")
	}
	b.Keys("t", "s")
	b.Until(`document.querySelector('#share [data-key=png]').disabled && document.querySelector('#share .said').textContent.includes('not the table')`)
	b.Clean(f.addr, false)
}

func aPictureOfAPartAndOfALargeNet(t *testing.T, chromium *browsertest.Browser) {
	f := newFake(t, large(4000, nowMS()), hostile(nowMS()))
	b := chromium.Tab(t)
	dir := b.Downloads()
	b.Open(f.url() + "#net=large")
	b.Until(`document.querySelector('#net').dataset.drawn`)
	drawn, whole := pictures(t, b, dir, "large")
	w, h := size(b)
	if drawn.Bounds().Max != image.Pt(2*w, 2*(h+26)) || len(whole) > 4<<20 {
		t.Errorf("the picture has %v and %d bytes; want that of the screen, less than 4 MiB", drawn.Bounds(), len(whole))
	}
	b.Open(f.url() + "#net=large&around=place+p333&steps=2")
	b.Until(`document.querySelector('#sight').innerText.includes('2 steps')`)
	_, part := pictures(t, b, dir, "around")
	if !strings.Contains(part, "2 steps around Station 333") || !strings.Contains(part, ">Station 333</text>") || strings.Contains(part, ">Station 900</text>") || len(part) > len(whole)/4 {
		t.Errorf("the picture of a part has %d bytes, or other nodes", len(part))
	}
	b.Open(f.url() + "#" + url.Values{"net": {f.nets[1].def.ID}}.Encode())
	b.Until(`document.querySelector('#net-name').textContent.includes('onerror')`)
	_, text := pictures(t, b, dir, "hostile")
	if strings.ContainsRune(text, 0x202e) {
		t.Error("a name that turns text is in the picture as it is")
	}
	b.Clean(f.addr, false)
}

// Badges of elements are HTML on the page; a picture of the diagram has them too.
func aPictureOfBPMNHasItsNumbers(t *testing.T, chromium *browsertest.Browser) {
	for _, theme := range []string{"light", "dark"} {
		f := newFake(t, claims(t, petritest.Claims()))
		b := chromium.Tab(t)
		b.Media("prefers-color-scheme", theme)
		dir := b.Downloads()
		b.Open(f.url())
		b.Until(drawnBPMN)
		b.Keys("0")
		b.Until(`document.querySelector('[data-container-id=decide] .since').textContent === '42 min'`)
		b.MoveMouse(5, 5)
		b.Screenshot("picture-bpmn-screen-" + theme)
		drawn, text := pictures(t, b, dir, "bpmn-"+theme)
		for _, want := range []string{">42 min</text>", ">3</text>", "marker-end=\"url('#", "</title>"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the picture has no %s", theme, want)
			}
		}
		hot := browsertest.Eval[string](b, `import('/heat.js').then((m) => { const fill = new m.HeatScale('`+theme+`').fill(m.heat(42 * 60)), of = (c) => c.match(/\d+/g).map(Number);
			const ground = of(getComputedStyle(document.body).backgroundColor); // bpmn-js fills shapes at 95 %
			return 'rgb(' + of(fill).map((c, i) => Math.round(0.95 * c + 0.05 * ground[i])).join(', ') + ')'; })`)
		at := browsertest.Eval[[]float64](b, `(() => { const s = document.querySelector('#bpmn').getBoundingClientRect(), e = `+shape("decide")+`.querySelector('.djs-visual > *').getBoundingClientRect();
			return [e.left + 6 - s.left, (e.top + e.bottom) / 2 - s.top]; })()`)
		var got, want [3]int
		if _, err := fmt.Sscanf(colourAt(drawn, 2*at[0], 2*at[1])+hot, "rgb(%d, %d, %d)rgb(%d, %d, %d)", &got[0], &got[1], &got[2], &want[0], &want[1], &want[2]); err != nil {
			t.Fatal(err)
		}
		for i := range got {
			if d := got[i] - want[i]; d < -3 || d > 3 {
				t.Errorf("%s: the task has the colour %v; want about %v", theme, got, want)
			}
		}
		b.Clean(f.addr, false)
	}
}
