// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/pnagent/pnagent/telemetry"
)

const (
	// maxRefused bounds the refused sources that are watched and not held.
	maxRefused = 256
	// maxReason is the largest text of a reason, in bytes.
	maxReason = 200
	// noticeEvery is the least time between two notices to a source.
	noticeEvery = int64(10 * 1e6)
)

// refusal is the run of refused messages of a source since one was last taken into
// its rows.
type refusal struct {
	streak
	epoch  int64 // of the process that sent them; 0 if unknown
	reason telemetry.Reason
	text   string
}

// refusedKey identifies a refused source that is not held.
type refusedKey struct{ net, source string }

// source returns the source with a name: one that is held, one that was refused
// recently, or a new one.
func (m *Merger) source(n *net, name string) *source {
	if s, known := n.sources[name]; known {
		return s
	}
	if s, known := m.refusedSources[refusedKey{n.name, name}]; known {
		return s
	}
	return n.source(name)
}

// refuse records that a message of a source was refused. inOrder records late
// messages and those of other processes.
func (m *Merger) refuse(n *net, s *source, epoch, interval int64, err error, now int64) {
	m.touch(s)
	reason := telemetry.ReasonOf(err)
	if waits(reason) {
		return
	}
	if n.sources[s.name] != s {
		if m.refusedSources[refusedKey{n.name, s.name}] == nil && len(m.refusedSources) >= maxRefused {
			return
		}
		m.refusedSources[refusedKey{n.name, s.name}] = s
	}
	if reason == OldEpoch || reason == Duplicate || reason == EpochAhead {
		return
	}
	r := &s.refusal
	r.add(cmp.Or(interval, s.interval, LeastPatience), now)
	if r.n == 1 || r.reason != reason {
		r.reason, r.text = reason, bounded(err.Error())
	}
	r.epoch = epoch
}

// bounded returns a text of at most maxReason bytes of UTF-8.
func bounded(text string) string {
	if len(text) <= maxReason {
		return text
	}
	return strings.ToValidUTF8(text[:maxReason], "")
}

// conflict returns the epoch of a process that publishes in turns with the one
// that counts, or 0.
func (s *source) conflict(now int64) int64 {
	if s.left || now-s.messageAt > s.patience {
		return 0
	}
	if r := &s.rival.run; r.steady(now) && s.messageAt > r.first {
		return s.epoch
	}
	for i := range s.processes {
		if p := &s.processes[i]; p.epoch != s.epoch && p.run.steady(now) && s.messageAt > p.run.first {
			return p.epoch
		}
	}
	return 0
}

// lastMessage returns the time of the source's last message, refused or not.
func (s *source) lastMessage() int64 {
	last := max(s.messageAt, s.refusal.last, s.rival.run.last)
	for i := range s.processes {
		last = max(last, s.processes[i].run.last)
	}
	return last
}

// waiting reports whether messages arrive from a process that does not count yet.
func (q *sequence) waiting(now int64) bool {
	if q.rival.run.active(now) {
		return true
	}
	for i := range q.processes {
		if q.processes[i].run.active(now) {
			return true
		}
	}
	return false
}

// judge sets whether the source is Refused, and why.
func (s *source) judge(now int64) {
	was := s.notice
	s.notice, s.inConflict = telemetry.Notice{}, false
	switch epoch := s.conflict(now); {
	case epoch != 0:
		s.inConflict = true
		s.notice = telemetry.Notice{Source: s.name, Epoch: epoch, Reason: telemetry.Conflict, Text: s.conflictText(epoch)}
	case s.refusal.steady(now):
		s.notice = telemetry.Notice{Source: s.name, Epoch: s.refusal.epoch, Reason: string(s.refusal.reason), Text: s.refusal.text}
	}
	if s.notice.Reason != was.Reason {
		s.noticeAt = now
	}
}

func (q *sequence) conflictText(epoch int64) string {
	if epoch == q.epoch {
		return fmt.Sprintf("two processes publish as this source, both with epoch %d; messages of one of them are refused", epoch)
	}
	return fmt.Sprintf("two processes publish as this source; messages of epoch %d are refused while epoch %d is alive", epoch, q.epoch)
}

// notices returns the notice that is due for a source that is Refused.
func (s *source) notices(net string, now int64) []Ask {
	if s.notice.Reason == "" || now < s.noticeAt {
		return nil
	}
	s.noticeAt = now + noticeEvery
	notice := s.notice
	notice.Net = net
	return []Ask{{Net: net, Source: s.name, Notice: notice}}
}

// tickRefused updates the sources that are refused and not held.
func (m *Merger) tickRefused(now int64) (asks []Ask) {
	for k, s := range m.refusedSources {
		was := s.notice
		s.judge(now)
		s.state = Undefined
		if s.notice.Reason != "" {
			s.state = Refused
			m.judgeUnread(s, Refused, now)
			asks = append(asks, s.notices(k.net, now)...)
		}
		m.touched = m.touched || s.notice != was
		if !s.waiting(now) && !s.refusal.active(now) {
			delete(m.refusedSources, k)
		}
	}
	return asks
}
