// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
)

// model is the specification: pool is a partial function from channels to
// sequences of work, and dormant, ready and inProgress partition its domain.
type model struct {
	pool       map[Channel][]int
	bound      map[Channel]int
	list       map[Channel]Priority
	dormant    map[Channel]bool
	ready      []Channel // an ordered set
	inProgress map[Channel]bool
	inside     map[int32]bool // indexes that somebody is in, of whatever generation
}

func newModel() *model {
	return &model{map[Channel][]int{}, map[Channel]int{}, map[Channel]Priority{}, map[Channel]bool{}, nil, map[Channel]bool{}, map[int32]bool{}}
}

func (m *model) register(c Channel, p Priority, bound int) {
	m.pool[c], m.bound[c], m.list[c] = nil, bound, p
	if m.inside[c.Index] {
		m.inProgress[c] = true
	} else {
		m.dormant[c] = true
	}
}

func (m *model) unregister(c Channel) []int {
	waiting := m.pool[c]
	delete(m.pool, c)
	delete(m.dormant, c)
	delete(m.inProgress, c)
	m.ready = slices.DeleteFunc(m.ready, func(o Channel) bool { return o == c })
	return waiting
}

func (m *model) deliver(c Channel, work int) error {
	if _, ok := m.pool[c]; !ok {
		return ErrNotRegistered
	}
	if m.bound[c] > 0 && len(m.pool[c]) >= m.bound[c] {
		return ErrFull
	}
	m.pool[c] = append(m.pool[c], work)
	if m.dormant[c] {
		delete(m.dormant, c)
		m.ready = append(m.ready, c)
	}
	return nil
}

// start takes the head of ready; strict takes the first of the highest
// priority in it.
func (m *model) start(batch int, strict bool) (Channel, []int, bool) {
	if len(m.ready) == 0 {
		return Channel{}, nil, false
	}
	at := 0
	for i, c := range m.ready {
		if strict && m.list[c] > m.list[m.ready[at]] {
			at = i
		}
	}
	c := m.ready[at]
	m.ready = slices.Delete(m.ready, at, at+1)
	m.inProgress[c], m.inside[c.Index] = true, true
	n := min(batch, len(m.pool[c]))
	work := m.pool[c][:n]
	m.pool[c] = m.pool[c][n:]
	return c, work, true
}

func (m *model) end(index int32) {
	delete(m.inside, index)
	for c := range m.inProgress {
		if c.Index != index {
			continue
		}
		delete(m.inProgress, c)
		if len(m.pool[c]) > 0 {
			m.ready = append(m.ready, c)
		} else {
			m.dormant[c] = true
		}
	}
}

func (m *model) state(c Channel) State {
	switch {
	case m.dormant[c]:
		return Dormant
	case m.inProgress[c]:
		return InProgress
	case slices.Contains(m.ready, c):
		return Ready
	}
	return Absent
}

// bench drives a pool and its model by the same random operations.
type bench struct {
	t       *testing.T
	rnd     *rand.Rand
	pool    *Pool[int]
	model   *model
	strict  bool
	known   []Channel // ever registered
	current map[int32]Channel
	runs    []Run
	ended   []Run
	work    int
	now     int64
}

func (b *bench) step() string {
	b.now++
	channel := func() Channel { return b.known[b.rnd.IntN(len(b.known))] }
	switch op := b.rnd.IntN(20); {
	case op < 2 || len(b.known) == 0:
		return b.register(int32(b.rnd.IntN(8)), Priority(b.rnd.IntN(Priorities)), b.rnd.IntN(4))
	case op < 3:
		return b.unregister(channel())
	case op < 4:
		c, n := channel(), b.rnd.IntN(4)
		if err := b.pool.SetBound(c, n); err == nil {
			b.model.bound[c] = n
		}
		return fmt.Sprint("set bound ", c, n)
	case op < 11:
		return b.deliver(channel())
	case op < 16:
		return b.start(1 + b.rnd.IntN(3))
	case op < 17 && len(b.ended) > 0:
		r := b.ended[b.rnd.IntN(len(b.ended))]
		if err := b.pool.End(r, b.now); !errors.Is(err, ErrNotInProgress) {
			b.t.Fatalf("a run that has ended ended again: %v", err)
		}
		return "end again"
	default:
		return b.end()
	}
}

func (b *bench) register(index int32, p Priority, bound int) string {
	_, there := b.current[index]
	c, err := b.pool.Register(index, p, bound)
	if there != errors.Is(err, ErrRegistered) {
		b.t.Fatalf("registering %d, there %v: %v", index, there, err)
	}
	if err == nil {
		b.model.register(c, p, bound)
		b.known, b.current[index] = append(b.known, c), c
	}
	return fmt.Sprint("register ", index)
}

