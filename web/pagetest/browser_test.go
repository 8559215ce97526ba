// SPDX-License-Identifier: Apache-2.0

package pagetest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"go.uber.org/goleak"
)

// patience is how long a tab may take for anything at all.
const patience = 90 * time.Second

// chromium is the browser that all tests share, each in a profile of its own.
var chromium context.Context

func TestMain(m *testing.M) {
	code := func() int {
		program, err := exec.LookPath("chromium")
		if err != nil {
			return m.Run()
		}
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.WindowSize(1440, 860))
		if os.Geteuid() == 0 {
			options = append(options, chromedp.NoSandbox) // it refuses to run as root with one
		}
		ctx, cancel := chromedp.NewContext(context.Background(), chromedp.WithAllocatorOptions(options...))
		defer cancel()
		if err := chromedp.Do(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "starting Chromium:", err)
			return 1
		}
		defer func() { _ = chromedp.Cancel(ctx) }() // what it did is done
		chromium = ctx
		return m.Run()
	}()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// tab is one tab, with what it did that nobody asked for.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	hosts    map[string]bool // that were asked for something
	problems []string        // errors on the console, violated policies
}

// newTab opens a tab in a profile of its own.
func newTab(t *testing.T) *tab {
	t.Helper()
	if chromium == nil {
		t.Skip("there is no chromium here; scripts/deps installs it")
	}
	ctx, cancel := chromedp.NewContext(chromium, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(ctx, patience)
	t.Cleanup(stop)
	b := &tab{t: t, ctx: ctx, hosts: map[string]bool{}}
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			b.screenshot("failed-" + strings.ReplaceAll(t.Name(), "/", "-"))
		}
	})
	return b
}

func (b *tab) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(e.Request.URL); err == nil && u.Scheme != "data" {
			b.hosts[u.Host] = true
		}
	case *runtime.EventExceptionThrown:
		b.problems = append(b.problems, "exception: "+e.ExceptionDetails.Text+" "+e.ExceptionDetails.Exception.Description)
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			b.problems = append(b.problems, fmt.Sprintf("console: %v", e.Args))
		}
	case *log.EventEntryAdded:
		asked := strings.Contains(e.Entry.Text, "willReadFrequently") // said of the pixels that the tests read
		if (e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning) && !asked {
			b.problems = append(b.problems, "log: "+e.Entry.Text+" "+e.Entry.URL)
		}
	}
}

// clean fails the test if the page complained, or asked another host for
// anything. Lost connections are no complaint where they are allowed.
func (b *tab) clean(f *fake, lost bool) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.problems {
		if !lost || !strings.Contains(p, "net::ERR_") {
			b.t.Errorf("the page complains: %s", p)
		}
	}
	for host := range b.hosts {
		if host != f.addr {
			b.t.Errorf("the page asked %s", host)
		}
	}
}

// do runs actions; it fails the test where one fails.
func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// open opens the page and waits until it draws something.
func (b *tab) open(address string) {
	b.t.Helper()
	b.do(chromedp.Navigate(address))
	b.until(`document.querySelector('#net').dataset.camera && document.querySelector('#link').textContent === 'live'`)
}

// until waits until an expression holds, in whatever page is there.
func (b *tab) until(expression string) {
	b.t.Helper()
	for end := time.Now().Add(15 * time.Second); ; {
		_, err := chromedp.Run(b.ctx, chromedp.Poll[bool]("Boolean("+expression+")", chromedp.WithPollingInterval(25*time.Millisecond), chromedp.WithPollingTimeout(time.Until(end))))
		if err == nil {
			return
		}
		if time.Now().After(end) || b.ctx.Err() != nil {
			b.t.Fatalf("waiting for %s: %v", expression, err)
		}
		// The page was loaded again meanwhile.
	}
}

// eval returns the value of an expression, awaited.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// text returns what an element says.
func (b *tab) text(selector string) string {
	b.t.Helper()
	return eval[string](b, fmt.Sprintf("document.querySelector(%q)?.innerText ?? ''", selector))
}

// keys types keys where the focus is.
func (b *tab) keys(keys ...string) {
	b.t.Helper()
	for _, k := range keys {
		b.do(chromedp.KeyEvent(k))
	}
}

// click presses on what a selector finds.
func (b *tab) click(selector string) {
	b.t.Helper()
	b.do(chromedp.Click(chromedp.CSS(selector)))
}

// point returns where a node of the drawing is in the window.
func (b *tab) point(s *scripted, node int) (x, y float64) {
	b.t.Helper()
	at := eval[[]float64](b, `(() => {
		const c = document.querySelector('#net'), box = c.getBoundingClientRect();
		return [...c.dataset.camera.split(' ').map(Number), box.left, box.top];
	})()`)
	n := s.drawing["nodes"].([]map[string]any)[node]
	return n["x"].(float64)*at[2] + at[0] + at[3], n["y"].(float64)*at[2] + at[1] + at[4]
}

// colour returns the pixel of the canvas at a point of the window.
func (b *tab) colour(x, y float64) [3]int {
	b.t.Helper()
	rgb := eval[[]int](b, fmt.Sprintf(`(() => {
		const c = document.querySelector('#net'), box = c.getBoundingClientRect(), r = c.width / box.width;
		return [...c.getContext('2d').getImageData((%f - box.left) * r, (%f - box.top) * r, 1, 1).data].slice(0, 3);
	})()`, x, y))
	return [3]int(rgb)
}

// moveMouse puts the mouse somewhere.
func (b *tab) moveMouse(x, y float64) {
	b.t.Helper()
	b.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y))
}

// media sets what the reader's system prefers, as name and value in turns.
func (b *tab) media(features ...string) {
	b.t.Helper()
	var all []*emulation.MediaFeature
	for pair := range slices.Chunk(features, 2) {
		all = append(all, &emulation.MediaFeature{Name: pair[0], Value: pair[1]})
	}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: all}); err != nil {
		b.t.Fatal(err)
	}
}

// screenshot writes what is to be seen for people to look at.
func (b *tab) screenshot(name string) {
	b.t.Helper()
	dir := os.Getenv("PNAGENT_SCREENSHOTS")
	if dir == "" {
		dir = b.t.TempDir()
	}
	picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644)
	}
	if err != nil {
		b.t.Errorf("taking the picture %s: %v", name, err)
	}
}
