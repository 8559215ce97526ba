// SPDX-License-Identifier: Apache-2.0

// Package browsertest gives a test a Chromium of its own, without a window, to
// open the live page in and to do what readers do.
//
//	b := browsertest.Start(t).Tab(t) // skips where there is none
//	b.Open("http://127.0.0.1:9797/")
//	b.Keys("h")
//	b.Until(`document.querySelector('#panel .tokens')`)
//	b.Clean("127.0.0.1:9797", false)
//
// A [Tab] also remembers what no test asks for but every one wants to know: what
// the page complained about, and which hosts it asked for something.
//
// With PNAGENT_SCREENSHOTS set to
// a folder, the pictures that tests take are kept there.
package browsertest
