// SPDX-License-Identifier: Apache-2.0

package scrape

// observer tells since when the oldest token of a place is there at least,
// from counts alone. Of the tokens that were there at a time, or had left by
// then, more than have left by now cannot have left: one of them is still
// there. That holds in whatever order tokens leave, as long as the counts are
// those of all that come, or of all that go.
type observer struct {
	marks []mark // at rising
	base  int64  // tokens and departures at the beginning, less the arrivals until then
	last  mark
	begun bool
}

// mark is how many tokens had ever come, at a time.
type mark struct {
	at   int64
	come int64
	gone int64
}

// maxMarks bounds what one place keeps. With every second one left out the
// answer is younger by at most as much as lies between two.
const maxMarks = 256

// observe takes in one scrape: tokens now, and the counts that are known since
// the first scrape (-1 for one that is not). begunAnew says that a counter
// did, so what left meanwhile is not known.
func (o *observer) observe(at int64, tokens, arrived, left int64, begunAnew bool) {
	if !o.begun || begunAnew {
		o.begin(tokens, arrived, left)
	}
	now := o.mark(at, tokens, arrived, left)
	if now.come < o.last.come || now.gone < o.last.gone {
		// Tokens came or left that nobody counted: only what is here now is sure.
		o.begin(tokens, arrived, left)
		now = o.mark(at, tokens, arrived, left)
	}
	o.last = now
	for len(o.marks) > 0 && o.marks[0].come <= now.gone {
		o.marks = o.marks[1:]
	}
	if n := len(o.marks); tokens > 0 && (n == 0 || o.marks[n-1].come < now.come) {
		o.marks = append(o.marks, now)
	}
	if len(o.marks) > maxMarks {
		thin := make([]mark, 0, maxMarks)
		for i := 0; i < len(o.marks); i += 2 {
			thin = append(thin, o.marks[i])
		}
		o.marks = thin
	}
}

// begin forgets everything: as of now, the counts agree.
func (o *observer) begin(tokens, arrived, left int64) {
	*o = observer{base: tokens + max(left, 0) - max(arrived, 0), begun: true}
}

// mark puts together what the counts say. Of two that say how many left, the
// higher makes the oldest token younger, which is sure.
func (o *observer) mark(at, tokens, arrived, left int64) mark {
	gone := left
	if arrived >= 0 {
		if gone = arrived + o.base - tokens; left >= 0 {
			gone = max(gone, left)
		}
	}
	return mark{at, gone + tokens, gone}
}

// oldest returns since when, at least; 0 without a token.
func (o *observer) oldest() int64 {
	if len(o.marks) == 0 {
		return 0
	}
	return o.marks[0].at
}
