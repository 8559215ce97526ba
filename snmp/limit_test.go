// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"container/list"
	"encoding/binary"
	"math/rand/v2"
	"net"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/gosnmp/gosnmp"
)

// allowed reports whether a packet of the address is answered.
func allowed(l *limits, address netip.Addr, now time.Time) bool {
	_, why := l.receive(address, 50, now)
	return why == noReason
}

func TestAnAddressHasASecondsWorthAndThenItsRate(t *testing.T) {
	l := newLimits(10, maxPacketRate, MaxMessage)
	address := requester.Addr()
	for _, step := range []struct {
		rule string
		at   time.Duration
		asks int
		want int
	}{
		{"at first a second's worth", 0, 15, 10},
		{"nothing before a token has flowed back", 99 * time.Millisecond, 3, 0},
		{"then one", 100 * time.Millisecond, 3, 1},
		{"asking in vain took nothing", 200 * time.Millisecond, 3, 1},
		{"half a second gives half", 700 * time.Millisecond, 30, 5},
		{"an hour gives no more than a second does", time.Hour, 30, 10},
		{"a clock that goes back gives nothing", time.Hour - time.Second, 30, 0},
	} {
		got := 0
		for range step.asks {
			if allowed(l, address, start.Add(step.at)) {
				got++
			}
		}
		if got != step.want {
			t.Errorf("%s: %d of %d, want %d", step.rule, got, step.asks, step.want)
		}
	}
}

func TestWhichAddressesShareABucket(t *testing.T) {
	for _, c := range []struct {
		a, b  string
		share bool
	}{
		{"192.0.2.1", "192.0.2.2", false},
		{"192.0.2.1", "::ffff:192.0.2.1", true},
		{"2001:db8::1", "2001:db8::ffff:2", true},
		{"2001:db8::1", "2001:db8:0:1::1", false},
		{"2001:db8::1", "2001:db8::8000:0:0:1", true},
		{"fe80::1%eth0", "fe80::1%eth1", true},
	} {
		l := newLimits(1, maxPacketRate, MaxMessage)
		first, second := allowed(l, netip.MustParseAddr(c.a), start), allowed(l, netip.MustParseAddr(c.b), start)
		if !first || second == c.share {
			t.Errorf("%s and %s: %v, %v; share is %v", c.a, c.b, first, second, c.share)
		}
	}
	if l := newLimits(1, maxPacketRate, MaxMessage); !allowed(l, netip.Addr{}, start) || allowed(l, netip.Addr{}, start) {
		t.Error("no address is an address like any other")
	}
}

func numbered(i int) netip.Addr {
	var octets [4]byte
	binary.BigEndian.PutUint32(octets[:], uint32(i))
	return netip.AddrFrom4(octets)
}

func TestRememberedAddressesAreBounded(t *testing.T) {
	l := newLimits(1, maxPacketRate, MaxMessage)
	for i := range 3 * maxAddresses {
		if !allowed(l, numbered(i), start) {
			t.Fatalf("address %d is a stranger and was refused", i)
		}
		if allowed(l, numbered(0), start) {
			t.Fatalf("the address in use was forgotten after %d others", i)
		}
	}
	if len(l.buckets) != maxAddresses || l.recent.Len() != maxAddresses {
		t.Errorf("%d addresses in %d buckets", len(l.buckets), l.recent.Len())
	}
	if allowed(l, numbered(3*maxAddresses-1), start) {
		t.Error("the last one was forgotten")
	}
	if !allowed(l, numbered(1), start) {
		t.Error("the one that asked least recently was not forgotten")
	}
}

// TestLimitsAgreeWithASlowModel compares with buckets that are never forgotten.
func TestLimitsAgreeWithASlowModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const rate = 5
	l := newLimits(rate, maxPacketRate, MaxMessage)
	taken := map[netip.Addr][]time.Time{} // the tokens that were taken, oldest first
	now := start
	for i := range 100_000 {
		now = now.Add(time.Duration(rng.IntN(4)) * refill / rate / 40)
		address := numbered(rng.IntN(20))
		// What was taken flows back one after the other, each in its own time.
		var full time.Time
		for _, at := range taken[address] {
			if full.Before(at) {
				full = at
			}
			full = full.Add(refill / rate)
		}
		want := !full.After(now.Add(refill - refill/rate))
		if got := allowed(l, address, now); got != want {
			t.Fatalf("step %d: got %v; want %v, as of the model", i, got, want)
		}
		if !full.After(now) {
			taken[address] = nil
		}
		if want {
			taken[address] = append(taken[address], now)
		}
	}
}

