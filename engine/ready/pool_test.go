// SPDX-License-Identifier: Apache-2.0

package ready

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
)

// model is the specification: each instance has a number of pieces of work, and
// is either dormant, ready or playing.
type model struct {
	bound    int
	work     []int
	priority []Priority
	ready    []int // an ordered set
	playing  map[int]bool
}

func (m *model) deliver(i int) {
	if m.bound > 0 && m.work[i] >= m.bound {
		return
	}
	m.work[i]++
	if m.work[i] == 1 && !m.playing[i] {
		m.ready = append(m.ready, i)
	}
}

// start takes the first ready instance; with strict, the first one of the
// highest priority.
func (m *model) start(batch int, strict bool) (int, bool) {
	if len(m.ready) == 0 {
		return 0, false
	}
	at := 0
	for k, i := range m.ready {
		if strict && m.priority[i] > m.priority[m.ready[at]] {
			at = k
		}
	}
	return m.take(at, batch), true
}

func (m *model) take(at, batch int) int {
	i := m.ready[at]
	m.ready = slices.Delete(m.ready, at, at+1)
	m.playing[i] = true
	m.work[i] -= min(batch, m.work[i])
	return i
}

func (m *model) end(i int) {
	delete(m.playing, i)
	if m.work[i] > 0 {
		m.ready = append(m.ready, i)
	}
}

// bench applies the same random operations to a pool and its model.
type bench struct {
	t      *testing.T
	rnd    *rand.Rand
	pool   *Pool
	model  *model
	strict bool
	now    int64
}

func (b *bench) step() string {
	b.now++
	i := b.rnd.IntN(len(b.model.work))
	switch op := b.rnd.IntN(16); {
	case op < 8:
		b.pool.Deliver(i, b.now)
		b.model.deliver(i)
		return fmt.Sprint("deliver ", i)
	case op < 12:
		batch := 1 + b.rnd.IntN(3)
		want, wantOK := b.model.start(batch, b.strict)
		if got, ok := b.pool.Start(batch, b.now); got != want || ok != wantOK {
			b.t.Fatalf("start gave %v %v, want %v %v", got, ok, want, wantOK)
		}
		return fmt.Sprint("start ", want)
	case op < 13 && b.strict:
		return b.startOf(Priority(b.rnd.IntN(Priorities)))
	case len(b.model.playing) > 0:
		for i = range b.model.playing {
			break
		}
		b.pool.End(i, b.now)
		b.model.end(i)
		return fmt.Sprint("end ", i)
	}
	return "nothing"
}

func (b *bench) startOf(p Priority) string {
	at := slices.IndexFunc(b.model.ready, func(i int) bool { return b.model.priority[i] == p })
	got, ok := b.pool.StartOf(p, b.now)
	if ok != (at >= 0) || ok && got != b.model.take(at, 1) {
		b.t.Fatalf("start of %v gave %v %v; ready are %v", p, got, ok, b.model.ready)
	}
	return fmt.Sprint("start of ", p)
}

// check compares everything visible.
func (b *bench) check(op string) {
	b.t.Helper()
	sum := 0
	for i, want := range b.model.work {
		n := b.pool.Waiting(i)
		sum += n
		if n != want || b.pool.Full(i) != (b.model.bound > 0 && want >= b.model.bound) {
			b.t.Fatalf("after %s: instance %d has %d, full %v; want %d", op, i, n, b.pool.Full(i), want)
		}
	}
	present := uint8(0)
	for _, i := range b.model.ready {
		present |= 1
		if b.strict {
			present |= 1 << b.model.priority[i]
		}
	}
	if b.strict && !slices.ContainsFunc(b.model.ready, func(i int) bool { return b.model.priority[i] == 0 }) {
		present &^= 1
	}
	s, waiting := b.pool.Stats()
	length := 0
	for _, p := range s.Priorities {
		length += p.Length
	}
	if waiting != sum || length != len(b.model.ready) || b.pool.Present() != present {
		b.t.Fatalf("after %s: %d wait, want %d; present %b, want %b; stats %+v", op, waiting, sum, b.pool.Present(), present, s)
	}
}

