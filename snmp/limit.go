// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"container/list"
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
	buckets map[netip.Addr]*list.Element
	recent  *list.List // of *bucket, the most recently used first
}

type bucket struct {
	address netip.Addr
	full    time.Time // when the bucket is full again
}

// refill is the time in which an empty bucket is full.
const refill = time.Second

func newLimits(rate int) *limits {
	return &limits{cost: refill / time.Duration(rate), buckets: make(map[netip.Addr]*list.Element), recent: list.New()}
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
	e, known := l.buckets[address]
	switch {
	case known:
	case l.recent.Len() < maxAddresses:
		e = l.recent.PushFront(&bucket{})
	default:
		e = l.recent.Back()
		delete(l.buckets, e.Value.(*bucket).address)
	}
	l.recent.MoveToFront(e)
	b := e.Value.(*bucket)
	if !known {
		*b = bucket{address, now}
		l.buckets[address] = e
	}
	return b
}
