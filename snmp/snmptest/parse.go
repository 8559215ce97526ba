// SPDX-License-Identifier: Apache-2.0

package snmptest

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
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

// Parse reads the output of snmpget, snmpgetnext, snmpwalk and snmpbulkwalk run
// with -On (numeric names) and without MIBs. It understands -Oe, -OU and -Ox,
// values that go over several lines, and the three exceptions. "No more
// variables left" at the end of a walk is a variable of type EndOfMibView. At
// most a million variables are read, each of at most a megabyte.
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
		// A new variable begins with a number; inside a quoted string that is
		// not closed yet, whatever looks like one is text.
		if ok && strings.HasPrefix(head, ".") && !openQuote(text) && isNumeric(head) {
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

// openQuote reports whether text is a quoted string without its closing quote.
func openQuote(text string) bool {
	s := strings.TrimPrefix(text, "STRING: ")
	if !strings.HasPrefix(s, `"`) {
		return false
	}
	_, closed := unquote(s)
	return !closed
}

// unquote removes the quotes of s, and the backslashes before quotes and
// backslashes. closed reports whether s ends with its closing quote.
func unquote(s string) (octets string, closed bool) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
			if i < len(s) {
				b.WriteByte(s[i])
			}
		case '"':
			return b.String(), i == len(s)-1
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), false
}

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
	case strings.HasPrefix(text, `"`):
		return parseString(text)
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
	case "Counter32", "Gauge32", "Counter64":
		return parseUnsigned(kind, rest)
	case "Timeticks":
		return parseTicks(rest)
	case "STRING":
		return parseString(rest)
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

func parseUnsigned(kind, text string) (smi.Value, error) {
	v, err := strconv.ParseUint(text, 10, 64)
	switch {
	case err != nil:
		return smi.Value{}, err
	case kind == "Counter64":
		return smi.Counter64(v), nil
	case v > math.MaxUint32:
		return smi.Value{}, errors.New("more than 32 bits")
	case kind == "Counter32":
		return smi.Counter32(uint32(v)), nil
	}
	return smi.Gauge32(uint32(v)), nil
}

// parseTicks reads "(123) 0:00:01.23".
func parseTicks(text string) (smi.Value, error) {
	number, _, ok := strings.Cut(strings.TrimPrefix(text, "("), ")")
	if !ok {
		return smi.Value{}, errors.New("no hundredths in brackets")
	}
	v, err := strconv.ParseUint(number, 10, 32)
	return smi.TimeTicks(uint32(v)), err
}

func parseString(text string) (smi.Value, error) {
	if !strings.HasPrefix(text, `"`) {
		return smi.Value{}, errors.New("no quote before the string")
	}
	octets, closed := unquote(text)
	if !closed {
		return smi.Value{}, errors.New("no quote after the string")
	}
	return smi.OctetString(octets), nil
}
