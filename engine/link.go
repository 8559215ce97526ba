// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/pnagent/pnagent/internal/ordered"
)

// Each entry of a part's log but the first begins with the mark of the entry
// before it, so it fits only behind that entry. A number is not enough: a
// server that loses power can lose the end of a stream and assign its numbers
// again.

// Mark identifies a log up to an entry: the first 8 bytes of Standing.Chain
// there. It is 0 where it is unknown: the first entry has none in it.
type Mark uint64

// MarshalText writes 16 hexadecimal digits.
func (m Mark) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%016x", uint64(m)), nil }

// UnmarshalText reads what MarshalText wrote.
func (m *Mark) UnmarshalText(text []byte) error {
	v, err := strconv.ParseUint(string(text), 16, 64)
	*m = Mark(v)
	return err
}

// Cursor is a position up to which a log was read.
type Cursor struct {
	Position uint64 `json:"position"`       // the last commit
	Mark     Mark   `json:"mark,omitempty"` // the log's up to there
}

// ErrRewritten is wrapped by the error for a commit that does not follow the
// last one that was read: the log has lost commits, and others have their
// numbers.
var ErrRewritten = errors.New("the log is not the one that was read: it has lost commits")

// linkSize is the length of the mark in an entry, bytes.
const linkSize = 8

// Linked returns the mark in an entry, that of the log before it, and the log's
// mark up to the entry. ok is false for an entry without a mark.
func Linked(entry []byte) (before, upTo Mark, ok bool) {
	if len(entry) < partHead+linkSize || entry[0] != 0 || entry[1]&linked == 0 {
		return 0, 0, false
	}
	sum := sha256.Sum256(entry)
	return Mark(binary.BigEndian.Uint64(entry[partHead:])), markOf(sum), true
}

// firstMark returns the mark of a log up to its first entry, which has none in it.
func firstMark(header []byte) Mark {
	return markOf(sha256.Sum256(append(make([]byte, sha256.Size), header...)))
}

func markOf(chain [sha256.Size]byte) Mark { return Mark(binary.BigEndian.Uint64(chain[:])) }

// At returns the cursor of this standing.
func (s *Standing) At() Cursor {
	mark, err := strconv.ParseUint(s.Chain[:min(2*linkSize, len(s.Chain))], 16, 64)
	if err != nil {
		return Cursor{Position: s.Position}
	}
	return Cursor{s.Position, Mark(mark)}
}

// Point is how far an upstream log was read at some time, and how many tokens
// had arrived from it by then.
type Point struct {
	Cursor
	Tokens uint64 `json:"tokens,omitempty"`
	At     int64  `json:"at,omitempty"` // microseconds since the Unix epoch
}

// reading is the progress of a part in an upstream log.
type reading struct {
	Now     Point   `json:"now"`
	Arrived Point   `json:"arrived"`          // when tokens last arrived
	Points  []Point `json:"points,omitempty"` // earlier ones, rising
}

// Points are kept to find the last commit that a log has in common with the one
// that was read. One in pointEvery is kept, for longer than a server may take
// to sync its streams, 2 minutes by default.
const (
	pointEvery = 1_000_000 // µs
	maxPoints  = 256
)

// reach is the record in a commit about an upstream log.
type reach struct {
	cursor Cursor
	tokens uint64 // that arrived with it
	back   bool   // the log is read again from here
}

// move records a commit of time at.
func (r *reading) move(to reach, at int64) {
	if to.back {
		r.Points = slices.DeleteFunc(r.Points, func(p Point) bool { return p.Position > to.cursor.Position })
	}
	r.Now = Point{to.cursor, r.Now.Tokens + to.tokens, at}
	if to.tokens > 0 || to.back {
		r.Arrived = r.Now
	}
	if n := len(r.Points); n > 0 && at < r.Points[n-1].At+pointEvery {
		return
	}
	if len(r.Points) == maxPoints {
		r.Points = append(r.Points[:0], r.Points[1:]...)
	}
	r.Points = append(r.Points, r.Now)
}

// known returns the positions where the log was read, the latest first. The
// start, before any token, is the last.
func (r *reading) known() []Point {
	all := append([]Point{{}}, r.Points...)
	all = append(all, r.Arrived, r.Now)
	ordered.By(all, func(a, b *Point) int { return int(min(max(int64(b.Position)-int64(a.Position), -1), 1)) })
	return slices.Compact(all)
}

// clone returns a copy that shares nothing.
func (r *reading) clone() reading {
	return reading{r.Now, r.Arrived, slices.Clone(r.Points)}
}

const reachBack = 1 // flag of a reach section

// appendReach appends a section about the upstream part of an index.
func appendReach(commit, section []byte, upstream int, to reach) (_, _ []byte) {
	section = binary.AppendUvarint(section[:0], uint64(upstream))
	section = binary.AppendUvarint(section, to.cursor.Position)
	section = binary.AppendUvarint(section, to.tokens)
	flags := byte(0)
	if to.back {
		flags = reachBack
	}
	section = binary.BigEndian.AppendUint64(append(section, flags), uint64(to.cursor.Mark))
	return appendSection(commit, 1+sectionReach, section), section
}

// readReach reads the body of such a section.
func readReach(body []byte) (upstream uint64, to reach, err error) {
	for _, into := range []*uint64{&upstream, &to.cursor.Position, &to.tokens} {
		v, n := binary.Uvarint(body)
		if n <= 0 {
			return 0, to, fmt.Errorf("%w: an invalid cursor", ErrReplay)
		}
		*into, body = v, body[n:]
	}
	if len(body) != 1+linkSize || body[0] > reachBack {
		return 0, to, fmt.Errorf("%w: an invalid cursor", ErrReplay)
	}
	to.back = body[0] == reachBack
	to.cursor.Mark = Mark(binary.BigEndian.Uint64(body[1:]))
	return upstream, to, nil
}

// follow records what a commit of time at holds about an upstream part.
func follow(all []reading, upstream uint64, to reach, at int64) error {
	if upstream >= uint64(len(all)) {
		return fmt.Errorf("%w: a cursor into upstream part %d of %d", ErrReplay, upstream, len(all))
	}
	r := &all[upstream]
	if forward := to.cursor.Position >= r.Now.Position; !forward && !to.back {
		return fmt.Errorf("%w: the cursor into upstream part %d goes back from %d to %d", ErrReplay, upstream, r.Now.Position, to.cursor.Position)
	}
	r.move(to, at)
	return nil
}
