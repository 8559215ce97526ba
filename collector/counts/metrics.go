// SPDX-License-Identifier: Apache-2.0

package counts

import "github.com/pnagent/pnagent/internal/selfmetrics"

var families = []selfmetrics.Family[Stats]{
	{Name: "pnagent_state_saves_total", Help: "Times that the counters were written to --state-dir.",
		Read: selfmetrics.Number(func(s Stats) uint64 { return s.Saves })},
	{Name: "pnagent_state_save_failures_total", Help: "Times that the counters could not be written to --state-dir: after a restart they would begin at 0.",
		Read: selfmetrics.Number(func(s Stats) uint64 { return s.Failures })},
	{Name: "pnagent_state_bytes", Help: "Size of the file that was written to --state-dir last.",
		Read: selfmetrics.Number(func(s Stats) uint64 { return s.Bytes })},
}

// Metrics returns the metrics of a directory. Nil, or a Dir that keeps nothing, has
// descriptions and no series.
func Metrics(d *Dir) *selfmetrics.Collector {
	if d != nil && d.cfg.Path == "" {
		d = nil
	}
	return selfmetrics.Of(families, d, (*Dir).Stats)
}
