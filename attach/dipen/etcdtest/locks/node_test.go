// SPDX-License-Identifier: Apache-2.0

package locks

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3election/v3electionpb"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3lock/v3lockpb"
)

// transition takes a token from a place and puts it into another.
type transition struct{ id, in, out int }

// node is a node of DiPeN: it leads a region and fires its transitions.
type node struct {
	etcd        *clientv3.Client
	lease       clientv3.LeaseID
	transitions []transition
	places      map[int]*placeLock // those of the transitions
	asked       chan int           // places that other nodes want to lock
	firings     *atomic.Uint64

	mu       sync.Mutex
	tokens   map[int]map[uint64]int // by place: present tokens, and the transition that has taken them, or 0
	revision int64                  // of the marking
	waiting  map[*wait]struct{}
}

// wait is a condition on the marking. Only the caller whose condition holds is
// woken.
type wait struct {
	is   func() bool
	done chan struct{}
}

// placeLock is the lock of a place. Within the node one transition at a time
// has it, in the order of requests.
type placeLock struct {
	held     chan struct{} // holds one element while the lock is held
	key      []byte        // in etcd; nil if the node does not have it
	revision int64         // that the marking must have for the transition that has the lock
}

func newNode(ctx context.Context, etcd *clientv3.Client, transitions []transition, firings *atomic.Uint64) (*node, error) {
	grant, err := etcd.Grant(ctx, leaseFor)
	if err != nil {
		return nil, err
	}
	alive, err := etcd.KeepAlive(ctx, grant.ID)
	if err != nil {
		return nil, err
	}
	go func() {
		for range alive { // the answers have to be received
		}
	}()
	n := &node{etcd: etcd, lease: grant.ID, transitions: transitions, places: map[int]*placeLock{}, asked: make(chan int, 128),
		firings: firings, tokens: map[int]map[uint64]int{}, waiting: map[*wait]struct{}{}}
	for _, t := range transitions {
		for _, p := range []int{t.in, t.out} {
			n.places[p], n.tokens[p] = &placeLock{held: make(chan struct{}, 1)}, map[uint64]int{}
		}
	}
	return n, nil
}

// lead waits until the node leads a region and then plays it until ctx ends.
func (n *node) lead(ctx context.Context, region string) error {
	election := v3electionpb.NewElectionClient(n.etcd.ActiveConnection())
	name := []byte(prefix + "region/" + region + "/election")
	if _, err := election.Campaign(ctx, &v3electionpb.CampaignRequest{Name: name, Lease: int64(n.lease), Value: []byte("node")}); err != nil {
		return ended(ctx, err)
	}
	revision, err := n.load(ctx)
	if err != nil {
		return ended(ctx, err)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var tasks sync.WaitGroup
	run := func(task func(context.Context) error) {
		tasks.Go(func() {
			if err := task(ctx); err != nil {
				stop(err)
			}
		})
	}
	run(func(ctx context.Context) error { return n.watch(ctx, revision) })
	run(n.letGo)
	for _, t := range n.transitions {
		run(func(ctx context.Context) error { return n.play(ctx, t) })
	}
	tasks.Wait()
	return ended(ctx, context.Cause(ctx))
}

// ended returns err, or nil if it is the end of ctx.
func ended(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), context.Canceled) {
		return nil
	}
	return err
}

// load reads all tokens.
func (n *node) load(ctx context.Context) (revision int64, err error) {
	r, err := n.etcd.Get(ctx, prefix+"pl/", clientv3.WithPrefix())
	if err != nil {
		return 0, err
	}
	for _, kv := range r.Kvs {
		n.take(&clientv3.Event{Type: mvccpb.Event_PUT, Kv: kv})
	}
	n.moved(r.Header.Revision)
	return r.Header.Revision, nil
}

