// SPDX-License-Identifier: Apache-2.0

package region_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/engine/region"
	"github.com/pnagent/pnagent/engine/region/regiontest"
	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/split"
)

// relay is a net whose tokens start in place a of region one, go through b of
// region two, and end in c. Each token has its own instance.
type relay struct {
	*world
	nc   *nats.Conn
	next int   // the next instance
	put  []int // instances whose token was acknowledged
}

const relayInstances = 400

func newRelay(t *testing.T) *relay {
	net := &petri.Net{ID: "ring", Places: []petri.Place{{ID: "a"}, {ID: "b"}, {ID: "c"}}, Transitions: []petri.Transition{{ID: "t1"}, {ID: "t2"}},
		Arcs: []petri.Arc{{ID: "1", Source: "a", Target: "t1", Weight: 1}, {ID: "2", Source: "t1", Target: "b", Weight: 1},
			{ID: "3", Source: "b", Target: "t2", Weight: 1}, {ID: "4", Source: "t2", Target: "c", Weight: 1}}}
	tables, err := petri.Compile(net)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := split.Split(tables, func(id string) string { return map[string]string{"t1": "one", "t2": "two"}[id] }, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, nats: natstest.Run(t), logs: regiontest.NewServer()}
	w.base = region.Config{Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Engine: engineOf(tables, "", relayInstances), Parts: region.Regions(tables, plan), Open: w.open}
	return &relay{world: w, nc: natstest.Connect(t, w.nats)}
}

// inject puts a token into a place of a region and repeats that until it is
// acknowledged. Without an acknowledgement the token may be there or not.
func (r *relay) inject(part, place string) {
	r.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for time.Now().Before(deadline) {
		r.next++
		m, err := r.nc.Request("petrinet.v1.inject.ring."+part, fmt.Appendf(nil, `{"instance":%d,"place":%q}`, r.next, place), 500*time.Millisecond)
		if err == nil && string(m.Data) == `{"ok":true}` {
			r.put = append(r.put, r.next)
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	r.t.Fatalf("no token is acknowledged by %q", part)
}

// reached returns by instance how many tokens are in c, according to the log of
// two.
func (r *relay) reached() map[int]uint32 {
	r.t.Helper()
	cfg, part := r.base.Engine, r.base.Parts[1].Part
	cfg.Journal, cfg.Part = r.logs.Open("two", nil), &part
	e, err := engine.New(cfg)
	if err != nil {
		return nil // the snapshot is being written
	}
	n, ended := map[int]uint32{}, make(chan error, 1)
	ctx, stop := context.WithCancel(r.t.Context())
	stop()
	go func() { ended <- e.Run(ctx) }()
	for i := range relayInstances {
		m, err := e.Marking(r.t.Context(), "ring", i)
		if err != nil {
			r.t.Fatal(err)
		}
		if m[2]+m[1] > 0 {
			n[i] = m[2] + m[1]
		}
	}
	<-ended
	return n
}

// all waits until the tokens of some instances are in region two, and returns
// how many tokens of each are there.
func (r *relay) all(instances []int) (at map[int]uint32) {
	r.t.Helper()
	until(r.t, "all tokens that were acknowledged are in region two", func() bool {
		at = r.reached()
		for _, i := range instances {
			if at[i] == 0 {
				return false
			}
		}
		return true
	})
	return at
}

// awaitStop waits until a part whose log has lost commits is stopped, because
// processes that run know what it had. An owner finds out when it writes.
func (r *relay) awaitStop(part string) {
	r.t.Helper()
	place := map[string]string{"one": "a", "two": "b"}[part]
	until(r.t, "part "+part+" is stopped", func() bool {
		r.next++ // that token may be there or not
		_, _ = r.nc.Request("petrinet.v1.inject.ring."+part, fmt.Appendf(nil, `{"instance":%d,"place":%q}`, r.next, place), 100*time.Millisecond)
		s := r.statuses()[part]
		return s.Owner == "" && strings.Contains(s.Stopped, "had confirmed commit")
	})
}

func (r *relay) stopped() string { return r.statuses()["two"].Stopped }

// lose makes the logs lose the commits after the given ones.
func (r *relay) lose(one, two uint64) {
	r.logs.Lose("one", one)
	r.logs.Lose("two", two)
}

// last returns the last commit of a part, once no member has anything left to do at this moment.
func (r *relay) last(part string) uint64 {
	synctest.Wait()
	return r.logs.Open(part, nil).Last()
}

// begin starts two processes that play both regions, injects tokens, and waits
// until they have reached region two.
func (r *relay) begin(tokens int) {
	r.t.Helper()
	r.member("x", "one")
	r.member("y", "two")
	for range tokens {
		r.inject("one", "a")
	}
	r.all(r.put)
}

// again stops all processes and starts others.
func (r *relay) again(change func(*region.Config)) {
	r.stopAll()
	time.Sleep(time.Second) // the server has no beat left in which they publish what they knew
	r.stops = nil
	if change != nil {
		change(&r.base)
	}
	r.member("x2", "one")
	r.member("y2", "two")
}

// The upstream log loses its end and assigns its numbers again, while processes
// run or before others start.
//
//promise:notempty lostlog power
//promise:durable lostlog
func TestAPartWhoseUpstreamLogLostTokensThatItHasIsStoppedAndLosesNothing(t *testing.T) {
	for _, running := range []bool{true, false} {
		t.Run(fmt.Sprintf("processes continue: %t", running), func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T) { lostTokens(t, running) })
		})
	}
}

