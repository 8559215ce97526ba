// SPDX-License-Identifier: Apache-2.0

package history

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/ordered"
	"github.com/pnagent/pnagent/telemetry/natslink"
)

// moments are the times of kept Views, with what changes rarely between them.
type moments struct {
	times    []int64
	nets     log[net]
	sources  log[source]
	links    log[links]
	alarms   log[alarm.Alarm]
	silences log[alarm.Silence]
	noted    *alarm.ActiveSet // the last
}

// net is what is kept of a net besides its frames.
type net struct {
	name      string
	since     int64
	digests   []merge.Digest
	up, stale int
}

// source is what is kept of a source.
type source struct {
	net, name     string
	state         merge.SourceState
	reason        string
	lastMessage   int64 // 0 unless it is silent
	gaps          uint64
	region        string
	fence         uint64
	standbys      int64 // -1 if not known
	regionStopped string
}

// links are the connections of the collector.
type links struct {
	nats, up    *natslink.ConnState
	interrupted bool
}

func newMoments() moments {
	return moments{
		nets: log[net]{compare: func(a, b *net) int { return strings.Compare(a.name, b.name) },
			same: func(a, b *net) bool {
				return a.since == b.since && a.up == b.up && a.stale == b.stale && slices.Equal(a.digests, b.digests)
			},
			texts: func(n *net) int { return 96 * len(n.digests) }},
		sources: log[source]{compare: func(a, b *source) int {
			return cmp.Or(strings.Compare(a.net, b.net), strings.Compare(a.name, b.name))
		}, same: func(a, b *source) bool { return *a == *b },
			texts: func(s *source) int { return len(s.name) + len(s.reason) + len(s.region) + len(s.regionStopped) }},
		links: log[links]{compare: func(*links, *links) int { return 0 }, same: sameLinks, texts: func(*links) int { return 256 }},
		alarms: log[alarm.Alarm]{compare: func(a, b *alarm.Alarm) int { return cmp.Compare(a.Index, b.Index) }, same: sameAlarm,
			texts: func(a *alarm.Alarm) int {
				return len(a.Subject) + len(a.Text) + len(a.Unknown) + len(a.Follows) + len(a.Why.Instance) + len(a.Why.Words)
			}},
		silences: log[alarm.Silence]{compare: func(a, b *alarm.Silence) int { return strings.Compare(a.ID, b.ID) },
			same:  func(a, b *alarm.Silence) bool { return *a == *b },
			texts: func(s *alarm.Silence) int { return len(s.ID) + len(s.By) + len(s.Comment) }},
	}
}

func sameLinks(a, b *links) bool {
	same := func(a, b *natslink.ConnState) bool { return a == b || a != nil && b != nil && *a == *b }
	return a.interrupted == b.interrupted && same(a.nats, b.nats) && same(a.up, b.up)
}

func sameAlarm(a, b *alarm.Alarm) bool {
	x, y := *a, *b
	if x.Ack != nil && y.Ack != nil && *x.Ack == *y.Ack {
		x.Ack = y.Ack
	}
	return x == y
}

// add adds the moment of a View.
func (m *moments) add(v *merge.View) {
	first := len(m.times) == 0
	m.times = append(m.times, v.At)
	nets := m.nets.room()
	for _, n := range v.Nets {
		nets = append(nets, net{n.Name, n.Since, n.Digests, n.Up, n.Stale})
	}
	m.nets.add(v.At, first, sorted(nets, m.nets.compare))
	sources := m.sources.room()
	for i := range v.Sources {
		sources = append(sources, sourceOf(&v.Sources[i]))
	}
	m.sources.add(v.At, first, sorted(sources, m.sources.compare))
	m.links.add(v.At, first, append(m.links.room(), links{v.NATS, v.Up, v.Interrupted}))
}

// note sets the alarms and silences of the newest moment.
func (m *moments) note(set *alarm.ActiveSet) {
	if set == m.noted {
		return
	}
	m.noted = set
	at, first := m.times[len(m.times)-1], len(m.times) == 1
	m.alarms.add(at, first, sorted(append(m.alarms.room(), set.Active...), m.alarms.compare))
	m.silences.add(at, first, sorted(append(m.silences.room(), set.Silences...), m.silences.compare))
}

