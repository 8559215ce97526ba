// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails if a test left a goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
