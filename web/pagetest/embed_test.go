// SPDX-License-Identifier: Apache-2.0

//go:build peers

package pagetest

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/pnagent/pnagent/internal/browsertest"
	"github.com/pnagent/pnagent/internal/httpserver"
	"github.com/pnagent/pnagent/petri/petritest"
)

// framed serves the nets of a fake as a sidecar with --web.frame-ancestors does, and
// returns its address.
func framed(t *testing.T, f *fake, ancestors ...string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	s := httpserver.New(httpserver.Config{Frame: httpserver.Frame{Path: "/embed", Ancestors: ancestors}, Streams: 10, StreamsPerAddress: 10, Log: slog.New(slog.DiscardHandler)})
	go func() { ended <- s.Serve(ctx, l, f.mux()) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String()
}

// dashboard is a page of another origin with a frame for each address.
func dashboard(t *testing.T) (origin string, shows func(addresses ...string)) {
	t.Helper()
	var body string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<!doctype html><link rel="icon" href="data:,">`+body) // fails only if the client is gone
	}))
	t.Cleanup(s.Close)
	return s.URL, func(addresses ...string) {
		body = ""
		for _, a := range addresses {
			body += fmt.Sprintf(`<iframe src="%s" width="640" height="380"></iframe>`, strings.ReplaceAll(a, "&", "&amp;"))
		}
	}
}

func listedOriginsMayHaveAFrame(t *testing.T, chromium *browsertest.Browser) {
	s := shop(t, nowMS())
	f := newFake(t, s)
	origin, shows := dashboard(t)
	listed, closed, other := framed(t, f, "https://grafana.example", origin), framed(t, f), framed(t, f, "https://grafana.example")
	page := "/embed?net=" + s.def.ID
	shown := `document.querySelector('#link')?.textContent === 'live' && document.querySelector('#net').dataset.drawn`
	b := chromium.Tab(t)
	shows(listed + page)
	b.Do(chromedp.Navigate(origin))
	b.UntilFrame(listed, shown)
	b.Screenshot("embed")
	if c := b.Complaints(); len(c) > 0 {
		t.Errorf("a listed origin: %v", c)
	}
	for name, address := range map[string]string{"no origin is listed": closed + page, "another origin is listed": other + page, "the whole page": listed + "/", "the whole page as a file": listed + "/index.html", "the API": listed + "/api/v1/overview"} {
		b := chromium.Tab(t)
		shows(address)
		b.Do(chromedp.Navigate(origin))
		var c []string
		for end := time.Now().Add(time.Minute); len(c) == 0 && time.Now().Before(end); {
			b.Until(`document.readyState === 'complete'`)
			c = b.Complaints()
		}
		if !strings.Contains(strings.Join(c, "\n"), "frame-ancestors") && !strings.Contains(strings.Join(c, "\n"), "403") {
			t.Errorf("%s: the browser complains of %q; want that it refuses the frame", name, c)
		}
		b.UntilFrame("chrome-error:", `document.querySelector('#net') === null`)
	}
}

// A frame has no button and no form, and loads no module that acts. It has hints, shows
// what is new, and leaves wheel and clicks to the page around it.
func aFrameShowsAndDoesNotAct(t *testing.T, chromium *browsertest.Browser) {
	s := shop(t, nowMS())
	f := newFake(t, s)
	f.change(func() { f.actions, f.acts = true, true })
	b := chromium.Tab(t)
	b.Open(f.url() + "embed?net=" + s.def.ID + "&theme=dark")
	b.Until(`document.documentElement.dataset.theme === 'dark' && document.querySelector('#note').textContent.includes('oldest 42 min') && document.title === 'Order fulfilment – pnagent'`)
	if found := browsertest.Eval[[]string](b, `[...document.querySelectorAll('button, form, input, select, textarea, dialog, [onclick], [contenteditable]')].map((e) => e.outerHTML)`); len(found) > 0 {
		t.Errorf("the frame has %v; want nothing that acts", found)
	}
	loaded := browsertest.Eval[string](b, `performance.getEntriesByType('resource').map((r) => new URL(r.name).pathname).join(' ')`)
	if strings.Contains(loaded, "/main.js") || !strings.Contains(loaded, "/embed.js") { // what is in it is tested in web
		t.Errorf("the frame loads %s; want embed.js and not main.js", loaded)
	}
	if got, want := browsertest.Eval[string](b, `document.querySelector('#whole').href`), f.url()+"#net="+s.def.ID; got != want {
		t.Errorf("the frame leads to %s; want %s", got, want)
	}
	x, y := b.Point(s.at(node(s, "paymentUnclear")))
	b.MoveMouse(x, y)
	b.Until(`document.querySelector('#tip').innerText.includes('3 tokens, oldest 42 min')`)
	before := browsertest.Eval[string](b, `document.querySelector('#net').dataset.camera + location.href + history.length`)
	b.Do(chromedp.MouseClickXY(x, y), chromedp.MouseEvent(chromedp.MouseWheel, x, y, func(p *input.DispatchMouseEventParams) { p.DeltaX, p.DeltaY = 1, -300 }), chromedp.DragAndDropXY(x, y, x+100, y+50, 3))
	b.Keys("h", "t", "?", "\r")
	if after := browsertest.Eval[string](b, `document.querySelector('#net').dataset.camera + location.href + history.length`); after != before {
		t.Errorf("clicks, keys and the wheel change %s to %s", before, after)
	}
	b.Moves()
	f.change(func() { s.down = true })
	b.Until(`document.querySelector('#note').textContent.startsWith('No source is up')`)
	b.Screenshot("embed-dark")
	b.Clean(f.addr, false)
	f.close()
	b.Until(`document.querySelector('#link').textContent === 'reconnecting' && document.querySelector('#note').textContent.includes('The data shown is')`)
	f.start()
	b.Until(`document.querySelector('#link').textContent === 'live'`)
}

func aFrameWithBPMNThePastAndAlarms(t *testing.T, chromium *browsertest.Browser) {
	b, f, s := opened(t, chromium)
	f.change(func() { f.nets = append(f.nets, claims(t, petritest.Claims())) })
	at := time.Now().Add(-54 * time.Minute).UTC().Format(time.RFC3339)
	b.Open(f.url() + "embed?" + url.Values{"net": {s.def.ID}, "theme": {"light"}, "at": {at}, "table": {""}}.Encode())
	b.Until(`document.documentElement.dataset.theme === 'light' && document.querySelector('#note').textContent.startsWith('The data shown is of') && document.querySelector('#net').checkVisibility()`)
	b.Open(f.url() + "embed?theme=dark&net=" + f.nets[2].def.ID)
	b.Until(drawnBPMN)
	b.Until(`!document.querySelector('#net').checkVisibility() && document.querySelector('.bjs-powered-by').checkVisibility()`)
	if browsertest.Eval[bool](b, `[...document.querySelectorAll('button')].some((e) => e.checkVisibility())`) {
		t.Error("the frame with BPMN has a button")
	}
	b.Screenshot("embed-bpmn")
	hash := browsertest.Eval[string](b, "location.hash")
	b.Click(`[data-element-id=decide] .djs-hit`)
	b.Until(`document.querySelector('#tip').innerText.includes('oldest 42 min')`)
	if got := browsertest.Eval[string](b, "location.hash"); got != hash {
		t.Errorf("a click changes the address to %s", got)
	}
	f.change(func() {
		f.alarms = append(f.alarms, map[string]any{"index": 8, "alarm": "netDeadlocked", "severity": "major", "net": "returns", "net_name": "<b>Returns</b>", "since": moment(nowMS()), "affected": 2, "text": "deadlocked"})
	})
	b.Open(f.url() + "embed?alarms&theme=light")
	b.Until(`document.querySelectorAll('#alarms li').length === 2 && document.querySelector('#alarms').innerText.includes('3 tokens for more than 10 min') && !document.querySelector('#alarms b')`)
	b.Screenshot("embed-alarms")
	b.Do(chromedp.EmulateViewport(680, 480)) // half of a dashboard
	if gap := browsertest.Eval[float64](b, `innerWidth - document.querySelector('#whole').getBoundingClientRect().right`); gap > 20 {
		t.Errorf("the link to the page ends %v px before the right edge, without a note", gap)
	}
	if got, want := browsertest.Eval[string](b, `document.querySelectorAll('#alarms a')[1].href`), f.url()+"#net="+s.def.ID+"&place=paymentUnclear"; got != want {
		t.Errorf("an alarm leads to %s; want %s", got, want)
	}
	b.Open(f.url() + "embed?alarms&severity=major&of=returns")
	b.Until(`document.querySelectorAll('#alarms li').length === 1 && document.querySelector('#alarms').innerText.includes('deadlocked')`)
	f.change(func() { f.alarms = []map[string]any{} })
	b.Until(`document.querySelector('#alarms').innerText === 'No alarm is active.'`)
	b.Clean(f.addr, false)
}