// sorted returns values in order, one of each thing. Mostly they are so.
func sorted[T any](values []T, compare func(a, b *T) int) []T {
	i := 1
	for i < len(values) && compare(&values[i-1], &values[i]) < 0 {
		i++
	}
	if i >= len(values) {
		return values
	}
	ordered.By(values, compare)
	return slices.CompactFunc(values, func(a, b T) bool { return compare(&a, &b) == 0 })
}

// sourceOf returns what is kept of a source. The time of the last message of a source that
// sends is left out, since it changes with each View.
func sourceOf(s *merge.Source) source {
	kept := source{net: s.Net, name: s.Name, state: s.State, reason: s.Reason, gaps: s.Gaps, region: s.Region, fence: s.Fence, standbys: -1, regionStopped: s.RegionStopped}
	if s.State == merge.Stale || s.State == merge.Gone {
		kept.lastMessage = s.LastMessage
	}
	if s.Standbys != nil {
		kept.standbys = int64(*s.Standbys)
	}
	return kept
}

func (s *source) restored() merge.Source {
	out := merge.Source{Net: s.net, Name: s.name, State: s.state, Reason: s.reason, LastMessage: s.lastMessage, Gaps: s.gaps,
		Region: s.region, Fence: s.fence, RegionStopped: s.regionStopped}
	if s.standbys >= 0 {
		out.Standbys = new(uint64(s.standbys))
	}
	return out
}

// Moment returns what is kept of the newest moment at or before a time, or nil. The View has
// nets without rows, and of sources what changes rarely: LastMessage is 0 unless a source is
// silent, and Position and Lag are nil. Of the ActiveSet only Active and Silences are set.
func (s *Store) Moment(at int64) (*merge.View, *alarm.ActiveSet) {
	m := &s.moments
	k := sort.Search(len(m.times), func(i int) bool { return m.times[i] > at }) - 1
	if k < 0 {
		return nil, nil
	}
	at = m.times[k]
	l := m.links.at(at)[0]
	v := &merge.View{At: at, NATS: l.nats, Up: l.up, Interrupted: l.interrupted}
	for _, src := range m.sources.at(at) {
		v.Sources = append(v.Sources, src.restored())
	}
	v.States = merge.StatesOf(v.Sources)
	for _, kept := range m.nets.at(at) {
		n := s.netAt(kept.name, at)
		n.Since, n.Digests, n.Up, n.Stale = kept.since, kept.digests, kept.up, kept.stale
		v.Nets = append(v.Nets, n)
	}
	set := &alarm.ActiveSet{Active: m.alarms.at(at), Silences: m.silences.at(at)}
	ordered.By(set.Silences, func(a, b *alarm.Silence) int { return cmp.Compare(a.Until, b.Until) })
	return v, set
}

// forget drops the moments before a time, but not the newest, and returns how many.
func (m *moments) forget(before int64) int {
	n := min(sort.Search(len(m.times), func(i int) bool { return m.times[i] >= before }), len(m.times)-1)
	if n <= 0 {
		return 0
	}
	m.times = fewer(m.times, n)
	oldest := m.times[0]
	m.nets.forget(oldest)
	m.sources.forget(oldest)
	m.links.forget(oldest)
	m.alarms.forget(oldest)
	m.silences.forget(oldest)
	return n
}

// bytes returns the memory of all moments, and fixed that of the newest.
func (m *moments) bytes() int64 { return m.differences() + m.fixed() }

func (m *moments) fixed() int64 {
	return m.nets.fixed() + m.sources.fixed() + m.links.fixed() + m.alarms.fixed() + m.silences.fixed()
}

func (m *moments) differences() int64 {
	return int64(8*cap(m.times)) + m.nets.bytes() + m.sources.bytes() + m.links.bytes() + m.alarms.bytes() + m.silences.bytes()
}
