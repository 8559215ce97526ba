// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"slices"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

const (
	// maxProcesses is how many processes of one source are remembered, including
	// the one that counts.
	maxProcesses = 16
	// steadyAfter is the number of refused messages in a row after which a source is
	// Refused, and of taken messages after which a process's interval is relied on.
	steadyAfter = 3
)

// streak is a run of refused messages.
type streak struct {
	first, last int64
	n           int
	interval    int64
}

// add records a message. A silence of more than three intervals ends a streak.
func (r *streak) add(interval, now int64) {
	if r.n == 0 || now-r.last > patienceOf(interval) {
		*r = streak{first: now}
	}
	r.n, r.last, r.interval = r.n+1, now, interval
}

// active reports whether the streak has not ended.
func (r *streak) active(now int64) bool { return r.n > 0 && now-r.last <= patienceOf(r.interval) }

// advances reports whether the messages arrived one after the other, as from a
// live process, and not all at once.
func (r *streak) advances() bool { return r.n >= 2 && r.last-r.first >= r.interval/2 }

// steady reports whether the streak has lasted long enough to be reported.
func (r *streak) steady(now int64) bool {
	return r.n >= steadyAfter && r.last-r.first >= r.interval && r.active(now)
}

// patienceOf returns how long a process with an interval may be silent.
func patienceOf(interval int64) int64 { return max(staleAfter*interval, LeastPatience) }

// process is one process of a source, known by its epoch.
type process struct {
	epoch int64
	seq   uint64 // the highest one received
	was   bool   // it has been the one that counts
	left  bool   // it sent its bye
	rank  int    // of two that have counted, the one with the higher rank, or else the higher epoch, is newer
	run   streak // of messages refused because another process counts

	refused *stats.RefusedRequests // as of its last message; nil if unknown

	// Its counts are in the source's rows, in those set aside, or, if folded, in the
	// net's base, perhaps in part. Otherwise they are in no sum.
	aside  *source
	folded bool
}

// process returns a remembered process by its epoch, or nil.
func (q *sequence) process(epoch int64) *process {
	for i := range q.processes {
		if q.processes[i].epoch == epoch {
			return &q.processes[i]
		}
	}
	return nil
}

// remembered returns a process by its epoch, and adds it if it is not known.
func (n *net) remembered(s *source, epoch int64) *process {
	if p := s.process(epoch); p != nil {
		return p
	}
	if len(s.processes) >= maxProcesses {
		n.forgetProcess(s)
	}
	s.processes = append(s.processes, process{epoch: epoch, was: s.was(nil, epoch), folded: epoch <= s.counted})
	return &s.processes[len(s.processes)-1]
}

// was reports whether a process may have counted before; p is the process, or nil.
func (q *sequence) was(p *process, epoch int64) bool {
	return p != nil && p.was || p == nil && epoch <= q.counted
}

// forgetProcess makes room for a process. It prefers one without counters, and of
// those the one that is silent for the longest time.
func (n *net) forgetProcess(s *source) {
	first := -1
	for i := range s.processes {
		p := &s.processes[i]
		if p.epoch == s.epoch || p.epoch == s.rowsEpoch {
			continue
		}
		if first < 0 || p.before(&s.processes[first]) {
			first = i
		}
	}
	p := &s.processes[first]
	if p.aside != nil {
		n.fold(p.aside)
	}
	if p.folded {
		s.counted = max(s.counted, p.epoch)
	}
	s.processes = slices.Delete(s.processes, first, first+1)
}

// before reports whether p is to be forgotten before q.
func (p *process) before(q *process) bool {
	if (p.aside != nil) != (q.aside != nil) {
		return p.aside == nil
	}
	return p.run.last < q.run.last
}

// countedUpTo returns the latest epoch of which counts may be in the net's base
// once the rows set aside for the source are.
func (q *sequence) countedUpTo() int64 {
	counted := q.counted
	for i := range q.processes {
		if p := &q.processes[i]; p.folded || p.aside != nil {
			counted = max(counted, p.epoch)
		}
	}
	return counted
}

// newer reports whether a process is newer than the one that counts; p is the
// process, or nil.
func (q *sequence) newer(p *process, epoch int64) bool {
	rank := q.rank()
	if p != nil && p.was && p.rank != rank {
		return p.rank > rank
	}
	return epoch > q.epoch
}

// rank returns the rank of the process that counts.
func (q *sequence) rank() int {
	if p := q.process(q.epoch); p != nil {
		return p.rank
	}
	return 0
}

// laterOwner reports whether a message has the region of the process that counts
// and a later claim than any before.
func (n *net) laterOwner(s *source, msg *telemetry.Snapshot, now int64) bool {
	f := n.fences[msg.Region]
	return msg.Since != 0 && msg.Region == s.about && f.claimOf(msg, now).Compare(f.Claim) > 0
}

