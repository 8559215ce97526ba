// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"cmp"
	"time"

	"github.com/pnagent/pnagent/telemetry"
)

// Rules are the settings of a Merger. A zero field means its default.
type Rules struct {
	ForgetAfter time.Duration // silence after which a source's tokens leave the sums
	ForgetNets  time.Duration // time without a source after which a net leaves the View, and a row View.Present
	Limits      Limits
	Bookkeeping bool // View.Present also has the rows that are not work: see petri.Role

	// CountedBefore is the time, in microseconds since the Unix epoch, until which
	// another collector counted. An unknown source with an epoch up to then counts
	// from its first message, so that nothing counts twice. 0 means that there was
	// no other collector.
	CountedBefore int64
}

// Ask is a request to the sources, or a notice to one.
type Ask struct {
	Net    string
	Source string // whose full snapshot is requested; "" if Digest is set
	Digest string // of a requested definition

	Notice telemetry.Notice // to send to the source instead, unless it is the zero Notice
}

// Merger adds up the messages of all sources. It is the pure core of a collector:
// it does no I/O, reads no clock and is not safe for concurrent use. Times are
// microseconds since the Unix epoch by the collector's clock.
type Merger struct {
	forgetAfter int64
	forgetNets  int64
	before      int64 // Rules.CountedBefore
	limits      Limits
	bookkeeping bool // Rules.Bookkeeping

	reception  reception
	begun      int64
	keptAt     int64 // when the restored state was made; 0 without one
	nets       map[string]*net
	ordered    []*net      // nets by name; nil if they changed
	sources    int         // in all nets
	waiting    int         // bytes of snapshots that wait, as of the last tick, and those added since
	rows       int         // of all sources as of the last tick, and those added since
	defined    int         // rows of all nets as of the last tick, and those added since
	questions  []*question // of all nets, the oldest first
	unread     int         // sources of which no rows were shown, as of the last tick, and those added since
	unreadNets int         // nets without a definition, likewise
	noneGone   bool        // since the last tick no source was gone that could be forgotten
	crowded    bool        // since the last tick a net was rejected because of Limits.Nets
	noRoom     bool        // since the last tick rows were rejected because of Limits.AllRows
	forgotten  []tombstone
	tombstones uint64 // made so far
	traffic    Traffic

	pace   int64 // interval that sources were asked for, and when it was last made longer: see slow
	paceAt int64

	checkedAt      int64 // see checkSums
	checkedNets    int
	sumDifferences uint64

	recent []sample // messages over the last minWindow

	refusedSources map[refusedKey]*source // sources that are refused and not held
	counted        bool                   // traffic changed since the last tick
	touched        bool                   // any of View.Sources may have changed since the last tick
	dirty          []*source              // these did
	revision       uint64                 // counts the ticks that found a change of what a state has
	view           *View
	work           workspace
}

// tombstone stands for a forgotten source, in the order of forgetting. The source
// may have returned since, and may have another tombstone.
type tombstone struct {
	net, source string
	number      uint64
}

// NewMerger returns a Merger without sources.
func NewMerger(rules Rules, now int64) *Merger {
	m := &Merger{
		forgetAfter:    cmp.Or(rules.ForgetAfter, DefaultForgetAfter).Microseconds(),
		forgetNets:     cmp.Or(rules.ForgetNets, DefaultForgetNets).Microseconds(),
		before:         rules.CountedBefore,
		begun:          now,
		limits:         rules.Limits.orDefault(),
		bookkeeping:    rules.Bookkeeping,
		nets:           make(map[string]*net),
		refusedSources: make(map[refusedKey]*source),
		traffic:        Traffic{Rejected: make(map[string]uint64)},
		view:           &View{},
		counted:        true,
	}
	for _, r := range Reasons() {
		m.traffic.Rejected[string(r)] = 0
	}
	m.Tick(now)
	return m
}

