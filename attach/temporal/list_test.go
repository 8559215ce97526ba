// SPDX-License-Identifier: Apache-2.0

package temporal

import (
	"fmt"
	"testing"
	"time"

	"go.temporal.io/api/serviceerror"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pnagent/pnagent/attach/internal/ledger"
)

// listed returns how many pages of a list were asked for.
func (f *fake) listed(of int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, i := range f.calls["list"] {
		if i == of {
			n++
		}
	}
	return n
}

// failing sets which calls fail.
func (f *fake) failing(fails func(method string, i int) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fails = fails
}

// throttled returns what fails as if too many calls of a list were sent.
func throttled(of int) func(string, int) error {
	return func(method string, i int) error {
		if method == "list" && i == of {
			return status.Error(codes.ResourceExhausted, "namespace rate limit exceeded")
		}
		return nil
	}
}

// isPublished reports whether there is a place, without which no net is published.
func (s *Adapter) isPublished() bool {
	for _, n := range s.nets {
		if len(n.net.Def.Places) > 0 {
			return true
		}
	}
	return false
}

// If the first list takes several polls, each page is read once, and nothing is
// published before the list is complete. Lists keep to a budget of their own.
func TestAListOfManyPolls(t *testing.T) {
	const n, rps = 2000, 20
	begin := time.Now()
	f, a := newFake(t, n, Config{Polling: ledger.Polling{Timeout: 800 * time.Millisecond}}, Access{RPS: 1e6, ListRPS: rps})
	polls := 0
	for ; a.Status().Listed == 0; polls++ {
		if c := a.Status().coverage; a.isPublished() || c.ratio() != 0 || len(f.calls["describe"]) > 0 || polls > 100 {
			t.Fatalf("after %d polls %+v, %d described, published: %v; expected the list only", polls, c, len(f.calls["describe"]), a.isPublished())
		}
		poll(t, a)
	}
	if pages := f.listed(openList); polls < 2 || pages != n/fakePage {
		t.Errorf("%d pages in %d polls; expected %d in several", pages, polls, n/fakePage)
	}
	if got := a.tokensAt(placeUnread) + a.tokensAt(placeWaiting); got != n || !a.isPublished() {
		t.Errorf("%d tokens; expected %d", got, n)
	}
	if calls, most := len(f.calls["list"]), rps+int(time.Since(begin).Seconds()*rps)+1; calls > most {
		t.Errorf("%d pages in %v; expected at most %d", calls, time.Since(begin), most)
	}
}

// A server that restarts within a list may not know the next page's token. Then the
// list begins again. What is known stays.
func TestAServerThatRestartsWithinAList(t *testing.T) {
	const n = 1000
	f, a := newFake(t, n, Config{}, Access{RPS: 1e6})
	for round := range 2 {
		last := f.listed(openList) + 10
		f.failing(func(method string, i int) error {
			if method != "list" || i != openList || len(f.calls["list"]) < last || f.starts > round {
				return nil
			}
			f.starts++
			return status.Error(codes.Unavailable, "the server restarts")
		})
		before, failed := a.Status().Listed, 0
		for tries := 0; a.Status().Listed == before; tries++ {
			if err := a.poll(t.Context()); err != nil {
				failed++
				if fmt.Sprintf("%T", err) == "ledger.permanent" {
					t.Fatal(err)
				}
			}
			if published := a.isPublished(); published != (a.Status().Listed != 0) || round > 0 && len(a.runs) != n || tries > 100 {
				t.Fatalf("round %d: %d workflows, published: %v", round, len(a.runs), published)
			}
		}
		if failed != 2 || len(a.runs) != n {
			t.Errorf("round %d: %d polls failed, %d workflows; expected 2 and %d", round, failed, len(a.runs), n)
		}
	}
}

// While the server wants fewer lists, a page is asked for again, and what is known
// is read.
func TestAServerThatWantsFewerLists(t *testing.T) {
	const least = 4 * time.Second // of which a list that is refused takes a quarter
	f, a := newFake(t, 100, Config{Polling: ledger.Polling{Timeout: least}}, Access{RPS: 1e6})
	f.failing(throttled(openList))
	if err := a.poll(t.Context()); status.Code(err) != codes.ResourceExhausted || fmt.Sprintf("%T", err) == "ledger.permanent" || a.isPublished() {
		t.Fatalf("%v; expected ResourceExhausted, as nothing is known", err)
	}
	begin := len(f.calls["list"])
	f.failing(func(method string, i int) error {
		if n := len(f.calls["list"]); n < begin+3 || n == begin+4 {
			return throttled(openList)(method, i)
		}
		return nil
	})
	a.cfg.Timeout = time.Minute
	poll(t, a)
	a.cfg.Timeout = least
	if c := a.Status().coverage; c.Open != 100 || c.Read != 100 || f.listed(openList) != begin+5 {
		t.Errorf("%+v after %d pages; expected 100 workflows after %d", c, f.listed(openList), begin+5)
	}
	f.failing(throttled(openList))
	for a.lists[0].begin.IsZero() { // until the list is due, and under way
		described := len(f.calls["describe"])
		poll(t, a)
		if c, got := a.Status().coverage, len(f.calls["describe"])-described; c.ratio() != 1 || got != 100 {
			t.Errorf("%+v, described %d; expected 100 workflows to be read again", c, got)
		}
	}
}

