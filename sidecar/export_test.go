// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"github.com/pnagent/pnagent/collector"
	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/mib/smi"
)

// Collector returns the collector, which a test runs alone.
func (s *Sidecar) Collector() *collector.Collector { return s.collector }

// Notification returns what sinks receive.
func (s *Sidecar) Notification(n *alarm.Notification) ([]smi.Variable, error) { return s.variables(n) }

// Close closes what Run was not called for.
func (s *Sidecar) Close() { s.close() }
