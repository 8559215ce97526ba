// SPDX-License-Identifier: Apache-2.0

// Package pagetest opens the live page of web/page in a real Chromium and does
// what its readers do: look, click, type, slide back in time, lose the server.
//
// The server is a small one of the tests' own that speaks the page's API about
// scripted nets, so that what is to be seen is known to the second. The whole,
// with the real server and engines, is opened in e2e.
package pagetest
