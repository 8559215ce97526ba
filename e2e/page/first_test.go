// SPDX-License-Identifier: Apache-2.0

//go:build peers

package page

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/browsertest"
)

// A first picture is the first frame after the canvas has a net. An empty page has one with its canvas.
const (
	firstPicture = `new MutationObserver((_, o) => {
		if (!document.querySelector('#net')?.dataset.camera) return;
		o.disconnect();
		requestAnimationFrame(() => requestAnimationFrame(() => { window.drawn = performance.now(); }));
	}).observe(document, {subtree: true, childList: true, attributeFilter: ['data-camera']})`
	emptyPage = `<!doctype html><title>empty</title><canvas id="net" data-camera="0"></canvas>`
)

// The bound of the first picture, and the time within which an empty page is there where nothing else uses the processors.
const (
	soon  = 300 * time.Millisecond
	quiet = 60 * time.Millisecond
)

// firstOf loads a page in a profile of its own, in which nothing is kept. It returns when the first picture was
// there, and how long the page's main thread had used a processor by then.
func firstOf(t *testing.T, chromium *browsertest.Browser, address string) (at, used time.Duration) {
	b := chromium.Tab(t)
	b.Before(firstPicture)
	b.MainThread() // from here on
	b.Visit(address)
	b.Until("window.drawn")
	return time.Duration(browsertest.Eval[float64](b, "window.drawn") * float64(time.Millisecond)), b.MainThread()
}

// Where others use the processors, only the processor time is compared.
func TestTheFirstPictureIsThereIn300Milliseconds(t *testing.T) {
	nats, net := kit.StartNATS(t), kit.Write(t, "orders.pnml", kit.OrdersNet)
	side := kit.Serve(t, nats, net)
	kit.Start(t, kit.Built().Pnagent, "engine", "--nats", nats, "--source", "one", "--instances", "3", net)
	empty := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, emptyPage) }))
	t.Cleanup(empty.Close)
	chromium := browsertest.Start(t)
	var page, base, work []time.Duration
	for range 4 {
		at, _ := firstOf(t, chromium, empty.URL)
		base = append(base, at)
		at, used := firstOf(t, chromium, side.URL+"/")
		page, work = append(page, at), append(work, used)
	}
	t.Logf("first pictures after %v, with %v of a processor; of an empty page after %v", page, work, base)
	if least := slices.Min(work); least < time.Millisecond || least > soon {
		t.Errorf("the first picture takes %v of a processor at best; want at most %v", least, soon)
	}
	if least := slices.Min(page); slices.Min(base) <= quiet && least > soon {
		t.Errorf("the first picture is there after %v at best; want at most %v", least, soon)
	}
}
