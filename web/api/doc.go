// SPDX-License-Identifier: Apache-2.0

// Package api is the HTTP API of a sidecar: the types of its JSON documents, their
// OpenAPI description, and a client. The server encodes these types, and top,
// report and dump decode them.
//
// Times are RFC 3339 in UTC by the sidecar's clock. Ages and durations are
// seconds; ages are as of the answer. A value that no source of a net knows is an
// absent field and never 0; so is a time that does not exist. Names of fields
// never change; fields may be added.
package api
