// SPDX-License-Identifier: Apache-2.0

//go:build peers

package page

import (
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
)

func TestMain(m *testing.M) { kit.Main(m) }
