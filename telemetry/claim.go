// SPDX-License-Identifier: Apache-2.0

package telemetry

import "cmp"

// Claim identifies an owner of a region among its owners.
type Claim struct {
	Fence uint64 `json:"fence"`           // among the owners of one log
	Since int64  `json:"since,omitempty"` // when the region's counters began, and with them its log; 0: not known
	Epoch int64  `json:"epoch,omitempty"` // start of the owner's process
}

// Claim returns the claim of the source to its region.
func (s *Snapshot) Claim() Claim { return Claim{Fence: s.Fence, Since: s.Since, Epoch: s.Epoch} }

// Compare returns 1 if c is the claim of a later owner of the region than d, -1
// if it is that of an earlier owner, and 0 if both are of one owner. A log that
// was created after the process of the other owner started has replaced that
// owner's log, and its fences begin at 1 again. In all other cases the higher
// fence is later.
func (c Claim) Compare(d Claim) int {
	switch {
	case c.Since != d.Since && c.Since > max(d.Since, d.Epoch):
		return 1
	case c.Since != d.Since && d.Since > max(c.Since, c.Epoch):
		return -1
	}
	return cmp.Compare(c.Fence, d.Fence)
}