func TestPoolKeepsItsSpecification(t *testing.T) {
	for _, d := range []Discipline{FIFO(), Strict()} {
		t.Run(d.Policy().String(), func(t *testing.T) {
			for seed := range uint64(200) {
				rnd := rand.New(rand.NewPCG(seed, 3))
				n, bound := 1+rnd.IntN(8), rnd.IntN(4)
				b := &bench{t: t, rnd: rnd, pool: NewPool(d, n, bound), strict: d.Policy() == PolicyStrict,
					model: &model{bound: bound, work: make([]int, n), priority: make([]Priority, n), playing: map[int]bool{}}}
				for i := range n {
					b.model.priority[i] = Priority(rnd.IntN(Priorities))
					b.pool.Rank(i, b.model.priority[i])
				}
				for range 500 {
					b.check(b.step())
				}
			}
		})
	}
}

// If every instance has one piece of work, the order is that of a Queue of
// events.
func TestReadyInstancesTakeTurnsByTheDiscipline(t *testing.T) {
	for i, d := range disciplines(t) {
		t.Run(fmt.Sprintf("%d_%v", i, d.Policy()), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(5, 5))
			p, q := NewPool(d, 5000, 0), NewQueue(d)
			for n := range 5000 {
				if rnd.IntN(2) == 0 {
					prio := Priority(rnd.IntN(Priorities))
					p.Rank(n, prio)
					p.Deliver(n, int64(n))
					q.Push(int32(n), prio, int64(n))
					continue
				}
				want, wantOK := q.Pop(int64(n))
				got, ok := p.Start(1, int64(n))
				if ok != wantOK || ok && int32(got) != want {
					t.Fatalf("step %d: started %v %v, the queue serves %d %v", n, got, ok, want, wantOK)
				}
			}
			rows, _ := p.Stats()
			if diff := cmp.Diff(q.Stats(), rows); diff != "" {
				t.Errorf("stats of the queue and of the pool (-queue +pool):\n%s", diff)
			}
		})
	}
}

func TestABatchNeverExceedsWhatIsLeftOfTheQuote(t *testing.T) {
	p := NewPool(quoted(t, alike(3)), 3, 0)
	const a, b, low = 0, 1, 2
	p.Rank(a, 7)
	p.Rank(b, 7)
	for _, i := range []int{a, a, b, b, b, b, b, low} {
		p.Deliver(i, 0)
	}
	for k, want := range []struct{ of, work int }{{a, 2}, {b, 1}, {low, 1}, {b, 3}, {b, 1}} {
		_, before := p.Stats()
		i, _ := p.Start(16, 0)
		_, after := p.Stats()
		if i != want.of || before-after != want.work {
			t.Errorf("start %d gave %d pieces of %v, want %v", k+1, before-after, i, want)
		}
		p.End(i, 0)
	}
}

// Work that arrives while an instance is played waits: the instance is not
// started twice at once.
func TestAnInstanceThatIsPlayedIsNotStarted(t *testing.T) {
	p := NewPool(FIFO(), 1, 0)
	p.Deliver(0, 0)
	p.Start(1, 0)
	p.Deliver(0, 0)
	if i, ok := p.Start(1, 0); ok || p.Present() != 0 {
		t.Fatalf("instance %d was started again", i)
	}
	p.End(0, 5)
	if since, ok := p.SinceOf(0); since != 5 || !ok {
		t.Errorf("ready since %d %v, want 5", since, ok)
	}
}

func TestAnInstanceCostsWhatItsCommentSays(t *testing.T) {
	if n := unsafe.Sizeof(slot{}); n != 8 {
		t.Errorf("%d bytes", n)
	}
}

func TestAWarmPoolDoesNotAllocate(t *testing.T) {
	p := NewPool(FIFO(), 10, 0)
	turn := func() {
		for i := range 10 {
			p.Deliver(i, 0)
		}
		for i, ok := p.Start(16, 0); ok; i, ok = p.Start(16, 0) {
			p.End(i, 0)
		}
	}
	turn()
	if n := testing.AllocsPerRun(10, turn); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
