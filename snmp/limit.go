// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"container/list"
	"net/netip"
	"time"
)

// maxAddresses bounds the addresses that limits keeps.
const maxAddresses = 4096

// limits keeps for each address how much it is sent. Two token buckets hold the
// packets and the octets of a second and refill at their rates. Credit and proof
// bound what an address is sent that may be forged: see bucket. Of an IPv6
// address the first 64 bits count, since one host has all the others.
//
// The buckets of a rate are full after a second without packets, as are those of
// an unknown address. So dropping the least recently used one is safe unless more
// than maxAddresses addresses send within a second.
type limits struct {
	packet  time.Duration // the time in which the token of a packet is refilled
	octets  int           // refilled in a second
	largest int           // of a response, in octets
	buckets map[netip.Addr]*list.Element
	recent  *list.List // of *bucket, the most recently used first
}

type bucket struct {
	address netip.Addr
	packets time.Time // when the bucket of packets is full again
	octets  time.Time // when that of octets is
	credit  int       // octets that may be sent without a proof
	proven  time.Time // the end of the last proof
	walk    chain
}

// refill is the time in which an empty bucket is full.
const refill = time.Second

func newLimits(packets, octets, largest int) *limits {
	return &limits{packet: refill / time.Duration(packets), octets: octets, largest: largest,
		buckets: make(map[netip.Addr]*list.Element), recent: list.New()}
}

// receive takes a token for a packet of n octets from the address at now, and
// gives it the credit of that packet. The reason is why it must not be answered;
// then nothing was taken.
func (l *limits) receive(address netip.Addr, n int, now time.Time) (*bucket, reason) {
	b := l.bucket(host(address), now)
	if b.octets.Sub(now) > refill {
		return b, octetsExceeded
	}
	if b.packets.Before(now) {
		b.packets = now
	}
	full := b.packets.Add(l.packet)
	if full.Sub(now) > refill {
		return b, rateExceeded
	}
	b.packets = full
	b.credit = min(b.credit+maxAmplification*n, l.largest)
	return b, noReason
}

// send takes the tokens of a response of n octets. It returns false if an
// address without a proof has not the credit for it, and then takes nothing.
func (l *limits) send(b *bucket, n int, now time.Time) bool {
	if n > l.room(b, now) {
		return false
	}
	b.credit = max(b.credit-n, 0)
	if b.octets.Before(now) {
		b.octets = now
	}
	b.octets = b.octets.Add(refill * time.Duration(n) / time.Duration(l.octets))
	return true
}

// room returns the size of the largest response to the address.
func (l *limits) room(b *bucket, now time.Time) int {
	if now.Before(b.proven) {
		return l.largest
	}
	return b.credit
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
		*b = bucket{address: address, packets: now, octets: now, walk: chain{next: b.walk.next[:0]}}
		l.buckets[address] = e
	}
	return b
}
