// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/pnagent/pnagent/telemetry"
)

// MaxShares is the largest number of shares.
const MaxShares = 1 << 12

// ErrShare means that a text is not a share.
var ErrShare = errors.New("invalid share; expected I/N with I from 1 to N, such as 2/8")

// Share is one of Count parts into which the sources of all nets are divided, for
// as many collectors; Index is from 1 to Count. The zero Share is all sources.
//
// The division is that of NATS' partition(Count,1,2) over the tokens of the net
// and of the source in a subject (nats-server, getHashPartition: 32-bit FNV-1a
// over the concatenated tokens, modulo the count). So the server and the collector
// divide alike. With ByNet it is partition(Count,1), over the net alone: then all
// sources of a net are in one share, which is required if regions of the net move
// between them.
type Share struct {
	Index, Count int
	ByNet        bool
}

// ParseShare reads "2/8". The error wraps ErrShare.
func ParseShare(text string) (Share, error) {
	a, b, _ := strings.Cut(text, "/")
	index, _ := strconv.Atoi(a) // a number that is not one differs from the text
	count, _ := strconv.Atoi(b)
	s := Share{Index: index, Count: count}
	if index < 1 || index > count || count > MaxShares || s.String() != text {
		return Share{}, fmt.Errorf("%q: %w, and N up to %d", text, ErrShare, MaxShares)
	}
	return s, nil
}

// String returns the share as ParseShare reads it, followed by "by net" if it is
// divided by net.
func (s Share) String() string {
	if s.ByNet {
		return fmt.Sprintf("%d/%d by net", s.Index, s.Count)
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Count)
}

// Has reports whether a source of a net is in the share.
func (s Share) Has(net, source string) bool {
	return s.hasTokens(telemetry.Escape(net), telemetry.Escape(source))
}

func (s Share) hasTokens(net, source string) bool {
	if s.Count <= 1 {
		return true
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(net)) // never fails
	if !s.ByNet {
		_, _ = h.Write([]byte(source))
	}
	return h.Sum32()%uint32(s.Count) == uint32(s.Index-1)
}

// HasSubject reports whether a Snapshot or Bye subject is in the share. It returns
// true for other subjects, which the decoder rejects.
func (s Share) HasSubject(subject string) bool {
	last := strings.LastIndexByte(subject, '.')
	if last < 0 {
		return true
	}
	return s.hasTokens(subject[strings.LastIndexByte(subject[:last], '.')+1:last], subject[last+1:])
}

// Subjects returns the subjects to subscribe to. If the server maps subjects to
// shares, messages arrive only on the mapped subjects; otherwise only on the plain
// ones.
func (s Share) Subjects(space telemetry.Subjects) []string {
	return []string{space.Snapshots(), space.Byes(), space.Shared(s.Index, s.Count, s.ByNet)}
}
