// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/mib/smi"
)

// pdu is a request as it stands on the wire: first and second are error-status
// and error-index, of a GetBulk non-repeaters and max-repetitions.
type pdu struct {
	tag           byte
	id            int32
	first, second int32
	variables     []smi.Variable
}

func (p pdu) encode(tb testing.TB) []byte {
	tb.Helper()
	m := message{limit: MaxMessage}
	m.open([]byte("public"), p.tag, p.id, status(p.first), int(p.second))
	for _, v := range p.variables {
		if got := m.add(v.Name, v.Value); got != added {
			tb.Fatalf("%v: %v", v, got)
		}
	}
	return bytes.Clone(m.finish())
}

// nulls are variables without values; names are as in ask.
func nulls(tb testing.TB, names ...string) []smi.Variable {
	tb.Helper()
	var out []smi.Variable
	for _, name := range names {
		if !strings.HasPrefix(name, ".") {
			name = root.String() + "." + name
		}
		oid, err := smi.ParseOID(name)
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, smi.Variable{Name: oid, Value: smi.Null()})
	}
	return out
}

// TestRFC3416 goes through what RFC 3416 says of a command responder.
func TestRFC3416(t *testing.T) {
	value := func(name string, v smi.Value) []smi.Variable {
		out := nulls(t, name)
		out[0].Value = v
		return out
	}
	one := []string{"1.1.0 = INTEGER: 0"}
	end := "2.5 = endOfMibView"
	for _, c := range []struct {
		rule    string
		request pdu
		status  status
		index   uint8
		want    []string
	}{
		{"4.2.1: request-id 0", pdu{tagGet, 0, 0, 0, nulls(t, "1.1.0")}, 0, 0, one},
		{"4.2.1: request-id -1", pdu{tagGet, -1, 0, 0, nulls(t, "1.1.0")}, 0, 0, one},
		{"4.2.1: the smallest request-id", pdu{tagGet, math.MinInt32, 0, 0, nulls(t, "1.1.0")}, 0, 0, one},
		{"4.2.1: the largest request-id", pdu{tagGet, math.MaxInt32, 0, 0, nulls(t, "1.1.0")}, 0, 0, one},
		{"3: error-status and error-index of a request mean nothing", pdu{tagGet, 1, 5, 9, nulls(t, "1.1.0")}, 0, 0, one},
		{"3: nor do they to GetNext", pdu{tagGetNext, 1, -5, math.MaxInt32, nulls(t, "1.1")}, 0, 0, one},
		{"4.2.1: values of a request mean nothing", pdu{tagGet, 1, 0, 0, value("1.1.0", smi.OctetString("x"))}, 0, 0, one},
		{"4.2.1: no variables", pdu{tagGet, 1, 0, 0, nil}, 0, 0, nil},
		{"4.2.1: a name twice", pdu{tagGet, 1, 0, 0, nulls(t, "1.1.0", "1.1.0")}, 0, 0, []string{one[0], one[0]}},
		{"4.2.1: no such object", pdu{tagGet, 1, 0, 0, nulls(t, "9.0")}, 0, 0, []string{"9.0 = noSuchObject"}},
		{"4.2.1: no such instance", pdu{tagGet, 1, 0, 0, nulls(t, "1.1.1")}, 0, 0, []string{"1.1.1 = noSuchInstance"}},
		{"4.2.1: one exception among values", pdu{tagGet, 1, 0, 0, nulls(t, "9.0", "1.1.0")}, 0, 0, []string{"9.0 = noSuchObject", one[0]}},
		{"4.2.2: no variables", pdu{tagGetNext, 1, 0, 0, nil}, 0, 0, nil},
		{"4.2.2: the end has the name asked for", pdu{tagGetNext, 1, 0, 0, nulls(t, ".2.5", "1.1")}, 0, 0, []string{end, one[0]}},
		{"4.2.2: the smallest name there is", pdu{tagGetNext, 1, 0, 0, nulls(t, ".0.0")}, 0, 0,
			[]string{`1.3.6.1.2.1.1.1.0 = OCTET STRING: "a responder under test"`}},
		{"4.2.3: more non-repeaters than variables", pdu{tagGetBulk, 1, math.MaxInt32, 50, nulls(t, "1.1", "1.2")}, 0, 0,
			[]string{one[0], "1.2.0 = INTEGER: -1"}},
		{"4.2.3: as many non-repeaters as variables", pdu{tagGetBulk, 1, 1, 50, nulls(t, "1.1")}, 0, 0, one},
		{"4.2.3: max-repetitions 0", pdu{tagGetBulk, 1, 0, 0, nulls(t, "1.1", "1.2")}, 0, 0, nil},
		{"4.2.3: max-repetitions 0 leaves the non-repeaters", pdu{tagGetBulk, 1, 1, 0, nulls(t, "1.1", "1.2")}, 0, 0, one},
		{"4.2.3: a negative max-repetitions is 0", pdu{tagGetBulk, 1, 1, math.MinInt32, nulls(t, "1.1", "1.2")}, 0, 0, one},
		{"4.2.3: a negative non-repeaters is 0", pdu{tagGetBulk, 1, -7, 1, nulls(t, "1.1")}, 0, 0, one},
		{"4.2.3: a non-repeater at the end", pdu{tagGetBulk, 1, 1, 1, nulls(t, ".2.5", "1.1")}, 0, 0, []string{end, one[0]}},
		{"4.2.3: repetitions stop when all have ended", pdu{tagGetBulk, 1, 0, math.MaxInt32, nulls(t, ".2.5", "2.1.2.4")}, 0, 0,
			[]string{end, "2.1.2.5 = Gauge32: 104", end, "2.1.2.5 = endOfMibView"}},
		{"4.2.3: an ended one fills its place", pdu{tagGetBulk, 1, 0, 2, nulls(t, ".2.5", "2.1.2.3")}, 0, 0,
			[]string{end, "2.1.2.4 = Gauge32: 103", end, "2.1.2.5 = Gauge32: 104"}},
		{"4.2.3: request-id -1", pdu{tagGetBulk, -1, 0, 1, nulls(t, "1.1")}, 0, 0, one},
		{"4.2.5: nothing may be written", pdu{tagSet, 1, 0, 0, value("1.1.0", smi.Integer(0))}, notWritable, 1, one},
		{"4.2.5: nor created", pdu{tagSet, 1, 0, 0, value("9.0", smi.Integer(0))}, notWritable, 1, []string{"9.0 = INTEGER: 0"}},
		{"4.2.5: the answer names the first of many", pdu{tagSet, -9, 3, 3, nulls(t, "9.0", "1.1.0")}, notWritable, 1,
			[]string{"9.0 = NULL", "1.1.0 = NULL"}},
		{"4.2.5: nothing to write is no error", pdu{tagSet, 1, 0, 0, nil}, 0, 0, nil},
	} {
		t.Run(c.rule, func(t *testing.T) {
			out, reason, err := newResponder(t, everyType(t), nil).trusted().answer(c.request.encode(t), requester, start)
			if reason != noReason {
				t.Fatal(reason, err)
			}
			packet := decoded(t, out)
			if diff := cmp.Diff(c.want, shown(t, packet)); diff != "" {
				t.Error(diff)
			}
			if int32(packet.RequestID) != c.request.id || status(packet.Error) != c.status || packet.ErrorIndex != c.index {
				t.Errorf("request-id %d, error %v at %d", int32(packet.RequestID), packet.Error, packet.ErrorIndex)
			}
		})
	}
}
