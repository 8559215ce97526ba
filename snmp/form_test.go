// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"
)

// element is one element of a message, with others in it.
type element struct {
	tag     byte
	content []byte
	in      []element
}

func (e element) bytes() []byte {
	content := slices.Clone(e.content)
	for _, in := range e.in {
		content = append(content, in.bytes()...)
	}
	return appendOctets(nil, e.tag, content)
}

func number(n byte) element { return element{tag: tagInteger, content: []byte{n}} }

// messageOf has every element that a message of SNMPv2c has, each kind once.
func messageOf(pdu byte) element {
	name := element{tag: tagObjectID, content: []byte{0x2b, 6, 1}}
	binding := element{tag: tagSequence, in: []element{name, number(7)}}
	return element{tag: tagSequence, in: []element{
		number(version2c), {tag: tagOctetString, content: []byte("public")},
		{tag: pdu, in: []element{number(5), number(0), number(0), {tag: tagSequence, in: []element{binding}}}},
	}}
}

// spoilt returns the element with one fault, for each place and each fault.
func (e element) spoilt(where string) map[string]element {
	all := map[string]element{}
	with := func(what string, in []element) { all[where+what] = element{e.tag, e.content, in} }
	for i, in := range e.in {
		at := fmt.Sprintf(" %d", i)
		for name, bad := range in.spoilt(where + at) {
			all[name] = element{e.tag, e.content, slices.Replace(slices.Clone(e.in), i, i+1, bad)}
		}
		with(at+" is missing", slices.Delete(slices.Clone(e.in), i, i+1))
		with(at+" is of another type", slices.Replace(slices.Clone(e.in), i, i+1, element{tag: 0x09, content: in.content, in: in.in}))
		if len(in.in) > 0 {
			with(at+" is cut off", slices.Replace(slices.Clone(e.in), i, i+1, element{tag: in.tag, content: []byte{tagInteger}}))
		}
	}
	if len(e.in) > 0 {
		with(" has more behind it", append(slices.Clone(e.in), element{tag: 0x05}))
	}
	return all
}

func TestAnInvalidAcknowledgementIsRejected(t *testing.T) {
	good := messageOf(tagResponse)
	if a, err := decodeAck(good.bytes(), []byte("public")); err != nil || a != (ack{id: 5}) {
		t.Fatalf("got %+v, error %v; want request id 5 without an error", a, err)
	}
	good.in[2].in[3] = element{tag: tagSequence} // the content of the bindings is ignored
	for name, bad := range good.spoilt("element") {
		if a, err := decodeAck(bad.bytes(), []byte("public")); err == nil {
			t.Errorf("%s: got %+v; want an error", name, a)
		}
	}
	for n := range good.bytes() {
		if _, err := decodeAck(good.bytes()[:n], []byte("public")); err == nil {
			t.Errorf("%d octets are an acknowledgement", n)
		}
	}
	if _, err := decodeAck(append(good.bytes(), 0), []byte("public")); err == nil {
		t.Error("octets behind the message are not seen")
	}
	for name, other := range map[string]element{"a request": messageOf(tagGet), "a report": messageOf(tagReport)} {
		if _, err := decodeAck(other.bytes(), []byte("public")); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func TestARequestWithAFaultIsMalformed(t *testing.T) {
	community := sha256.Sum256([]byte("public"))
	for _, tag := range []byte{tagGet, tagGetNext, tagGetBulk, tagSet} {
		var q request
		good := messageOf(tag)
		if why, err := q.decode(good.bytes(), &community); why != noReason || err != nil || q.op != tag || q.id != 5 || q.names() != 1 || q.name(0).String() != "1.3.6.1" {
			t.Fatalf("got %+v, reason %v, error %v; want request 5 of 1.3.6.1", q, why, err)
		}
		for name, bad := range good.spoilt("element") {
			why, err := q.decode(bad.bytes(), &community)
			if name == "element 2 3 0 is missing" { // it asks for nothing
				if why != noReason || err != nil || q.names() != 0 {
					t.Errorf("%s: got reason %v, error %v; want a request without names", name, why, err)
				}
				continue
			}
			if why != malformed || err == nil {
				t.Errorf("%s: got reason %v, error %v; want malformed", name, why, err)
			}
		}
		for n := range good.bytes() {
			if why, err := q.decode(good.bytes()[:n], &community); why != malformed || err == nil {
				t.Errorf("%d octets: %v, %v", n, why, err)
			}
		}
		if why, _ := q.decode(append(good.bytes(), 0), &community); why != malformed {
			t.Errorf("octets behind the message: %v", why)
		}
	}
	var q request
	unended := messageOf(tagGet)
	unended.in[2].in[3].in[0].in[0].content = []byte{0x2b, 0x86}
	if why, err := q.decode(unended.bytes(), &community); why != malformed || err == nil {
		t.Errorf("a name without an end: %v, %v", why, err)
	}
	for tag := tagGet; tag <= tagReport; tag++ {
		switch tag {
		case tagGet, tagGetNext, tagGetBulk, tagSet:
		default:
			if why, err := q.decode(messageOf(byte(tag)).bytes(), &community); why != notRequest || err != nil {
				t.Errorf("a PDU of tag %#x: %v, %v", tag, why, err)
			}
		}
	}
	for _, tag := range []byte{tagGet - 1, tagReport + 1} {
		if why, err := q.decode(messageOf(tag).bytes(), &community); why != malformed || err == nil {
			t.Errorf("a PDU of tag %#x: %v, %v", tag, why, err)
		}
	}
}
