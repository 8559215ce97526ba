// SPDX-License-Identifier: Apache-2.0

package counts

import "github.com/pnagent/pnagent/internal/selfmetrics"

var families = []selfmetrics.Family[Stats]{
	selfmetrics.Number("pnagent_state_saves_total", "Times that the counters were written to --state-dir.", func(s Stats) uint64 { return s.Saves }),
	selfmetrics.Number("pnagent_state_save_failures_total", "Times that the counters could not be written to --state-dir: after a restart they would begin at 0.", func(s Stats) uint64 { return s.Failures }),
	selfmetrics.Number("pnagent_state_bytes", "Size of the file that was written to --state-dir last.", func(s Stats) uint64 { return s.Bytes }),
}

// Metrics returns the metrics of a directory. Nil, or a Dir that keeps nothing, has
// descriptions and no series.
func Metrics(d *Dir) *selfmetrics.Collector {
	if d != nil && d.cfg.Path == "" {
		d = nil
	}
	return selfmetrics.Of(families, d, (*Dir).Stats)
}
