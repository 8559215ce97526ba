// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"testing"

	"github.com/pnagent/pnagent/mib/smi"
)

func TestTokensOfFinalPlacesAreNotTheOldestOfANet(t *testing.T) {
	view := orderView()
	paid := &view.Nets[0].Rows.Places[1] // nothing takes its tokens
	paid.Tokens, paid.Oldest = 5000, now0-86400e6
	table, names := build(t, newBuilder(t, ""), view, now0), petrinetOIDs(testRoot(t))
	for _, c := range []struct {
		name  string
		index []uint32
		want  smi.Value
	}{
		{"pnNetTokens", []uint32{1}, smi.Gauge32(5002)},
		{"pnNetOldestAge", []uint32{1}, smi.Gauge32(3600)},
		{"pnPlaceOldestAge", []uint32{1, 2}, smi.Gauge32(86400)},
		{"pnPlaceFinal", []uint32{1, 1}, smi.Integer(2)},
		{"pnPlaceFinal", []uint32{1, 2}, smi.Integer(1)},
		{"pnPlaceFinal", []uint32{1, 3}, smi.Integer(2)},
	} {
		if got := get(t, table, names, c.name, c.index...); got != c.want {
			t.Errorf("%s of %v is %v, expected %v", c.name, c.index, got, c.want)
		}
	}
}
