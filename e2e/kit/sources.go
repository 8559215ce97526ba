// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"testing"
)

// UntilView waits until a check accepts a View, and returns it.
func (w Web) UntilView(t *testing.T, what string, check func(View) error) (v View) {
	t.Helper()
	Until(t, what, func() error {
		v = w.View(t)
		return check(v)
	})
	return v
}

// Columns of sourceTable about regions.
const (
	SourceRegion         = 5
	SourceState          = 6
	SourceRegionEpoch    = 16
	SourceRegionPosition = 18
	SourceRegionStandbys = 19
	SourceRegionLag      = 20
)
