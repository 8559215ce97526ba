// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/mib/smi"
)

// model answers slowly and obviously: all variables in a list that is looked
// through from its beginning.
type model struct {
	variables []smi.Variable
	objects   []smi.OID
}

func (m *model) get(name smi.OID) smi.Value {
	for _, v := range m.variables {
		if v.Name.Compare(name) == 0 {
			return v.Value
		}
	}
	for _, object := range m.objects {
		if name.HasPrefix(object) {
			return smi.NoSuchInstance()
		}
	}
	return smi.NoSuchObject()
}

func (m *model) next(name smi.OID) smi.Variable {
	for _, v := range m.variables {
		if v.Name.Compare(name) > 0 {
			return v
		}
	}
	return smi.Variable{Name: name, Value: smi.EndOfMibView()}
}

func (m *model) bulk(nonRepeaters, maxRepetitions int, names []smi.OID) (out []smi.Variable) {
	nonRepeaters = min(nonRepeaters, len(names))
	for _, name := range names[:nonRepeaters] {
		out = append(out, m.next(name))
	}
	names = slices.Clone(names[nonRepeaters:])
	for range maxRepetitions {
		ended := true
		for i := range names {
			v := m.next(names[i])
			out, names[i] = append(out, v), v.Name
			ended = ended && v.Value.Type == smi.TypeEndOfMibView
		}
		if ended {
			break
		}
	}
	return out
}

// randomOID is a name near the others: few different numbers, and the extremes.
func randomOID(rng *rand.Rand) smi.OID {
	oid := slices.Clone([]smi.OID{root, root, root[:6], {1, 3, 6, 1, 2, 1, 1}, {1, 3}, {0, 0}, {2, 999}}[rng.IntN(7)])
	for range rng.IntN(5) {
		oid = append(oid, []uint32{0, 1, 2, 3, 127, 128, math.MaxUint32}[rng.IntN(7)])
	}
	return oid
}

// randomValue is a value of any type but Opaque, which gosnmp does not give back, with a length up to that many octets.
func randomValue(rng *rand.Rand, octets int) smi.Value {
	number := rng.Uint64() >> rng.IntN(64)
	text := strings.Repeat("x", rng.IntN(octets+1))
	return []smi.Value{smi.Integer(int32(number)), smi.Counter32(uint32(number)), smi.Gauge32(uint32(number)), smi.TimeTicks(uint32(number)),
		smi.Counter64(number), smi.OctetString(text), smi.IPAddress([4]byte{byte(number), 2, 3, 4}),
		smi.ObjectID(root[:rng.IntN(len(root)-1)+2])}[rng.IntN(8)]
}

// randomTable is a table of up to n rows, and the model of it together with the
// system group.
func randomTable(tb testing.TB, rng *rand.Rand, n int) (*smi.Table, *model) {
	tb.Helper()
	var names []smi.OID
	for range rng.IntN(n + 1) {
		names = append(names, randomOID(rng))
	}
	slices.SortFunc(names, smi.OID.Compare)
	names = slices.CompactFunc(names, func(a, b smi.OID) bool { return a.Compare(b) == 0 })
	var objects []smi.OID
	for _, name := range names {
		object := name[:len(name)-rng.IntN(2)]
		if len(objects) == 0 || !object.HasPrefix(objects[len(objects)-1]) && object.Compare(objects[len(objects)-1]) > 0 {
			objects = append(objects, object)
		}
	}
	layout, err := smi.NewLayout(names, objects)
	if err != nil {
		tb.Fatal(err)
	}
	values := make([]smi.Value, len(names))
	for i := range values {
		values[i] = randomValue(rng, 20)
	}
	table := smi.NewTable(layout, values)
	return table, newModel(tb, table, objects)
}

func newModel(tb testing.TB, table *smi.Table, objects []smi.OID) *model {
	tb.Helper()
	group, err := newSystemGroup(system)
	if err != nil {
		tb.Fatal(err)
	}
	m := &model{objects: slices.Clone(objects)}
	for i := range group.Len() {
		m.variables = append(m.variables, group.At(i))
		m.objects = append(m.objects, group.At(i).Name[:8])
	}
	for column := range uint32(3) {
		m.objects = append(m.objects, smi.OID{1, 3, 6, 1, 2, 1, 1, 9, 1, column + 2})
	}
	for i := range table.Len() { // where both have a name the system group's counts
		if v := table.At(i); !slices.ContainsFunc(m.variables[:group.Len()], func(s smi.Variable) bool { return s.Name.Compare(v.Name) == 0 }) {
			m.variables = append(m.variables, v)
		}
	}
	slices.SortFunc(m.variables, func(a, b smi.Variable) int { return a.Name.Compare(b.Name) })
	return m
}

// probe is a name to ask for: one there is, one beside, above or below it, or
// any.
func probe(rng *rand.Rand, m *model) smi.OID {
	name := slices.Clone(m.variables[rng.IntN(len(m.variables))].Name)
	switch rng.IntN(6) {
	case 0:
		return name
	case 1:
		return name[:2+rng.IntN(len(name)-1)]
	case 2:
		return append(name, rng.Uint32()>>rng.IntN(32))
	case 3:
		name[len(name)-1]++ // also over the largest number
		return encodable(name)
	case 4:
		name[len(name)-1]--
		return encodable(name)
	}
	return randomOID(rng)
}

// encodable keeps the second number to what BER can say.
func encodable(name smi.OID) smi.OID {
	if name[0] < 2 {
		name[1] = min(name[1], 39)
	}
	return name
}

func TestAnswersAgreeWithASlowModel(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 5))
		table, m := randomTable(t, rng, 80)
		size := []int{MinMessage, MaxMessage}[rng.IntN(2)]
		x := newResponder(t, table, func(c *Config) { c.MaxMessage = size }).trusted()
		for range 60 {
			request := pdu{tag: []byte{tagGet, tagGetNext, tagGetBulk}[rng.IntN(3)], id: int32(rng.Uint32())}
			names := make([]smi.OID, 1+rng.IntN(4))
			for i := range names {
				names[i] = probe(rng, m)
				request.variables = append(request.variables, smi.Variable{Name: names[i], Value: smi.Null()})
			}
			var want []smi.Variable
			switch request.tag {
			case tagGetBulk:
				request.first, request.second = int32(rng.IntN(5)), int32(rng.IntN(150))
				want = m.bulk(int(request.first), int(request.second), names)
			case tagGetNext:
				for _, name := range names {
					want = append(want, m.next(name))
				}
			case tagGet:
				for _, name := range names {
					want = append(want, smi.Variable{Name: name, Value: m.get(name)})
				}
			}
			agree(t, fmt.Sprintf("seed %d, %+v", seed, request), x, request.encode(t), want)
		}
	}
}

// agree compares an answer with what a model says; to a GetBulk it may be the
// beginning of it where there was no room for more.
func agree(t *testing.T, what string, x *exchange, request []byte, want []smi.Variable) {
	t.Helper()
	out, reason, err := x.answer(request, requester, start)
	if reason != noReason {
		t.Fatal(what, reason, err)
	}
	packet := decoded(t, out)
	var got, expected []string
	for _, v := range packet.Variables {
		got = append(got, variable(t, v).String())
	}
	for _, v := range want {
		expected = append(expected, v.String())
	}
	const largest = 80 // octets that a variable takes at most here
	if x.request.op == tagGetBulk && len(got) < len(expected) && len(got) > 0 && len(out)+largest > x.response.limit {
		expected = expected[:len(got)]
	}
	if diff := cmp.Diff(expected, got); diff != "" {
		t.Fatal(what, diff)
	}
}
