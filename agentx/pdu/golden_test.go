// SPDX-License-Identifier: Apache-2.0

package pdu_test

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/agentx/pdu"
	"github.com/pnagent/pnagent/mib/smi"
)

const (
	network = pdu.FlagNetworkByteOrder
	context = pdu.FlagNonDefaultContext
)

// unhex reads bytes written as hex, with blanks and # comments to the end of
// a line between them.
func unhex(tb testing.TB, text string) []byte {
	tb.Helper()
	var digits strings.Builder
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		digits.WriteString(strings.Join(strings.Fields(line), ""))
	}
	b, err := hex.DecodeString(digits.String())
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// golden is PDUs and their bytes, written by hand from RFC 2741.
var golden = []struct {
	name string
	pdu  pdu.PDU
	hex  string
}{
	{"Open, network byte order", pdu.PDU{
		Header: pdu.Header{Flags: network, Packet: 1},
		Body:   &pdu.Open{Timeout: 5, ID: smi.OID{1, 3, 6, 1, 4, 1, 32473}, Description: "petri"},
	}, `
		01 01 10 00  00000000 00000000 00000001  0000001c
		05 00 00 00              # timeout
		02 04 00 00              # two sub-identifiers after 1.3.6.1.4
		00000001 00007ed9
		00000005 70657472 69000000 # "petri", padded
	`},
	{"Open, little endian", pdu.PDU{
		Header: pdu.Header{Packet: 1},
		Body:   &pdu.Open{Timeout: 5, ID: smi.OID{1, 3, 6, 1, 4, 1, 32473}, Description: "petri"},
	}, `
		01 01 00 00  00000000 00000000 01000000  1c000000
		05 00 00 00
		02 04 00 00
		01000000 d97e0000
		05000000 70657472 69000000
	`},
	{"Open without a name or a description", pdu.PDU{
		Header: pdu.Header{Flags: network}, Body: &pdu.Open{},
	}, `
		01 01 10 00  00000000 00000000 00000000  0000000c
		00 00 00 00
		00 00 00 00              # the null name
		00000000                 # an empty octet string
	`},
	{"Close", pdu.PDU{
		Header: pdu.Header{Flags: network, Session: 7, Packet: 9}, Body: &pdu.Close{Reason: pdu.ReasonShutdown},
	}, `
		01 02 10 00  00000007 00000000 00000009  00000004
		05 00 00 00
	`},
	{"Register of one subtree", pdu.PDU{
		Header: pdu.Header{Flags: network, Session: 7},
		Body:   &pdu.Register{Timeout: 2, Priority: 127, Subtree: smi.OID{1, 3, 6, 1, 4, 1}},
	}, `
		01 03 10 00  00000007 00000000 00000000  0000000c
		02 7f 00 00
		01 04 00 00  00000001
	`},
	{"Register of a range in a context", pdu.PDU{
		Header: pdu.Header{Flags: network | context | pdu.FlagInstanceRegistration, Session: 7}, Context: "orders",
		Body: &pdu.Register{Priority: 100, RangeSubID: 6, Subtree: smi.OID{1, 3, 6, 1, 4, 1}, UpperBound: 22},
	}, `
		01 03 19 00  00000007 00000000 00000000  0000001c
		00000006 6f726465 72730000 # "orders"
		00 64 06 00
		01 04 00 00  00000001
		00000016                 # upper bound
	`},
	{"Unregister", pdu.PDU{
		Header: pdu.Header{Flags: network, Session: 7},
		Body:   &pdu.Unregister{Priority: 127, Subtree: smi.OID{1, 3, 6, 1, 4, 1}},
	}, `
		01 04 10 00  00000007 00000000 00000000  0000000c
		00 7f 00 00
		01 04 00 00  00000001
	`},
	{"Get of two names", pdu.PDU{
		Header: pdu.Header{Flags: network, Session: 7, Transaction: 8, Packet: 9},
		Body: &pdu.Get{Ranges: []pdu.SearchRange{
			{Start: smi.OID{1, 3, 6, 1, 2, 1, 1, 1, 0}}, // RFC 2741 section 5.1's example
			{Start: smi.OID{1, 2, 3, 4}},                // and its second
		}},
	}, `
		01 05 10 00  00000007 00000008 00000009  00000030
		04 02 00 00  00000001 00000001 00000001 00000000
		00 00 00 00
		04 00 00 00  00000001 00000002 00000003 00000004
		00 00 00 00
	`},
	{"GetNext in a context with include and end, little endian", pdu.PDU{
		Header: pdu.Header{Flags: context, Session: 7, Transaction: 8, Packet: 9}, Context: "abcd",
		Body: &pdu.GetNext{Ranges: []pdu.SearchRange{
			{Start: smi.OID{1, 3, 6, 1, 4}, Include: true, End: smi.OID{1, 3, 6, 1, 300}},
		}},
	}, `
		01 06 08 00  07000000 08000000 09000000  24000000
		04000000 61626364        # no padding after four
		00 04 01 00              # 1.3.6.1.4 is its prefix alone; include
		05 00 00 00  01000000 03000000 06000000 01000000 2c010000 # 300 is no prefix
	`},
	{"GetBulk", pdu.PDU{
		Header: pdu.Header{Flags: network},
		Body: &pdu.GetBulk{NonRepeaters: 1, MaxRepetitions: 50, Ranges: []pdu.SearchRange{
			{Start: smi.OID{1}}, {Start: smi.OID{2}, End: smi.OID{3}},
		}},
	}, `
		01 07 10 00  00000000 00000000 00000000  00000020
		0001 0032
		01 00 00 00 00000001  00 00 00 00
		01 00 00 00 00000002  01 00 00 00 00000003
	`},
	{"TestSet", pdu.PDU{
		Header: pdu.Header{Flags: network},
		Body:   &pdu.TestSet{Variables: []smi.Variable{{Name: smi.OID{1, 3}, Value: smi.Integer(-2)}}},
	}, `
		01 08 10 00  00000000 00000000 00000000  00000014
		0002 0000  02 00 00 00 00000001 00000003  fffffffe
	`},
	{"CommitSet", pdu.PDU{Header: pdu.Header{Flags: network, Packet: 1}, Body: &pdu.CommitSet{}},
		`01 09 10 00  00000000 00000000 00000001  00000000`},
	{"UndoSet", pdu.PDU{Header: pdu.Header{Flags: network, Packet: 1}, Body: &pdu.UndoSet{}},
		`01 0a 10 00  00000000 00000000 00000001  00000000`},
	{"CleanupSet", pdu.PDU{Header: pdu.Header{Packet: 1}, Body: &pdu.CleanupSet{}},
		`01 0b 00 00  00000000 00000000 01000000  00000000`},
	{"Notify", pdu.PDU{
		Header: pdu.Header{Flags: network, Session: 7},
		Body: &pdu.Notify{Variables: []smi.Variable{{
			Name:  smi.OID{1, 3, 6, 1, 6, 3, 1, 1, 4, 1, 0},
			Value: smi.ObjectID(smi.OID{1, 3, 6, 1, 4, 1, 32473, 0, 1}),
		}}},
	}, `
		01 0c 10 00  00000007 00000000 00000000  00000034
		0006 0000
		06 06 00 00  00000003 00000001 00000001 00000004 00000001 00000000
		04 04 00 00  00000001 00007ed9 00000000 00000001
	`},
	{"Ping", pdu.PDU{Header: pdu.Header{Flags: network, Session: 7, Packet: 2}, Body: &pdu.Ping{}},
		`01 0d 10 00  00000007 00000000 00000002  00000000`},
	{"Ping in the context without a name", pdu.PDU{
		Header: pdu.Header{Flags: network | context, Session: 7, Packet: 2}, Body: &pdu.Ping{}},
		`01 0d 18 00  00000007 00000000 00000002  00000004  00000000`},
	{"IndexAllocate", pdu.PDU{
		Header: pdu.Header{Flags: network | pdu.FlagAnyIndex},
		Body:   &pdu.IndexAllocate{Variables: []smi.Variable{{Name: smi.OID{1}, Value: smi.Integer(3)}}},
	}, `
		01 0e 14 00  00000000 00000000 00000000  00000010
		0002 0000  01 00 00 00 00000001  00000003
	`},
	{"IndexDeallocate", pdu.PDU{
		Header: pdu.Header{Flags: network},
		Body:   &pdu.IndexDeallocate{Variables: []smi.Variable{{Name: smi.OID{1}, Value: smi.OctetString("ab")}}},
	}, `
		01 0f 10 00  00000000 00000000 00000000  00000014
		0004 0000  01 00 00 00 00000001  00000002 61620000
	`},
	{"AddAgentCaps", pdu.PDU{
		Header: pdu.Header{Flags: network, Session: 7},
		Body:   &pdu.AddAgentCaps{ID: smi.OID{1, 3, 6, 1, 4, 1}, Description: "x"},
	}, `
		01 10 10 00  00000007 00000000 00000000  00000010
		01 04 00 00 00000001  00000001 78000000
	`},
	{"RemoveAgentCaps", pdu.PDU{
		Header: pdu.Header{Flags: network, Session: 7}, Body: &pdu.RemoveAgentCaps{ID: smi.OID{1, 3, 6, 1, 4, 1}},
	}, `
		01 11 10 00  00000007 00000000 00000000  00000008
		01 04 00 00 00000001
	`},
	{"Response with an error", pdu.PDU{
		Header: pdu.Header{Flags: network, Session: 7, Transaction: 8, Packet: 9},
		Body:   &pdu.Response{UpTime: 258, Error: pdu.NotWritable, Index: 1},
	}, `
		01 12 10 00  00000007 00000008 00000009  00000008
		00000102 0011 0001
	`},
	{"Response with every type, network byte order", pdu.PDU{
		Header: pdu.Header{Flags: network}, Body: &pdu.Response{Variables: every},
	}, `
		01 12 10 00  00000000 00000000 00000000  000000d4
		00000000 0000 0000
		0002 0000 01000000 00000001 fffffffe
		0004 0000 01000000 00000002 00000005 68656c6c 6f000000
		0005 0000 01000000 00000003
		0006 0000 01000000 00000004 01040000 00000001
		0040 0000 01000000 00000005 00000004 7f000001
		0041 0000 01000000 00000006 ffffffff
		0042 0000 01000000 00000007 00000102
		0043 0000 01000000 00000008 00000064
		0044 0000 01000000 00000009 00000001 ff000000
		0046 0000 01000000 0000000a 01020304 05060708
		0080 0000 00000000
		0081 0000 00040000
		0082 0000 00000000
	`},
	{"Response with every type, little endian", pdu.PDU{
		Header: pdu.Header{}, Body: &pdu.Response{Variables: every},
	}, `
		01 12 00 00  00000000 00000000 00000000  d4000000
		00000000 0000 0000
		0200 0000 01000000 01000000 feffffff
		0400 0000 01000000 02000000 05000000 68656c6c 6f000000
		0500 0000 01000000 03000000
		0600 0000 01000000 04000000 01040000 01000000
		4000 0000 01000000 05000000 04000000 7f000001
		4100 0000 01000000 06000000 ffffffff
		4200 0000 01000000 07000000 02010000
		4300 0000 01000000 08000000 64000000
		4400 0000 01000000 09000000 01000000 ff000000
		4600 0000 01000000 0a000000 08070605 04030201
		8000 0000 00000000
		8100 0000 00040000
		8200 0000 00000000
	`},
}

