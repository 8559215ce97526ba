// SPDX-License-Identifier: Apache-2.0

package snmptest

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"

	"github.com/pnagent/pnagent/mib/smi"
)

// ErrOutput is wrapped by every error of Parse about what it read.
var ErrOutput = errors.New("not the output of an snmp tool")

const (
	maxLine      = 1 << 20
	maxVariables = 1 << 20
)

// Parse reads the output of snmpget, snmpgetnext, snmpwalk and snmpbulkwalk with
// the options that Client passes: numeric names, enumerations and time as numbers,
// strings in hexadecimal, which may go over several lines. "No more variables left"
// at the end of a walk is a variable of type EndOfMibView. At most a million
// variables are read, each of at most a megabyte.
func Parse(r io.Reader) ([]smi.Variable, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	var variables []smi.Variable
	var name, text string
	finish := func() error {
		if name == "" {
			return nil
		}
		v, err := parseVariable(name, text)
		variables = append(variables, v)
		return err
	}
	for lines.Scan() {
		line := lines.Text()
		head, tail, ok := strings.Cut(line, " =")
		if ok && strings.HasPrefix(head, ".") && isNumeric(head) {
			if err := finish(); err != nil {
				return variables, err
			}
			if len(variables) == maxVariables {
				return variables, fmt.Errorf("%w: more than %d variables", ErrOutput, maxVariables)
			}
			name, text = head, strings.TrimPrefix(tail, " ")
			continue
		}
		if name == "" {
			return variables, fmt.Errorf("%w: %q", ErrOutput, line)
		}
		if len(text) > maxLine {
			return variables, fmt.Errorf("%w: %s has a value of more than %d bytes", ErrOutput, name, maxLine)
		}
		text += "\n" + line
	}
	if err := lines.Err(); err != nil {
		return variables, fmt.Errorf("%w: %w", ErrOutput, err)
	}
	return variables, finish()
}

func isNumeric(s string) bool { return strings.Trim(s, ".0123456789") == "" }

func parseVariable(name, text string) (smi.Variable, error) {
	oid, err := smi.ParseOID(name)
	if err != nil {
		return smi.Variable{}, fmt.Errorf("%w: %w", ErrOutput, err)
	}
	value, err := parseValue(text)
	if err != nil {
		return smi.Variable{}, fmt.Errorf("%w: %s = %q: %w", ErrOutput, name, text, err)
	}
	return smi.Variable{Name: oid, Value: value}, nil
}

func parseValue(text string) (smi.Value, error) {
	switch {
	case strings.HasPrefix(text, "No Such Object"):
		return smi.NoSuchObject(), nil
	case strings.HasPrefix(text, "No Such Instance"):
		return smi.NoSuchInstance(), nil
	case strings.HasPrefix(text, "No more variables left"):
		return smi.EndOfMibView(), nil
	case text == "NULL":
		return smi.Null(), nil
	case text == `""`:
		return smi.OctetString(""), nil
	}
	kind, rest, ok := strings.Cut(text, ":")
	if !ok {
		return smi.Value{}, errors.New("no type before a colon")
	}
	rest = strings.TrimPrefix(rest, " ")
	switch kind {
	case "INTEGER":
		v, err := strconv.ParseInt(rest, 10, 32)
		return smi.Integer(int32(v)), err
	case "Counter32":
		return parseUnsigned(smi.TypeCounter32, rest, 32)
	case "Gauge32":
		return parseUnsigned(smi.TypeGauge32, rest, 32)
	case "Counter64":
		return parseUnsigned(smi.TypeCounter64, rest, 64)
	case "Timeticks": // (123) 0:00:01.23
		hundredths, _, ok := strings.Cut(strings.TrimPrefix(rest, "("), ")")
		if !ok {
			return smi.Value{}, errors.New("no hundredths in brackets")
		}
		return parseUnsigned(smi.TypeTimeTicks, hundredths, 32)
	case "Hex-STRING":
		octets, err := hex.DecodeString(strings.Join(strings.Fields(rest), ""))
		return smi.OctetString(string(octets)), err
	case "OID":
		oid, err := smi.ParseOID(rest)
		return smi.ObjectID(oid), err
	case "IpAddress":
		addr, err := netip.ParseAddr(rest)
		if err != nil {
			return smi.Value{}, err
		}
		if !addr.Is4() {
			return smi.Value{}, errors.New("not an IPv4 address")
		}
		return smi.IPAddress(addr.As4()), nil
	}
	return smi.Value{}, fmt.Errorf("type %q is not known", kind)
}

func parseUnsigned(typ smi.Type, text string, bits int) (smi.Value, error) {
	v, err := strconv.ParseUint(text, 10, bits)
	return smi.Value{Type: typ, Num: v}, err
}
