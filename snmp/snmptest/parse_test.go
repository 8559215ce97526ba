// SPDX-License-Identifier: Apache-2.0

package snmptest_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

const everyKind = `.1.3.1.0 = INTEGER: -5
.1.3.2.0 = Hex-STRING: 00 FF 10 
.1.3.3.0 = Hex-STRING: 30 31 32 33 34 35 36 37 38 39 3A 3B 3C 3D 3E 3F 
40 41 
.1.3.4.0 = ""
.1.3.5.0 = OID: .1.3.6.1.4.1
.1.3.6.0 = IpAddress: 127.0.0.1
.1.3.7.0 = Counter32: 4294967295
.1.3.8.0 = Gauge32: 7
.1.3.9.0 = Timeticks: (123) 0:00:01.23
.1.3.10.0 = Counter64: 18446744073709551615
.1.3.11.0 = NULL
.1.3.12.0 = No Such Object available on this agent at this OID
.1.3.13.0 = No Such Instance currently exists at this OID
.1.3.14.0 = No more variables left in this MIB View (It is past the end of the MIB tree)
`

func TestParseReadsEveryKindOfValue(t *testing.T) {
	got, err := snmptest.Parse(strings.NewReader(everyKind))
	if err != nil {
		t.Fatal(err)
	}
	var want []smi.Variable
	for i, value := range []smi.Value{
		smi.Integer(-5),
		smi.OctetString("\x00\xff\x10"),
		smi.OctetString("0123456789:;<=>?@A"),
		smi.OctetString(""),
		smi.ObjectID(smi.OID{1, 3, 6, 1, 4, 1}),
		smi.IPAddress([4]byte{127, 0, 0, 1}),
		smi.Counter32(1<<32 - 1),
		smi.Gauge32(7),
		smi.TimeTicks(123),
		smi.Counter64(1<<64 - 1),
		smi.Null(),
		smi.NoSuchObject(),
		smi.NoSuchInstance(),
		smi.EndOfMibView(),
	} {
		want = append(want, smi.Variable{Name: smi.OID{1, 3, uint32(i + 1), 0}, Value: value})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

func TestParseRefuses(t *testing.T) {
	for name, out := range map[string]string{
		"text before a variable":      "Timeout: No Response\n",
		"a name that is not numeric":  "iso.3.6 = INTEGER: 1\n",
		"a type that is not known":    ".1.3 = Float: 1\n",
		"no type":                     ".1.3 = 5\n",
		"an integer beyond 32 bits":   ".1.3 = INTEGER: 2147483648\n",
		"a counter beyond 32 bits":    ".1.3 = Counter32: 4294967296\n",
		"half a byte":                 ".1.3 = Hex-STRING: 0\n",
		"a string as text":            ".1.3 = STRING: \"abc\"\n",
		"ticks without brackets":      ".1.3 = Timeticks: 5\n",
		"an address of version 6":     ".1.3 = IpAddress: ::1\n",
		"an address that is not one":  ".1.3 = IpAddress: 1.2.3\n",
		"a name with an empty number": ".1..3 = INTEGER: 1\n",
		"a line over a megabyte":      strings.Repeat("x", 1<<20+1),
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := snmptest.Parse(strings.NewReader(out)); !errors.Is(err, snmptest.ErrOutput) {
				t.Fatalf("%v, %v, want ErrOutput", got, err)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add(everyKind)
	for line := range strings.Lines(everyKind) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, out string) {
		variables, err := snmptest.Parse(strings.NewReader(out))
		if err == nil && len(variables) > strings.Count(out, "\n")+1 {
			t.Fatalf("%d variables in %q", len(variables), out)
		}
	})
}
