// SPDX-License-Identifier: Apache-2.0

package fleetsim

import (
	"fmt"
	"strings"
)

// slope is a cost that grows linearly with the number of sources.
type slope struct{ at0, each float64 }

func (s slope) of(sources float64) float64 { return s.at0 + s.each*sources }

// fit returns the line with the least squares of distances to the points. If
// there is one point, or the line is negative at 0, it returns the line through 0
// and the mean of the points.
func fit(points [][2]float64) slope {
	var n, x, y, xx, xy float64
	for _, p := range points {
		n, x, y, xx, xy = n+1, x+p[0], y+p[1], xx+p[0]*p[0], xy+p[0]*p[1]
	}
	each := (n*xy - x*y) / (n*xx - x*x)
	if at0 := (y - each*x) / n; n > 1 && at0 >= 0 {
		return slope{at0, each}
	}
	return slope{0, y / x}
}

// costs are the unit costs from which stages computes its table.
type costs struct {
	message     float64    // bytes
	rate        float64    // messages a second of one source
	cpu, memory slope      // of one sidecar, by its sources: processors, bytes
	branch      float64    // CPU time of a sidecar below the root, which keeps a state and publishes, relative to a flat one
	root        [2]float64 // processors and bytes of a root, for each sidecar below
}

// costs returns the unit costs, and false if there is no stage of one sidecar.
func (r *report) costs() (c costs, ok bool) {
	var cpu, memory [][2]float64
	for _, s := range r.Stages {
		if s.Kind != flatOnly || s.Messages == 0 {
			continue
		}
		c.message, c.rate = s.Bytes/s.Messages, s.Messages/float64(s.Sources)
		cpu = append(cpu, [2]float64{float64(s.Sources), s.Sidecars[0].CPU})
		memory = append(memory, [2]float64{float64(s.Sources), float64(s.Sidecars[0].RSS)})
	}
	if len(cpu) == 0 {
		return c, false
	}
	c.cpu, c.memory = fit(cpu), fit(memory)
	for _, s := range r.Stages {
		if s.Kind != treeOnly || len(s.Sidecars) < 2 {
			continue
		}
		root, below := &s.Sidecars[0], s.Sidecars[1:]
		shares := float64(len(below))
		for i := range below {
			c.branch += below[i].CPU / shares
		}
		c.branch /= c.cpu.of(float64(s.Sources) / shares)
		c.root = [2]float64{root.CPU / shares, float64(root.RSS) / shares}
	}
	return c, true
}

// units describes the unit costs in English.
func (r *report) units() string {
	c, _ := r.costs()
	text := fmt.Sprintf("Computed from these: %s bytes a message; one sidecar takes %.1f %% of a processor and %.0f MiB, and %.1f %% and %.0f MiB more for each 1,000 sources.",
		count(c.message), 100*c.cpu.at0, c.memory.at0/(1<<20), 1e5*c.cpu.each, 1000*c.memory.each/(1<<20))
	if c.branch > 0 {
		text += fmt.Sprintf(" One below takes %.2f times the processor of one that stands alone with as many sources; a root %.1f %% and %.0f MiB for each of them.",
			c.branch, 100*c.root[0], c.root[1]/(1<<20))
	}
	return text
}

// shareOf is the number of engines of one sidecar of a tree in the table. It
// leaves room for twice as many, in case another sidecar fails.
const shareOf = 5_000

// stages returns the table of what to run for a number of engines, and its cost.
func (r *report) stages() table {
	c, ok := r.costs()
	if !ok {
		return nil
	}
	t := table{{"engines", "what to run", "on the wire", "CPU", "memory"}}
	for _, n := range []float64{1, 10, 100, 1_000, 10_000, 100_000} {
		what, cpu, memory := "one sidecar, or a pair", percent(c.cpu.of(n)), mebibytes(int64(c.memory.of(n)))
		if n > 2*shareOf {
			if c.branch == 0 {
				continue
			}
			shares := n / shareOf
			what = fmt.Sprintf("a tree: %.0f shares and a root", shares)
			cpu = fmt.Sprintf("%s each, root %s", percent(c.branch*c.cpu.of(shareOf)), percent(c.root[0]*shares))
			memory = fmt.Sprintf("%s each, root %s", mebibytes(int64(c.memory.of(shareOf))), mebibytes(int64(c.root[1]*shares)))
		}
		t = append(t, []string{strings.TrimSuffix(count(n), ".0"), what, count(n*c.rate*c.message/1000) + " kB/s", cpu, memory})
	}
	return t
}