// watch updates the marking, and receives requests for locks.
func (n *node) watch(ctx context.Context, revision int64) error {
	for r := range n.etcd.Watch(ctx, prefix+"pl/", clientv3.WithPrefix(), clientv3.WithRev(revision+1), clientv3.WithPrevKV()) {
		if err := r.Err(); err != nil {
			return err
		}
		n.mu.Lock()
		var asked []int
		for _, e := range r.Events {
			if place, wants := n.take(e); wants {
				asked = append(asked, place)
			}
			revision = e.Kv.ModRevision
		}
		n.mu.Unlock()
		n.moved(revision)
		for _, place := range asked {
			select {
			case n.asked <- place:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return ctx.Err()
}

// take applies a change to the marking, and returns whether another node
// requests the lock of a place. The caller holds mu, or has the only reference.
func (n *node) take(e *clientv3.Event) (place int, asked bool) {
	path := strings.Split(string(e.Kv.Key[len(prefix):]), "/") // pl, place, token or "lock", transition or lease
	if len(path) < 3 {
		return 0, false
	}
	place, err := strconv.Atoi(path[1])
	if err != nil || n.places[place] == nil {
		return 0, false
	}
	put := e.Type == mvccpb.Event_PUT
	if path[2] == "lock" {
		return place, put && path[len(path)-1] != strconv.FormatInt(int64(n.lease), 16)
	}
	token, err := strconv.ParseUint(path[2], 10, 64)
	switch _, there := n.tokens[place][token]; {
	case err != nil:
	case len(path) == 3 && put:
		n.tokens[place][token] = 0
	case len(path) == 3:
		delete(n.tokens[place], token)
	case there && put:
		n.tokens[place][token], _ = strconv.Atoi(path[3]) // a text that is not a number is not a transition of this node
	case there:
		n.tokens[place][token] = 0
	}
	return 0, false
}

// moved sets the revision of the marking.
func (n *node) moved(revision int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.revision = revision
	for w := range n.waiting {
		if w.is() {
			close(w.done)
			delete(n.waiting, w)
		}
	}
}

// await waits until the marking meets a condition.
func (n *node) await(ctx context.Context, is func() bool) error {
	n.mu.Lock()
	w := &wait{is, make(chan struct{})}
	ok := is()
	if !ok {
		n.waiting[w] = struct{}{}
	}
	n.mu.Unlock()
	if ok {
		return nil
	}
	select {
	case <-w.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// reaches waits until the marking has a revision.
func (n *node) reaches(ctx context.Context, revision int64) error {
	return n.await(ctx, func() bool { return n.revision >= revision })
}

// free returns a token of a place that no transition has taken. The caller
// holds mu.
func (n *node) free(place int) (uint64, bool) {
	return n.takenBy(place, 0)
}

// takenBy returns a token of a place that a transition has taken. The caller
// holds mu.
func (n *node) takenBy(place, transition int) (uint64, bool) {
	for token, by := range n.tokens[place] {
		if by == transition {
			return token, true
		}
	}
	return 0, false
}

// acquire gets the lock of a place.
func (n *node) acquire(ctx context.Context, place int) (*placeLock, error) {
	l := n.places[place]
	select {
	case l.held <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if l.key != nil {
		return l, nil
	}
	locks := v3lockpb.NewLockClient(n.etcd.ActiveConnection())
	r, err := locks.Lock(ctx, &v3lockpb.LockRequest{Name: []byte(placeKey(place) + "/lock"), Lease: int64(n.lease)})
	if err != nil {
		<-l.held
		return nil, fmt.Errorf("locking place %d: %w", place, err)
	}
	l.key, l.revision = r.Key, r.Header.Revision
	return l, nil
}

// release gives the lock to other transitions of the node once the marking has
// reached a revision.
func (l *placeLock) release(revision int64) {
	l.revision = max(l.revision, revision)
	<-l.held
}

// letGo gives locks to other nodes that request them.
func (n *node) letGo(ctx context.Context) error {
	locks := v3lockpb.NewLockClient(n.etcd.ActiveConnection())
	for {
		select {
		case place := <-n.asked:
			l := n.places[place]
			select {
			case l.held <- struct{}{}:
			case <-ctx.Done():
				return ctx.Err()
			}
			if key := l.key; key != nil {
				l.key = nil
				if _, err := locks.Unlock(ctx, &v3lockpb.UnlockRequest{Key: key}); err != nil {
					return fmt.Errorf("unlocking place %d: %w", place, err)
				}
			}
			<-l.held
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// play fires a transition again and again.
func (n *node) play(ctx context.Context, t transition) error {
	if err := n.putBack(ctx, t); err != nil {
		return fmt.Errorf("transition %d: %w", t.id, err)
	}
	for {
		err := n.await(ctx, func() bool { _, ok := n.free(t.in); return ok })
		if err != nil {
			return err
		}
		token, ok, err := n.begin(ctx, t)
		if err == nil && ok {
			err = n.finish(ctx, t, token)
		}
		if err != nil {
			return fmt.Errorf("transition %d: %w", t.id, err)
		}
	}
}

// putBack puts back the tokens that the previous leader has taken.
func (n *node) putBack(ctx context.Context, t transition) error {
	for {
		n.mu.Lock()
		token, ok := n.takenBy(t.in, t.id)
		n.mu.Unlock()
		if !ok {
			return nil
		}
		l, err := n.acquire(ctx, t.in)
		if err != nil {
			return err
		}
		key := tokenKey(t.in, token)
		revision, err := n.txn(ctx, l, clientv3.OpDelete(key+"/"+strconv.Itoa(t.id)), clientv3.OpPut(key, ""))
		l.release(revision)
		if err == nil {
			err = n.reaches(ctx, revision)
		}
		if err != nil {
			return err
		}
	}
}

// begin takes a token; ok is false if there is none once the place is locked.
func (n *node) begin(ctx context.Context, t transition) (token uint64, ok bool, err error) {
	l, err := n.acquire(ctx, t.in)
	if err != nil {
		return 0, false, err
	}
	revision := int64(0)
	defer func() { l.release(revision) }()
	if err := n.reaches(ctx, l.revision); err != nil {
		return 0, false, err
	}
	n.mu.Lock()
	token, ok = n.free(t.in)
	n.mu.Unlock()
	if !ok {
		return 0, false, nil
	}
	revision, err = n.txn(ctx, l, clientv3.OpPut(tokenKey(t.in, token)+"/"+strconv.Itoa(t.id), ""))
	return token, true, err
}

// finish moves the token that was taken.
func (n *node) finish(ctx context.Context, t transition, token uint64) error {
	l, err := n.acquire(ctx, t.out)
	if err != nil {
		return err
	}
	from := tokenKey(t.in, token)
	revision, err := n.txn(ctx, l, clientv3.OpDelete(from), clientv3.OpDelete(from+"/"+strconv.Itoa(t.id)), clientv3.OpPut(tokenKey(t.out, token), ""))
	l.release(revision)
	if err != nil {
		return err
	}
	n.firings.Add(1)
	return n.reaches(ctx, revision)
}

var errFenced = errors.New("this node no longer has the lock")

// txn performs operations if the node has the lock, and returns the revision.
func (n *node) txn(ctx context.Context, l *placeLock, ops ...clientv3.Op) (int64, error) {
	mine := clientv3.Compare(clientv3.LeaseValue(string(l.key)), "=", n.lease)
	r, err := n.etcd.Txn(ctx).If(mine).Then(ops...).Commit()
	if err != nil {
		return 0, err
	}
	if !r.Succeeded {
		return 0, errFenced
	}
	return r.Header.Revision, nil
}
