// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"slices"

	"github.com/pnagent/pnagent/telemetry"
)

const (
	// maxProcesses is how many processes of one source are remembered, the one
	// that counts included.
	maxProcesses = 16
	// steadyAfter is after how many refused messages in a row a source is Refused,
	// and after how many taken ones a process is believed to keep its interval.
	steadyAfter = 3
)

// streak is a number of messages that were refused, one behind the other.
type streak struct {
	first, last int64
	n           int
	interval    int64
}

// add notes a message. A streak ends with a silence that is longer than three
// intervals.
func (r *streak) add(interval, now int64) {
	if r.n == 0 || now-r.last > patienceOf(interval) {
		*r = streak{first: now}
	}
	r.n, r.last, r.interval = r.n+1, now, interval
}

// goesOn reports whether the streak is not over.
func (r *streak) goesOn(now int64) bool { return r.n > 0 && now-r.last <= patienceOf(r.interval) }

// advances reports whether the messages came one behind the other, as those of
// a process do that lives, and not all at once.
func (r *streak) advances() bool { return r.n >= 2 && r.last-r.first >= r.interval/2 }

// steady reports whether the streak goes on for long enough to be reported.
func (r *streak) steady(now int64) bool {
	return r.n >= steadyAfter && r.last-r.first >= r.interval && r.goesOn(now)
}

// patienceOf returns for how long a process of that interval may be silent.
func patienceOf(interval int64) int64 { return max(staleAfter*interval, leastPatience) }

// process is one process of a source, known by its epoch.
type process struct {
	epoch int64
	seq   uint64 // the highest one heard
	was   bool   // it was the one that counts once
	left  bool   // it said bye
	rank  int    // of two that were, the one with the higher rank, or else the higher epoch, is the newer one
	run   streak // of messages refused because another process counts

	// What it counted is in the source's rows, in those of elder, or, if folded, in
	// the net's base, perhaps in part. Otherwise it is in no sum.
	elder  *source
	folded bool
}

// process returns what is known of a process, or nil.
func (s *source) process(epoch int64) *process {
	for i := range s.processes {
		if s.processes[i].epoch == epoch {
			return &s.processes[i]
		}
	}
	return nil
}

// remembered returns what is known of a process, from now on if nothing was.
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

// was reports whether a process, of which p is known, may have counted before.
func (s *source) was(p *process, epoch int64) bool {
	return p != nil && p.was || p == nil && epoch <= s.counted
}

// forgetProcess makes room for a process: rather one without counters, and of
// those the one that is silent for longest.
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
	if p.elder != nil {
		n.fold(p.elder)
	}
	if p.folded {
		s.counted = max(s.counted, p.epoch)
	}
	s.processes = slices.Delete(s.processes, first, first+1)
}

// before reports whether a process is to be forgotten before another one.
func (p *process) before(q *process) bool {
	if (p.elder != nil) != (q.elder != nil) {
		return p.elder == nil
	}
	return p.run.last < q.run.last
}

// countedUpTo returns the latest epoch of which something may be in the net's
// base once the source's elders are.
func (s *source) countedUpTo() int64 {
	counted := s.counted
	for i := range s.processes {
		if p := &s.processes[i]; p.folded || p.elder != nil {
			counted = max(counted, p.epoch)
		}
	}
	return counted
}

// inOrder returns an error for a message of a process that does not count, and
// for one that others have overtaken.
//
// Of several processes of one source the newest counts. An older one, or one
// whose start lies ahead of the collector's clock, counts while the other one
// does not live any more: it said bye, or is silent for three intervals. One
// that counted before must be heard twice then, for one message may be late.
//
// Where both speak for one region, its fence is a better clock than their epochs: the
// process of a higher fence than any heard is the newest one, whatever its epoch.
func (n *net) inOrder(s *source, msg *telemetry.Snapshot, now int64) error {
	switch {
	case s.epoch == 0 || (msg.Epoch == s.epoch && msg.Seq > s.seq):
		return nil
	case msg.Epoch == s.epoch:
		return s.behind(msg, now)
	}
	p := s.process(msg.Epoch)
	if p != nil && msg.Seq <= p.seq {
		return reject(OldEpoch, "epoch %d and seq %d, when %d was heard", msg.Epoch, msg.Seq, s.epoch)
	}
	ahead := msg.Epoch > now+skewBelieved
	lives := s.lives(msg, now)
	newer := n.laterFence(s, msg) || s.newer(p, msg.Epoch)
	if (newer && !ahead) || (!lives && !s.was(p, msg.Epoch)) {
		return nil
	}
	p = n.beside(s, msg, now)
	switch {
	case !lives && p.run.advances():
		p.seq-- // this one is taken
		return nil
	case ahead:
		return reject(EpochAhead, "epoch %d is %d s ahead, and the process of epoch %d lives", msg.Epoch, (msg.Epoch-now)/1e6, s.epoch)
	}
	return reject(OldEpoch, "epoch %d, when %d was heard", msg.Epoch, s.epoch)
}

