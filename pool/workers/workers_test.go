// SPDX-License-Identifier: Apache-2.0

package workers

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/pool"
)

// start runs a pool of the given config until the test or the bubble ends. What
// the config leaves out has a default.
func start[W any](t *testing.T, c Config[W]) (p *Pool[W], stop func()) {
	t.Helper()
	if c.Workers == 0 {
		c.Workers = 1
	}
	if c.Batch == 0 {
		c.Batch = 1
	}
	c.Clock = now
	if c.Panicked == nil {
		c.Panicked = func(c pool.Channel, _ W, reason any, stack []byte) {
			t.Errorf("channel %d: %v\n%s", c.Index, reason, stack)
		}
	}
	p, err := NewPool(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { p.Run(ctx) })
	stop = func() {
		cancel()
		running.Wait()
	}
	t.Cleanup(stop)
	return p, stop
}

func register[W any](t testing.TB, p *Pool[W], index int32, priority pool.Priority, bound int) pool.Channel {
	t.Helper()
	c, err := p.Register(index, priority, bound)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func tryAdd[W any](t testing.TB, p *Pool[W], c pool.Channel, work ...W) {
	t.Helper()
	for _, w := range work {
		if err := p.TryAdd(c, w, now()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPoolServesTheGateTable: each event is the work of a channel of its own,
// and the gate is work that lasts until all are queued. What was the state of
// the discipline carries from row to row.
func TestPoolServesTheGateTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got strings.Builder
		open := make(chan struct{})
		p, _ := start(t, Config[rune]{Discipline: quoted(t, 3), Play: func(_ pool.Channel, event rune) {
			got.WriteRune(event)
			if event == 'g' {
				<-open
			}
		}})
		next := int32(0)
		event := func(p *Pool[rune], priority pool.Priority, event rune) {
			tryAdd(t, p, register(t, p, next, priority, 0), event)
			next++
		}
		for i, row := range []struct {
			alone string
			gate  pool.Priority
			queue string
			order string
		}{
			{"", 7, "77777 55 3333", "g 77 55 333 777 3"},
			{"", 3, "777 333 1", "g 3 1 777 33"},
			{"3", 3, "77 33 0", "3 g 33 0 77"},
			{"3", 7, "777 3", "3 g 77 3 7"},
		} {
			got.Reset()
			for _, e := range row.alone {
				event(p, pool.Priority(e-'0'), e)
			}
			synctest.Wait()
			event(p, row.gate, 'g')
			synctest.Wait()
			for _, e := range strings.ReplaceAll(row.queue, " ", "") {
				event(p, pool.Priority(e-'0'), e)
			}
			open <- struct{}{}
			synctest.Wait()
			if want := strings.ReplaceAll(row.order, " ", ""); got.String() != want {
				t.Errorf("row %d: order %s, want %s", i+1, got.String(), want)
			}
		}
	})
}

func TestAFullChannelMakesTryAddFailAndAddWaitInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		step := make(chan struct{})
		var played []int
		p, stop := start(t, Config[int]{Play: func(_ pool.Channel, work int) {
			<-step
			played = append(played, work)
		}})
		c := register(t, p, 0, 0, 2)
		tryAdd(t, p, c, 0)
		synctest.Wait() // 0 is in progress
		tryAdd(t, p, c, 1, 2)
		if err := p.TryAdd(c, -1, now()); !errors.Is(err, pool.ErrFull) {
			t.Errorf("adding to a full channel: %v", err)
		}
		for work := 3; work < 6; work++ {
			go func() {
				if err := p.Add(t.Context(), c, work, now()); err != nil {
					t.Error(err)
				}
			}()
			synctest.Wait()
		}
		if s := p.Stats(); s.Blocked != 3 || s.Waiting != 2 {
			t.Errorf("stats while three wait for room: %+v", s)
		}
		step <- struct{}{}
		synctest.Wait() // 1 is in progress, so there was room for one
		if s := p.Stats(); s.Blocked != 2 || s.Waiting != 2 {
			t.Errorf("stats while two wait for room: %+v", s)
		}
		for range 5 {
			step <- struct{}{}
		}
		synctest.Wait()
		stop()
		if diff := cmp.Diff([]int{0, 1, 2, 3, 4, 5}, played); diff != "" {
			t.Errorf("played (-want +got):\n%s", diff)
		}
	})
}

func TestLiftingTheBoundLetsInWhoWaitsAndRestoringItHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		p, _ := start(t, Config[int]{Play: func(pool.Channel, int) { <-hold }})
		defer close(hold)
		c := register(t, p, 0, 0, 1)
		tryAdd(t, p, c, 0)
		synctest.Wait()
		tryAdd(t, p, c, 1)
		for range 3 {
			go p.Add(t.Context(), c, 2, now())
		}
		synctest.Wait()
		if err := p.SetBound(c, 0, now()); err != nil {
			t.Fatal(err)
		}
		if s := p.Stats(); s.Blocked != 0 || s.Waiting != 4 {
			t.Errorf("after lifting the bound: %+v", s)
		}
		if err := p.SetBound(c, 1, now()); err != nil {
			t.Fatal(err)
		}
		if err := p.TryAdd(c, 3, now()); !errors.Is(err, pool.ErrFull) {
			t.Errorf("after restoring it: %v", err)
		}
	})
}

func TestAnInterruptedAddLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		var played []int
		p, stop := start(t, Config[int]{Play: func(_ pool.Channel, work int) {
			<-hold
			played = append(played, work)
		}})
		c := register(t, p, 0, 0, 1)
		tryAdd(t, p, c, 0)
		synctest.Wait()
		tryAdd(t, p, c, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			if err := p.Add(ctx, c, 2, now()); !errors.Is(err, context.Canceled) {
				t.Errorf("interrupted: %v", err)
			}
		}()
		synctest.Wait()
		go func() {
			if err := p.Add(t.Context(), c, 3, now()); err != nil {
				t.Error(err)
			}
		}()
		synctest.Wait()
		cancel()
		synctest.Wait()
		close(hold)
		synctest.Wait()
		stop()
		if diff := cmp.Diff([]int{0, 1, 3}, played); diff != "" {
			t.Errorf("played (-want +got):\n%s", diff)
		}
	})
}

func TestWhoWaitsForRoomIsToldThatTheChannelOrThePoolHasEnded(t *testing.T) {
	for name, row := range map[string]struct {
		end  func(p *Pool[int], c pool.Channel, stop func())
		want error
	}{
		"channel": {func(p *Pool[int], c pool.Channel, _ func()) { p.Unregister(c) }, pool.ErrNotRegistered},
		"pool":    {func(_ *Pool[int], _ pool.Channel, stop func()) { go stop() }, ErrStopped},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hold := make(chan struct{})
				p, stop := start(t, Config[int]{Play: func(pool.Channel, int) { <-hold }})
				c := register(t, p, 0, 0, 1)
				tryAdd(t, p, c, 0)
				synctest.Wait()
				tryAdd(t, p, c, 1)
				var got error
				go func() { got = p.Add(t.Context(), c, 2, now()) }()
				synctest.Wait()
				row.end(p, c, stop)
				synctest.Wait()
				if !errors.Is(got, row.want) {
					t.Errorf("%v, want %v", got, row.want)
				}
				if err := p.TryAdd(c, 3, now()); !errors.Is(err, row.want) {
					t.Errorf("later: %v, want %v", err, row.want)
				}
				close(hold)
			})
		})
	}
}

func TestAPoolThatStopsFinishesWhatWasTakenAndKeepsTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		played := 0
		p, stop := start(t, Config[int]{Batch: 2, Play: func(pool.Channel, int) {
			<-hold
			played++
		}})
		c := register(t, p, 0, 0, 0)
		tryAdd(t, p, c, 1)
		synctest.Wait()
		tryAdd(t, p, c, 2, 3)
		go stop()
		synctest.Wait()
		close(hold)
		synctest.Wait()
		if s := p.Stats(); played != 1 || s.Waiting != 2 || s.Ready.Priorities[0].Length != 1 {
			t.Errorf("%d played, stats %+v", played, s)
		}
	})
}

func TestAPanicEndsThePieceOfWorkAndNotTheChannel(t *testing.T) {
	for _, batch := range []int{1, 16} {
		synctest.Test(t, func(t *testing.T) {
			var played, panicked []int
			var reasons []any
			p, stop := start(t, Config[int]{
				Batch: batch,
				Play: func(_ pool.Channel, work int) {
					switch work {
					case 1:
						panic("one")
					case 3:
						runtime.Goexit()
					case 4:
						panic(nil)
					}
					played = append(played, work)
				},
				Panicked: func(_ pool.Channel, work int, reason any, stack []byte) {
					panicked, reasons = append(panicked, work), append(reasons, reason)
					if len(stack) == 0 {
						t.Error("no stack")
					}
				},
			})
			c, other := register(t, p, 0, 0, 0), register(t, p, 1, 0, 0)
			tryAdd(t, p, c, 0, 1, 2, 3, 4)
			synctest.Wait()
			tryAdd(t, p, other, 5)
			tryAdd(t, p, c, 6)
			synctest.Wait()
			if got := p.Stats(); got.Panics != 3 || got.Dormant != 2 {
				t.Errorf("stats %+v", got)
			}
			stop()
			slices.Sort(played)
			if diff := cmp.Diff([]int{0, 2, 5, 6}, played); diff != "" {
				t.Errorf("played (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]int{1, 3, 4}, panicked); diff != "" || reasons[0] != "one" || reasons[1] != any(ErrGoexit) {
				t.Errorf("panicked for %v: (-want +got):\n%s", reasons, diff)
			}
		})
	}
}

// TestWorkThatNeverReturnsKeepsOnlyItsChannel: while one worker is left, and
// even when the others, used to short work, had taken many channels with them.
func TestWorkThatNeverReturnsKeepsOnlyItsChannel(t *testing.T) {
	const channels = 200
	for seed := range uint64(100) {
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 2))
			hold := make(chan struct{})
			var played [channels]int
			workers := 2 + rnd.IntN(3)
			p, _ := start(t, Config[int]{Workers: workers, Batch: 1 + rnd.IntN(3), Play: func(c pool.Channel, work int) {
				if work < 0 {
					<-hold
				}
				played[c.Index]++
			}})
			defer close(hold)
			var cs []pool.Channel
			for i := range int32(channels) {
				cs = append(cs, register(t, p, i, 0, 0))
			}
			stuck := rnd.Perm(channels)[:workers-1]
			for i, c := range cs {
				if tryAdd(t, p, c, make([]int, 10)...); slices.Contains(stuck, i) {
					tryAdd(t, p, c, -1, 0)
				}
				if rnd.IntN(20) == 0 {
					synctest.Wait()
				}
			}
			synctest.Wait()
			if s := p.Stats(); s.InProgress != len(stuck) || s.Dormant != channels-len(stuck) {
				t.Errorf("seed %d, %d stuck: stats %+v", seed, len(stuck), s)
			}
			for i, n := range played {
				if n != 10 {
					t.Errorf("seed %d: channel %d has played %d, want 10", seed, i, n)
				}
			}
		})
	}
}