func (b *bench) unregister(c Channel) string {
	got, err := b.pool.Unregister(c, nil)
	if there := b.current[c.Index] == c; there != (err == nil) {
		b.t.Fatalf("unregistering %v, there %v: %v", c, there, err)
	}
	if err == nil {
		delete(b.current, c.Index)
		if want := b.model.unregister(c); !slices.Equal(got, want) {
			b.t.Fatalf("unregistering %v gave %v, want %v", c, got, want)
		}
	}
	return fmt.Sprint("unregister ", c)
}

func (b *bench) deliver(c Channel) string {
	b.work++
	got, want := b.pool.Deliver(c, b.work, b.now), b.model.deliver(c, b.work)
	if !errors.Is(got, want) {
		b.t.Fatalf("deliver to %v: %v, want %v", c, got, want)
	}
	return fmt.Sprint("deliver ", c)
}

func (b *bench) start(batch int) string {
	c, want, wantOK := b.model.start(batch, b.strict)
	r, got, ok := b.pool.Start(batch, nil, b.now)
	if r.Channel != c || ok != wantOK || !slices.Equal(got, want) {
		b.t.Fatalf("start gave %v %v %v, want %v %v %v", r, got, ok, c, want, wantOK)
	}
	if ok {
		if slices.ContainsFunc(b.runs, func(o Run) bool { return o.Channel.Index == c.Index }) {
			b.t.Fatalf("two inside %d", c.Index)
		}
		b.runs = append(b.runs, r)
	}
	return fmt.Sprint("start ", c)
}

func (b *bench) end() string {
	if len(b.runs) == 0 {
		return "end nothing"
	}
	i := b.rnd.IntN(len(b.runs))
	r := b.runs[i]
	b.runs, b.ended = slices.Delete(b.runs, i, i+1), append(b.ended, r)
	if err := b.pool.End(r, b.now); err != nil {
		b.t.Fatalf("end of %v: %v", r, err)
	}
	b.model.end(r.Channel.Index)
	return fmt.Sprint("end ", r)
}

// check compares all that can be seen, and holds the invariants: the three
// states partition the domain, dormant has no work, ready has some.
func (b *bench) check(op string) {
	b.t.Helper()
	waiting := 0
	for _, c := range b.known {
		state, n := b.pool.State(c), b.pool.Waiting(c)
		waiting += n
		if want := b.model.state(c); state != want || n != len(b.model.pool[c]) {
			b.t.Fatalf("after %s: %v is in state %d with %d, want %d with %d", op, c, state, n, want, len(b.model.pool[c]))
		}
		if state == Dormant && n != 0 || state == Ready && n == 0 {
			b.t.Fatalf("after %s: %v is in state %d with %d pieces of work", op, c, state, n)
		}
	}
	s := b.pool.Stats()
	length := 0
	for _, p := range s.Ready.Priorities {
		length += p.Length
	}
	if m := b.model; s.Waiting != waiting || s.Dormant != len(m.dormant) || s.InProgress != len(m.inProgress) ||
		length != len(m.ready) || b.pool.Ready() != length || s.Dormant+s.InProgress+length != len(m.pool) {
		b.t.Fatalf("after %s: stats %+v", op, s)
	}
}

func TestPoolKeepsItsSpecification(t *testing.T) {
	for _, d := range []Discipline{FIFO(), Strict()} {
		t.Run(d.Policy().String(), func(t *testing.T) {
			for seed := range uint64(200) {
				b := &bench{t: t, rnd: rand.New(rand.NewPCG(seed, 3)), pool: New[int](d), model: newModel(),
					strict: d.Policy() == PolicyStrict, current: map[int32]Channel{}}
				for range 500 {
					b.check(b.step())
				}
			}
		})
	}
}

// TestReadyChannelsTakeTurnsByTheDiscipline: a channel with one piece of work
// is an event, and so the order is that of a Queue.
func TestReadyChannelsTakeTurnsByTheDiscipline(t *testing.T) {
	for i, d := range disciplines(t) {
		t.Run(fmt.Sprintf("%d_%v", i, d.Policy()), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(5, 5))
			p, q := New[int](d), NewQueue(d)
			for n := range 5000 {
				if rnd.IntN(2) == 0 {
					prio := Priority(rnd.IntN(Priorities))
					c, err := p.Register(int32(n), prio, 0)
					if err != nil || p.Deliver(c, n, int64(n)) != nil {
						t.Fatal(err)
					}
					q.Push(int32(n), prio, int64(n))
					continue
				}
				want, wantOK := q.Pop(int64(n))
				r, _, ok := p.Start(1, nil, int64(n))
				if ok != wantOK || ok && r.Channel.Index != want {
					t.Fatalf("step %d: started %v %v, the queue serves %d %v", n, r, ok, want, wantOK)
				}
			}
			if diff := cmp.Diff(q.Stats(), p.Stats().Ready); diff != "" {
				t.Errorf("stats of the queue and of the pool (-queue +pool):\n%s", diff)
			}
		})
	}
}

