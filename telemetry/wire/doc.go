// SPDX-License-Identifier: Apache-2.0

// Package wire is the generated Go form of petrinet_telemetry_v1.proto, which
// is the wire between engines and collectors. Package telemetry turns it into
// rows and back, and its README.md explains every field.
//
// To generate it anew, protoc must be installed.
package wire

//go:generate sh generate.sh
