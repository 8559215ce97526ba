// SPDX-License-Identifier: Apache-2.0

// Package web serves the live page: what is in the nets now, what was in the
// last hour, and what one place, transition or instance waits for.
//
//	View ──► board, once a View ──► frames and differences, encoded once ──► every viewer
//	     └─► history, the last hour ──► series, sightings, a frame as it was
//
// [Server.Run] looks for a new View and makes a board of it: rates over the
// last seconds, and for each net that somebody looks at its frame and what
// differs from the frame before. All viewers of a net are sent the same bytes,
// packed once. A viewer has no queue: when it is ready for more it is sent the
// difference if it has the frame before, and else a whole frame. One that
// takes nothing for Config.WriteTimeout is dropped.
//
// Nothing is counted here. Tokens, times and counters are those of the View
// that SNMP and Prometheus show; a rate is the difference of two Views by the
// time between them, and is absent before there are two.
//
// [Server.Handler] has the page at / and the API below /api/v1/. All of it can
// only be read. What it answers with is bounded: viewers, requests under way,
// rows of a list; what a list leaves out it says.
//
// README.md describes the API. The page itself, in page/, is embedded.
package web
