// SPDX-License-Identifier: Apache-2.0

// Package wire is the generated Go form of petrinet_telemetry_v1.proto, which
// defines the messages between engines and collectors. Package telemetry
// converts them to and from rows, and its README.md explains every field.
//
// go generate needs protoc.
package wire

//go:generate sh generate.sh
