// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// The reference keeps every process that was ever received and adds them all up,
// one number at a time, on each call. The newest process of a source counts. An
// older one counts too after the newer one sent its bye or while it is silent, if
// two of its messages arrive or it never counted before. A process that is silent
// for long enough counts from where it is received again.
type reference struct {
	rows    int
	sources map[string]*refSource
	dropped uint64
}

type refSource struct {
	processes []*refProcess
	current   *refProcess
	received  int64 // of the current one
	sentAt    int64
	left      bool
	behind    refStreak // messages of the current one with a seq that was received
	taken     int64     // when a message last went into shown rows
	gone      bool
	shown     bool // its tokens are in the sums
}

// refStreak is refused messages, each at most three seconds behind the last.
type refStreak struct {
	first, last int64
	n           int
	seq         uint64
	sentAt      int64
}

func (k *refStreak) over(now int64) bool { return k.n == 0 || now-k.last > 3e6 }

func (k *refStreak) add(m *telemetry.Snapshot, now int64) (advances bool) {
	if k.over(now) {
		*k = refStreak{first: now}
	}
	k.n, k.last, k.seq, k.sentAt = k.n+1, now, m.Seq, m.SentAt
	return k.n >= 2 && k.last-k.first >= 5e5
}

// refProcess holds the rows of one process, as last sent.
type refProcess struct {
	epoch    int64
	seq      uint64
	was      bool // current once
	bye      bool
	streak   refStreak
	aside    int64 // since when the rows of another one are shown
	folded   bool
	owed     map[int]refRow // what was counted before it was folded, and again since
	received map[int]bool   // rows received since the last gap
	whole    bool           // every row was received: later ones may come alone
	rows     map[int]refRow
	counts   map[int]refRow // what is shown of it
}

type refRow struct{ tokens, arrivals, firings, timeouts uint64 }

// queueRow is the key of the row of the one queue: what is ready, and served.
const queueRow = -1

func (r *reference) take(m *telemetry.Snapshot, now int64) {
	s := r.sources[m.Source]
	if s == nil {
		s = &refSource{}
		r.sources[m.Source] = s
	}
	p := s.choose(m, now)
	if p == nil {
		r.dropped++
		return
	}
	if m.Seq != p.seq+1 || p != s.current {
		p.received = map[int]bool{} // others may have changed in what was lost
	}
	if p != s.current && s.current != nil {
		s.current.bye, s.current.streak, s.behind = s.left, refStreak{}, refStreak{}
	}
	p.was, p.streak = true, refStreak{}
	s.current = p
	p.seq = m.Seq
	s.received = now
	s.sentAt = m.SentAt
	s.gone = false
	s.left = false
	named := map[int]bool{queueRow: true}
	for i := range m.Rows.Places {
		at := i
		if !m.Full {
			at = int(m.PlaceIndex[i])
		}
		p.received[at], named[at] = true, true
		p.rows[at] = refRow{tokens: m.Rows.Places[i].Tokens, arrivals: m.Rows.Places[i].Arrivals}
	}
	for i := range m.Rows.Transitions {
		at := i
		if !m.Full {
			at = int(m.TransitionIndex[i])
		}
		p.received[r.rows+at], named[r.rows+at] = true, true
		p.rows[r.rows+at] = refRow{firings: m.Rows.Transitions[i].Firings, timeouts: m.Rows.Transitions[i].Timeouts}
	}
	p.rows[queueRow] = refRow{tokens: m.Rows.Queues[0].Ready, arrivals: m.Rows.Queues[0].Served}
	if m.Full || len(p.received) == 2*r.rows {
		p.whole = true
	}
	if p.whole || m.Bye && p.counts != nil && !p.folded {
		if p.folded {
			p.folded, p.owed = false, map[int]refRow{}
			for at, row := range p.rows {
				p.owed[at] = row.less(p.counts[at])
			}
		}
		if p.whole {
			p.counts = map[int]refRow{}
		}
		for at, row := range p.rows {
			if p.whole || named[at] { // of a bye in parts each part counts
				p.counts[at] = row.less(p.owed[at])
			}
		}
		for _, other := range s.processes {
			if other != p && other.aside == 0 {
				other.aside, other.whole, other.received = now, false, map[int]bool{}
			}
		}
		s.taken, s.shown, p.aside = now, true, 0
		if m.Bye {
			s.left = true
			s.leave(true)
		}
	}
}