// TestTheAddressUsedLeastRecentlyIsForgotten compares with a list of names. The
// clock stands, so a stranger is answered and an address that is remembered is not.
func TestTheAddressUsedLeastRecentlyIsForgotten(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	l := newLimits(1, maxPacketRate, MaxMessage)
	order := list.New() // least recent first
	at := map[netip.Addr]*list.Element{}
	for i := range 40_000 {
		address := numbered(rng.IntN(maxAddresses + 200))
		switch {
		case i%3 == 1 && order.Len() > 0: // the most recent, or the one that is about to be forgotten
			address = order.Back().Value.(netip.Addr)
		case i%7 == 1 && order.Len() > 0:
			address = order.Front().Value.(netip.Addr)
		}
		element, known := at[address]
		if known {
			order.MoveToBack(element)
		} else {
			at[address] = order.PushBack(address)
		}
		if order.Len() > maxAddresses {
			delete(at, order.Remove(order.Front()).(netip.Addr))
		}
		if got := allowed(l, address, start); got == known {
			t.Fatalf("step %d: allowed %v, remembered %v", i, got, known)
		}
	}
	if len(at) != maxAddresses || len(l.buckets) != maxAddresses {
		t.Fatalf("%d addresses are remembered, want %d", len(l.buckets), len(at))
	}
	next := l.recent.Front()
	for element := order.Back(); element != nil; element = element.Prev() {
		if got := next.Value.(*bucket).address; got != element.Value {
			t.Fatalf("%v is where %v should be", got, element.Value)
		}
		next = next.Next()
	}
	if next != nil {
		t.Error("more buckets than addresses that are remembered")
	}
}

func TestOnlyWhatWouldBeAnsweredCountsAgainstTheRate(t *testing.T) {
	r := newResponder(t, everyType(t), func(c *Config) { c.PacketRate = 2 })
	x := r.trusted()
	get := ask(t, gosnmp.GetRequest, nil, "1.1.0")
	stranger := ask(t, gosnmp.GetRequest, func(p *gosnmp.SnmpPacket) { p.Community = "private" }, "1.1.0")
	for _, step := range []struct {
		rule   string
		packet []byte
		want   reason
	}{
		{"nonsense is nonsense", []byte("nonsense"), malformed},
		{"a forger without the community", stranger, wrongCommunity},
		{"a forger again", stranger, wrongCommunity},
		{"the first", get, noReason},
		{"the second", get, noReason},
		{"one too many", get, rateExceeded},
		{"a forger still has its own reason", stranger, wrongCommunity},
	} {
		if _, got, _ := x.answer(step.packet, requester, start); got != step.want {
			t.Errorf("%s: reason %v, want %v", step.rule, got, step.want)
		}
	}
	if _, got, _ := x.answer(get, netip.AddrPortFrom(requester.Addr(), 9), start); got != rateExceeded {
		t.Errorf("another port of the same address: reason %v", got)
	}
	if _, got, _ := x.answer(get, netip.AddrPortFrom(numbered(1), 9), start); got != noReason {
		t.Errorf("another address: reason %v", got)
	}
}

func TestAFloodOfAddressesAllocatesNothing(t *testing.T) {
	l := newLimits(10, maxPacketRate, MaxMessage)
	next := 0
	flood := func() {
		for range 100 {
			next++
			allowed(l, numbered(next), start)
		}
	}
	for range 1000 {
		flood() // until everything that is remembered has its memory
	}
	if n := testing.AllocsPerRun(1000, flood); n > 1 {
		t.Errorf("%v allocations for 100 addresses", n)
	}
}

func TestServeCountsWhatIsOverTheRate(t *testing.T) {
	r := newResponder(t, everyType(t), func(c *Config) { c.PacketRate = 2 }) // its clock stands
	client, err := net.DialUDP("udp", nil, serve(t, r))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for range 5 {
		if _, err := client.Write(ask(t, gosnmp.GetRequest, nil, "1.1.0")); err != nil {
			t.Fatal(err)
		}
	}
	for count(r, "rate") < 3 {
		runtime.Gosched()
	}
	if answered := count(r, "get"); answered != 2 {
		t.Errorf("%d of 5 were answered", answered)
	}
}
