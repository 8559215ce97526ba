// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

const prefix = "nets/line/"

// node is a transition of the emulated net, with the indices of its input and
// output places.
type node struct {
	name, region string
	in, out      []int
}

var (
	placeNames = []string{"raw", "milled", "painted", "checked", "pallet/1"}
	nodes      = []node{
		{"mill", "north", []int{0}, []int{1}},
		{"paint", "north", []int{1}, []int{2}},
		{"check", "south", []int{2, 0}, []int{3}},
		{"pack", "south", []int{3}, []int{4, 0}},
		{"turn", "south", []int{2}, []int{2}},
	}
)

// runOf is a running transition and the tokens that it took.
type runOf struct {
	node  int
	taken []tokenAt
	since int64 // revision
}

type tokenAt struct {
	place int
	token uint64
}

// emulation performs the transactions of DiPeN, and records the true state.
type emulation struct {
	etcd *etcd
	rnd  *rand.Rand

	last     uint64 // token id
	lease    uint64
	revision int64                 // of the last transaction
	asked    time.Time             // just before that transaction
	born     map[tokenAt]time.Time // every present token: just before it was put
	noted    map[tokenAt]time.Time // the latest time at which the adapter had received it
	value    map[tokenAt]string
	taken    map[tokenAt]bool
	runs     []*runOf
	leaders  map[string][]uint64 // by region: leases, the leader's first
	since    map[string]int64    // revision since which it leads

	firings, cancels map[string]uint64
	arrivals         map[string]uint64
}

func emulate(e *etcd, seed uint64) *emulation {
	m := &emulation{etcd: e, rnd: rand.New(rand.NewPCG(seed, 1)), lease: 0x694d, born: map[tokenAt]time.Time{}, noted: map[tokenAt]time.Time{}, value: map[tokenAt]string{},
		taken: map[tokenAt]bool{}, leaders: map[string][]uint64{}, since: map[string]int64{}, firings: map[string]uint64{},
		cancels: map[string]uint64{}, arrivals: map[string]uint64{}}
	for i, name := range placeNames {
		e.txn(put(prefix+"id_generator/pl", ""), put(prefix+"place_ids/"+name, placeID(i)))
	}
	for i, n := range nodes {
		e.txn(put(prefix+"id_generator/tr", ""), put(prefix+"transition_ids/"+n.name, transitionID(i)))
		e.txn(put(prefix+"transition_ids/"+n.name+"/region", n.region))
	}
	for _, region := range []string{"north", "south"} {
		m.elect(region)
	}
	return m
}

func placeID(i int) string      { return strconv.Itoa(i + 1) }
func transitionID(i int) string { return strconv.Itoa(i + 1) }

func (a tokenAt) key() string { return fmt.Sprintf("%spl/%s/%d", prefix, placeID(a.place), a.token) }

func (m *emulation) takenKey(a tokenAt, node int) string { return a.key() + "/" + transitionID(node) }

// elect makes another node the leader of a region: a standby, or a new node.
func (m *emulation) elect(region string) {
	key := func(lease uint64) string { return fmt.Sprintf("%sregion/%s/election/%x", prefix, region, lease) }
	if old := m.leaders[region]; len(old) > 0 {
		m.leaders[region] = old[1:]
		m.since[region] = m.txn(del(key(old[0])))
	}
	for n := m.rnd.IntN(2) + 1; len(m.leaders[region]) < n; {
		m.lease++
		at := m.txn(put(key(m.lease), "node-"+strconv.FormatUint(m.lease, 16)))
		if m.leaders[region] = append(m.leaders[region], m.lease); len(m.leaders[region]) == 1 {
			m.since[region] = at
		}
	}
}

// birth puts a new token.
func (m *emulation) birth(place int) (tokenAt, *pb.RequestOp) {
	m.last++
	a := tokenAt{place, m.last}
	m.value[a] = fmt.Sprintf("value %d", m.rnd.IntN(1000))
	return a, put(a.key(), m.value[a])
}

func (m *emulation) txn(ops ...*pb.RequestOp) int64 {
	m.asked = time.Now()
	m.revision = m.etcd.txn(ops...)
	return m.revision
}

func (m *emulation) inject(place int) tokenAt {
	m.txn(put(prefix+"id_generator/to", ""))
	a, op := m.birth(place)
	m.txn(op)
	m.lives(a)
	return a
}

func (m *emulation) lives(a tokenAt) {
	m.born[a] = m.asked
	m.arrivals[placeNames[a.place]]++
}

// free returns the tokens of a place that no transition has taken.
func (m *emulation) free(place int, but []tokenAt) []tokenAt {
	var all []tokenAt
	for a := range m.born {
		if a.place == place && !m.taken[a] && !slices.Contains(but, a) {
			all = append(all, a)
		}
	}
	slices.SortFunc(all, func(a, b tokenAt) int { return int(a.token) - int(b.token) })
	return all
}

