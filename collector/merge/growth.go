// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"time"

	"github.com/pnagent/pnagent/petri"
)

const (
	// growthPeriod is the time over which a net may grow by its bound.
	growthPeriod = int64(time.Hour / time.Microsecond)
	// heldFor is how long a definition is not requested again.
	heldFor = int64(10 * time.Second / time.Microsecond)
	// A source counts for a majority once it has sent establishedMessages or more, for
	// establishedAfter, and was not silent for longer than its patience and steadySilence.
	establishedAfter    = int64(10 * time.Minute / time.Microsecond)
	establishedMessages = 10
	steadySilence       = int64(time.Minute / time.Microsecond)
	// maxNames bounds the definitions of a net that are kept for their names.
	maxNames = 8
)

// Growth returns how many rows the definitions of a few sources may add to a net of
// that many rows in an hour: 100, or a tenth of them if that is more.
func Growth(rows int) int { return max(100, rows/10) }

// origin is where a definition comes from.
type origin uint8

const (
	fromBus  origin = iota
	fromFile        // of the operator
	fromPeer        // a state, or another sidecar
)

// growth counts the rows that definitions added to a net in growthPeriod.
type growth struct {
	since int64
	bound int
	added int
}

// held is a definition that is not used yet.
type held struct {
	until int64 // when it is requested again
	err   error // of messages until then
}

// accepts reports whether the names of a definition are to replace those in use. It
// returns an error if the definition adds too many rows.
func (n *net) accepts(digest string, def *petri.Net, from origin, now int64) (names bool, err error) {
	if n.union.def == nil || from == fromFile {
		return true, nil
	}
	if from == fromPeer {
		return false, nil
	}
	agreed, voters := n.agreed(digest)
	added := n.union.added(def)
	if voters > 0 && !agreed && added > 0 {
		places, transitions := n.union.sizes()
		g := &n.growth
		if g.since == 0 || now-g.since >= growthPeriod {
			*g = growth{since: now, bound: Growth(places + transitions)}
		}
		if g.added+added > g.bound {
			return false, Rejection(DefinitionHeld, "definition %s of net %q adds %d places and transitions to %d; "+
				"expected at most %d more this hour, unless most of its %d sources report it or its file is given to the sidecar",
				digest, n.name, added, places+transitions, g.bound-g.added, voters)
		}
		g.added += added
	}
	if names = (agreed || voters == 0) && !n.file; !names && len(n.names) < maxNames && !n.file {
		n.names[digest] = def
	}
	return names, nil
}

// agreed reports whether more than half of the established sources that are shown
// report a digest, and returns how many sources are shown. While none is established,
// all of them have to report it, so that the first definition stays.
func (n *net) agreed(digest string) (agreed bool, voters int) {
	yes, established, establishedYes := 0, 0, 0
	for _, s := range n.order {
		if s.rows == nil || s.left || s.state == Gone {
			continue
		}
		voters++
		if s.established() {
			established++
		}
		if s.reported == digest {
			yes++
			if s.established() {
				establishedYes++
			}
		}
	}
	if established > 0 {
		return 2*establishedYes > established, voters
	}
	return voters > 0 && yes == voters, voters
}

// tenure counts the messages of a source since it was last silent for too long.
type tenure struct {
	since int64 // the time of the first
	n     int   // at most establishedMessages
}

// add counts a message. It is called before the message is noted.
func (r *tenure) add(s *source, now int64) {
	if r.n == 0 || now-s.messageAt-s.outage > max(s.patience, steadySilence) {
		*r = tenure{since: now}
	}
	r.n = min(r.n+1, establishedMessages)
}

// established reports whether the source has sent messages for so long that it counts
// for a majority.
func (h *health) established() bool {
	return h.tenure.n >= establishedMessages && h.messageAt-h.tenure.since >= establishedAfter
}

// adoptNames takes the names of a definition once most sources report it.
func (n *net) adoptNames() {
	for digest, def := range n.names {
		if agreed, _ := n.agreed(digest); agreed {
			delete(n.names, digest)
			n.union.add(def, true)
			n.changed = true
		}
	}
}

// hold records that a definition is not used yet. Its sources are refused until
// it is requested again.
func (m *Merger) hold(n *net, digest string, err error, now int64) {
	m.closeQuestion(n, digest)
	n.held[digest] = &held{until: now + heldFor, err: err}
	for _, s := range n.order {
		if s.wants == digest {
			s.wants, s.pending = "", nil
			m.refuse(n, s, s.epoch, s.interval, err, now)
		}
	}
	m.counted, m.touched = true, true
	m.count(err)
}

// dropHeld drops the definitions that no message named for growthPeriod.
func (n *net) dropHeld(now int64) {
	for digest, h := range n.held {
		if now-h.until > growthPeriod {
			delete(n.held, digest)
		}
	}
}
