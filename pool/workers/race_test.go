// SPDX-License-Identifier: Apache-2.0

package workers

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pnagent/pnagent/pool"
)

// piece is work of a producer, numbered by it.
type piece struct{ producer, number int }

// TestManyWorkersAndProducers: no two workers are ever in a channel, the work
// of a producer for a channel is played in its order, and all of it once.
func TestManyWorkersAndProducers(t *testing.T) {
	const channels, producers, each = 20, 4, 3000
	for i, discipline := range disciplines(t) {
		for _, batch := range []int{1, 16} {
			t.Run(fmt.Sprintf("%d_%v_batch_%d", i, discipline.Policy(), batch), func(t *testing.T) {
				var inside [channels]atomic.Int32
				var last [channels][producers]int
				var left sync.WaitGroup
				left.Add(producers * each)
				p, stop := start(t, Config[piece]{Discipline: discipline, Workers: 3, Batch: batch, Play: func(c pool.Channel, w piece) {
					if inside[c.Index].Add(1) != 1 {
						t.Errorf("two workers in channel %d", c.Index)
					}
					if l := &last[c.Index][w.producer]; *l >= w.number {
						t.Errorf("channel %d: %v after %d", c.Index, w, *l)
					} else {
						*l = w.number
					}
					if w.number%100 == 0 {
						runtime.Gosched()
					}
					inside[c.Index].Add(-1)
					left.Done()
				}})
				var cs []pool.Channel
				for i := range int32(channels) {
					cs = append(cs, register(t, p, i, pool.Priority(i%pool.Priorities), int(i%3)*4))
				}
				for producer := range producers {
					go func() {
						rnd := rand.New(rand.NewPCG(uint64(producer), 1))
						for n := range each {
							if err := p.Add(context.Background(), cs[rnd.IntN(channels)], piece{producer, n + 1}, now()); err != nil {
								t.Error(err)
							}
						}
					}()
				}
				left.Wait()
				stop()
				if s := p.Stats(); s.Waiting != 0 || s.Dormant != channels || s.Blocked != 0 {
					t.Errorf("stats after all: %+v", s)
				}
			})
		}
	}
}

// TestNothingIsLostWhileChannelsComeAndGoAndAddsAreInterrupted: what an Add has
// accepted is played, or returned by Unregister; what it has refused is not.
func TestNothingIsLostWhileChannelsComeAndGoAndAddsAreInterrupted(t *testing.T) {
	const channels, producers, each = 6, 4, 2000
	var inside [channels]atomic.Int32
	var seen sync.Map // piece to how often it was played or returned
	see := func(w piece) {
		n, _ := seen.LoadOrStore(w, new(atomic.Int32))
		n.(*atomic.Int32).Add(1)
	}
	p, stop := start(t, Config[piece]{Workers: 3, Batch: 4,
		Play: func(c pool.Channel, w piece) {
			if inside[c.Index].Add(1) != 1 {
				t.Errorf("two workers in index %d", c.Index)
			}
			defer inside[c.Index].Add(-1)
			see(w)
			if runtime.Gosched(); w.number%50 == 0 {
				panic("some work fails")
			}
		},
		Panicked: func(pool.Channel, piece, any, []byte) {},
	})
	var current [channels]atomic.Pointer[pool.Channel]
	renew := func(i int) {
		c := register(t, p, int32(i), 0, 2)
		current[i].Store(&c)
	}
	for i := range channels {
		renew(i)
	}
	var accepted [producers]map[piece]bool
	var producing sync.WaitGroup
	for producer := range producers {
		accepted[producer] = map[piece]bool{}
		producing.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(producer), 1))
			for n := range each {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rnd.IntN(50))*time.Microsecond)
				w := piece{producer, n}
				err := p.Add(ctx, *current[rnd.IntN(channels)].Load(), w, now())
				if cancel(); err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, pool.ErrNotRegistered) {
					t.Errorf("adding: %v", err)
				}
				accepted[producer][w] = err == nil
			}
		})
	}
	ended := make(chan struct{})
	var coming sync.WaitGroup
	coming.Go(func() {
		for i := 0; ; i = (i + 1) % channels {
			select {
			case <-ended:
				return
			default:
			}
			waiting, err := p.Unregister(*current[i].Load())
			if err != nil {
				t.Error(err)
			}
			for _, w := range waiting {
				see(w)
			}
			renew(i)
			runtime.Gosched()
		}
	})
	producing.Wait()
	close(ended)
	coming.Wait()
	for p.Stats().Waiting > 0 {
		runtime.Gosched()
	}
	stop()
	counts := map[bool]int{}
	for _, pieces := range accepted {
		for w, in := range pieces {
			n := int32(0)
			if seen, ok := seen.Load(w); ok {
				n = seen.(*atomic.Int32).Load()
			}
			if counts[in]++; in && n != 1 || !in && n != 0 {
				t.Fatalf("%v: accepted %v, and seen %d times", w, in, n)
			}
		}
	}
	t.Logf("%d accepted, %d refused", counts[true], counts[false])
}
