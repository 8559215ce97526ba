// SPDX-License-Identifier: Apache-2.0

package workers

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/pool"
)

// runDedicated runs a dispatcher until the test ends.
func runDedicated(t *testing.T, serve func(instance int32, p pool.Priority)) *Dedicated {
	t.Helper()
	d := NewDedicated(now, serve)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { d.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	return d
}

func TestOnePerPriorityKeepsTheOrderInsideAPriority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 20000
		var served [pool.Priorities][]int32 // each by its own goroutine
		d := runDedicated(t, func(instance int32, p pool.Priority) { served[p] = append(served[p], instance) })
		for i := range int32(n) {
			d.Post(i, pool.Priority(i%pool.Priorities), now())
		}
		synctest.Wait()
		total := 0
		for p, s := range served {
			total += len(s)
			if !slices.IsSorted(s) {
				t.Errorf("p%d out of order", p)
			}
			if got := d.Stats().Priorities[p]; got.Served != uint64(len(s)) || got.Length != 0 {
				t.Errorf("p%d has served %d and counts %+v", p, len(s), got)
			}
		}
		if total != n {
			t.Errorf("%d served, want %d", total, n)
		}
	})
}

func TestOnePerPriorityLetsNoneWaitForAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		var served sync.Map
		d := runDedicated(t, func(instance int32, p pool.Priority) {
			if instance == 0 {
				<-hold
			}
			served.Store(instance, p)
		})
		d.Post(0, 7, now())
		synctest.Wait()
		d.Post(1, 7, now())
		d.Post(2, 0, now())
		synctest.Wait()
		if _, ok := served.Load(int32(1)); ok {
			t.Error("p7 has overtaken itself")
		}
		if p, ok := served.Load(int32(2)); !ok || p != pool.Priority(0) {
			t.Error("p0 waits for p7")
		}
		close(hold)
	})
}

// TestWhatADedicatedGoroutineHasTakenAndNotBegunIsReady: it takes several at
// once when they are short, and one of them may then last.
func TestWhatADedicatedGoroutineHasTakenAndNotBegunIsReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, hold := make(chan struct{}), make(chan struct{})
		d := runDedicated(t, func(instance int32, _ pool.Priority) {
			switch instance {
			case 0:
				<-first
			case 40: // by now several are taken at once
				<-hold
			}
		})
		start := now()
		for i := range int32(100) {
			d.Post(i, 3, start)
		}
		close(first)
		synctest.Wait()
		time.Sleep(time.Second)
		s := d.Stats()
		want := pool.PriorityStats{Length: 59, OldestSince: start, UnservedSince: start, Served: 41}
		if diff := cmp.Diff(want, s.Priorities[3]); diff != "" {
			t.Errorf("while one is served that lasts (-want +got):\n%s", diff)
		}
		if s.Policy != pool.PolicyDedicated || s.Priorities[3].StarvationAge(now()) != 1e6 || s.Priorities[3].QueueAge(now()) != 1e6 {
			t.Errorf("after a second: %+v", s)
		}
		close(hold)
	})
}

func TestADedicatedDispatcherThatEndsKeepsWhatItHasNotTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		hold := make(chan struct{})
		d := NewDedicated(now, func(int32, pool.Priority) { <-hold })
		var running sync.WaitGroup
		running.Go(func() { d.Run(ctx) })
		d.Post(0, 1, now())
		synctest.Wait()
		d.Post(1, 1, now())
		cancel()
		close(hold)
		running.Wait()
		if s := d.Stats().Priorities[1]; s.Served != 1 || s.Length != 1 {
			t.Errorf("after the end: %+v", s)
		}
	})
}

func TestPace(t *testing.T) {
	for _, row := range []struct {
		rule string
		took []int64 // µs, turn by turn
		want []int
	}{
		{"doubles while turns are short, up to a limit", []int64{1, 1, 1, 1, 1, 1, 1, 1}, []int{2, 4, 8, 16, 32, 64, 64, 64}},
		{"goes back to one at once when a turn was long", []int64{1, 1, 1, 1000, 1}, []int{2, 4, 8, 1, 2}},
		{"settles where a turn takes its time", []int64{10, 20, 40, 40}, []int{2, 4, 5, 6}},
		{"a clock that stands or goes back is a short turn", []int64{0, -5}, []int{2, 4}},
	} {
		p := pace{n: 1}
		at := int64(0)
		var got []int
		for _, d := range row.took {
			at += d
			got = append(got, p.next(at))
		}
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.rule, diff)
		}
	}
}
