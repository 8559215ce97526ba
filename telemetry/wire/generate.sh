#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Compiles the definition of the wire with protoc. Run by go generate; the file
# is the one given, or stays here.
set -eu
cd "$(dirname "$0")"
out=${1:-$(pwd)/petrinet_telemetry_v1.binpb}
cd ../..
protoc --descriptor_set_out="$out" telemetry/wire/petrinet_telemetry_v1.proto
