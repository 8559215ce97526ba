// SPDX-License-Identifier: Apache-2.0

package pdu_test

import (
	"bytes"
	"encoding"
	"net"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	peer "github.com/posteo/go-agentx/pdu"
	"github.com/posteo/go-agentx/value"

	"github.com/pnagent/pnagent/agentx/pdu"
	"github.com/pnagent/pnagent/mib/smi"
)

// These tests hold the codec against github.com/posteo/go-agentx, which was
// written by others from the same RFC. It supports little endian only, encodes
// what a subagent of its kind sends, and decodes a Get (of one name), a
// GetNext and a Response.

// ofPeer is the peer's encoding of body.
func ofPeer(t *testing.T, body peer.Packet) []byte {
	t.Helper()
	raw, err := (&peer.HeaderPacket{
		Header: &peer.Header{SessionID: 7, TransactionID: 8, PacketID: 9}, Packet: body,
	}).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestWeDecodePDUsOfThePeer(t *testing.T) {
	oid := value.OID{1, 3, 6, 1, 4, 1, 32473, 1}
	ours := smi.OID(oid)

	open := &peer.Open{Timeout: peer.Timeout{Duration: 5 * time.Second}}
	open.ID.SetIdentifier(oid)
	open.Description.Text = "petri"
	register := &peer.Register{Timeout: peer.Timeout{Duration: 2 * time.Second, Priority: 127}}
	register.Subtree.SetIdentifier(oid)
	unregister := &peer.Unregister{Timeout: peer.Timeout{Priority: 127}}
	unregister.Subtree.SetIdentifier(oid)
	var variables peer.Variables
	variables.Add(oid, peer.VariableTypeInteger, int32(-5))
	variables.Add(oid, peer.VariableTypeOctetString, "hello")
	variables.Add(oid, peer.VariableTypeNull, nil)
	variables.Add(oid, peer.VariableTypeObjectIdentifier, "1.3.6.1.4.1.32473")
	variables.Add(oid, peer.VariableTypeIPAddress, net.IP{127, 0, 0, 1})
	variables.Add(oid, peer.VariableTypeCounter32, uint32(1<<32-1))
	variables.Add(oid, peer.VariableTypeGauge32, uint32(258))
	variables.Add(oid, peer.VariableTypeTimeTicks, time.Second)
	variables.Add(oid, peer.VariableTypeOpaque, []byte{255})
	variables.Add(oid, peer.VariableTypeCounter64, uint64(0x0102030405060708))
	variables.Add(oid, peer.VariableTypeNoSuchObject, nil)
	variables.Add(oid, peer.VariableTypeNoSuchInstance, nil)
	variables.Add(oid, peer.VariableTypeEndOfMIBView, nil)
	decoded := []smi.Variable{
		{Name: ours, Value: smi.Integer(-5)},
		{Name: ours, Value: smi.OctetString("hello")},
		{Name: ours, Value: smi.Null()},
		{Name: ours, Value: smi.ObjectID(smi.OID{1, 3, 6, 1, 4, 1, 32473})},
		{Name: ours, Value: smi.IPAddress([4]byte{127, 0, 0, 1})},
		{Name: ours, Value: smi.Counter32(1<<32 - 1)},
		{Name: ours, Value: smi.Gauge32(258)},
		{Name: ours, Value: smi.TimeTicks(100)},
		{Name: ours, Value: smi.Opaque("\xff")},
		{Name: ours, Value: smi.Counter64(0x0102030405060708)},
		{Name: ours, Value: smi.NoSuchObject()},
		{Name: ours, Value: smi.NoSuchInstance()},
		{Name: ours, Value: smi.EndOfMibView()},
	}
	for _, c := range []struct {
		theirs peer.Packet
		want   pdu.Body
	}{
		{open, &pdu.Open{Timeout: 5, ID: ours, Description: "petri"}},
		{&peer.Close{Reason: peer.ReasonShutdown}, &pdu.Close{Reason: pdu.ReasonShutdown}},
		{register, &pdu.Register{Timeout: 2, Priority: 127, Subtree: ours}},
		{unregister, &pdu.Unregister{Priority: 127, Subtree: ours}},
		{&peer.AllocateIndex{Variables: variables}, &pdu.IndexAllocate{Variables: decoded}},
		{&peer.DeallocateIndex{Variables: variables}, &pdu.IndexDeallocate{Variables: decoded}},
		{&peer.Response{Error: peer.ErrorProcessing, Index: 3, Variables: variables},
			&pdu.Response{Error: pdu.ProcessingError, Index: 3, Variables: decoded}},
	} {
		t.Run(pdu.TypeOf(c.want).String(), func(t *testing.T) {
			h, payload, err := pdu.ReadFrame(bytes.NewReader(ofPeer(t, c.theirs)), nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := pdu.Decode(h, payload)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got.Body); diff != "" {
				t.Error(diff)
			}
			if h.Session != 7 || h.Transaction != 8 || h.Packet != 9 {
				t.Errorf("header %+v", h)
			}
		})
	}
}

// toPeer has the peer decode the payload of what we encode.
func toPeer(t *testing.T, body pdu.Body, theirs encoding.BinaryUnmarshaler) {
	t.Helper()
	raw, err := pdu.Append(nil, pdu.PDU{Header: pdu.Header{Session: 7, Transaction: 8, Packet: 9}, Body: body})
	if err != nil {
		t.Fatal(err)
	}
	var h peer.Header
	if err := h.UnmarshalBinary(raw[:pdu.HeaderSize]); err != nil {
		t.Fatal(err)
	}
	want := peer.Header{Version: 1, Type: peer.Type(pdu.TypeOf(body)), SessionID: 7, TransactionID: 8, PacketID: 9,
		PayloadLength: uint32(len(raw) - pdu.HeaderSize)}
	if diff := cmp.Diff(want, h); diff != "" {
		t.Fatal(diff)
	}
	if err := theirs.UnmarshalBinary(raw[pdu.HeaderSize:]); err != nil {
		t.Fatal(err)
	}
}

func TestThePeerDecodesOurPDUAsAGet(t *testing.T) {
	for _, name := range []smi.OID{{1, 3, 6, 1, 4, 1, 32473}, {1, 3, 6, 1, 4}, {1, 2, 3}, {1, 3, 6, 1, 300, 1}} {
		var theirs peer.Get
		toPeer(t, &pdu.Get{Ranges: []pdu.SearchRange{{Start: name}}}, &theirs)
		if diff := cmp.Diff(name, smi.OID(theirs.GetOID())); diff != "" {
			t.Error(diff)
		}
	}
}

func TestThePeerDecodesOurPDUAsAGetNext(t *testing.T) {
	ranges := []pdu.SearchRange{
		{Start: smi.OID{1, 3, 6, 1, 4, 1}, Include: true, End: smi.OID{1, 3, 6, 1, 5}},
		{Start: smi.OID{1, 2}, End: smi.OID{1, 3}},
		{Start: smi.OID{2}},
	}
	var theirs peer.GetNext
	toPeer(t, &pdu.GetNext{Ranges: ranges}, &theirs)
	var got []pdu.SearchRange
	for _, r := range theirs.SearchRanges {
		got = append(got, pdu.SearchRange{
			Start: smi.OID(r.From.GetIdentifier()), Include: r.From.GetInclude(), End: smi.OID(r.To.GetIdentifier()),
		})
	}
	if diff := cmp.Diff(ranges, got); diff != "" {
		t.Fatal(diff)
	}
}

// The peer reads numbers from the wrong place (two bytes after the type, in
// the reserved field and the name) and panics at an object identifier, so that
// of the values only octets are compared. Lengths must be right in any case, or
// the list would fall out of step.
func TestThePeerDecodesOurPDUAsAResponse(t *testing.T) {
	var sent []smi.Variable
	for _, v := range every {
		if v.Value.Type != smi.TypeObjectIdentifier {
			sent = append(sent, v)
		}
	}
	var theirs peer.Response
	toPeer(t, &pdu.Response{Error: pdu.GenErr, Index: 2, Variables: sent}, &theirs)
	if theirs.Error != 5 || theirs.Index != 2 || len(theirs.Variables) != len(sent) {
		t.Fatalf("got %+v; want error 5 at index 2 and %d variables", theirs, len(sent))
	}
	for i, v := range theirs.Variables {
		if got := smi.OID(v.Name.GetIdentifier()); smi.Type(v.Type) != sent[i].Value.Type || got.Compare(sent[i].Name) != 0 {
			t.Errorf("variable %d is %v %v, want %v", i, got, v.Type, sent[i])
		}
		var octets string
		switch value := v.Value.(type) {
		case string:
			octets = value
		case net.IP:
			octets = string(value)
		case []byte:
			octets = string(value)
		default:
			continue
		}
		if octets != sent[i].Value.Str {
			t.Errorf("variable %d is %q, want %v", i, octets, sent[i])
		}
	}
}
