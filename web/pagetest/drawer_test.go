// SPDX-License-Identifier: Apache-2.0

package pagetest

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/internal/browsertest"
)

// wantPosted waits for posts, in any order, and forgets them.
func (f *fake) wantPosted(t *testing.T, b *browsertest.Tab, want ...string) {
	t.Helper()
	var got []string
	for end := time.Now().Add(time.Minute); len(got) < len(want) && time.Now().Before(end); {
		browsertest.Eval[bool](b, "new Promise((done) => requestAnimationFrame(() => done(true)))")
		f.change(func() { got = slices.Sorted(slices.Values(f.posted)) })
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
	b.Until(`/1 token in Payment unclear for 42 m 00 s: fires only from outside/.test(document.querySelector('.confirm .waits').innerText)`)
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
