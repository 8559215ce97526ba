// SPDX-License-Identifier: Apache-2.0

package fleetsim

import (
	"cmp"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

const (
	second = int64(time.Second / time.Microsecond)

	moving    = 12 // tokens of a source, not counting stuck ones
	moves     = 8  // attempts to move a token between two messages, at most
	stuckMost = 2  // tokens stuck in one place of a source
	fullEvery = 10 // messages, as of a telemetry.Publisher

	// columns are those that the sources publish.
	columns = stats.AllColumns &^ (stats.ColTimeouts | stats.ColQueues | stats.ColWaiting | stats.ColNextDue)
)

// token is a token of a source. Each has an instance of its own.
type token struct {
	injected int64
	instance uint32
	place    uint8
}

// source is one engine of the fleet: a token game and the state of a Publisher.
type source struct {
	name    string
	subject string // of its snapshots
	rng     *rand.Rand

	tokens              []token
	born                uint32 // instances so far
	rows                stats.Rows
	places, transitions uint64 // rows that changed since the last message, as bits
	// Rows with a slowest instance since the last message, as bits. It is published
	// once.
	slowPlaces, slowTransitions uint64

	epoch  int64
	seq    uint64
	since  int   // messages since the last full one
	inStep bool  // the reader has all rows
	silent int   // turns
	every  int64 // as stated in the last message: see fleet.every
}

// begin resets the source to a new process.
func (s *source) begin(now int64) {
	s.epoch, s.seq, s.inStep, s.silent = max(now, s.epoch+1), 0, false, 0
	s.tokens = s.tokens[:0]
	s.rows = *stats.NewRows(size, size)
	s.rows.Columns = columns
}

// preload gives the source the counters of hours, and tokens of all ages.
func (s *source) preload(now int64, h *history, t *totals) {
	for i := range s.rows.Places {
		dwell := h.dwell(i, s.rng)
		n, p := dwell.Count(), &s.rows.Places[i]
		p.Dwell = stats.Histogram{Schema: dwell.Schema, Zero: dwell.Zero, Sum: dwell.Sum, Buckets: slices.Clone(dwell.Buckets)}
		p.Arrivals, p.Departures = n, n
		s.rows.Transitions[i].Firings = n
		t.places[i].arrivals += n
		t.places[i].departures += n
		t.places[i].dwell += dwell.Sum
		t.firings[i] += n
	}
	for range moving {
		s.put(now, now-h.age(s.rng), s.rng.IntN(size), t)
	}
}

// restart ends the process and begins the next one.
func (s *source) restart(now int64, t *totals) {
	for _, k := range s.tokens {
		t.places[k.place].tokens--
	}
	t.active -= uint64(len(s.tokens))
	s.begin(now)
}

// step plays the token game between two messages.
func (s *source) step(now int64, t *totals) {
	for range s.rng.IntN(moves + 1) {
		if len(s.tokens) > 0 {
			s.move(now, s.rng.IntN(len(s.tokens)), t)
		}
	}
	for len(s.tokens)-s.stuck() < moving {
		s.put(now, now-s.rng.Int64N(second), 0, t)
	}
}

// stuck returns how many tokens do not move.
func (s *source) stuck() int {
	n := 0
	for _, k := range s.tokens {
		if stuckAt(int(k.place)) {
			n++
		}
	}
	return min(n, 2*stuckMost)
}

func (s *source) at(place uint8) (n int) {
	for _, k := range s.tokens {
		if k.place == place {
			n++
		}
	}
	return n
}

// move fires the transition that takes a token, unless it is stuck.
func (s *source) move(now int64, i int, t *totals) {
	k := s.tokens[i]
	place := int(k.place)
	if stuckAt(place) && s.at(k.place) <= stuckMost {
		return
	}
	at := max(k.injected, now-s.rng.Int64N(second))
	dwell := at - k.injected
	s.tokens = slices.Delete(s.tokens, i, i+1)
	p, tr := &s.rows.Places[place], &s.rows.Transitions[place]
	p.Departures++
	p.Dwell.Observe(dwell)
	p.Slowest.Merge(stats.Slowest{Instance: order(k.instance), Micros: dwell, At: at})
	tr.Firings++
	tr.LastFiring = max(tr.LastFiring, at)
	if place%10 == 3 { // these have an action that takes time
		took := 1 + s.rng.Int64N(second/5)
		tr.Duration.Observe(took)
		tr.Slowest.Merge(stats.Slowest{Instance: order(k.instance), Micros: took, At: at})
		s.slowTransitions |= 1 << place
	}
	s.slowPlaces |= 1 << place
	s.changed(place)
	t.places[place].departures++
	t.places[place].tokens--
	t.places[place].dwell += uint64(dwell)
	t.firings[place]++
	if place+1 < size {
		s.tokens = append(s.tokens, k)
		s.arrive(len(s.tokens)-1, at, place+1, t)
		return
	}
	s.rows.Net.Finished++
	s.rows.Net.Active--
	t.finished++
	t.active--
}

// put creates an instance with one token.
func (s *source) put(now, injected int64, place int, t *totals) {
	s.born++
	s.rows.Net.Created++
	s.rows.Net.Active++
	t.created++
	t.active++
	s.tokens = append(s.tokens, token{instance: s.born})
	s.arrive(len(s.tokens)-1, min(injected, now), place, t)
}

func (s *source) arrive(i int, at int64, place int, t *totals) {
	s.tokens[i].place, s.tokens[i].injected = uint8(place), at
	p := &s.rows.Places[place]
	p.Arrivals++
	p.LastInjection = max(p.LastInjection, at)
	t.places[place].arrivals++
	t.places[place].tokens++
	s.changed(place)
}

func (s *source) changed(place int) {
	s.places |= 1 << place
	s.transitions |= 1 << place
}

func order(instance uint32) string { return fmt.Sprintf("order-%06d", instance) }

// countPresent updates what is present in the rows that changed.
func (s *source) countPresent(now int64) {
	slices.SortFunc(s.tokens, func(a, b token) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.injected, b.injected), cmp.Compare(a.instance, b.instance))
	})
	rest := s.tokens
	for left := s.places; left != 0; left &= left - 1 {
		place := bits.TrailingZeros64(left)
		for len(rest) > 0 && int(rest[0].place) < place {
			rest = rest[1:]
		}
		n := 0
		for n < len(rest) && int(rest[n].place) == place {
			n++
		}
		s.present(place, rest[:n], now)
	}
	s.rows.Blocks = nil
	for place := range size {
		if n := s.rows.Places[place].Tokens; n > 0 && stuckAt(place) {
			s.rows.Blocks = append(s.rows.Blocks, stats.Block{Transition: int32(place), Place: goods, Reason: stats.ReasonMissing, Instances: n})
		}
	}
}

