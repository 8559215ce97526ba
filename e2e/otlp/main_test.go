// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
)

func TestMain(m *testing.M) { kit.Main(m) }
