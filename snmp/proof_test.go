// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/gosnmp/gosnmp"

	"github.com/pnagent/pnagent/internal/racetest"
	"github.com/pnagent/pnagent/mib/smi"
)

// next returns a GetBulk that continues from the last variable of a response, as
// snmpbulkwalk does.
func next(tb testing.TB, response []byte) []byte {
	tb.Helper()
	variables := decoded(tb, response).Variables
	return ask(tb, gosnmp.GetBulkRequest, bulk(0, 50), variables[len(variables)-1].Name)
}

func TestAnAddressWithoutAProofIsSentFiveTimesWhatItSent(t *testing.T) {
	table := newTable(t, []smi.OID{root.Append(1, 0), root.Append(2, 0)}, nil,
		[]smi.Value{smi.OctetString(strings.Repeat("x", 600)), smi.OctetString("short")})
	long := counts(t, 1000, 1<<60)
	for rule, c := range map[string]struct {
		table   *smi.Table
		request []byte
	}{
		"a GetBulk of everything":         {long, ask(t, gosnmp.GetBulkRequest, bulk(0, 1000), "3")},
		"from the beginning of all names": {long, ask(t, gosnmp.GetBulkRequest, bulk(0, 1000), ".0.0")},
		"two columns":                     {long, ask(t, gosnmp.GetBulkRequest, bulk(0, 1000), "3", ".1.3.6")},
		"behind the end and the column":   {long, ask(t, gosnmp.GetBulkRequest, bulk(0, 1000), "9.9", "3")},
		"many that come once":             {long, ask(t, gosnmp.GetBulkRequest, bulk(3, 1000), ".1.3", ".1.3", ".1.3", "3")},
		"a long value by Get":             {table, ask(t, gosnmp.GetRequest, nil, "1.0")},
		"a long value by GetNext":         {table, ask(t, gosnmp.GetNextRequest, nil, "1")},
		"a long value by GetBulk":         {table, ask(t, gosnmp.GetBulkRequest, bulk(0, 10), "1")},
		"a Set":                           {table, ask(t, gosnmp.SetRequest, nil, "1.0")},
	} {
		t.Run(rule, func(t *testing.T) {
			x := newResponder(t, c.table, nil).newExchange()
			in, out, answers := 0, 0, 0
			for i := range 3000 {
				answer, why, _ := x.answer(c.request, requester, start.Add(time.Duration(i)*time.Millisecond))
				in, out = in+len(c.request), out+len(answer)
				if out > maxAmplification*in {
					t.Fatalf("%d octets for %d after %d requests", out, in, i+1)
				}
				if why == noReason {
					answers++
				} else if why != unproven {
					t.Fatalf("reason %v", why)
				}
			}
			if answers < 100 {
				t.Errorf("only %d requests were answered", answers)
			}
		})
	}
}

func TestAWalkProvesThatItsAddressReceives(t *testing.T) {
	r := newResponder(t, counts(t, 100_000, 1), nil)
	x := r.newExchange()
	now := start
	full := func(from netip.AddrPort, request []byte) (answer []byte, ok bool) {
		answer, why, err := x.answer(request, from, now)
		if why != noReason {
			t.Fatal(why, err)
		}
		return answer, len(decoded(t, answer).Variables) == 50
	}
	request, steps, ok := ask(t, gosnmp.GetBulkRequest, bulk(0, 50), "3"), 0, false
	var answer []byte
	for ; !ok && steps < 200; steps++ {
		answer, ok = full(requester, request)
		request = next(t, answer)
	}
	if !ok || steps > 60 {
		t.Fatalf("after %d requests of a walk, full is %v", steps, ok)
	}
	t.Logf("proven after %d requests, %d of them cut", steps, r.counters.shortened.Load())
	if _, ok := full(netip.AddrPortFrom(requester.Addr(), 7), ask(t, gosnmp.GetBulkRequest, bulk(0, 50), "3")); !ok {
		t.Error("another walk of the address was cut")
	}
	if _, ok := full(netip.MustParseAddrPort("192.0.2.8:40000"), request); ok {
		t.Error("another address was sent a full response")
	}
	now = start.Add(proofHolds)
	if _, ok := full(requester, request); ok {
		t.Error("the proof holds for longer than it should")
	}
}