// choose returns the process of a message if that is to be taken, nil if not.
func (s *refSource) choose(m *telemetry.Snapshot, now int64) *refProcess {
	lives := s.current != nil && !s.left && now-s.received <= 3e6
	i := slices.IndexFunc(s.processes, func(p *refProcess) bool { return p.epoch == m.Epoch })
	if i < 0 {
		p := &refProcess{epoch: m.Epoch, seq: m.Seq - 1, rows: map[int]refRow{}, received: map[int]bool{}}
		s.processes = append(s.processes, p)
		if s.current == nil || m.Epoch > s.current.epoch || !lives {
			return p
		}
		p.seq = m.Seq
		p.streak.add(m, now)
		return nil
	}
	p := s.processes[i]
	switch {
	case p == s.current && m.Seq > p.seq:
		return p
	case p == s.current:
		k := &s.behind
		if m.SentAt > s.sentAt && (k.over(now) || m.Seq > k.seq && m.SentAt > k.sentAt) && k.add(m, now) && !lives {
			s.behind = refStreak{}
			p.seq = m.Seq - 1
			return p
		}
	case m.Seq <= p.seq:
	case m.Epoch > s.current.epoch, !lives && !p.was:
		return p
	default:
		before := p.seq
		p.seq = m.Seq
		if p.streak.add(m, now) && !lives {
			p.seq = before
			return p
		}
	}
	return nil
}

// conflict reports whether another process publishes beside the current one.
func (s *refSource) conflict(now int64) bool {
	beside := func(k *refStreak) bool {
		return k.n >= 3 && k.last-k.first >= 1e6 && !k.over(now) && s.received > k.first
	}
	return !s.left && now-s.received <= 3e6 && (beside(&s.behind) ||
		slices.ContainsFunc(s.processes, func(p *refProcess) bool { return p != s.current && beside(&p.streak) }))
}

// lastMessage returns the time of the source's last message.
func (s *refSource) lastMessage() int64 {
	last := max(s.received, s.behind.last)
	for _, p := range s.processes {
		last = max(last, p.streak.last)
	}
	return last
}

// less returns the counters of a row without those of another one.
func (a refRow) less(b refRow) refRow {
	return refRow{a.tokens, a.arrivals - b.arrivals, a.firings - b.firings, a.timeouts - b.timeouts}
}

func (s *refSource) leave(gone bool) {
	s.shown, s.gone = false, gone
	for _, p := range s.processes {
		p.whole, p.received = false, map[int]bool{}
	}
}

// sums are what is compared: of the rows, and of the queue.
type sums struct {
	Tokens, Arrivals, Firings, Timeouts []uint64
	Ready, Served                       uint64
}

// sums returns the sums of all sources as of now.
func (r *reference) sums(now int64) sums {
	all := sums{Tokens: make([]uint64, r.rows), Arrivals: make([]uint64, r.rows), Firings: make([]uint64, r.rows), Timeouts: make([]uint64, r.rows)}
	for name, s := range r.sources {
		if now-s.lastMessage() > 15*60e6 && !slices.ContainsFunc(s.processes, func(p *refProcess) bool { return p.counts != nil }) {
			delete(r.sources, name) // nothing of it was ever shown
			continue
		}
		if now-s.lastMessage() > 15*60e6 || (s.shown && !s.current.whole && now-s.taken > 3e6 && !s.conflict(now)) {
			s.leave(s.gone)
		}
		for _, p := range s.processes {
			kept := int64(15 * 60e6)
			if p.bye {
				kept = 60e6
			}
			p.folded = p.folded || p.aside != 0 && p.counts != nil && now-max(p.aside, p.streak.last) > kept
			for at, row := range p.counts {
				all.add(at, row, p.aside == 0 && s.shown, r.rows)
			}
		}
	}
	return all
}

// add adds a row; what is there now only where it counts.
func (all *sums) add(at int, row refRow, now bool, rows int) {
	tokens := row.tokens
	if !now {
		tokens = 0
	}
	switch {
	case at == queueRow:
		all.Ready, all.Served = all.Ready+tokens, all.Served+row.arrivals
	case at >= rows:
		all.Firings[at-rows] += row.firings
		all.Timeouts[at-rows] += row.timeouts
	default:
		all.Arrivals[at] += row.arrivals
		all.Tokens[at] += tokens
	}
}

// engine is a source as it really is.
type engine struct {
	msg      telemetry.Snapshot // all of its rows, as they are
	changed  map[int]bool
	untilAll int
}