func TestABatchNeverExceedsWhatIsLeftOfTheQuote(t *testing.T) {
	p := New[int](quoted(t, alike(3)))
	a, _ := p.Register(1, 7, 0)
	b, _ := p.Register(2, 7, 0)
	low, _ := p.Register(3, 0, 0)
	for w := range 2 {
		p.Deliver(a, w, 0)
	}
	for w := range 5 {
		p.Deliver(b, w, 0)
	}
	p.Deliver(low, 0, 0)
	for i, want := range []struct {
		of   Channel
		work []int
	}{{a, []int{0, 1}}, {b, []int{0}}, {low, []int{0}}, {b, []int{1, 2, 3}}, {b, []int{4}}} {
		r, work, _ := p.Start(16, nil, 0)
		if r.Channel != want.of || !slices.Equal(work, want.work) {
			t.Errorf("start %d gave %v %v, want %v", i+1, r.Channel, work, want)
		}
		p.End(r, 0)
	}
}

func TestUnregisteringInProgressAndRegisteringAgainLetsNoSecondWorkerIn(t *testing.T) {
	p := New[string](FIFO())
	old, _ := p.Register(5, 0, 0)
	p.Deliver(old, "a", 0)
	p.Deliver(old, "b", 0)
	first, _, _ := p.Start(1, nil, 0)
	waiting, err := p.Unregister(old, nil)
	if err != nil || !slices.Equal(waiting, []string{"b"}) {
		t.Fatalf("unregistering gave %v, %v", waiting, err)
	}
	fresh, err := p.Register(5, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Deliver(old, "late", 0); !errors.Is(err, ErrNotRegistered) {
		t.Errorf("work for the old registration: %v", err)
	}
	p.Deliver(fresh, "c", 0)
	if r, _, ok := p.Start(1, nil, 0); ok {
		t.Fatalf("a second worker was let into %v", r)
	}
	if err := p.End(first, 0); err != nil {
		t.Fatal(err)
	}
	second, work, ok := p.Start(1, nil, 0)
	if !ok || second.Channel != fresh || !slices.Equal(work, []string{"c"}) {
		t.Fatalf("after the old run: %v %v %v", second, work, ok)
	}
	if err := p.End(first, 0); !errors.Is(err, ErrNotInProgress) {
		t.Errorf("ending the old run again while the new one goes on: %v", err)
	}
	if s := p.Stats(); s.Discarded != 1 || s.InProgress != 1 {
		t.Errorf("stats %+v", s)
	}
}

func TestABoundIsLiftedAndRestored(t *testing.T) {
	p := New[int](FIFO())
	c, _ := p.Register(0, 0, 2)
	deliver := func(want error) {
		t.Helper()
		if err := p.Deliver(c, 0, 0); !errors.Is(err, want) {
			t.Errorf("deliver: %v, want %v", err, want)
		}
	}
	deliver(nil)
	deliver(nil)
	deliver(ErrFull)
	p.SetBound(c, 0)
	deliver(nil)
	p.SetBound(c, 2) // three wait, and stay
	deliver(ErrFull)
	p.Start(1, nil, 0)
	deliver(ErrFull)
	if got := p.Waiting(c); got != 2 {
		t.Errorf("%d wait, want 2", got)
	}
	p.SetBound(c, 3)
	deliver(nil)
}

func TestAChannelCostsWhatItsCommentSays(t *testing.T) {
	if n := unsafe.Sizeof(slot{}); n != 48 {
		t.Errorf("%d bytes", n)
	}
}

func TestAWarmPoolDoesNotAllocateAndKeepsNoWork(t *testing.T) {
	p := New[*int](FIFO())
	var channels []Channel
	for i := range int32(10) {
		c, _ := p.Register(i, 0, 0)
		channels = append(channels, c)
	}
	var buf []*int
	turn := func() {
		for _, c := range channels {
			p.Deliver(c, new(int), 0)
		}
		for {
			r, work, ok := p.Start(16, buf[:0], 0)
			if buf = work; !ok {
				return
			}
			p.End(r, 0)
		}
	}
	turn()
	if n := testing.AllocsPerRun(10, turn); n != 10 { // the work itself
		t.Errorf("%v allocations", n-10)
	}
	for i, w := range p.works.all {
		if w.work != nil {
			t.Errorf("place %d still holds its work", i)
		}
	}
}
