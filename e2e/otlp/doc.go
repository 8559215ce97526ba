// SPDX-License-Identifier: Apache-2.0

// Package otlp holds end-to-end tests of what pnagent sends by the OpenTelemetry protocol, as a
// real OpenTelemetry Collector receives it.
package otlp
