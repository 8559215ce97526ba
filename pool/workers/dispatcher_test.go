// SPDX-License-Identifier: Apache-2.0

package workers

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/pool"
)

func disciplines(t testing.TB) []pool.Discipline {
	return []pool.Discipline{pool.FIFO(), pool.Strict(), quoted(t, 1), quoted(t, 3)}
}

// TestDispatcherServesInTheOrderOfOneQueue: whether instances come from
// producers or from the owner, and however long they stay in the inbox.
func TestDispatcherServesInTheOrderOfOneQueue(t *testing.T) {
	for i, discipline := range disciplines(t) {
		t.Run(fmt.Sprintf("%d_%v", i, discipline.Policy()), func(t *testing.T) {
			for seed := range uint64(100) {
				rnd := rand.New(rand.NewPCG(seed, 1))
				d, q := NewDispatcher(discipline), pool.NewQueue(discipline)
				bias := 2 + rnd.IntN(7)
				for n := range int32(1000) {
					p := pool.Priority(rnd.IntN(pool.Priorities))
					switch r := rnd.IntN(10); {
					case r < bias-1:
						d.Post(n, p, int64(n))
						q.Push(n, p, int64(n))
					case r < bias:
						d.Push(n, p, int64(n))
						q.Push(n, p, int64(n))
					default:
						got, ok := d.Next(int64(n))
						if want, wantOK := q.Pop(int64(n)); got != want || ok != wantOK {
							t.Fatalf("seed %d, step %d: served %d %v, want %d %v", seed, n, got, ok, want, wantOK)
						}
					}
				}
				if diff := cmp.Diff(q.Stats(), d.Stats()); diff != "" {
					t.Fatalf("stats of a queue and of the dispatcher (-queue +dispatcher):\n%s", diff)
				}
			}
		})
	}
}

// TestProducersAndOwner: everything posted is served once, and that of one
// producer and one priority in its order. An instance's number is unique.
func TestProducersAndOwner(t *testing.T) {
	const producers, each = 4, 5000
	for i, discipline := range disciplines(t) {
		t.Run(fmt.Sprintf("%d_%v", i, discipline.Policy()), func(t *testing.T) {
			d := NewDispatcher(discipline)
			var posting sync.WaitGroup
			for p := range producers {
				posting.Go(func() {
					for n := range each {
						d.Post(int32(p*each+n), pool.Priority(n%pool.Priorities), 1)
					}
				})
			}
			last := map[[2]int32]int32{}
			for served := 0; served < producers*each; {
				instance, ok := d.Next(2)
				if !ok {
					<-d.Posted()
					continue
				}
				served++
				from := [2]int32{instance / each, instance % each % pool.Priorities}
				if before, seen := last[from]; seen && before >= instance {
					t.Fatalf("%d was served after %d", instance, before)
				}
				last[from] = instance
			}
			posting.Wait()
			if instance, ok := d.Next(2); ok {
				t.Errorf("%d was served twice", instance)
			}
		})
	}
}

func TestStatsCountWhatWaitsInTheInbox(t *testing.T) {
	d := NewDispatcher(pool.Strict())
	d.Post(1, 7, 10)
	d.Next(20)
	d.Post(2, 0, 30)
	d.Post(3, 0, 40)
	want := pool.Stats{Policy: pool.PolicyStrict}
	want.Priorities[7] = pool.PriorityStats{Served: 1}
	want.Priorities[0] = pool.PriorityStats{Length: 2, OldestSince: 30, UnservedSince: 30}
	if diff := cmp.Diff(want, d.Stats()); diff != "" {
		t.Errorf("stats (-want +got):\n%s", diff)
	}
}

func TestPostingAPriorityAboveTheHighestPanicsAtThePoster(t *testing.T) {
	for name, post := range map[string]func(){
		"dispatcher": func() { NewDispatcher(pool.FIFO()).Post(1, 8, 0) },
		"dedicated":  func() { NewDedicated(now, nil).Post(1, 8, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("p8 was accepted")
				}
			}()
			post()
		})
	}
}