// start makes a transition take its tokens; it returns false if it cannot.
func (m *emulation) start(node int) bool {
	r := &runOf{node: node}
	var ops []*pb.RequestOp
	for _, p := range nodes[node].in {
		free := m.free(p, r.taken)
		if len(free) == 0 {
			return false
		}
		a := free[m.rnd.IntN(len(free))]
		r.taken = append(r.taken, a)
		ops = append(ops, put(m.takenKey(a, node), ""))
	}
	lock := fmt.Sprintf("%spl/%s/lock/%x", prefix, placeID(nodes[node].in[0]), m.leaders[nodes[node].region][0])
	m.txn(put(lock, ""))
	r.since = m.txn(ops...)
	m.txn(del(lock))
	for _, a := range r.taken {
		m.taken[a] = true
	}
	m.runs = append(m.runs, r)
	return true
}

func (m *emulation) end(r *runOf) {
	m.runs = slices.DeleteFunc(m.runs, func(o *runOf) bool { return o == r })
	for _, a := range r.taken {
		delete(m.taken, a)
	}
}

// finish ends a run that fires: its tokens are deleted, or one stays in its
// place with the same or another value, and new tokens are put.
func (m *emulation) finish(r *runOf) {
	var ops []*pb.RequestOp
	var came []tokenAt
	m.end(r)
	n := nodes[r.node]
	stays := n.name == "turn" && m.rnd.IntN(2) == 0
	for _, a := range r.taken {
		ops = append(ops, del(m.takenKey(a, r.node)))
		if stays {
			if m.rnd.IntN(2) == 0 || r.since < m.since[n.region] {
				m.value[a] = fmt.Sprintf("turned %d", m.rnd.IntN(1<<40))
			}
			ops = append(ops, put(a.key(), m.value[a]))
			continue
		}
		ops = append(ops, del(a.key()))
		delete(m.born, a)
	}
	for _, p := range n.out {
		if !stays && m.rnd.IntN(10) > 0 {
			a, op := m.birth(p)
			came, ops = append(came, a), append(ops, op)
		}
	}
	m.txn(ops...)
	for _, a := range came {
		m.lives(a)
	}
	m.firings[n.name]++
}

// crash makes another node the leader of a region. It puts back what the
// previous one took.
func (m *emulation) crash(region string) {
	m.elect(region)
	for _, r := range slices.Clone(m.runs) {
		if nodes[r.node].region != region {
			continue
		}
		m.end(r)
		var ops []*pb.RequestOp
		for _, a := range r.taken {
			ops = append(ops, del(m.takenKey(a, r.node)))
			if m.lease%2 == 0 { // some versions write the token again
				ops = append(ops, put(a.key(), m.value[a]))
			}
		}
		m.txn(ops...)
		m.cancels[nodes[r.node].name]++
	}
}

// step performs a random transaction.
func (m *emulation) step() {
	switch n := m.rnd.IntN(20); {
	case n < 4 && len(m.born) < 60:
		m.inject(m.rnd.IntN(2))
	case n < 11:
		m.start(m.rnd.IntN(len(nodes)))
	case n < 19 && len(m.runs) > 0:
		m.finish(m.runs[m.rnd.IntN(len(m.runs))])
	case n == 19:
		m.crash([]string{"north", "south"}[m.rnd.IntN(2)])
	}
}

func (m *emulation) steps(n int) {
	for range n {
		m.step()
	}
}

// seen is the data in which the true state and the published rows are compared.
type seen struct {
	Tokens, Arrivals          map[string]uint64
	Firings, Cancels, Running map[string]uint64
}

func newSeen() seen {
	return seen{map[string]uint64{}, map[string]uint64{}, map[string]uint64{}, map[string]uint64{}, map[string]uint64{}}
}

// truth returns the true state; entries with 0 are left out.
func (m *emulation) truth() seen {
	s := newSeen()
	for a := range m.born {
		if !m.taken[a] {
			s.Tokens[placeNames[a.place]]++
		}
	}
	for _, r := range m.runs {
		s.Running[nodes[r.node].name]++
	}
	maps.Copy(s.Arrivals, m.arrivals)
	maps.Copy(s.Firings, m.firings)
	maps.Copy(s.Cancels, m.cancels)
	return s
}

// received records that the adapter has now received all transactions.
func (m *emulation) received() {
	now := time.Now()
	for a := range m.born {
		if m.noted[a].IsZero() {
			m.noted[a] = now
		}
	}
}

// dated is a moment between two times.
type dated struct{ earliest, latest time.Time }

// oldest returns for the oldest token of each place when it was put and when
// the adapter had received it. The published time must lie between.
func (m *emulation) oldest() map[string]dated {
	out := map[string]dated{}
	for a, born := range m.born {
		if m.taken[a] {
			continue
		}
		name := placeNames[a.place]
		d, there := out[name]
		if !there || born.Before(d.earliest) {
			d.earliest = born
		}
		if !there || m.noted[a].Before(d.latest) {
			d.latest = m.noted[a]
		}
		out[name] = d
	}
	return out
}
