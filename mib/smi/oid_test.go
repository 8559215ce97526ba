// SPDX-License-Identifier: Apache-2.0

package smi_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/mib/smi"
)

func TestParseOIDReadsTheDottedForm(t *testing.T) {
	longest := strings.TrimSuffix(strings.Repeat("4294967295.", 128), ".")
	for _, c := range []struct {
		name, in, want string
	}{
		{"plain", "1.3.6.1", "1.3.6.1"},
		{"leading dot", ".1.3.6.1", "1.3.6.1"},
		{"one number", "1", "1"},
		{"largest sub-identifier", "1.4294967295", "1.4294967295"},
		{"128 sub-identifiers", longest, longest},
		{"and a leading dot", "." + longest, longest},
	} {
		t.Run(c.name, func(t *testing.T) {
			oid, err := smi.ParseOID(c.in)
			if err != nil || oid.String() != c.want {
				t.Fatalf("ParseOID(%q) = %v, %v, want %s", c.in, oid, err, c.want)
			}
		})
	}
}

func TestParseOIDRefuses(t *testing.T) {
	for name, in := range map[string]string{
		"nothing":             "",
		"only a dot":          ".",
		"two leading dots":    "..1.3",
		"an empty number":     "1..3",
		"a trailing dot":      "1.3.",
		"a negative number":   "1.-3",
		"a sign":              "1.+3",
		"an underscore":       "1.3_6",
		"a letter":            "1.3.iso",
		"a space":             "1. 3",
		"2^32":                "1.4294967296",
		"129 sub-identifiers": strings.TrimSuffix(strings.Repeat("1.", 129), "."),
		"a megabyte":          strings.Repeat("1", 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			if oid, err := smi.ParseOID(in); !errors.Is(err, smi.ErrOID) {
				t.Fatalf("ParseOID = %v, %v, want ErrOID", oid, err)
			}
		})
	}
}

func TestCompareIsTheOrderOfAWalk(t *testing.T) {
	order := []smi.OID{nil, {0}, {1}, {1, 3}, {1, 3, 0}, {1, 3, 6}, {1, 4}, {1, 4294967295}, {2}, {10}}
	for i, a := range order {
		for j, b := range order {
			if got := a.Compare(b); (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("%v against %v: %d", a, b, got)
			}
		}
	}
}

func TestHasPrefix(t *testing.T) {
	for _, c := range []struct {
		oid, prefix smi.OID
		want        bool
	}{
		{smi.OID{1, 3, 6}, smi.OID{1, 3}, true},
		{smi.OID{1, 3}, smi.OID{1, 3}, true},
		{smi.OID{1}, smi.OID{1, 3}, false},
		{smi.OID{1, 30}, smi.OID{1, 3}, false},
		{smi.OID{1}, nil, true},
	} {
		if got := c.oid.HasPrefix(c.prefix); got != c.want {
			t.Errorf("%v has prefix %v: %v", c.oid, c.prefix, got)
		}
	}
}

func TestAppendNeverSharesAnArray(t *testing.T) {
	base := make(smi.OID, 2, 10)
	a := base.Append(1)
	b := base.Append(2)
	if diff := cmp.Diff(smi.OID{0, 0, 1}, a); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(smi.OID{0, 0, 2}, b); diff != "" {
		t.Error(diff)
	}
	c := a.Append(7)
	if d := a.Append(8); c[3] != 7 || d[3] != 8 {
		t.Errorf("%v and %v share an array", c, d)
	}
}

func FuzzParseOID(f *testing.F) {
	for _, s := range []string{"", ".", "1", ".1.3.6.1.4.1.8072.9999.9999", "1.4294967296", "1..2", "0.0", "01.2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		oid, err := smi.ParseOID(s)
		if err != nil {
			return
		}
		if len(oid) == 0 || len(oid) > smi.MaxSubIdentifiers {
			t.Fatalf("%q gave %d sub-identifiers", s, len(oid))
		}
		again, err := smi.ParseOID(oid.String())
		if err != nil || oid.Compare(again) != 0 {
			t.Fatalf("%q gave %v, which reads as %v, %v", s, oid, again, err)
		}
	})
}
