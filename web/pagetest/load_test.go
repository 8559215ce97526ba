// SPDX-License-Identifier: Apache-2.0

//go:build peers

package pagetest

import (
	"net/http"
	"regexp"
	"slices"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/internal/browsertest"
)

// Bounds of a first load, and of what is not live data when a browser repeats it.
const (
	mostRequests = 8
	mostBytes    = 150_000
	mostAgain    = 1_000
)

// sent is how many bytes of answers that ended a page received, and files those that are not live data.
const (
	sent  = `performance.getEntries().reduce((sum, e) => sum + (e.transferSize ?? 0), 0)`
	files = `performance.getEntries().filter((e) => !e.name.includes('/api/')).reduce((sum, e) => sum + (e.transferSize ?? 0), 0)`
)

// digest is the part of an address that is another for each version of the page.
var digest = regexp.MustCompile(`/assets/[0-9a-f]{24}/`)

// requests returns what was asked for since the last time, sorted, and forgets it. Only browsers
// with a window ask for the icon.
func (f *fake) requests() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := f.requested
	f.requested = nil
	for i := range all {
		all[i] = digest.ReplaceAllString(all[i], "/assets/…/")
	}
	all = slices.DeleteFunc(all, func(r string) bool { return r == "GET /assets/…/icon.svg" })
	slices.Sort(all)
	return all
}

// reload loads the page again and waits until it draws.
func reload(b *browsertest.Tab) {
	b.Do(chromedp.Reload())
	b.Until(`document.querySelector('#net').dataset.camera && document.querySelector('#link').classList.contains('up')`)
}

func thePageIsFewRequestsAndIsKept(t *testing.T, chromium *browsertest.Browser) {
	b, f, _ := opened(t, chromium)
	first, size := f.requests(), browsertest.Eval[float64](b, sent)
	want := []string{"GET /", "GET /api/v1/drawing", "GET /api/v1/live", "GET /assets/…/main.css", "GET /assets/…/main.js"}
	if d := cmp.Diff(want, first); d != "" || len(first)+1 > mostRequests {
		t.Errorf("the first load asks for (-want +got), at most %d with the icon:\n%s", mostRequests, d)
	}
	if size < 10_000 || size > mostBytes {
		t.Errorf("the first load is %v bytes; want at most %d", size, mostBytes)
	}
	reload(b)
	reloadAsksFor(t, f, "GET /", "GET /api/v1/drawing", "GET /api/v1/live")
	if size := browsertest.Eval[float64](b, files); size > mostAgain {
		t.Errorf("a reload is %v bytes of files; want at most %d", size, mostAgain)
	}
	b.Clean(f.addr, false)
}

// reloadAsksFor checks what a reload asked for, in order. The page asks for the stream of
// numbers once more if it did not know the net when it opened the stream.
func reloadAsksFor(t *testing.T, f *fake, want ...string) {
	t.Helper()
	const live = "GET /api/v1/live"
	got := f.requests()
	if i := slices.Index(got, live); i >= 0 && i+1 < len(got) && got[i+1] == live {
		got = slices.Delete(got, i, i+1)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("a reload asks for (-want +got), the stream once or twice:\n%s", d)
	}
}

// The first picture needs the drawing, which the page asks for as soon as it knows the net.
func theDrawingDoesNotWaitForNumbers(t *testing.T, chromium *browsertest.Browser) {
	f, _ := served(t)
	asked := make(chan struct{})
	once := sync.OnceFunc(func() { close(asked) })
	f.change(func() {
		f.nets = f.nets[1:] // the only net is shown at once
		f.refuse = func(_ http.ResponseWriter, r *http.Request) bool {
			switch {
			case r.URL.Path == "/api/v1/drawing":
				once()
			case r.URL.Query().Has("net"): // the stream of numbers
				select {
				case <-asked:
				case <-r.Context().Done():
				}
			}
			return false
		}
	})
	b := chromium.Tab(t)
	b.Open(f.url())
	b.Clean(f.addr, false)
}

func whatBPMNNeedsIsKeptToo(t *testing.T, chromium *browsertest.Browser) {
	b, f := openedClaims(t, chromium, "#net=claims")
	b.Until(drawnBPMN)
	live := []string{"GET /", "GET /api/v1/drawing", "GET /api/v1/live", "GET /api/v1/model"}
	loaded := []string{"GET /assets/…/main.css", "GET /assets/…/main.js", "GET /assets/…/vendor/bpmn-js/bpmn-js.css", "GET /assets/…/vendor/bpmn-js/bpmn-navigated-viewer.js",
		"GET /assets/…/vendor/bpmn-js/diagram-js.css"}
	if d := cmp.Diff(slices.Concat(live, loaded), f.requests()); d != "" {
		t.Errorf("the first load asks for (-want +got):\n%s", d)
	}
	reload(b)
	b.Until(drawnBPMN)
	reloadAsksFor(t, f, live...)
	b.Clean(f.addr, false)
}
