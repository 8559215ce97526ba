// SPDX-License-Identifier: Apache-2.0

//go:build peers

package browsertest

import (
	"context"
	"encoding/base64"
	"fmt"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/memory"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// How long a tab may live, and how long a condition may take to become true.
// Both are far beyond what it takes.
const (
	lifetime  = 20 * time.Minute
	patience  = time.Minute
	pollEvery = 25 * time.Millisecond
)

// Browser is a Chromium that ends with its test.
type Browser struct{ ctx context.Context }

// Start starts a Chromium with windows of 1440 × 860, or skips the test.
func Start(t *testing.T) *Browser {
	t.Helper()
	program, err := exec.LookPath("chromium-headless-shell") // the same engine without the browser around it: a tab costs a seventh
	if err != nil {
		program, err = exec.LookPath("chromium")
	}
	if err != nil {
		t.Skip("chromium is not installed (Debian package chromium-headless-shell or chromium)")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.WindowSize(1440, 860),
		chromedp.WSURLReadTimeout(patience), chromedp.Flag("disable-features", "Translate,BlinkGenPropertyTrees,PreloadTopChromeWebUI"), // no tab needs the browser's own pages
		chromedp.Flag("in-process-gpu", true), // which draws by the processor anyway
		chromedp.Flag("explicitly-allowed-ports", "1719,1720,1723,2049,3659,4045,4190,5060,5061,6000,6566,6665,6666,6667,6668,6669,6679,6697,10080")) // a test may listen there
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // it refuses to run as root with one
	}
	ctx, cancel := chromedp.NewContext(context.Background(), chromedp.WithAllocatorOptions(options...))
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // what it did is done
		cancel()
	})
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("starting Chromium: %v", err)
	}
	return &Browser{ctx}
}

// Tab is a tab that ends with its test. A failure of the browser fails the test.
type Tab struct {
	t   *testing.T
	ctx context.Context

	media    map[string]string // what the reader's system prefers: features and values
	mu       sync.Mutex
	hosts    map[string]bool // that were asked for something
	problems []string        // errors and warnings on the console, violated policies
	saves    []string        // directories to which it saves files
}

// Tab opens a tab in a profile of its own: nothing is remembered from others. Its reader's
// system prefers reduced motion, because what moves takes processors from other tabs. The reader
// has seen the page's hint for newcomers.
func (c *Browser) Tab(t *testing.T) *Tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(c.ctx, chromedp.WithNewBrowserContext())
	b := &Tab{t: t, media: map[string]string{}, hosts: map[string]bool{}}
	t.Cleanup(func() {
		cancel()
		for _, dir := range b.saves {
			os.RemoveAll(dir)
		}
	})
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("opening a tab: %v", err)
	}
	var stop context.CancelFunc
	b.ctx, stop = context.WithTimeout(ctx, lifetime)
	t.Cleanup(stop)
	if err := chromedp.Listen(b.ctx, b.receive); err != nil {
		t.Fatalf("listening to a tab: %v", err)
	}
	b.whenFailed(t)
	b.Media("prefers-reduced-motion", "reduce")
	b.Before(`try { if (!sessionStorage.getItem('first time')) localStorage.setItem('pnagent hint', 'seen'); } catch {}`)
	return b
}

// Within has what fails until the end of a subtest fail the subtest.
func (b *Tab) Within(t *testing.T) {
	t.Helper()
	whole := b.t
	b.t = t
	t.Cleanup(func() { b.t = whole })
	b.whenFailed(t)
}

// whenFailed takes a picture at the end of a test that failed.
func (b *Tab) whenFailed(t *testing.T) {
	t.Cleanup(func() {
		if t.Failed() && b.ctx.Err() == nil {
			b.Screenshot("failed-" + strings.NewReplacer("/", "-", " ", "-").Replace(t.Name()))
		}
	})
}

func (b *Tab) receive(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(e.Request.URL); err == nil && u.Scheme != "data" {
			b.hosts[u.Host] = true
		}
	case *runtime.EventExceptionThrown:
		b.problems = append(b.problems, "exception: "+e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			b.problems = append(b.problems, fmt.Sprintf("console: %v", e.Args))
		}
	case *log.EventEntryAdded:
		asked := strings.Contains(e.Entry.Text, "willReadFrequently") // said of the pixels that tests read
		if (e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning) && !asked {
			b.problems = append(b.problems, "log: "+e.Entry.Text+" "+e.Entry.URL)
		}
	}
}