// RejectFrom counts a message on the subject of a source that could not be
// decoded, by the telemetry.Reason of the error.
func (m *Merger) RejectFrom(net, source string, err error, size int, now int64) {
	m.Reject(err, size)
	n := m.net(net)
	m.refuse(n, m.source(n, source), 0, 0, err, now)
}

// Revision returns a number that rises with each Tick that found a change of what a state has.
func (m *Merger) Revision() uint64 { return m.revision }

// Shown calls yield for each source whose rows are shown.
func (m *Merger) Shown(yield func(net, source string)) {
	for _, n := range m.nets {
		for _, s := range n.order {
			if s.rows != nil && s.state != Gone {
				yield(n.name, s.name)
			}
		}
	}
}

// Saturated returns the nets with a sum that reached stats.MaxSum since the last call, and the
// first such row of each.
func (m *Merger) Saturated() (of map[string]string) {
	for _, n := range m.nets {
		if s := &n.saturated; s.of != "" && !s.told {
			s.told = true
			if of == nil {
				of = map[string]string{}
			}
			of[n.name] = s.of
		}
	}
	return of
}

// ForgetsAt returns when the next silent source of a View is forgotten, after now; 0 for none.
func (m *Merger) ForgetsAt(v *View, now int64) (at int64) {
	for i := range v.Sources {
		s := &v.Sources[i]
		if t := s.LastMessage + m.forgetAfter; s.State == Stale && t > now && (at == 0 || t < at) {
			at = t
		}
	}
	return at
}

// Shows reports whether rows of a source are shown.
func (m *Merger) Shows(net, source string) bool {
	n := m.nets[net]
	if n == nil {
		return false
	}
	s := n.sources[source]
	return s != nil && s.rows != nil && s.state != Gone
}

// Reject counts an answer that could not be decoded, by the telemetry.Reason of
// the error.
func (m *Merger) Reject(err error, size int) {
	m.counted = true
	m.traffic.Messages++
	m.traffic.Bytes += uint64(size)
	m.count(err)
}

// Overran counts messages that were dropped unread, for the reason Overrun or
// OverrunUnknown.
func (m *Merger) Overran(messages uint64, reason telemetry.Reason) {
	m.counted = true
	m.traffic.Messages += messages
	m.traffic.Rejected[string(reason)] += messages
	m.traffic.Bad += messages
}

// Received records that a message of a source arrived at a time, although the collector dropped it:
// the source was not silent.
func (m *Merger) Received(net, source string, at int64) {
	if n := m.nets[net]; at != 0 && n != nil {
		if s := n.sources[source]; s != nil && at > s.messageAt {
			s.messageAt = at
			m.touch(s)
		}
	}
}

// Skip records that the collector has dropped n messages of a source before the next one that
// it takes, or that the next one replaced them. They are not lost on the way, and no reason to
// request a full message.
func (m *Merger) Skip(net, source string, n uint32) {
	if n == 0 || m.nets[net] == nil {
		return
	}
	if s := m.nets[net].sources[source]; s != nil {
		s.skipped += uint64(n)
	}
}

// Replaced counts messages that later ones replaced before they were read.
func (m *Merger) Replaced(messages, bytes int) {
	m.counted = m.counted || messages > 0
	m.traffic.Messages += uint64(messages)
	m.traffic.Bytes += uint64(bytes)
}

func (m *Merger) count(err error) {
	if err == nil {
		return
	}
	m.traffic.Rejected[string(telemetry.ReasonOf(err))]++
	m.traffic.Bad++
}

// net returns the net with a name, or a new one that the Merger does not hold yet.
func (m *Merger) net(name string) *net {
	if n, known := m.nets[name]; known {
		return n
	}
	n := newNet(name, &m.work)
	n.before = m.before
	return n
}

// asks returns the request for a full snapshot, if one is due.
func (s *source) asks(net string, now int64) []Ask {
	if !s.askFull(now) {
		return nil
	}
	return []Ask{{Net: net, Source: s.name}}
}