// every is one variable of each type.
var every = []smi.Variable{
	{Name: smi.OID{1}, Value: smi.Integer(-2)},
	{Name: smi.OID{2}, Value: smi.OctetString("hello")},
	{Name: smi.OID{3}, Value: smi.Null()},
	{Name: smi.OID{4}, Value: smi.ObjectID(smi.OID{1, 3, 6, 1, 4, 1})},
	{Name: smi.OID{5}, Value: smi.IPAddress([4]byte{127, 0, 0, 1})},
	{Name: smi.OID{6}, Value: smi.Counter32(4294967295)},
	{Name: smi.OID{7}, Value: smi.Gauge32(258)},
	{Name: smi.OID{8}, Value: smi.TimeTicks(100)},
	{Name: smi.OID{9}, Value: smi.Opaque("\xff")},
	{Name: smi.OID{10}, Value: smi.Counter64(0x0102030405060708)},
	{Value: smi.NoSuchObject()},
	{Name: smi.OID{1, 3, 6, 1, 4}, Value: smi.NoSuchInstance()},
	{Value: smi.EndOfMibView()},
}

func TestEncodesAsInTheRFC(t *testing.T) {
	for _, c := range golden {
		t.Run(c.name, func(t *testing.T) {
			got, err := pdu.Append(nil, c.pdu)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(hex.Dump(unhex(t, c.hex)), hex.Dump(got)); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

func TestDecodesAsInTheRFC(t *testing.T) {
	for _, c := range golden {
		t.Run(c.name, func(t *testing.T) {
			raw := unhex(t, c.hex)
			h, payload, err := pdu.ReadFrame(bytes.NewReader(raw), nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := pdu.Decode(h, payload)
			if err != nil {
				t.Fatal(err)
			}
			want := c.pdu
			want.Header.Type = pdu.TypeOf(want.Body)
			want.Header.Length = uint32(len(raw) - pdu.HeaderSize)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

func TestVariableSizeIsWhatAVariableTakes(t *testing.T) {
	names := []smi.OID{nil, {1}, {1, 3, 6, 1, 4}, {1, 3, 6, 1, 4, 1, 2}, {1, 3, 6, 1, 0, 1}, {1, 3, 6, 1, 256}}
	for _, v := range every {
		for _, name := range names {
			v.Name = name
			empty, err := pdu.Append(nil, pdu.PDU{Body: &pdu.Notify{}})
			if err != nil {
				t.Fatal(err)
			}
			one, err := pdu.Append(nil, pdu.PDU{Body: &pdu.Notify{Variables: []smi.Variable{v}}})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := pdu.VariableSize(v), len(one)-len(empty); got != want {
				t.Errorf("%v: %d bytes, want %d", v, got, want)
			}
		}
	}
}

func TestAppendKeepsWhatIsThere(t *testing.T) {
	buf, err := pdu.Append([]byte("before"), golden[0].pdu)
	if err != nil {
		t.Fatal(err)
	}
	if want := append([]byte("before"), unhex(t, golden[0].hex)...); !bytes.Equal(buf, want) {
		t.Fatalf("got % x; want % x", buf, want)
	}
}

func TestNamesOfTypesErrorsAndReasons(t *testing.T) {
	for typ := pdu.Type(1); typ.Known(); typ++ {
		if strings.Contains(typ.String(), " ") {
			t.Errorf("type %d has no name", typ)
		}
	}
	for e := pdu.OpenFailed; e <= pdu.ProcessingError; e++ {
		if strings.Contains(e.Error(), " ") {
			t.Errorf("error %d has no name", e)
		}
	}
	for _, c := range []struct{ got, want string }{
		{pdu.Type(19).String(), "type 19"},
		{pdu.NoError.Error(), "noError"}, {pdu.GenErr.Error(), "genErr"}, {pdu.Error(99).Error(), "error 99"},
		{pdu.NotWritable.Error(), "notWritable"}, {pdu.CommitFailed.Error(), "commitFailed"},
		{pdu.ReasonShutdown.String(), "reasonShutdown"}, {pdu.ReasonByManager.String(), "reasonByManager"},
		{pdu.Reason(0).String(), "reason 0"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
