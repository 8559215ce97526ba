// SPDX-License-Identifier: Apache-2.0

// Package httpserver is the HTTP server of every part of pnagent that serves
// HTTP: the sidecar, engines and adapters. It protects the handlers in one place:
//
//   - Each answer has the headers of [Policy], nosniff, and no referrer.
//   - A request that a page of another site caused is refused.
//   - A request with an unknown host name is refused where the browser may have
//     been led here by DNS rebinding; see [Config].
//   - Connections are limited in all and for each address; see [Config.Streams].
//
// TLS and basic authentication come from the web configuration file of
// exporter-toolkit. Who returns which client sent a request, for what changes something.
package httpserver
