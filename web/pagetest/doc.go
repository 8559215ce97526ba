// SPDX-License-Identifier: Apache-2.0

// Package pagetest opens the live page of web/page in a real Chromium and does
// what its readers do: look, click, type, slide back in time, lose the server.
//
// The server is a small one of the tests, which serves the page's API for scripted
// nets, so that the expected page is known to the second. The end-to-end tests
// open the page with the real server and engines.
//
// axe-core looks at each state of the page, and TypeScript at its modules; npm installs both.
// With PNAGENT_SCREENSHOTS set to a directory, the tests leave their pictures there, and with
// PNAGENT_SUITES, as for make suites, pictures of MIWG's files beside the published ones.
package pagetest