func lostTokens(t *testing.T, running bool) {
	r := newRelay(t)
	r.begin(20)
	if !running {
		r.stopAll()
	}
	r.lose(r.last("one")-10, r.last("two"))
	if running {
		r.awaitStop("one")
		r.stopAll()
	}
	r.again(nil)
	r.put = nil
	for range 40 { // beyond the numbers that were lost
		r.inject("one", "a")
	}
	until(t, "region two is stopped", func() bool { return r.stopped() != "" })
	if why := r.stopped(); !strings.Contains(why, `"one" has lost commits`) {
		t.Errorf("the reason is %q", why)
	}
	s := r.statuses()["two"]
	if s.Owner == "" {
		t.Error("the part has no owner")
	}
	time.Sleep(2 * time.Second)
	if now := r.statuses()["two"]; now.Epoch != s.Epoch || now.Stopped != s.Stopped {
		t.Errorf("%+v after %+v; want the part stopped in its epoch", now, s)
	}
	r.inject("two", "b") // the part accepts tokens and keeps them
	r.again(func(c *region.Config) { c.Again = true })
	at := r.all(r.put)
	for _, i := range r.put {
		if at[i] != 1 {
			t.Errorf("instance %d has %d tokens; want the one that was put after the loss", i, at[i])
		}
	}
	until(t, "region two plays", func() bool { return r.stopped() == "" })
}

// The commits that were lost had brought no token, so it is safe to read those
// that have their numbers now.
func TestALogThatLostNoTokensIsReadAgainByItself(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		r := newRelay(t)
		r.begin(20)
		common := r.last("one")
		// The owners change, and nothing else happens.
		r.stops[0]()
		time.Sleep(1100 * time.Millisecond) // after that, a cursor moves even without tokens
		z := r.member("z", "one")
		until(t, "region two has read that", func() bool {
			e := r.standing("two")
			return len(e.Cursors) == 1 && e.Cursors[0].Position > common
		})
		z()
		r.logs.Lose("one", common)
		r.base.Again = true // y knows what the log has lost
		r.member("x3", "one")
		r.put = nil
		for range 40 {
			r.inject("one", "a")
		}
		for i, n := range r.all(r.put) {
			if n != 1 {
				t.Errorf("instance %d has %d tokens; want 1", i, n)
			}
		}
		if why := r.stopped(); why != "" {
			t.Errorf("region two is stopped: %s", why)
		}
	})
}

func (r *relay) standing(part string) engine.Standing {
	r.t.Helper()
	tally, err := regiontest.Count(context.Background(), &r.base)
	if err != nil {
		return engine.Standing{}
	}
	return tally.Parts[part]
}

// Logs lose commits, while processes run or between two starts. No token that
// is acknowledged afterwards is lost, none arrives twice unless that is
// allowed, and a part that cannot continue publishes the reason.
func TestWhateverLogsLoseNoTokenAcknowledgedAfterwardsIsLost(t *testing.T) {
	rounds := int32(0)
	var stood atomic.Int32
	t.Cleanup(func() {
		if n := stood.Load(); rounds > 1 && (n == 0 || n == rounds) {
			t.Errorf("%d of %d parts were stopped; want some of both", n, rounds)
		}
	})
	for seed := range seeds.Of(2, 20, 8, 14, 5, 6, 13, 15, 19) {
		rounds++
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T) { lostAnything(t, seed, &stood) })
		})
	}
}

func lostAnything(t *testing.T, seed uint64, stood *atomic.Int32) {
	rnd := rand.New(rand.NewPCG(seed, 1))
	r := newRelay(t)
	r.begin(5 + rnd.IntN(25))
	running := rnd.IntN(2) == 0
	if !running {
		r.stopAll()
	}
	lose := func(part string) uint64 { return max(2, r.last(part)-min(r.last(part), rnd.Uint64N(20))) }
	one, two := lose("one"), lose("two")
	if seed%4 == 0 { // half of the upstream log, whose tokens have arrived
		one, two = (r.last("one")+2)/2, r.last("two")
	}
	lost := map[string]bool{"one": one < r.last("one"), "two": two < r.last("two")}
	r.lose(one, two)
	for part := range lost {
		if running && lost[part] {
			r.awaitStop(part)
		}
	}
	r.again(nil)
	r.put = nil
	for range 30 + rnd.IntN(20) {
		r.inject("one", "a")
	}
	deadline := time.Now().Add(10 * time.Second)
	missing := func() (n int) {
		at := r.reached()
		for _, i := range r.put {
			if at[i] == 0 {
				n++
			}
		}
		return n
	}
	for r.stopped() == "" && missing() > 0 && time.Now().Before(deadline) {
		time.Sleep(100 * time.Millisecond)
	}
	if r.stopped() == "" {
		if n := missing(); n > 0 {
			t.Errorf("%d of %d tokens that were acknowledged after the loss are gone, and no reason is published", n, len(r.put))
		}
		for i, n := range r.reached() {
			if n > 1 {
				t.Errorf("instance %d has %d tokens; want at most one", i, n)
			}
		}
		return
	}
	stood.Add(1)
	r.again(func(c *region.Config) { c.Again = true })
	r.all(r.put)
}