// present updates what is present in one place from its tokens, oldest first.
func (s *source) present(place int, tokens []token, now int64) {
	p, tr := &s.rows.Places[place], &s.rows.Transitions[place]
	p.Tokens, p.Instances = uint64(len(tokens)), uint64(len(tokens))
	p.Oldest, p.Injected, p.Ages, p.Stuck = 0, stats.TimeSum{}, stats.Ladder{}, nil
	tr.Enabled, tr.EnabledSince = 0, 0
	wait := stats.Wait{Transition: int32(place), Reason: stats.ReasonEnabled, Place: stats.NoPlace}
	if stuckAt(place) {
		wait.Reason, wait.Place, wait.Count = stats.ReasonMissing, goods, 1
	}
	for i, k := range tokens {
		p.Injected.Add(k.injected)
		p.Ages.Add(k.injected, now, 1)
		if i < stats.MaxStuck {
			p.Stuck = append(p.Stuck, stats.Token{Instance: order(k.instance), Injected: k.injected, Waits: []stats.Wait{wait}})
		}
	}
	if len(tokens) == 0 {
		return
	}
	p.Oldest = tokens[0].injected
	if !stuckAt(place) {
		tr.Enabled, tr.EnabledSince = uint64(len(tokens)), tokens[0].injected
	}
}

// writer encodes the messages of sources, one after the other.
type writer struct {
	interval            time.Duration
	net                 definition
	enc                 telemetry.Encoder
	buf                 []byte
	places, transitions []uint32
	changed             stats.Rows
}

// message returns the next message of a source, which is valid until the next
// call. It has all rows if a reader may lack some or asked for them, otherwise
// those that changed.
func (w *writer) message(s *source, now int64, full bool) ([]byte, error) {
	s.countPresent(now)
	full = full || !s.inStep || s.since >= fullEvery-1
	s.seq++
	msg := telemetry.Snapshot{Source: s.name, Epoch: s.epoch, Seq: s.seq, SentAt: now, Interval: w.interval * time.Duration(max(s.every, 1)),
		Net: w.net.id, Digest: w.net.digest, Full: full, Rows: s.rows}
	if !full {
		w.pick(s)
		msg.PlaceIndex, msg.TransitionIndex, msg.Rows = w.places, w.transitions, w.changed
	}
	s.since++
	if full {
		s.since = 0
	}
	var err error
	if w.buf, err = w.enc.Append(w.buf[:0], &msg); err != nil {
		return nil, fmt.Errorf("source %s: %w", s.name, err)
	}
	s.inStep = true
	// The next message has these rows again, without their slowest instances.
	s.places, s.transitions = s.slowPlaces, s.slowTransitions
	for left := s.slowPlaces; left != 0; left &= left - 1 {
		s.rows.Places[bits.TrailingZeros64(left)].Slowest = stats.Slowest{}
	}
	for left := s.slowTransitions; left != 0; left &= left - 1 {
		s.rows.Transitions[bits.TrailingZeros64(left)].Slowest = stats.Slowest{}
	}
	s.slowPlaces, s.slowTransitions = 0, 0
	return w.buf, nil
}

// pick copies the rows that changed.
func (w *writer) pick(s *source) {
	w.places, w.transitions = w.places[:0], w.transitions[:0]
	places, transitions := w.changed.Places[:0], w.changed.Transitions[:0]
	for left := s.places; left != 0; left &= left - 1 {
		i := bits.TrailingZeros64(left)
		w.places, places = append(w.places, uint32(i)), append(places, s.rows.Places[i])
	}
	for left := s.transitions; left != 0; left &= left - 1 {
		i := bits.TrailingZeros64(left)
		w.transitions, transitions = append(w.transitions, uint32(i)), append(transitions, s.rows.Transitions[i])
	}
	w.changed = stats.Rows{Net: s.rows.Net, Places: places, Transitions: transitions, Blocks: s.rows.Blocks, Columns: s.rows.Columns}
}