// Clean fails the test if the page complained of anything, a violated policy
// included, or asked another host (and port) than the one given. Connections
// that were lost are a complaint only where lost is false.
func (b *Tab) Clean(host string, lost bool) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.problems {
		if !lost || !strings.Contains(p, "net::ERR_") {
			b.t.Errorf("the page complains: %s", p)
		}
	}
	for asked := range b.hosts {
		if asked != host {
			b.t.Errorf("the page asked %s", asked)
		}
	}
}

// Do runs actions.
func (b *Tab) Do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// Before has every page that is opened from here on run a script before its own.
func (b *Tab) Before(script string) {
	b.t.Helper()
	params := page.AddScriptToEvaluateOnNewDocumentParams{Source: script}
	if _, err := chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument, params); err != nil {
		b.t.Fatal(err)
	}
}

// Login has every request from here on carry a name and a password.
func (b *Tab) Login(user, password string) {
	b.t.Helper()
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
	if _, err := chromedp.Call(b.ctx, network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Authorization": basic}}); err != nil {
		b.t.Fatal(err)
	}
}

// Visit opens a page.
func (b *Tab) Visit(address string) {
	b.t.Helper()
	b.Do(chromedp.Navigate(address))
}

// Open opens the live page and waits until it draws a net of now.
func (b *Tab) Open(address string) {
	b.t.Helper()
	b.Visit(address)
	b.Until(`document.querySelector('#net').dataset.camera && document.querySelector('#link').classList.contains('up')`)
}

// holds evaluates an expression to true or false. It refuses a promise, which always is true.
const holds = `((v) => { if (v instanceof Promise) throw new Error('a promise is not awaited'); return Boolean(v); })(%s)`

// Held is what a page holds beside what it is just working with.
type Held struct {
	Bytes            float64 // of scripts
	Nodes, Listeners int64   // nodes of documents, listeners of events
}

// collections is how many collections of garbage Held asks for, in heldFor altogether.
const (
	collections = 4
	heldFor     = 2 * time.Second
)

// Held returns the least that was held after some collections of garbage. A single one
// also counts the message that just came and what is made of it, some megabytes of a
// large net.
func (b *Tab) Held() Held {
	b.t.Helper()
	least := Held{math.Inf(1), math.MaxInt64, math.MaxInt64}
	for range collections {
		<-time.After(heldFor / collections)
		if _, err := chromedp.Call(b.ctx, heapprofiler.CollectGarbage, cdp.Empty{}); err != nil {
			b.t.Fatal(err)
		}
		usage, err := chromedp.Call(b.ctx, runtime.GetHeapUsage, cdp.Empty{})
		if err != nil {
			b.t.Fatal(err)
		}
		dom, err := chromedp.Call(b.ctx, memory.GetDOMCounters, cdp.Empty{})
		if err != nil {
			b.t.Fatal(err)
		}
		least = Held{min(least.Bytes, usage.UsedSize), min(least.Nodes, dom.Nodes), min(least.Listeners, dom.JsEventListeners)}
	}
	return least
}

// MainThread returns the processor time that the main thread of the page has used since the first call for
// the tab, or since the page began in a process of its own after that.
func (b *Tab) MainThread() time.Duration {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, performance.Enable, performance.EnableParams{})
	if err != nil {
		b.t.Fatal(err)
	}
	got, err := chromedp.Call(b.ctx, performance.GetMetrics, cdp.Empty{})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, m := range got.Metrics {
		if m.Name == "ThreadTime" {
			return time.Duration(m.Value * float64(time.Second))
		}
	}
	b.t.Fatal("the browser has no metric ThreadTime of its main thread")
	return 0
}

