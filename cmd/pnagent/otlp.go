// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/pnagent/pnagent/otlp"
)

// metricFlags are those of a process that sends its metrics by the OpenTelemetry protocol.
type metricFlags struct {
	otlp.Flags `embed:""`
	Interval   time.Duration `name:"interval" default:"60s" help:"How often metrics are sent to --otlp.endpoint."`
}

// spanFlags are those of a process that sends what its instances do as spans.
type spanFlags struct {
	otlp.Flags `embed:""`
	Sample     float64 `name:"sample" default:"1" help:"Share of the instances whose waits and work are sent to --otlp.endpoint as spans, from 0 to 1. It is always the same instances: a hash of their names decides. Not with --journal=jetstream."`
}

// check returns what is wrong with the flags.
func (f *spanFlags) check() error {
	if f.Sample < 0 || f.Sample > 1 {
		return fmt.Errorf("--otlp.sample: %v; expected a number from 0 to 1", f.Sample)
	}
	return f.Check()
}

// follows reports whether the stays of an instance are sent.
func (f *spanFlags) follows(net, instance string) bool {
	sum := sha256.Sum256([]byte(net + "\x00" + instance))
	return float64(binary.BigEndian.Uint64(sum[:])) < f.Sample*math.MaxUint64
}
