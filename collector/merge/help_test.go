// SPDX-License-Identifier: Apache-2.0

package merge

import "github.com/pnagent/pnagent/collector/merge/mergetest"

const (
	t0          = mergetest.T0
	benchDigest = mergetest.Digest
)

var (
	lineNet      = mergetest.LineNet
	randomSource = mergetest.RandomSource
)