// Closed workflows beyond the bound are left out and counted, those that closed last
// are kept, and those that run are read first. The list does not grow with what was
// not read.
func TestMoreClosesThanTheBudget(t *testing.T) {
	const open, more = 10, 2000
	f, a := newFake(t, open+maxClosed+more, Config{}, Access{RPS: 1e6})
	start := time.Now().Add(-time.Hour)
	for i := open; i < f.n; i++ {
		f.closed[i] = start.Add(time.Duration(i) * 250 * time.Millisecond)
	}
	at := func(i int) int64 { return f.closed[i].UnixMicro() }
	c := &cursor{Since: start.UnixMicro(), At: start.UnixMicro(), Seen: map[string]int64{}}
	a.state.Closed = map[string]*cursor{"default": c}
	f.failing(func(method string, i int) error {
		switch {
		case method == "history" && i >= open:
			return status.Error(codes.ResourceExhausted, "namespace rate limit exceeded")
		case method == "list" && len(f.calls["list"]) == (maxClosed+more)/fakePage:
			return status.Error(codes.Unavailable, "for a moment")
		}
		return nil
	})
	if err := a.poll(t.Context()); err == nil || len(a.closed) != maxClosed || len(c.Seen) > 1000 {
		t.Errorf("%v, %d closed, the ids of %d others are kept; expected an error before the list ends, %d, and the last ones", err, len(a.closed), len(c.Seen), maxClosed)
	}
	poll(t, a)
	if s := a.Status(); s.Read != open || s.Open != open || s.Closed != maxClosed || s.Dropped["closed"] != more || c.At != at(open+more) {
		t.Errorf("%+v, cursor %d; expected %d open and read, %d closed, %d dropped, cursor %d", s, c.At, open, maxClosed, more, at(open+more))
	}
	for _, i := range f.calls["history"][:2*open] { // two pages
		if i >= open {
			t.Errorf("workflow %d, which is closed, was read before those that run", i)
		}
	}
	for range 3 {
		pages := f.listed(closedList)
		a.lists[1].due = time.Time{}
		poll(t, a)
		if pages = f.listed(closedList) - pages; pages < 5 || pages > 6 { // a minute
			t.Errorf("%d pages of closed workflows; expected 5 or 6", pages)
		}
	}
	last := len(f.calls["history"]) + 1000
	f.failing(func(method string, _ int) error {
		if method == "history" && len(f.calls["history"]) > last {
			return status.Error(codes.ResourceExhausted, "namespace rate limit exceeded")
		}
		return nil
	})
	poll(t, a)
	s, fired := a.Status(), int(a.nets["Wait"].flows()["terminated"].Fired)
	if fired < 400 || s.Closed != maxClosed-fired || s.Dropped["closed"] != more || c.At != at(open+more+fired) {
		t.Errorf("%+v, %d terminated, cursor %d; expected about 500, the rest of %d, cursor %d", s, fired, c.At, maxClosed, at(open+more+fired))
	}
}

// A closed workflow that the server refuses to read is given up.
func TestClosedWorkflowsThatCannotBeRead(t *testing.T) {
	f, a := newFake(t, 2, Config{}, Access{RPS: 1e6})
	poll(t, a)
	f.mu.Lock()
	f.closed[0] = time.Now()
	f.mu.Unlock()
	f.failing(func(method string, i int) error {
		if method == "history" && i == 0 {
			return status.Error(codes.Internal, "broken")
		}
		return nil
	})
	for tries := 0; a.Status().Dropped["closed"] == 0; tries++ {
		if tries == 100 {
			t.Fatalf("%+v", a.Status())
		}
		poll(t, a)
	}
	if s := a.Status(); s.Closed != 0 || s.Open != 1 || s.Dropped["reading"] < maxErrors {
		t.Errorf("%+v; expected one workflow after %d or more readings of the other one", s, maxErrors)
	}
}

// A workflow that closes between its description and its history is counted once.
func TestAWorkflowThatClosesWhileItIsRead(t *testing.T) {
	f, a := newFake(t, 1, Config{}, Access{RPS: 1e6})
	f.failing(func(method string, _ int) error {
		if _, closed := f.closed[0]; method == "history" && !closed {
			f.closed[0] = time.Now()
		}
		return nil
	})
	for pages := 0; pages < 3; pages = f.listed(closedList) {
		poll(t, a)
	}
	if got := a.nets["Wait"].flows()["terminated"].Fired; got != 1 {
		t.Errorf("%d workflows terminated; expected 1", got)
	}
}

// Workflows do not end because the server does not find their namespace.
func TestANamespaceThatIsAwayForAMoment(t *testing.T) {
	f, a := newFake(t, 3, Config{}, Access{RPS: 1e6})
	poll(t, a)
	f.failing(func(method string, _ int) error {
		if method == "describe" {
			return serviceerror.ToStatus(serviceerror.NewNamespaceNotFound("default")).Err()
		}
		return nil
	})
	if err := a.poll(t.Context()); status.Code(err) != codes.NotFound || len(a.runs) != 3 {
		t.Errorf("%v, %d workflows; expected an error and 3", err, len(a.runs))
	}
}

// What an earlier process counted of a workflow stays in the state until it is known
// whether that closed meanwhile.
func TestTheStateIsKeptUntilAllAreListed(t *testing.T) {
	f, a := newFake(t, 1, Config{Polling: ledger.Polling{Timeout: 400 * time.Millisecond}}, Access{RPS: 1e6})
	a.saved = map[string]savedRun{"another": {Last: 4}}
	f.failing(throttled(closedList))
	poll(t, a)
	if _, kept := a.state.Runs["another"]; !kept || len(a.state.Runs) != 2 {
		t.Errorf("the state has %v; expected two workflows", a.state.Runs)
	}
	f.failing(nil)
	a.cfg.Timeout = time.Minute
	poll(t, a)
	if len(a.state.Runs) != 1 {
		t.Errorf("the state has %v; expected one workflow", a.state.Runs)
	}
}