// TestWhatABusyWorkerHasNotBegunIsTakenOverByOneThatIsNeverIdle: otherwise it
// would wait as long as there is other work.
func TestWhatABusyWorkerHasNotBegunIsTakenOverByOneThatIsNeverIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		behind := 0
		p, err := NewPool(Config[int]{Workers: 2, Batch: 1, Clock: now, Panicked: func(pool.Channel, int, any, []byte) {},
			Play: func(c pool.Channel, _ int) {
				switch c.Index {
				case 0:
					<-hold
				case 1:
					behind++
				default: // never idle
					time.Sleep(100 * time.Microsecond)
				}
			}})
		if err != nil {
			t.Fatal(err)
		}
		stuck, other := &worker[int]{pace: pace{n: 1}}, &worker[int]{pace: pace{n: 1}}
		p.workers = []*worker[int]{stuck, other}
		for i := range int32(2) {
			tryAdd(t, p, register(t, p, i, 0, 0), 0)
		}
		for range 2 {
			run, work, _ := p.core.Start(1, stuck.work, now())
			stuck.add(run, len(stuck.work))
			stuck.work = work
		}
		stuck.pace.since = now()
		tryAdd(t, p, register(t, p, 2, 0, 0), make([]int, 1000)...)
		p.running.Go(func() { p.work(stuck) })
		p.running.Go(func() { p.work(other) })
		time.Sleep((overdue + 200) * time.Microsecond)
		synctest.Wait()
		if s := p.Stats(); behind != 1 || s.Waiting == 0 {
			t.Errorf("%d played of what was behind the stuck one, %d wait", behind, s.Waiting)
		}
		close(hold)
		p.stop()
		p.running.Wait()
	})
}

func TestLongWorkIsTakenChannelByChannel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := start(t, Config[int]{Play: func(pool.Channel, int) { time.Sleep(time.Millisecond) }})
		for i := range int32(20) {
			tryAdd(t, p, register(t, p, i, 0, 0), 0)
		}
		for range 10 {
			time.Sleep(time.Millisecond)
			synctest.Wait()
			if s := p.Stats(); s.InProgress != 1 {
				t.Fatalf("%d channels in progress, want 1", s.InProgress)
			}
		}
	})
}

func TestStarvationAndQueueAgesArePerPriority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := start(t, Config[int]{Discipline: pool.Strict(), Play: func(pool.Channel, int) { time.Sleep(time.Second) }})
		high, low := register(t, p, 0, 7, 0), register(t, p, 1, 0, 0)
		tryAdd(t, p, high, 1, 2, 3, 4, 5)
		tryAdd(t, p, low, 1)
		time.Sleep(2500 * time.Millisecond)
		s := p.Stats().Ready.Priorities
		if got := s[0].StarvationAge(now()); got != 2_500_000 || s[0].QueueAge(now()) != got {
			t.Errorf("p0 waits for %d and starves for %d", s[0].QueueAge(now()), got)
		}
		if s[7].Served != 3 || s[0].Served != 0 {
			t.Errorf("served: p7 %d, p0 %d", s[7].Served, s[0].Served)
		}
	})
}

func TestAConfigThatCannotWorkIsRefused(t *testing.T) {
	good := func() Config[int] {
		return Config[int]{Workers: 1, Batch: 1, Clock: now, Play: func(pool.Channel, int) {}, Panicked: func(pool.Channel, int, any, []byte) {}}
	}
	if _, err := NewPool(good()); err != nil {
		t.Errorf("a good one: %v", err)
	}
	for what, spoil := range map[string]func(*Config[int]){
		"no workers":  func(c *Config[int]) { c.Workers = 0 },
		"no batch":    func(c *Config[int]) { c.Batch = 0 },
		"no clock":    func(c *Config[int]) { c.Clock = nil },
		"no play":     func(c *Config[int]) { c.Play = nil },
		"no panicked": func(c *Config[int]) { c.Panicked = nil },
	} {
		c := good()
		spoil(&c)
		if _, err := NewPool(c); err == nil {
			t.Errorf("%s: accepted", what)
		}
	}
}
