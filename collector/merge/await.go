// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"slices"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/telemetry"
)

// assemble collects the sparse snapshots of a source until every row has been
// received or a full snapshot arrives.
func (m *Merger) assemble(n *net, s *source, msg *telemetry.Snapshot, c *columns, now int64) ([]Ask, error) {
	if !s.parts.of(msg) {
		if err := m.room(len(c.places) + len(c.transitions)); err != nil {
			return nil, err
		}
		if err := m.reserve(s, emptyBytes(len(c.places), len(c.transitions))); err != nil {
			return nil, err
		}
	}
	if err := m.admit(n, s); err != nil {
		return nil, err
	}
	m.note(n, s, msg, c, now)
	s.unread, s.wants, s.pending = true, "", nil
	if !s.parts.of(msg) {
		s.parts = newAssembly(msg, c)
	}
	if full := s.parts.add(msg); full != nil {
		s.parts = nil
		t, err := n.notFallen(s, full, c)
		if err != nil {
			return nil, err
		}
		n.take(s, t, now)
		return s.asks(n.name, now), nil
	}
	return s.asks(n.name, now), nil
}

// await keeps a snapshot with an unknown definition, and returns the request for
// that definition.
func (m *Merger) await(n *net, s *source, msg *telemetry.Snapshot, now int64) ([]Ask, error) {
	_, open := n.asked[msg.Digest]
	if !open {
		if err := m.roomForQuestion(s, now); err != nil {
			return nil, err
		}
	}
	var refusal error // why a full snapshot is not kept
	if msg.Full {
		refusal = m.reserve(s, pendedBytes(s.earlier(msg))+bytesOf(&msg.Rows))
		if refusal == nil {
			if err := m.room(len(msg.Rows.Places) + len(msg.Rows.Transitions)); err != nil {
				return nil, err
			}
		}
	}
	if err := m.admit(n, s); err != nil {
		return nil, err
	}
	m.note(n, s, msg, nil, now)
	var asks []Ask
	if !open {
		q := &question{net: n, digest: msg.Digest, wait: firstWait, next: now + firstWait, since: now, source: s.name, known: s.wasShown()}
		n.asked[msg.Digest] = q
		m.questions = append(m.questions, q)
		asks = []Ask{{Net: n.name, Digest: msg.Digest}}
	}
	s.unread, s.parts = true, nil
	last := s.newest()
	same := last != nil && last.Epoch == msg.Epoch && last.Digest == msg.Digest
	s.wants = msg.Digest
	switch {
	case refusal != nil:
		s.pending = nil
		if msg.Bye {
			n.leave(s, now)
		}
		return asks, refusal
	case msg.Full:
		s.pending = append(s.earlier(msg), pended{clone(msg), now})
		return asks, nil
	case same && s.follows(msg):
		s.pending = append(s.earlier(msg), pended{overlaid(last, msg), now})
		return asks, nil
	case !same:
		s.pending = nil
		if msg.Bye {
			n.leave(s, now)
		}
	case msg.Bye:
		last.Bye = true
	}
	return asks, Rejection(UnknownDigest, "definition %s is not known yet", msg.Digest)
}

// maxPended is of how many processes of a source snapshots wait for its definition.
const maxPended = 4

// pended is a snapshot that waits for its definition.
type pended struct {
	msg *telemetry.Snapshot
	at  int64 // when the last of it was received
}

// newest returns the snapshot that waits of the process that counts, or nil.
func (d *said) newest() *telemetry.Snapshot {
	if len(d.pending) == 0 {
		return nil
	}
	return d.pending[len(d.pending)-1].msg
}

// earlier returns the snapshots that still wait beside one of the process that counts: those of
// the processes before it. What they counted is not in its counters.
func (d *said) earlier(msg *telemetry.Snapshot) []pended {
	last, all := d.newest(), d.pending
	switch {
	case last == nil || last.Digest != msg.Digest || last.Region != "" || msg.Region != "":
		return nil
	case last.Epoch == msg.Epoch:
		all = all[:len(all)-1]
	default:
		last.Bye = false // the source has not left
	}
	return all[max(0, len(all)-(maxPended-1)):]
}

