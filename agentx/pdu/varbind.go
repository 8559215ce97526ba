// SPDX-License-Identifier: Apache-2.0

package pdu

import "github.com/pnagent/pnagent/mib/smi"

// A variable (RFC 2741 section 5.4) has its type in 2 bytes, 2 reserved bytes, its name
// and its value. Numbers take 4 bytes and a Counter64 takes 8; octet strings, addresses and
// opaques are Octet Strings, object identifiers are Object Identifiers; null and the
// exceptions take none.

// VariableSize returns the size of v in a PDU, in bytes.
func VariableSize(v smi.Variable) int {
	size := 4 + oidSize(v.Name)
	switch v.Value.Type {
	case smi.TypeInteger, smi.TypeCounter32, smi.TypeGauge32, smi.TypeTimeTicks:
		size += 4
	case smi.TypeCounter64:
		size += 8
	case smi.TypeOctetString, smi.TypeIPAddress, smi.TypeOpaque:
		size += 4 + len(v.Value.Str) + padding(len(v.Value.Str))
	case smi.TypeObjectIdentifier:
		size += oidSize(v.Value.OID())
	}
	return size
}

func (e *encoder) variables(variables *[]smi.Variable) {
	for _, v := range *variables {
		e.variable(v)
	}
}

func (e *encoder) variable(v smi.Variable) {
	head := uint32(v.Value.Type)
	if e.order {
		head <<= 16
	}
	e.uint32(head)
	e.oid(v.Name, false)
	switch v.Value.Type {
	case smi.TypeInteger, smi.TypeCounter32, smi.TypeGauge32, smi.TypeTimeTicks:
		e.uint32(uint32(v.Value.Num))
	case smi.TypeCounter64:
		e.uint64(v.Value.Num)
	case smi.TypeOctetString, smi.TypeIPAddress, smi.TypeOpaque:
		e.octets(v.Value.Str)
	case smi.TypeObjectIdentifier:
		e.oid(v.Value.OID(), false)
	case smi.TypeNull, smi.TypeNoSuchObject, smi.TypeNoSuchInstance, smi.TypeEndOfMibView:
	default:
		e.fail("%v has a value of %v", v.Name, v.Value.Type)
	}
}

// variables reads to the end of the payload.
func (d *decoder) variables(variables *[]smi.Variable) {
	for d.more() {
		*variables = append(*variables, d.variable())
	}
}

func (d *decoder) variable() smi.Variable {
	kind := d.uint16()
	d.uint16()
	var v smi.Variable
	v.Name, _ = d.oid()
	if kind > 255 {
		d.fail("a variable of type %d", kind)
		return v
	}
	switch t := smi.Type(kind); t {
	case smi.TypeInteger:
		v.Value = smi.Integer(int32(d.uint32()))
	case smi.TypeCounter32, smi.TypeGauge32, smi.TypeTimeTicks:
		v.Value = smi.Value{Type: t, Num: uint64(d.uint32())}
	case smi.TypeCounter64:
		v.Value = smi.Counter64(d.uint64())
	case smi.TypeOctetString, smi.TypeOpaque:
		v.Value = smi.Value{Type: t, Str: d.octets()}
	case smi.TypeIPAddress:
		v.Value = smi.Value{Type: t, Str: d.octets()}
		if len(v.Value.Str) != 4 {
			d.fail("an IpAddress of %d bytes", len(v.Value.Str))
		}
	case smi.TypeObjectIdentifier:
		oid, _ := d.oid()
		v.Value = smi.ObjectID(oid)
	case smi.TypeNull, smi.TypeNoSuchObject, smi.TypeNoSuchInstance, smi.TypeEndOfMibView:
		v.Value = smi.Value{Type: t}
	default:
		d.fail("a variable of type %d", kind)
	}
	return v
}
