// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"net/netip"
	"time"
)

// maxAddresses bounds how many addresses' use is remembered.
const maxAddresses = 4096

// limits is a token bucket for each address: it holds a second's worth, and
// what is taken flows back at the rate. Of an IPv6 address the first 64 bits
// count, since one host has all the others.
//
// A bucket that was left alone for a second is full, which is what an address
// that is not remembered has. So the one used least recently is forgotten
// first, and that helps nobody unless more than maxAddresses addresses ask
// within a second.
type limits struct {
	cost    time.Duration // the time in which one token flows back
	index   map[netip.Addr]int32
	buckets []bucket // a ring through older and newer, begun at most recent
	recent  int32
}

type bucket struct {
	address      netip.Addr
	full         time.Time // when all that was taken will have flowed back
	older, newer int32
}

// refill is how long an empty bucket takes to be full.
const refill = time.Second

func newLimits(rate int) *limits {
	return &limits{cost: refill / time.Duration(rate), index: make(map[netip.Addr]int32)}
}

// allow takes a token for the address at now. It reports false where there is
// none; asking in vain takes nothing.
func (l *limits) allow(address netip.Addr, now time.Time) bool {
	b := l.bucket(host(address), now)
	if b.full.Before(now) {
		b.full = now
	}
	full := b.full.Add(l.cost)
	if full.Sub(now) > refill {
		return false
	}
	b.full = full
	return true
}

// host is the address without the bits that a host gives to itself.
func host(address netip.Addr) netip.Addr {
	address = address.Unmap()
	if address.Is4() {
		return address
	}
	prefix, err := address.WithZone("").Prefix(64)
	if err != nil {
		return address // the zero Addr
	}
	return prefix.Addr()
}

// bucket finds the bucket of an address and makes it the most recent.
func (l *limits) bucket(address netip.Addr, now time.Time) *bucket {
	i, known := l.index[address]
	switch {
	case known && i == l.recent:
		return &l.buckets[i]
	case known:
		l.unlink(i)
	case len(l.buckets) < maxAddresses:
		i = int32(len(l.buckets))
		l.buckets = append(l.buckets, bucket{})
		l.index[address] = i
	default:
		i = l.buckets[l.recent].newer // the ring's other end: the oldest
		delete(l.index, l.buckets[i].address)
		l.index[address] = i
		l.unlink(i)
	}
	b := &l.buckets[i]
	if !known {
		b.address, b.full = address, now
	}
	l.link(i)
	return b
}

func (l *limits) unlink(i int32) {
	b := &l.buckets[i]
	l.buckets[b.older].newer, l.buckets[b.newer].older = b.newer, b.older
}

// link puts a bucket that is in no ring behind the most recent one. The very
// first is a ring by itself, as its zero links say.
func (l *limits) link(i int32) {
	b, recent := &l.buckets[i], &l.buckets[l.recent]
	b.older, b.newer = l.recent, recent.newer
	l.buckets[recent.newer].older = i
	recent.newer = i
	l.recent = i
}