// play lets time pass in the engine.
func (e *engine) play(r *rand.Rand) {
	for range r.IntN(3) {
		at := r.IntN(len(e.msg.Rows.Places))
		e.changed[at] = true
		p := &e.msg.Rows.Places[at]
		p.Tokens, p.Arrivals = r.Uint64N(10), p.Arrivals+r.Uint64N(5)
		at = r.IntN(len(e.msg.Rows.Transitions))
		e.changed[len(e.msg.Rows.Places)+at] = true
		e.msg.Rows.Transitions[at].Firings += r.Uint64N(3)
		e.msg.Rows.Transitions[at].Timeouts += r.Uint64N(2)
		q := &e.msg.Rows.Queues[0]
		q.Ready, q.Served = r.Uint64N(10), q.Served+r.Uint64N(5)
	}
}

// say returns the next message.
func (e *engine) say(r *rand.Rand, now int64, bye bool) *telemetry.Snapshot {
	e.msg.Seq++
	e.msg.SentAt = now
	m := clone(&e.msg)
	m.Bye = bye
	if e.untilAll--; e.untilAll <= 0 || bye || r.IntN(8) == 0 {
		e.untilAll, e.changed = 4, map[int]bool{}
		return m
	}
	m.Full = false
	m.PlaceIndex, m.TransitionIndex = []uint32{}, []uint32{}
	places, transitions := m.Rows.Places, m.Rows.Transitions
	m.Rows.Places, m.Rows.Transitions = nil, nil
	for i := range places {
		if e.changed[i] {
			m.PlaceIndex, m.Rows.Places = append(m.PlaceIndex, uint32(i)), append(m.Rows.Places, places[i])
		}
		if e.changed[len(places)+i] {
			m.TransitionIndex, m.Rows.Transitions = append(m.TransitionIndex, uint32(i)), append(m.Rows.Transitions, transitions[i])
		}
	}
	e.changed = map[int]bool{}
	return m
}

func (e *engine) start(name string, now int64, rows int) {
	*e = engine{changed: map[int]bool{}, msg: telemetry.Snapshot{Source: name, Net: "n", Digest: "d", Epoch: now, Full: true,
		Interval: time.Second, Rows: *stats.NewRows(rows, rows)}}
	e.msg.Rows.Columns = stats.ColTokens | stats.ColArrivals | stats.ColFirings | stats.ColTimeouts | stats.ColQueues
	e.msg.Rows.Queues = []stats.Queue{{Priority: 5}}
}

// world is engines, a network that loses, doubles, delays and reorders, and
// the two that listen.
type world struct {
	t         *testing.T
	r         *rand.Rand
	now       int64
	engines   []engine
	net       []*telemetry.Snapshot // under way
	plain     bool                  // a source has one process at a time, and its clock never falls
	unchecked bool                  // by the reference
	ended     []*engine             // that will send no more
	twins     []*engine             // that continue although another one of their name was started
	m         *Merger
	ref       *reference
	last      *View
}

const worldRows = 3

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, r: rand.New(rand.NewPCG(seed, 1)), now: t0, engines: make([]engine, 3), m: NewMerger(Rules{}, t0),
		ref: &reference{rows: worldRows, sources: map[string]*refSource{}}}
	if _, err := w.m.Define("d", lineNet("n", worldRows, worldRows), t0); err != nil {
		t.Fatal(err)
	}
	for i := range w.engines {
		w.engines[i].start(fmt.Sprint("e", i), w.now, worldRows)
	}
	return w
}

func (w *world) step() {
	w.now += w.r.Int64N(1.5e6)
	i := w.r.IntN(len(w.engines))
	e := &w.engines[i]
	n := w.r.IntN(60)
	if w.plain && n >= 3 {
		n = 9
	}
	if n < 2 || n == 3 {
		was := *e
		w.ended = append(w.ended, &was)
	}
	switch n {
	case 0: // killed
		e.start(e.msg.Source, w.now, worldRows)
	case 3: // killed, and the next one's clock is an hour behind
		e.start(e.msg.Source, w.now, worldRows)
		e.msg.Epoch -= 3600e6
	case 4: // another one of its name is started, and both continue
		if twin := *e; len(w.twins) < 2 {
			w.twins = append(w.twins, &twin)
			e.start(e.msg.Source, w.now, worldRows)
		}
	case 5: // a bye that is not its own
		lie := clone(&e.msg)
		lie.Full = false
		lie.Bye = true
		lie.PlaceIndex = []uint32{}
		lie.TransitionIndex = []uint32{}
		lie.Rows.Places = nil
		lie.Rows.Transitions = nil
		lie.Seq, lie.SentAt = e.msg.Seq+1+w.r.Uint64N(3), w.now
		w.deliver(len(w.net))
		w.net = append(w.net, lie)
		w.deliver(1)
	case 1: // stopped
		w.send(e.say(w.r, w.now, true))
		e.start(e.msg.Source, w.now+1, worldRows)
	case 2: // everybody is cut off for a while
		w.deliver(len(w.net))
		w.now += w.r.Int64N(20 * 60e6)
	default:
		e.play(w.r)
		w.send(e.say(w.r, w.now, false))
	}
	for _, twin := range w.twins {
		if w.r.IntN(3) == 0 {
			twin.play(w.r)
			w.send(twin.say(w.r, w.now, w.r.IntN(40) == 0))
		}
	}
	if w.r.IntN(60) == 0 { // killed
		w.ended, w.twins = append(w.ended, w.twins...), nil
	}
	if w.r.IntN(2) == 0 {
		w.deliver(w.r.IntN(len(w.net) + 1))
	}
	if w.r.IntN(3) == 0 && !w.unchecked {
		w.compare()
	}
}

