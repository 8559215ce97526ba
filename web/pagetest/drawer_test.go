// SPDX-License-Identifier: Apache-2.0

//go:build peers

package pagetest

import (
	"net/http"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/internal/browsertest"
)

// wantPosted waits for posts, in any order, and forgets them.
func (f *fake) wantPosted(t *testing.T, b *browsertest.Tab, want ...string) {
	t.Helper()
	var got []string
	for end := time.Now().Add(time.Minute); len(got) < len(want) && time.Now().Before(end); {
		browsertest.Eval[bool](b, "new Promise((done) => requestAnimationFrame(() => done(true)))")
		f.mu.Lock() // a change would have each tab paint again
		got = slices.Sorted(slices.Values(f.posted))
		f.mu.Unlock()
	}
	slices.Sort(want)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("posted (-want +got): %s", d)
	}
	f.change(func() { f.posted = nil })
}

func aButtonFiresAfterAConfirmation(t *testing.T, chromium *browsertest.Browser) {
	b, f, s := opened(t, chromium)
	b.Click(".alarm")
	b.Until(`document.querySelector('#panel .commands code')`)
	if n := browsertest.Eval[int](b, `document.querySelectorAll('#panel .do').length`); n != 0 {
		t.Errorf("%d buttons although the server takes no requests", n)
	}
	f.change(func() { f.acts = true })
	b.Click("#panel .do")
	b.Until(`document.querySelector('.confirm h2').innerText.endsWith('in berlin/customer 17?') && document.querySelector('.confirm .said').innerText.includes('Source berlin')`)
	b.Until(`/1 token in Payment unclear for 42 min 00 s: fires only from outside/.test(document.querySelector('.confirm .waits').innerText)`)
	b.Screenshot("confirm")
	request := `act {"instance":"berlin/customer 17","net":"` + s.def.ID + `","transition":"clarify","verb":"fire"`
	f.wantPosted(t, b, request+`,"dry_run":true}`)
	b.Keys("o", "k", "\r")
	b.Until(`document.querySelector('.confirm .said').innerText === 'Done by berlin.' && !document.querySelector('.confirm input')`)
	f.wantPosted(t, b, request+`,"comment":"ok"}`)
	b.Keys("\r") // closes it
	b.Until(`!document.querySelector('.confirm')`)
	f.change(func() { f.refusal = "not <b>enabled" })
	b.Click("#panel .do")
	b.Until(`document.querySelector('.confirm .said').innerText === 'Not done: not <b>enabled' && !document.querySelector('.confirm [type=submit]')`)
	b.Click(".confirm button")
	b.Until(`!document.querySelector('.confirm')`)
}

func allStuckInstancesAreInPages(t *testing.T, chromium *browsertest.Browser) {
	b, f, _ := opened(t, chromium)
	b.Click(".alarm")
	b.Until(`document.querySelector('#panel .waits li')?.innerText === 'Clarify payment: waits to be fired from outside – Assignee: anna.' && document.querySelectorAll('#panel .waits li')[1].innerText.endsWith(': the guard is false: accounting must clear it')`)
	b.Until(`/since \d\d:\d\d:\d\d/.test(document.querySelector('#panel .tokens li').innerText)`)
	b.Click("#panel .all")
	said := func(text string) {
		t.Helper()
		b.Until("document.querySelector('.instances [role=status]')?.innerText.startsWith('" + text + "')")
	}
	said("1 to 50 of 120, the oldest first; without 1 source that did not answer: osaka")
	b.Until(`document.querySelector('.instances select').value === 'paymentUnclear' && document.querySelectorAll('.instances tbody tr').length === 50`)
	b.Until(`/Clarify payment: waits until its time has come, until \d\d:\d\d:\d\d \(in (2 min 5\d|3 min 00) s\)/.test(document.querySelector('.instances tbody .waits').innerText)`)
	b.Screenshot("instances")
	b.Click(".pager button:nth-child(2)")
	said("51 to 100 of 120")
	b.Click(".pager button:nth-child(2)")
	said("101 to 120 of 120")
	b.Click(".pager button:nth-child(1)")
	said("51 to 100 of 120")
	b.Do(chromedp.SendKeys(chromedp.CSS(".instances input"), "customer 11"))
	said("1 to 10 of 10")
	b.Until(`document.querySelector('.instances tbody .data').innerText === 'amount 12.5 · note <b>paid twice?</b> · order A-110'`)
	browsertest.Eval[string](b, `document.querySelector('.instances input').value = ''`)
	b.Do(chromedp.SendKeys(chromedp.CSS(".instances input[placeholder^=data]"), "order=A-11"))
	said("1 to 10 of 10")
	b.Click(".instances tbody button")
	b.Until(`!document.querySelector('.instances') && document.querySelector('#panel h2').innerText === 'berlin/customer 110'`)
	b.Do(chromedp.SendKeys(chromedp.CSS("#query"), "A-099"))
	b.Until(`document.querySelector('#matches li:last-child')?.innerText.includes('data')`)
	b.Click("#matches li:last-child")
	said("1 to 1 of 1")
	b.Do(chromedp.SendKeys(chromedp.CSS(".instances input[placeholder^=data]"), "9"))
	said("none; an engine shows only the data that its configuration names")
	b.Click(".instances .pager button:last-child")
	b.Until(`!document.querySelector('.instances')`)
	b.Keys("i")
	said("1 to 50 of 120")
	b.Until(`document.querySelector('.instances select').value === ''`)
	browsertest.Eval[bool](b, `(() => { const s = document.querySelectorAll('.instances select')[1]; s.value = '3600'; s.dispatchEvent(new Event('input', {bubbles: true})); return true; })()`)
	said("none")
	b.Clean(f.addr, false)
}

func theDrawerLinksToTheRunbookAndTheDashboard(t *testing.T, chromium *browsertest.Browser) {
	b, f, _ := opened(t, chromium)
	b.Click(".alarm")
	b.Until(`document.querySelectorAll('#panel .links a').length === 2`)
	got := browsertest.Eval[[]string](b, `[...document.querySelectorAll('#panel .links a')].map((a) => a.innerText + ' ' + a.href)`)
	if got[0] != "Runbook: stuck place https://r.example/tokenStuck.md" || !regexp.MustCompile(`^Grafana https://g\.example/d\?net=order-fulfilment&p=paymentUnclear&t=&from=(\d+)&to=(\d+)$`).MatchString(got[1]) {
		t.Errorf("the links are %q", got)
	}
	b.Click("#panel .tokens button")
	b.Until(`document.querySelectorAll('#panel .links a').length === 1`)
	b.Clean(f.addr, false)
}

// What is at the end of the drawer is offered once all above it is there: nothing that a reader
// presses moves off.
func whatIsBelowTheAnswerComesWithIt(t *testing.T, chromium *browsertest.Browser) {
	b, f, _ := opened(t, chromium)
	answered := make(chan struct{})
	f.change(func() {
		f.refuse = func(_ http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/api/v1/place" {
				select {
				case <-answered:
				case <-r.Context().Done():
				}
			}
			return false
		}
	})
	b.Keys("h")
	b.Until(`document.querySelector('#panel .panel-body')?.innerText.includes('asking')`)
	if browsertest.Eval[bool](b, `document.querySelector('#panel [data-key=near]') !== null`) {
		t.Error("a button is below what is still to come")
	}
	close(answered)
	b.Until(`document.querySelector('#panel .tokens') && document.querySelector('#panel [data-key=near]')`)
	b.Clean(f.addr, false)
}
