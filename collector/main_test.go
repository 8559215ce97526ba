// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"testing"

	"go.uber.org/goleak"
)

// verify runs the tests and fails if any of them left a goroutine behind.
func verify(m *testing.M) { goleak.VerifyTestMain(m) }
