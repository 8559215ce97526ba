// SPDX-License-Identifier: Apache-2.0

package scrape

// observer derives a lower bound of the age of a place's oldest token from
// counts alone. Take the number of tokens that had arrived by some time. If
// fewer tokens have departed by now, one of those is still there. This holds
// for any order of departures, if the counts include all arrivals or all
// departures.
type observer struct {
	marks []mark // at rising
	base  int64  // tokens and departures less arrivals, as of the first scrape
	last  mark
	begun bool
}

// mark is the number of tokens that had arrived by a time.
type mark struct {
	at   int64
	come int64
	gone int64
}

// maxMarks bounds the marks of one place. Beyond it every second mark is
// dropped, which makes the bound younger by at most the time between two.
const maxMarks = 256

// observe adds one scrape: the tokens, and the counts since the first scrape
// (-1 for an unknown one). After a reset of a counter the departures meanwhile
// are unknown.
func (o *observer) observe(at int64, tokens, arrived, left int64, reset bool) {
	if !o.begun || reset {
		o.begin(tokens, arrived, left)
	}
	now := o.mark(at, tokens, arrived, left)
	if now.come < o.last.come || now.gone < o.last.gone {
		// Tokens arrived or left uncounted: only the present ones are certain.
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

// begin starts from scratch with the counts as of now.
func (o *observer) begin(tokens, arrived, left int64) {
	*o = observer{base: tokens + max(left, 0) - max(arrived, 0), begun: true}
}

// mark combines the counts. There are two ways to count departures. It takes
// the higher number, which makes the oldest token younger and so gives a lower
// bound.
func (o *observer) mark(at, tokens, arrived, left int64) mark {
	gone := left
	if arrived >= 0 {
		gone = arrived + o.base - tokens
		if left >= 0 {
			gone = max(gone, left)
		}
	}
	return mark{at, gone + tokens, gone}
}

// oldest returns the latest possible injection time of the oldest token; 0 without a token.
func (o *observer) oldest() int64 {
	if len(o.marks) == 0 {
		return 0
	}
	return o.marks[0].at
}
