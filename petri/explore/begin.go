// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"slices"

	"github.com/pnagent/pnagent/petri"
)

// beginning returns the marking in which the source transitions of a process fire, or nil for
// another net. Each of them begins an instance, such as a message start event, so a visit follows
// them only from the initial marking. Its tokens of work are those of another beginning, so
// they are not there. The source transitions of other nets stand for what arrives from outside,
// any number of times.
func beginning(t *petri.Tables) []uint32 {
	if t.Net.Model == nil || t.Net.Model.Kind != petri.ModelBPMN {
		return nil
	}
	m := slices.Clone(t.Initial)
	for p := range m {
		if t.Net.Places[p].Role == petri.RoleWork {
			m[p] = 0
		}
	}
	return m
}

// allows reports whether an enabled transition can fire in the marking: a source transition of
// a process fires only first.
func (s *space) allows(tr int) bool {
	return s.begins == nil || s.at == 0 || !s.tables.Source(tr)
}

// leaves returns the marking that an enabled transition changes.
func (s *space) leaves(tr int) []uint32 {
	if s.begins != nil && s.tables.Source(tr) {
		return s.begins
	}
	return s.marking
}
