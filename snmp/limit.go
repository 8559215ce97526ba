// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"net/netip"
	"time"
)

// maxAddresses bounds the addresses that limits keeps.
const maxAddresses = 4096

// limits has a token bucket for each address: it holds the packets of a second
// and refills at the rate. Of an IPv6 address the first 64 bits count, since
// one host has all the others.
//
// A bucket is full after a second without packets, as is that of an unknown
// address. So dropping the least recently used one is safe unless more than
// maxAddresses addresses send within a second.
type limits struct {
	cost    time.Duration // the time in which one token is refilled
	index   map[netip.Addr]int32
	buckets []bucket // a ring through older and newer, starting at recent
	recent  int32
}

type bucket struct {
	address      netip.Addr
	full         time.Time // when the bucket is full again
	older, newer int32
}

// refill is the time in which an empty bucket is full.
const refill = time.Second

func newLimits(rate int) *limits {
	return &limits{cost: refill / time.Duration(rate), index: make(map[netip.Addr]int32)}
}

// allow takes a token for the address at now. It returns false if there is
// none, and then takes nothing.
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

// host returns the address without the bits that a host chooses.
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

// bucket returns the bucket of an address and makes it the most recent.
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

// link puts a bucket that is in no ring after the most recent one. The zero
// links of the very first make it a ring.
func (l *limits) link(i int32) {
	b, recent := &l.buckets[i], &l.buckets[l.recent]
	b.older, b.newer = l.recent, recent.newer
	l.buckets[recent.newer].older = i
	recent.newer = i
	l.recent = i
}
