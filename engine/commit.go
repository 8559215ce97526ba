// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/petri/split"
)

// A commit is its time and then sections. A section is its kind, its length in
// bytes, and its body. Kinds below the number of nets are the operations of a
// net; those above are common to all nets. Crossings and reaches are only in
// the log of a part.
const (
	sectionCrossings = iota // tokens that left for other parts, as split.AppendCrossings writes them
	sectionOwnership        // an ownership, as JSON
	sectionReach            // an upstream part, and the last of its commits whose tokens have arrived: see link.go
	sectionQueues           // what queues have served since the last one: see noteQueues
	sectionKinds
)

// ownership is an entry of a log about the owner of the part.
type ownership struct {
	Epoch   uint64 `json:"epoch"`
	Owner   string `json:"owner"` // the source that owns the part from here on, or releases it if Release is set
	Release bool   `json:"release,omitempty"`
	Heir    string `json:"heir,omitempty"` // the source that should take it; "" for any
}

// follow makes next the current ownership. Each owner has a higher epoch than
// the one before, and only the owner releases the part.
func (o *ownership) follow(next ownership) error {
	if next.Release != (next.Epoch == o.Epoch) || next.Epoch < o.Epoch || next.Release && next.Owner != o.Owner {
		return fmt.Errorf("%w: owner %q in epoch %d (released: %t) after %q in epoch %d; expected a higher epoch, or a release by the owner",
			ErrReplay, next.Owner, next.Epoch, next.Release, o.Owner, o.Epoch)
	}
	*o = next
	return nil
}

// appendSection appends one section.
func appendSection(commit []byte, kind int, body []byte) []byte {
	commit = binary.AppendUvarint(commit, uint64(kind))
	commit = binary.AppendUvarint(commit, uint64(len(body)))
	return append(commit, body...)
}

// eachSection reads a commit of an engine with a number of nets.
func eachSection(commit []byte, nets int, each func(kind int, body []byte, now int64) error) error {
	now, size := binary.Uvarint(commit)
	if size <= 0 {
		return fmt.Errorf("%w: the commit has no time", ErrReplay)
	}
	for commit = commit[size:]; len(commit) > 0; {
		kind, n1 := binary.Uvarint(commit)
		length, n2 := binary.Uvarint(commit[max(n1, 0):])
		head := n1 + n2
		if n1 <= 0 || n2 <= 0 || kind >= uint64(nets+sectionKinds) || length > uint64(len(commit)-head) {
			return fmt.Errorf("%w: a section of kind %d with %d bytes, where %d bytes are left; expected a kind below %d", ErrReplay,
				kind, length, max(len(commit)-head, 0), nets+sectionKinds)
		}
		if err := each(int(kind), commit[head:head+int(length)], int64(now)); err != nil {
			return err
		}
		commit = commit[head+int(length):]
	}
	return nil
}

// Upstream reads the log of a part for the tokens that it puts into others.
type Upstream struct {
	Plan  string // how the net is cut; a log of another plan is rejected
	At    Cursor // of the last entry that was read
	whole joiner
	out   []split.Crossing
	quiet bool
}

// Read returns the tokens that leave the part for any other part with the next
// commit of its log, valid until the next call. A commit in several entries
// returns them with the last. One that does not follow what was read is
// ErrRewritten.
func (u *Upstream) Read(c journal.Commit) ([]split.Crossing, error) {
	u.out, u.quiet = u.out[:0], true
	before, upTo, _ := Linked(c.Payload)
	if c.Sequence == u.At.Position+1 && u.At.Mark != 0 && before != 0 && before != u.At.Mark {
		return nil, fmt.Errorf("commit %d: %w", c.Sequence, ErrRewritten)
	}
	if c.Sequence == 1 {
		u.At = Cursor{1, firstMark(c.Payload)}
		return nil, u.header(c.Payload)
	}
	u.At = Cursor{c.Sequence, upTo}
	commit, err := u.whole.add(c.Payload)
	if err == nil && commit != nil {
		err = eachSection(commit, 1, func(kind int, body []byte, _ int64) error {
			u.quiet = u.quiet && (kind == 1+sectionReach || kind == 1+sectionQueues)
			if kind != 1+sectionCrossings {
				return nil
			}
			out, rest, err := split.ReadCrossings(body, u.out)
			switch {
			case err != nil:
				err = fmt.Errorf("%w: %w", ErrReplay, err)
			case len(rest) > 0:
				err = fmt.Errorf("%w: %d bytes behind the crossings", ErrReplay, len(rest))
			}
			u.out = out
			return err
		})
	}
	if err != nil {
		return nil, fmt.Errorf("commit %d: %w", c.Sequence, err)
	}
	return u.out, nil
}

// Quiet reports whether the last entry records nothing but that the part has
// read the logs of others.
func (u *Upstream) Quiet() bool { return u.quiet }

// Begun reports whether the last entry belongs to a commit of which more
// entries are to come.
func (u *Upstream) Begun() bool { return u.whole.parts != nil }

func (u *Upstream) header(text []byte) error {
	var h header
	if err := h.read(text); err != nil {
		return err
	}
	if h.Part == nil || h.Part.Plan != u.Plan {
		return fmt.Errorf("%w: the log upstream is not of a part of the plan %s", ErrJournal, u.Plan)
	}
	return nil
}

func readOwnership(body []byte) (o ownership, err error) {
	if err := json.Unmarshal(body, &o); err != nil {
		return o, fmt.Errorf("%w: an invalid ownership: %w", ErrReplay, err)
	}
	return o, nil
}

// appendTime begins a commit.
func appendTime(commit []byte, now int64) []byte { return binary.AppendUvarint(commit, uint64(now)) }
