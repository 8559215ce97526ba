#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Generates the Go form of the wire with protoc and the protoc-gen-go that
# go.mod names. Run by go generate; the files go to the directory given, or
# stay here.
set -eu
cd "$(dirname "$0")"
out=${1:-$(pwd)}
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
go build -o "$bin/protoc-gen-go" google.golang.org/protobuf/cmd/protoc-gen-go
cd ../..
protoc --plugin=protoc-gen-go="$bin/protoc-gen-go" --go_out="$out" --go_opt=module=github.com/pnagent/pnagent/telemetry/wire \
	telemetry/wire/petrinet_telemetry_v1.proto
