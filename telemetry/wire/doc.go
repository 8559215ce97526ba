// SPDX-License-Identifier: Apache-2.0

// Package wire has petrinet_telemetry_v1.proto, which defines the messages between
// engines and collectors, in compiled form, and converts messages between protobuf and
// JSON by it. Package telemetry converts protobuf to and from rows, and its README.md
// explains every field.
//
// go generate needs protoc.
package wire

//go:generate sh generate.sh
