// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pnagent/pnagent/mib/smi"
)

func TestARowIsEncodedAsTheVariableOfItsWholeName(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	simple := 0
	for range 20_000 {
		prefix := slices.Clone([]smi.OID{nil, {1}, {1, 3}, {0, 39}, {1, 40}, {2, 1 << 31}, {3, 1}, root}[rng.IntN(8)])
		for range rng.IntN(90) * rng.IntN(2) {
			prefix = append(prefix, rng.Uint32()>>rng.IntN(32))
		}
		row := make([]uint32, 1+rng.IntN(4))
		for i := range row {
			row[i] = rng.Uint32() >> rng.IntN(32)
		}
		value, scalar := randomValue(rng, 200), rng.IntN(4) == 0
		if value.Type == smi.TypeOctetString && rng.IntN(4) == 0 {
			value.Type = smi.TypeOpaque
		}
		name := prefix.Append(row...)
		if scalar {
			name = name.Append(0)
		}
		before := slices.Grow([]byte("before"), rng.IntN(300))
		got, ok := appendRow(slices.Clone(before), appendHead(nil, prefix), row, scalar, value)
		if !ok {
			if !bytes.Equal(got, before) {
				t.Fatalf("%v = %v was not encoded, and left % x", name, value, got)
			}
			continue
		}
		simple++
		if want, ok := appendVariable(slices.Clone(before), name, value); !ok || !bytes.Equal(got, want) {
			t.Fatalf("%v = %v is\n% x, want\n% x", name, value, got, want)
		}
	}
	if simple < 5000 {
		t.Errorf("only %d variables were simple", simple)
	}
}

func TestAWalkOfAllTypesGivesTheTable(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 9))
		table, m := randomTable(t, rng, 300)
		x := newResponder(t, table, nil).trusted()
		var got []string
		last := smi.Variable{Name: smi.OID{0, 0}}
		for last.Value.Type != smi.TypeEndOfMibView {
			request := pdu{tag: tagGetBulk, second: int32(1 + rng.IntN(100)), variables: []smi.Variable{{Name: last.Name, Value: smi.Null()}}}
			out, why, err := x.answer(request.encode(t), requester, start)
			if why != noReason {
				t.Fatal(why, err)
			}
			for _, v := range decoded(t, out).Variables {
				last = variable(t, v)
				got = append(got, last.String())
			}
		}
		var want []string
		for _, v := range m.variables {
			if v.Name.Compare(smi.OID{0, 0}) > 0 {
				want = append(want, v.String())
			}
		}
		if got = got[:len(got)-1]; !slices.Equal(got, want) {
			t.Fatalf("seed %d: walked\n%q, want\n%q", seed, got, want)
		}
	}
}
