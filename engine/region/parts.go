// SPDX-License-Identifier: Apache-2.0

package region

import (
	"fmt"
	"strings"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/split"
	"github.com/pnagent/pnagent/telemetry"
)

// Regions returns the parts of a plan, in its order and with the names of its
// regions.
func Regions(t *petri.Tables, plan *split.Plan) []Part {
	var text strings.Builder
	for i := range plan.Regions {
		fmt.Fprintf(&text, "%q:", plan.Regions[i].Name)
		for tr, in := range plan.Regions[i].Transitions {
			if in {
				fmt.Fprintf(&text, " %q", t.Net.Transitions[tr].ID)
			}
		}
		text.WriteByte('\n')
	}
	digest := telemetry.Digest([]byte(text.String()))
	parts := make([]Part, len(plan.Regions))
	for i := range parts {
		cut := &plan.Regions[i]
		parts[i].Part = engine.Part{Name: cut.Name, Cut: cut, Plan: digest}
		for _, up := range cut.Upstream {
			parts[i].Upstream = append(parts[i].Upstream, plan.Regions[up].Name)
		}
		for _, down := range cut.Downstream {
			parts[i].Downstream = append(parts[i].Downstream, plan.Regions[down].Name)
		}
	}
	return parts
}

// MaxPartitions is the largest number of partitions of a net.
const MaxPartitions = 1024

// Partitions returns the parts of a net that each have all transitions and some
// of the instances, by split.Partition. They are named p0, p1 and so on.
// Partitions without instances are left out.
func Partitions(instances, of int) []Part {
	var parts []Part
	for p := range of {
		numbers := split.Numbers(instances, p, of)
		if len(numbers) > 0 {
			parts = append(parts, Part{Part: engine.Part{Name: fmt.Sprintf("p%d", p), Numbers: numbers, Plan: fmt.Sprintf("%d-partitions", of)}})
		}
	}
	return parts
}