// beside records a message of a process that does not count, and returns the
// process.
func (n *net) beside(s *source, msg *telemetry.Snapshot, now int64) *process {
	p := n.remembered(s, msg.Epoch)
	p.seq = msg.Seq
	p.run.add(msg.Interval.Microseconds(), now)
	return p
}

// behind handles a message of the process that counts whose seq is not new. Either
// the message is late, or the higher seq was not sent by this process.
func (s *source) behind(msg *telemetry.Snapshot, now int64) error {
	interval := msg.Interval.Microseconds()
	later := msg.SentAt > s.sentAt || s.sentAt > now+skewBelieved
	if b := &s.rival; later && (!b.run.active(now) || (msg.Seq > b.seq && msg.SentAt > b.sentAt)) {
		b.run.add(interval, now)
		b.seq, b.sentAt = msg.Seq, msg.SentAt
		if b.run.advances() && !s.lives(msg, now) {
			s.seq, s.rival = msg.Seq-1, rival{}
			return nil
		}
	}
	return Rejection(Duplicate, "seq %d after seq %d", msg.Seq, s.seq)
}

// rival is a second process with the epoch of the one that counts.
type rival struct {
	run    streak
	seq    uint64
	sentAt int64
}

// lives reports whether the process that counts is still alive when a message of
// another one arrives. Its own interval is relied on only after it was kept.
func (s *source) lives(msg *telemetry.Snapshot, now int64) bool {
	patience := s.patience
	if s.messages < steadyAfter {
		patience = min(patience, patienceOf(msg.Interval.Microseconds()))
	}
	return !s.left && now-s.messageAt-s.outage <= patience
}

// become makes the process of a message the one that counts, and returns how many
// of its messages are missing.
func (n *net) become(s *source, msg *telemetry.Snapshot, now int64) (lost uint64) {
	if s.epoch != 0 {
		old := n.remembered(s, s.epoch)
		old.seq, old.left, old.run = s.seq, s.left, streak{}
		s.clock = clock{shift: s.clock.shift}
		lost = msg.Seq - 1
		if p := s.process(msg.Epoch); p != nil {
			lost = msg.Seq - p.seq - 1
		} else {
			s.restarts++
		}
	}
	rank := s.rank()
	p := n.remembered(s, msg.Epoch)
	if !p.was {
		p.rank = rank
	}
	if n.laterOwner(s, msg, now) {
		for i := range s.processes {
			p.rank = max(p.rank, s.processes[i].rank+1)
		}
	}
	p.was, p.run = true, streak{}
	s.messages, s.rival = 0, rival{}
	return lost
}

// setAside keeps the counters of a process that another one follows. If the
// process turns out to be alive, it continues exactly where it stopped.
func (n *net) setAside(s *source, now int64) {
	p := s.process(s.rowsEpoch)
	if p == nil {
		n.fold(s)
		return
	}
	s.loseColumns(stats.AllColumns, now) // until the next process reports them
	n.retire(s)
	p.aside = &source{name: s.name, health: health{state: Gone, goneAt: now, clock: s.clock, interval: s.interval},
		said: said{rows: s.rows, rowsEpoch: s.rowsEpoch, rowsAt: s.rowsAt, columns: s.columns, digest: s.digest, current: s}}
	n.aside = append(n.aside, p.aside)
	s.rows, s.columns = nil, 0
}

// takeBack gives a source the rows that setAside kept of its process. It reports
// whether counters of the process may be in the base already.
func (n *net) takeBack(s *source, epoch int64) (again bool) {
	p := n.remembered(s, epoch)
	if s.rows == nil && p.aside != nil {
		e := p.aside
		s.rows, s.columns, s.digest, s.rowsEpoch = e.rows, e.columns, e.digest, epoch
		n.dropAside(e)
		n.live.Move(s.rows, e.clock.shift, s.clock.shift)
		n.changed = true
	}
	return s.rows == nil && p.folded
}

// dropAside removes rows set aside from the list.
func (n *net) dropAside(e *source) {
	n.aside = slices.DeleteFunc(n.aside, func(other *source) bool { return other == e })
	if p := e.current.process(e.rowsEpoch); p != nil {
		p.aside = nil
	}
}

// tickAside adds the rows set aside for silent processes to the base. Those of a
// process that sent its bye message are kept for a minute only.
func (n *net) tickAside(now, forgetAfter int64) {
	for _, e := range slices.Clone(n.aside) {
		p := e.current.process(e.rowsEpoch)
		kept := forgetAfter
		if p.left {
			kept = min(kept, minute)
		}
		if now-max(e.goneAt, p.run.last) > kept {
			n.fold(e)
		}
	}
}