// TestAGuesserProvesNothing has a sender that knows the table and all rules, and
// does not see the responses: it guesses the most likely end of each.
func TestAGuesserProvesNothing(t *testing.T) {
	x := newResponder(t, counts(t, 1000, 1<<60), func(c *Config) { c.PacketRate = maxPacketRate }).newExchange()
	rng := rand.New(rand.NewPCG(7, 8))
	var guesses [10][]byte
	for row := range guesses {
		guesses[row] = ask(t, gosnmp.GetBulkRequest, bulk(0, 50), "3.1.1."+string(rune('0'+row)))
	}
	in, out, tries := 0, 0, 200_000
	if racetest.UnderRace {
		tries = 10_000
	}
	for i := range tries {
		request := guesses[rng.IntN(len(guesses))]
		answer, _, _ := x.answer(request, requester, start.Add(time.Duration(i)*time.Microsecond*100))
		in, out = in+len(request), out+len(answer)
	}
	if out > maxAmplification*in || !x.limits.bucket(requester.Addr(), start).proven.IsZero() {
		t.Errorf("%d octets for %d", out, in)
	}
}

// A name after the end of the table is known in advance: continuing from it
// shows nothing.
func TestTheEndOfTheTableIsNoProof(t *testing.T) {
	x := newResponder(t, counts(t, 1000, 1<<60), nil).newExchange()
	request := ask(t, gosnmp.GetBulkRequest, bulk(0, 50), ".2.5", "3")
	for i := range 200 {
		x.answer(request, requester, start.Add(time.Duration(i)*time.Millisecond))
	}
	if b := x.limits.bucket(requester.Addr(), start); !b.proven.IsZero() || b.walk.odds > 1 {
		t.Errorf("proven until %v, odds of %v", b.proven, b.walk.odds)
	}
}

func TestASecondRequestGetsALongValue(t *testing.T) {
	table := newTable(t, []smi.OID{root.Append(1, 0)}, nil, []smi.Value{smi.OctetString(strings.Repeat("x", 255))})
	x := newResponder(t, table, nil).newExchange()
	request := ask(t, gosnmp.GetRequest, nil, "1.0")
	for _, want := range []reason{unproven, noReason} {
		if _, why, _ := x.answer(request, requester, start); why != want {
			t.Errorf("reason %v; want %v", why, want)
		}
	}
}

func TestOnlyAllowedNetworksAreAnswered(t *testing.T) {
	r := newResponder(t, everyType(t), func(c *Config) {
		c.AllowFrom = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/25"), netip.MustParsePrefix("2001:db8::/32")}
	})
	x := r.newExchange()
	for from, want := range map[string]reason{
		"192.0.2.7": noReason, "::ffff:192.0.2.7": noReason, "192.0.2.128": otherNetwork, "2001:db8:1::1": noReason,
		"2001:db9::1": otherNetwork, "127.0.0.1": otherNetwork, "::1": otherNetwork,
	} {
		if _, why, _ := x.answer(ask(t, gosnmp.GetRequest, nil, "1.1.0"), netip.AddrPortFrom(netip.MustParseAddr(from), 9), start); why != want {
			t.Errorf("%s: reason %v; want %v", from, why, want)
		}
	}
}

func TestAnAddressIsSentItsOctetsOfASecond(t *testing.T) {
	x := newResponder(t, counts(t, 1000, 1<<60), func(c *Config) { c.OctetRate = MaxMessage }).trusted()
	request := ask(t, gosnmp.GetBulkRequest, bulk(0, 50), "3")
	sent := map[reason]int{}
	octets := 0
	for i := range 10_000 { // five seconds
		out, why, _ := x.answer(request, requester, start.Add(time.Duration(i)*time.Millisecond/2))
		sent[why]++
		octets += len(out)
	}
	if octets < 5*MaxMessage || octets > 7*MaxMessage || sent[octetsExceeded] == 0 {
		t.Errorf("%d octets in 5 s, reasons %v", octets, sent)
	}
	if _, why, _ := x.answer(ask(t, gosnmp.GetRequest, nil, "3.1.1.1"), netip.MustParseAddrPort("192.0.2.9:1"), start); why != noReason {
		t.Errorf("another address: %v", why)
	}
}
