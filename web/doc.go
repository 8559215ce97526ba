// SPDX-License-Identifier: Apache-2.0

// Package web serves the live page: the state of the nets now and in the last
// hour, and what one place, transition or instance waits for.
//
//	View ──► board, once a View ──► frames and differences, encoded once ──► every viewer
//	     └─► history, the last hour ──► series, sightings, a frame as it was
//
// [Server.Run] receives each View and makes a board of it: for each net with
// viewers its frame, and the difference from the previous frame. All viewers of a
// net receive the same bytes, compressed once. A viewer has no queue: when it is
// ready, it receives the difference if it has the previous frame, and else a whole
// frame. A viewer that reads nothing for Config.WriteTimeout is dropped.
//
// All numbers are those of the View that SNMP and Prometheus show. [ViewDocument]
// returns a View for JSON; every other document has parts of it.
//
// [Server.Handler] serves the page at / and the read-only API below /api/v1/.
// Viewers, requests and the rows of a list are bounded; a list reports how many
// rows it omits.
//
// The page is in page/. A browser loads a document, and of its modules and style sheets
// what go generate made of them in dist/, below a path with the digest of all files: it
// keeps them, and asks again only for the document, which names another digest once
// anything is different.
//
// docs/api.md describes the API, and package web/api has its documents.
package web