// follows reports whether a sparse snapshot directly follows the one that waits
// for its definition, and has the same rows.
func (d *said) follows(msg *telemetry.Snapshot) bool {
	last := d.newest()
	rows := &last.Rows
	return sameOwner(last, msg) && msg.Seq == last.Seq+1 &&
		!beyond(msg.PlaceIndex, len(rows.Places)) && !beyond(msg.TransitionIndex, len(rows.Transitions))
}

// Define adds the definition of a net with its digest, and takes the snapshots
// that waited for it. The digest "" is for a definition that no source has named;
// its net is shown without sources. The error has a telemetry.Reason.
//
// A definition that differs from the one in use adds its rows, within Growth an
// hour, and changes no name, arc or drawing that is in use. It changes these, and
// adds any number of rows, if most sources of the net report it.
func (m *Merger) Define(digest string, def *petri.Net, now int64) ([]Ask, error) {
	return m.define(digest, def, fromBus, now)
}

// DefineByFile is Define for a definition that the operator gives as a file. Later
// definitions change no name of it, and the net does not leave the View.
func (m *Merger) DefineByFile(digest string, def *petri.Net, now int64) error {
	_, err := m.define(digest, def, fromFile, now)
	if err == nil {
		n := m.nets[def.ID]
		n.file, n.settled = true, true
		n.ages.ofFile(n.known[digest])
	}
	return err
}

func (m *Merger) define(digest string, def *petri.Net, from origin, now int64) ([]Ask, error) {
	n := m.net(def.ID)
	if _, known := n.known[digest]; known && digest != "" {
		return nil, nil
	}
	names, err := n.accepts(digest, def, from, now)
	if err != nil {
		m.hold(n, digest, err, now)
		return nil, err
	}
	if from == fromBus {
		err = m.roomToDefine(n, def)
	}
	if err == nil {
		err = n.define(digest, def, names, !n.settled || from != fromBus, &m.limits, now)
	}
	if err == nil {
		err = m.admitNet(n)
	}
	if err != nil {
		if q := n.asked[digest]; q != nil {
			q.wait, q.next = heldFor, now+heldFor
		}
		m.counted = true
		m.count(err)
		return nil, err
	}
	if n.since == 0 {
		n.since = now
	}
	m.closeQuestion(n, digest)
	var asks []Ask
	for _, s := range slices.Clone(n.order) {
		if digest != "" && s.wants == digest {
			asks = append(asks, m.settle(n, s, n.known[digest], now)...)
		}
	}
	return asks, nil
}

// settle takes the snapshots that waited for a definition.
func (m *Merger) settle(n *net, s *source, c *columns, now int64) []Ask {
	waited := s.pending
	s.wants, s.pending, m.touched = "", nil, true
	for _, w := range waited {
		t, err := n.awaited(s, w, c, &m.limits)
		if err != nil {
			m.counted = true
			m.count(err)
			continue
		}
		n.take(s, t, w.at)
		if w.msg.Epoch == s.epoch && !w.msg.Bye && s.seq != w.msg.Seq {
			s.missing = newCover(c) // sparse ones received since then are lost
		}
	}
	return s.asks(n.name, now)
}

// awaited checks a snapshot whose definition has come.
func (n *net) awaited(s *source, w pended, c *columns, limits *Limits) (taking, error) {
	if err := fits(w.msg, c); err != nil {
		return taking{}, err
	}
	if err := n.checkFence(w.msg, limits, w.at); err != nil {
		return taking{}, err
	}
	return n.notFallen(s, w.msg, c)
}

// Open reports whether a definition is still to be requested.
func (m *Merger) Open(a Ask) bool {
	n := m.nets[a.Net]
	return n != nil && n.asked[a.Digest] != nil
}

func (m *Merger) closeQuestion(n *net, digest string) {
	if q := n.asked[digest]; q != nil {
		delete(n.asked, digest)
		m.questions = slices.DeleteFunc(m.questions, func(other *question) bool { return other == q })
	}
}
