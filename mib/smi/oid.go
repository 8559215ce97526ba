// SPDX-License-Identifier: Apache-2.0

package smi

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MaxSubIdentifiers is the largest number of sub-identifiers of a name (RFC 2578 section 3.5).
const MaxSubIdentifiers = 128

// ErrOID is wrapped by every error of ParseOID.
var ErrOID = errors.New("not an object identifier")

// OID is an object identifier: its sub-identifiers from the root down.
// The empty OID is a null name; it comes before all others.
type OID []uint32

// ParseOID reads the dotted form, "1.3.6.1" or ".1.3.6.1". There must be at
// least one number and at most MaxSubIdentifiers, each below 2^32.
func ParseOID(s string) (OID, error) {
	// A sub-identifier has at most ten digits and a dot. A longer text is rejected before
	// any allocation.
	if len(s) > 11*MaxSubIdentifiers {
		return nil, fmt.Errorf("%w: %d characters; expected at most %d", ErrOID, len(s), 11*MaxSubIdentifiers)
	}
	text := strings.TrimPrefix(s, ".")
	if n := strings.Count(text, ".") + 1; n > MaxSubIdentifiers {
		return nil, fmt.Errorf("%w: %d sub-identifiers; expected at most %d", ErrOID, n, MaxSubIdentifiers)
	}
	oid := make(OID, 0, strings.Count(text, ".")+1)
	for part := range strings.SplitSeq(text, ".") {
		sub, err := strconv.ParseUint(part, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("%w: %q: %q; expected a number from 0 to 4294967295", ErrOID, s, part)
		}
		oid = append(oid, uint32(sub))
	}
	return oid, nil
}

// String returns the dotted form without a leading dot; "" for the null name.
func (o OID) String() string {
	buf := make([]byte, 0, 4*len(o))
	for i, sub := range o {
		if i > 0 {
			buf = append(buf, '.')
		}
		buf = strconv.AppendUint(buf, uint64(sub), 10)
	}
	return string(buf)
}

// Compare orders names lexicographically, as GetNext walks them: negative
// when o comes before p, 0 when they are equal, positive when o comes after.
// A name comes before every name it is a prefix of. slices.Compare takes twice as long,
// and a walk does little else.
func (o OID) Compare(p OID) int {
	n := min(len(o), len(p))
	a, b := o[:n], p[:n]
	for i, sub := range a {
		if sub != b[i] {
			if sub < b[i] {
				return -1
			}
			return 1
		}
	}
	return len(o) - len(p)
}

// HasPrefix reports whether o is p or below it.
func (o OID) HasPrefix(p OID) bool {
	return len(o) >= len(p) && slices.Equal(o[:len(p)], p)
}

// Append returns o followed by sub, in a new array.
func (o OID) Append(sub ...uint32) OID {
	fresh := make(OID, 0, len(o)+len(sub))
	return append(append(fresh, o...), sub...)
}
