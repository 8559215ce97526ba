// SPDX-License-Identifier: Apache-2.0

package stats

import "slices"

// Shift moves every time of the row by d, from a source's clock to the
// reader's. The ladder moves by whole slots of its finest width.
func (p *Place) Shift(d int64) {
	if d == 0 {
		return
	}
	PlaceTable.shift(p, d)
	p.Injected = p.Injected.shift(d, p.Tokens)
	p.Ages.Shift(d)
	p.Slowest.At = shifted(p.Slowest.At, d)
	p.Stuck, p.Groups = shiftTokens(p.Stuck, d), shiftGroups(p.Groups, d)
}

func shiftTokens(tokens []Token, d int64) []Token {
	if d == 0 {
		return tokens
	}
	out := make([]Token, len(tokens))
	for i, t := range tokens {
		out[i] = t.shifted(d)
	}
	return out
}

func (t *Token) shifted(d int64) Token {
	return Token{Instance: t.Instance, Injected: shifted(t.Injected, d), Waits: shiftWaits(t.Waits, d)}
}

// Shift moves every time of the row by d.
func (t *Transition) Shift(d int64) {
	TransitionTable.shift(t, d)
	t.Slowest.At = shifted(t.Slowest.At, d)
}

// Shift moves every time of the row by d.
func (q *Queue) Shift(d int64) { QueueTable.shift(q, d) }

func shiftQueues(queues []Queue, d int64) []Queue {
	if d == 0 {
		return queues
	}
	queues = slices.Clone(queues)
	for i := range queues {
		queues[i].Shift(d)
	}
	return queues
}

func shiftWaits(waits []Wait, d int64) []Wait {
	out := make([]Wait, len(waits))
	for i, w := range waits {
		w.Until = shifted(w.Until, d)
		out[i] = w
	}
	return out
}

// shifted moves a time; 0 stays 0, and the sign stays.
func shifted(t, d int64) int64 {
	if t == 0 {
		return 0
	}
	return max(t+d, 1)
}

// shift moves each of the n times of the sum by d.
func (s TimeSum) shift(d int64, n uint64) TimeSum {
	if d >= 0 {
		s.Merge(TimeSum{Sec: uint64(d) / 1e6 * n, Micro: 0})
		micro := uint64(d) % 1e6 * n
		s.Merge(TimeSum{Sec: micro / 1e6, Micro: micro % 1e6})
		return s
	}
	micro := uint64(-d) % 1e6 * n
	sec := uint64(-d)/1e6*n + micro/1e6
	if micro %= 1e6; micro > s.Micro {
		sec, s.Micro = sec+1, s.Micro+1e6
	}
	if sec > s.Sec {
		return TimeSum{}
	}
	return TimeSum{Sec: s.Sec - sec, Micro: s.Micro - micro}
}
