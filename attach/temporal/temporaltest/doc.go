// SPDX-License-Identifier: Apache-2.0

// Package temporaltest holds attach/temporal against a real Temporal server and
// real workers. It is a module of its own, so that neither Temporal's SDK nor its
// server is among the dependencies of pnagent.
//
// The server is Temporal's development server. The first run builds it from the Go
// module proxy into the user's cache directory, which takes some minutes; later
// runs take it from there.
package temporaltest