// newer reports whether a process, of which p is known, is newer than the one that
// counts.
func (s *source) newer(p *process, epoch int64) bool {
	rank := s.rank()
	if p != nil && p.was && p.rank != rank {
		return p.rank > rank
	}
	return epoch > s.epoch
}

// rank returns the rank of the process that counts.
func (s *source) rank() int {
	if p := s.process(s.epoch); p != nil {
		return p.rank
	}
	return 0
}

// laterFence reports whether a message is of a process that has the region of the
// one that counts, and has it later than all that were heard.
func (n *net) laterFence(s *source, msg *telemetry.Snapshot) bool {
	return msg.Since != 0 && msg.Region == s.about && msg.Fence > n.fences[msg.Region].fence
}

// beside notes a message of a process that does not count, and returns what is
// known of the process.
func (n *net) beside(s *source, msg *telemetry.Snapshot, now int64) *process {
	p := n.remembered(s, msg.Epoch)
	p.seq = msg.Seq
	p.run.add(msg.Interval.Microseconds(), now)
	return p
}

// behind judges a message of the process that counts, with a seq that was heard
// already: it is a late one, or the higher seq was not the process's own.
func (s *source) behind(msg *telemetry.Snapshot, now int64) error {
	interval := msg.Interval.Microseconds()
	later := msg.SentAt > s.sentAt || s.sentAt > now+skewBelieved
	if b := &s.rival; later && (!b.run.goesOn(now) || (msg.Seq > b.seq && msg.SentAt > b.sentAt)) {
		b.run.add(interval, now)
		b.seq, b.sentAt = msg.Seq, msg.SentAt
		if b.run.advances() && !s.lives(msg, now) {
			s.seq, s.rival = msg.Seq-1, rival{}
			return nil
		}
	}
	return reject(Duplicate, "seq %d, when %d was heard", msg.Seq, s.seq)
}

// rival is a second process with the epoch of the one that counts.
type rival struct {
	run    streak
	seq    uint64
	sentAt int64
}

// lives reports whether the process that counts is to be heard still, where a
// message of another one came. What interval it keeps is believed once it was
// kept.
func (s *source) lives(msg *telemetry.Snapshot, now int64) bool {
	patience := s.patience
	if s.messages < steadyAfter {
		patience = min(patience, patienceOf(msg.Interval.Microseconds()))
	}
	return !s.left && now-s.heard-s.deaf <= patience
}

// become makes the process of a message the one that counts, and returns how
// many of its messages never came.
func (n *net) become(s *source, msg *telemetry.Snapshot) (lost uint64) {
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
	if n.laterFence(s, msg) {
		for i := range s.processes {
			p.rank = max(p.rank, s.processes[i].rank+1)
		}
	}
	p.was, p.run = true, streak{}
	s.messages, s.rival = 0, rival{}
	return lost
}

// setAside keeps the rows of a process that another one follows: if it lives
// after all, it goes on exactly where it stopped. Only their counters are left.
func (n *net) setAside(s *source, now int64) {
	p := s.process(s.rowsEpoch)
	if p == nil {
		n.fold(s)
		return
	}
	n.retire(s)
	p.elder = &source{name: s.name, state: Gone, goneAt: now, rows: s.rows, rowsEpoch: s.rowsEpoch, rowsAt: s.rowsAt, columns: s.columns,
		digest: s.digest, clock: s.clock, interval: s.interval, younger: s}
	n.elders = append(n.elders, p.elder)
	s.rows, s.columns = nil, 0
}

// goOn gives a source the rows that its process had when another one followed.
// It reports whether counters of it may be in the base already.
func (n *net) goOn(s *source, epoch int64) (again bool) {
	p := n.remembered(s, epoch)
	if s.rows == nil && p.elder != nil {
		e := p.elder
		s.rows, s.columns, s.digest, s.rowsEpoch = e.rows, e.columns, e.digest, epoch
		n.dropElder(e)
		n.touch(s)
	}
	return s.rows == nil && p.folded
}

// dropElder takes an elder off the list.
func (n *net) dropElder(e *source) {
	n.elders = slices.DeleteFunc(n.elders, func(other *source) bool { return other == e })
	if p := e.younger.process(e.rowsEpoch); p != nil {
		p.elder = nil
	}
}

// tickElders adds those to the base of which nothing is heard any more. One that
// said bye is not expected to come back.
func (n *net) tickElders(now, forgetAfter int64) {
	for _, e := range slices.Clone(n.elders) {
		p := e.younger.process(e.rowsEpoch)
		kept := forgetAfter
		if p.left {
			kept = min(kept, minute)
		}
		if now-max(e.goneAt, p.run.last) > kept {
			n.fold(e)
		}
	}
}