func (w *world) send(m *telemetry.Snapshot) {
	for range []int{0, 1, 1, 1, 1, 1, 1, 1, 1, 2}[w.r.IntN(10)] {
		w.net = append(w.net, m)
		if j := w.r.IntN(len(w.net)); w.r.IntN(5) == 0 {
			w.net[j], w.net[len(w.net)-1] = w.net[len(w.net)-1], w.net[j]
		}
	}
}

func (w *world) deliver(n int) {
	for _, m := range w.net[:n] {
		_, _ = w.m.Take(m, 1, w.now)
		w.ref.take(m, w.now)
	}
	w.net = w.net[n:]
}

func (w *world) compare() {
	w.t.Helper()
	view, _ := w.m.Tick(w.now)
	checkTotals(w.t, view)
	checkSources(w.t, w.m, view)
	want, got := w.ref.sums(w.now), sumsOf(view.Nets[0].Rows)
	if d := cmp.Diff(want, got); d != "" {
		w.t.Fatalf("at %d (-reference +merger):\n%s", w.now, d)
	}
	if n := view.Traffic.Rejected[string(Duplicate)] + view.Traffic.Rejected[string(OldEpoch)]; n != w.ref.dropped {
		w.t.Fatalf("%d messages dropped, expected %d", n, w.ref.dropped)
	}
	w.neverDecreases(view)
}

func sumsOf(rows *stats.Rows) (got sums) {
	for _, q := range rows.Queues { // none before the first source
		got.Ready, got.Served = q.Ready, q.Served
	}
	for i := range worldRows {
		got.Tokens = append(got.Tokens, rows.Places[i].Tokens)
		got.Arrivals = append(got.Arrivals, rows.Places[i].Arrivals)
		got.Firings = append(got.Firings, rows.Transitions[i].Firings)
		got.Timeouts = append(got.Timeouts, rows.Transitions[i].Timeouts)
	}
	return got
}

func (w *world) neverDecreases(view *View) {
	if w.last != nil {
		old, next := w.last.Nets[0].Rows, view.Nets[0].Rows
		for i := range old.Places {
			if next.Places[i].Arrivals < old.Places[i].Arrivals || next.Transitions[i].Firings < old.Transitions[i].Firings {
				w.t.Fatalf("a counter of row %d fell", i)
			}
		}
	}
	w.last = view
}

// neverTwice holds the sums against what all processes really did.
func (w *world) neverTwice() {
	w.t.Helper()
	arrivals, firings := [worldRows]uint64{}, [worldRows]uint64{}
	for _, e := range slices.Concat(w.ended, w.twins, []*engine{&w.engines[0], &w.engines[1], &w.engines[2]}) {
		for i := range worldRows {
			arrivals[i] += e.msg.Rows.Places[i].Arrivals
			firings[i] += e.msg.Rows.Transitions[i].Firings
		}
	}
	view, _ := w.m.Tick(w.now)
	checkTotals(w.t, view)
	checkSources(w.t, w.m, view)
	got := sumsOf(view.Nets[0].Rows)
	for i := range worldRows {
		if got.Arrivals[i] > arrivals[i] || got.Firings[i] > firings[i] {
			w.t.Fatalf("row %d: %d arrivals and %d firings are counted, of %d and %d", i, got.Arrivals[i], got.Firings[i], arrivals[i], firings[i])
		}
	}
	w.neverDecreases(view)
}

// Whatever the network does, the sums are those of a plain reading of the
// rules, and no counter ever falls.
//
//promise:counters none messages
func TestMergerAgreesWithTheReference(t *testing.T) {
	for seed := range seeds.Of(10, 150, 55, 110, 143, 17, 23) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := newWorld(t, seed)
			for range 400 {
				w.step()
			}
		})
	}
}
