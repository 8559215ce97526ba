// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"strings"

	dto "github.com/prometheus/client_model/go"
)

// parted gives families different names in OpenMetrics, in which a counter's family is
// named without _total: the Go runtime's go_memstats_alloc_bytes_total would be the same
// family as the gauge go_memstats_alloc_bytes. Such a counter becomes of unknown type, which
// keeps its name and values. It changes families, which must not be in use elsewhere.
func parted(families []*dto.MetricFamily) {
	names := make(map[string]bool, len(families))
	for _, f := range families {
		names[f.GetName()] = true
	}
	for _, f := range families {
		base, is := strings.CutSuffix(f.GetName(), "_total")
		if f.GetType() != dto.MetricType_COUNTER || !is || !names[base] {
			continue
		}
		f.Type = dto.MetricType_UNTYPED.Enum()
		for _, m := range f.Metric {
			m.Untyped, m.Counter = &dto.Untyped{Value: m.GetCounter().Value}, nil
		}
	}
}
