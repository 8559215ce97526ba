// SPDX-License-Identifier: Apache-2.0

package locks

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// world is a number of nodes that play until they are stopped.
type world struct {
	t       testing.TB
	url     string
	etcd    *clientv3.Client
	firings atomic.Uint64
	ended   sync.WaitGroup
}

func newWorld(t testing.TB, sync bool) *world {
	w := &world{t: t, url: start(t, sync)}
	w.etcd = connect(t, w.url)
	return w
}

// lead makes a new node lead a region as soon as no other node does.
func (w *world) lead(region string, transitions ...transition) (leave func()) {
	w.t.Helper()
	etcd := connect(w.t, w.url)
	ctx, cancel := context.WithCancel(context.Background())
	n, err := newNode(ctx, etcd, transitions, &w.firings)
	if err != nil {
		w.t.Fatal(err)
	}
	done := make(chan struct{})
	w.ended.Go(func() {
		defer close(done)
		if err := n.lead(ctx, region); err != nil {
			w.t.Errorf("region %q: %v", region, err)
		}
	})
	return sync.OnceFunc(func() {
		cancel()
		<-done
		if _, err := etcd.Revoke(context.Background(), n.lease); err != nil {
			w.t.Errorf("revoking the lease of a node of %q: %v", region, err)
		}
	})
}

// fires waits for a number of further firings.
func (w *world) fires(more uint64) {
	w.t.Helper()
	end := time.Now().Add(patience)
	for until := w.firings.Load() + more; w.firings.Load() < until; {
		if w.t.Failed() || time.Now().After(end) && more < 100 {
			w.t.Fatalf("%d firings; want %d", w.firings.Load(), until)
		}
		time.Sleep(50 * time.Microsecond)
	}
}

// conserved checks the tokens after all nodes have left.
func (w *world) conserved(tokens int) {
	w.t.Helper()
	w.ended.Wait()
	if got := count(w.t, w.etcd); got != tokens {
		w.t.Errorf("%d tokens; want %d", got, tokens)
	}
}

// pingpong plays tokens that move back and forth between two regions.
func pingpong(w *world, tokens int) (stop func()) {
	inject(w.t, w.etcd, 1, 1, tokens)
	one := w.lead("one", transition{1, 1, 2})
	two := w.lead("two", transition{2, 2, 1})
	return func() { one(); two(); w.conserved(tokens) }
}

// rings plays nets of two places and a token each, in one region.
func rings(w *world, nets int) (stop func()) {
	var all []transition
	for i := range nets {
		a, b := 2*i+1, 2*i+2
		inject(w.t, w.etcd, a, i+1, 1)
		all = append(all, transition{a, a, b}, transition{b, b, a})
	}
	one := w.lead("one", all...)
	return func() { one(); w.conserved(nets) }
}

func BenchmarkFirings(b *testing.B) {
	for _, sync := range []bool{false, true} {
		for _, net := range []struct {
			name string
			play func(*world) (stop func())
		}{
			{"across/tokens=1", func(w *world) func() { return pingpong(w, 1) }},
			{"across/tokens=100", func(w *world) func() { return pingpong(w, 100) }},
			{"inside/nets=1", func(w *world) func() { return rings(w, 1) }},
			{"inside/nets=96", func(w *world) func() { return rings(w, 96) }},
		} {
			b.Run(fmt.Sprintf("%s/sync=%t", net.name, sync), func(b *testing.B) {
				w := newWorld(b, sync)
				stop := net.play(w)
				w.fires(10)
				b.ResetTimer()
				began, at := w.firings.Load(), time.Now()
				w.fires(uint64(b.N))
				b.ReportMetric(float64(w.firings.Load()-began)/time.Since(at).Seconds(), "firings/s")
				b.StopTimer()
				stop()
			})
		}
	}
}

// BenchmarkHandOver measures the time from the request to end a leader to the
// first firing of the standby node.
func BenchmarkHandOver(b *testing.B) {
	w := newWorld(b, false)
	inject(b, w.etcd, 1, 1, 1)
	ring := []transition{{1, 1, 2}, {2, 2, 1}}
	leaves := w.lead("one", ring...)
	w.fires(10)
	var took []time.Duration
	for range b.N {
		next := w.lead("one", ring...)
		for w.waiting("one") < 2 {
			time.Sleep(time.Millisecond)
		}
		at := time.Now()
		leaves()
		w.fires(1) // of the next leader: this one has ended
		took = append(took, time.Since(at))
		leaves = next
	}
	leaves()
	w.conserved(1)
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-median")
	b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "ms-most")
}

// waiting returns how many nodes lead a region or wait for it.
func (w *world) waiting(region string) int {
	r, err := w.etcd.Get(context.Background(), prefix+"region/"+region+"/election/", clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		w.t.Fatal(err)
	}
	return int(r.Count)
}

func TestNoTokenIsLostOrDoubled(t *testing.T) {
	for _, tokens := range []int{1, 12} {
		t.Run("across, tokens "+strconv.Itoa(tokens), func(t *testing.T) {
			w := newWorld(t, false)
			stop := pingpong(w, tokens)
			w.fires(10)
			stop()
		})
	}
	t.Run("inside", func(t *testing.T) {
		w := newWorld(t, false)
		stop := rings(w, 5)
		w.fires(50)
		stop()
	})
}

func TestARegionHasOneLeaderAtATime(t *testing.T) {
	w := newWorld(t, false)
	inject(t, w.etcd, 1, 1, 1)
	ring := []transition{{1, 1, 2}, {2, 2, 1}}
	first := w.lead("one", ring...)
	w.fires(5)
	second := w.lead("one", ring...)
	first()
	w.fires(5)
	second()
	w.conserved(1)
}
