// SPDX-License-Identifier: Apache-2.0

package region_test

import (
	"testing"

	"github.com/pnagent/pnagent/internal/natstest"
)

func TestMain(m *testing.M) { natstest.Main(m) }