// Until waits until an expression holds, in whatever page is there.
func (b *Tab) Until(expression string) {
	b.t.Helper()
	for end := time.Now().Add(patience); ; {
		_, err := chromedp.Run(b.ctx, chromedp.Poll[bool](fmt.Sprintf(holds, expression),
			chromedp.WithPollingInterval(pollEvery), chromedp.WithPollingTimeout(max(pollEvery, time.Until(end)))))
		if err == nil {
			return
		}
		if time.Now().After(end) || b.ctx.Err() != nil {
			b.t.Fatalf("waiting for %s: %v", expression, err)
		}
		// The page was loaded again meanwhile.
	}
}

// Eval returns the value of an expression, awaited.
func Eval[T any](b *Tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// Text returns what is to be read in an element, "" if there is none.
func (b *Tab) Text(selector string) string {
	b.t.Helper()
	return Eval[string](b, fmt.Sprintf("document.querySelector(%q)?.innerText ?? ''", selector))
}

// Keys types keys where the focus is.
func (b *Tab) Keys(keys ...string) {
	b.t.Helper()
	for _, k := range keys {
		b.Do(chromedp.KeyEvent(k))
	}
}

// restsAt evaluates to the middle of an element once the element is visible, in front
// and not moving. It finds and checks the element in one step, because pages replace
// elements at any time.
const restsAt = `new Promise((done) => {
	const e = document.querySelector(%q);
	const middle = () => {
		const box = e?.isConnected && e.getClientRects()[0];
		return box ? [box.left + box.width / 2, box.top + box.height / 2] : [];
	};
	e?.scrollIntoView({block: 'nearest', behavior: 'instant'});
	const before = middle();
	requestAnimationFrame(() => {
		const [x, y] = middle();
		done(x === before[0] && y === before[1] && e?.contains(document.elementFromPoint(x, y)) ? [x, y] : []);
	});
})`

// presses notes whether the next click is on what a selector finds: the page may have moved
// it since. Another document, to which a click led, has no note.
const presses = `(() => {
	window.pressed = 'nothing';
	addEventListener('click', (event) => (window.pressed = event.target.closest(%q) ? 'it' : 'something else'), { capture: true, once: true });
	return true;
})()`

// Click presses on what a selector finds, when it is there and at rest.
func (b *Tab) Click(selector string) {
	b.t.Helper()
	for end := time.Now().Add(patience); ; {
		if at := Eval[[]float64](b, fmt.Sprintf(restsAt, selector)); len(at) == 2 {
			Eval[bool](b, fmt.Sprintf(presses, selector))
			b.Do(chromedp.MouseClickXY(at[0], at[1]))
			got, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`String(window.pressed)`))
			if err != nil || got == "it" || got == "undefined" { // it fails in a document that is being left
				return
			}
		}
		if time.Now().After(end) {
			b.t.Fatalf("there is nothing to press at %s", selector)
		}
	}
}

// MoveMouse puts the mouse somewhere in the window.
func (b *Tab) MoveMouse(x, y float64) {
	b.t.Helper()
	b.Do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y))
}

// Media sets a feature that the reader's system prefers. Others stay as they are.
func (b *Tab) Media(feature, value string) {
	b.t.Helper()
	b.media[feature] = value
	var all []*emulation.MediaFeature
	for name, value := range b.media {
		all = append(all, &emulation.MediaFeature{Name: name, Value: value})
	}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: all}); err != nil {
		b.t.Fatal(err)
	}
}

// Motion has the reader's system prefer motion, so that tokens move.
func (b *Tab) Motion() {
	b.t.Helper()
	b.Media("prefers-reduced-motion", "no-preference")
}

// Screenshot writes what is to be seen, for people who asked for pictures.
func (b *Tab) Screenshot(name string) {
	b.t.Helper()
	dir := os.Getenv("PNAGENT_SCREENSHOTS")
	if dir == "" {
		return
	}
	Eval[bool](b, `Promise.race([Promise.allSettled(document.getAnimations().map((a) => a.finished)), new Promise((done) => setTimeout(done, 1000))]).then(() => true)`) // colours change within that
	if err := os.WriteFile(filepath.Join(dir, name+".png"), b.Picture(), 0o644); err != nil {
		b.t.Error(err)
	}
}

// Picture returns what is to be seen, as PNG.
func (b *Tab) Picture() []byte {
	b.t.Helper()
	picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Errorf("taking a picture: %v", err)
	}
	return picture
}
