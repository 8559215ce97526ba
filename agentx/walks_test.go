// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"slices"
	"testing"
	"time"

	"github.com/pnagent/pnagent/agentx/pdu"
	"github.com/pnagent/pnagent/mib/smi"
)

// clockwork is a handler whose table is a new one at every look: each value of
// the n-th table is n.
type clockwork struct {
	t           *testing.T
	h           *handler
	now         time.Time
	made        int32
	transaction uint32
}

const column = 40 // rows of the one column

func newClockwork(t *testing.T) *clockwork {
	var names []smi.OID
	for row := range uint32(column) {
		names = append(names, root.Append(1, row+1))
	}
	layout, err := smi.NewLayout(names, []smi.OID{root.Append(1)})
	if err != nil {
		t.Fatal(err)
	}
	c := &clockwork{t: t, now: time.Unix(1000, 0)}
	c.h = newHandler(func() *smi.Table {
		c.made++
		values := make([]smi.Value, column)
		for i := range values {
			values[i] = smi.Integer(c.made)
		}
		return smi.NewTable(layout, values)
	})
	return c
}

// ask sends body in a transaction and gives the number of the table that it
// was answered from.
func (c *clockwork) ask(transaction uint32, body pdu.Body) (table int32, last smi.OID) {
	c.t.Helper()
	r := c.h.answer(c.now, pdu.PDU{Header: pdu.Header{Transaction: transaction}, Body: body})
	for _, v := range r.Variables {
		if v.Value.Type != smi.TypeInteger {
			continue
		}
		if n := int32(v.Value.Int()); table != 0 && n != table {
			c.t.Fatalf("tables %d and %d in one response", table, n)
		} else {
			table = n
		}
		last = slices.Clone(v.Name) // the response is good until the next
	}
	return table, last
}

// walker is one manager that walks root as snmpd passes it on: a transaction
// for each of its requests, a GetNext for each variable.
type walker struct {
	*clockwork
	at     smi.OID
	repeat int // variables a request
}

// request is one request of the walker; 0 at the end of the walk.
func (w *walker) request() int32 {
	w.t.Helper()
	w.transaction++
	var table int32
	for range w.repeat {
		n, last := w.ask(w.transaction, &pdu.GetNext{Ranges: []pdu.SearchRange{{Start: w.at}}})
		if last == nil {
			break
		}
		if table != 0 && table != n {
			w.t.Fatalf("tables %d and %d in one transaction", table, n)
		}
		table, w.at = n, last
	}
	return table
}

func TestAWalkSeesOneTableHoweverFastTablesAreMade(t *testing.T) {
	for _, repeat := range []int{1, 3, 50} {
		c := newClockwork(t)
		w := &walker{c, root, repeat}
		first := w.request()
		for {
			c.now = c.now.Add(500 * time.Millisecond) // 20 s for a walk by 1
			n := w.request()
			if n == 0 {
				break
			}
			if n != first {
				t.Fatalf("by %d: table %d, then %d at %v", repeat, first, n, w.at)
			}
		}
	}
}

func TestAGetBulkWalkSeesOneTable(t *testing.T) {
	c := newClockwork(t)
	at := root
	first := int32(0)
	for transaction := uint32(1); ; transaction++ {
		n, last := c.ask(transaction, &pdu.GetBulk{NonRepeaters: 1, MaxRepetitions: 4,
			Ranges: []pdu.SearchRange{{Start: root}, {Start: at}, {Start: at}}})
		if last.Compare(at) <= 0 {
			break
		}
		if first == 0 {
			first = n
		}
		if n != first {
			t.Fatalf("table %d, then %d at %v", first, n, at)
		}
		at = last
		c.now = c.now.Add(3 * time.Second)
	}
}

func TestATransactionSeesOneTableEvenIfItDoesNotContinue(t *testing.T) {
	c := newClockwork(t)
	get := &pdu.Get{Ranges: []pdu.SearchRange{{Start: root.Append(1, 1)}}}
	first, _ := c.ask(1, get)
	c.now = c.now.Add(9 * time.Second)
	if n, _ := c.ask(1, get); n != first {
		t.Fatalf("table %d, then %d", first, n)
	}
	if n, _ := c.ask(2, get); n == first {
		t.Fatal("another transaction sees the old table")
	}
	if n, _ := c.ask(1, get); n != first {
		t.Fatal("the first transaction sees the new table")
	}
}

func TestAGetSeesTheNewestTableAndAGetNextOneOfTheLastTwoSeconds(t *testing.T) {
	c := newClockwork(t)
	for i := range 20 {
		if n, _ := c.ask(uint32(i), &pdu.Get{Ranges: []pdu.SearchRange{{Start: root.Append(1, 1)}}}); n != int32(1+i) {
			t.Fatalf("Get %d: table %d, want %d", i, n, 1+i)
		}
	}
	c = newClockwork(t)
	for i := range 20 {
		want := int32(1 + i/2) // a poll a second, a new table every two
		if n, _ := c.ask(uint32(i), &pdu.GetNext{Ranges: []pdu.SearchRange{{Start: root}}}); n != want {
			t.Fatalf("GetNext %d: table %d, want %d", i, n, want)
		}
		c.now = c.now.Add(time.Second)
	}
}

func TestAWalkThatBeginsAfterAGetSeesNothingOlder(t *testing.T) {
	c := newClockwork(t)
	for i := range uint32(10) {
		first, _ := c.ask(2*i, &pdu.Get{Ranges: []pdu.SearchRange{{Start: root.Append(1, 1)}}})
		if n, _ := c.ask(2*i+1, &pdu.GetNext{Ranges: []pdu.SearchRange{{Start: root}}}); n < first {
			t.Fatalf("a walk sees table %d, a Get before it saw %d", n, first)
		}
		c.now = c.now.Add(11 * time.Second) // so that the walk is over
	}
}

func TestAnotherWalkFromTheStartSeesANewTable(t *testing.T) {
	c := newClockwork(t)
	for i := range int32(5) {
		w := &walker{c, root, 10}
		for range 4 {
			if n := w.request(); n != i+1 {
				t.Fatalf("walk %d: table %d", i+1, n)
			}
		}
		c.now = c.now.Add(2 * time.Second)
	}
}

func TestWalkersInStepEachKeepTheirTable(t *testing.T) {
	c := newClockwork(t)
	var walkers []*walker
	var first []int32
	for range 4 { // begin half a second apart, continue at the same names
		w := &walker{c, root, 5}
		walkers = append(walkers, w)
		first = append(first, w.request())
		w.at = root.Append(1, 5)
		c.now = c.now.Add(500 * time.Millisecond)
	}
	for range 7 {
		for i, w := range walkers {
			if n := w.request(); n != first[i] {
				t.Fatalf("walker %d: table %d, then %d at %v", i, first[i], n, w.at)
			}
		}
	}
}

func TestWalkersApartEachKeepTheirTable(t *testing.T) {
	c := newClockwork(t)
	slow := &walker{c, root, 1}
	first := slow.request()
	for range 5 {
		c.now = c.now.Add(2 * time.Second)
		fast := &walker{c, root, 50}
		if n := fast.request(); n == first {
			t.Fatal("a walk that begins later sees the old table")
		}
		if n := slow.request(); n != first {
			t.Fatalf("table %d, then %d", first, n)
		}
	}
}

func TestAManagerWithASmallMessageContinuesWithItsTable(t *testing.T) {
	c := newClockwork(t)
	w := &walker{c, root, 10}
	first := w.request()
	c.now = c.now.Add(3 * time.Second)
	w.at = root.Append(1, 7) // the last three did not fit its message
	if n := w.request(); n != first {
		t.Fatalf("table %d, then %d", first, n)
	}
}

func TestAWalkThatPausesOrWhoseTableIsTooOldSeesANewOne(t *testing.T) {
	c := newClockwork(t)
	w := &walker{c, root, 1}
	first := w.request()
	c.now = c.now.Add(walkGap + 1)
	if n := w.request(); n == first {
		t.Fatal("after a pause of 10 s")
	}
	first = w.request()
	for range 30 {
		c.now = c.now.Add(2 * time.Second)
		if n := w.request(); n != first {
			t.Fatal("within a minute")
		}
	}
	c.now = c.now.Add(time.Second)
	if n := w.request(); n == first {
		t.Fatal("after a minute")
	}
}

func TestExpireKeepsWhatAWalkMayStillAskFor(t *testing.T) {
	c := newClockwork(t)
	w := &walker{c, root, 1}
	first := w.request()
	c.now = c.now.Add(walkGap)
	c.h.contexts.plain.expire(c.now)
	if n := w.request(); n != first {
		t.Fatal("got another table in a walk that continues; want the first")
	}
	c.now = c.now.Add(walkGap + 1)
	c.h.contexts.plain.expire(c.now)
	for _, p := range c.h.contexts.plain.pins {
		if p.table != nil {
			t.Fatal("got a held table that no request can reach; want none")
		}
	}
}

func TestAWalkThatBeginsDuringAnotherSeesTheSameTable(t *testing.T) {
	for _, c := range []struct {
		rule  string
		done  int           // rows of 40 that the other one has seen
		age   time.Duration // of its table
		pause time.Duration // since its last request
		same  bool
	}{
		{"at once", 1, 0, 0, true},
		{"10 s later", 30, 10 * time.Second, 0, true},
		{"more than 10 s later, when it has far to go", 5, 11 * time.Second, 0, true},
		{"more than 10 s later, when it has not", 30, 11 * time.Second, 0, false},
		{"30 s later", 5, 31 * time.Second, 0, false},
		{"when it has paused", 1, 3 * time.Second, walkActive + 1, false},
		{"when it has come to the end", 41, 3 * time.Second, 0, false},
	} {
		t.Run(c.rule, func(t *testing.T) {
			work := newClockwork(t)
			other := &walker{work, root, 1}
			first := other.request()
			for i := 1; i < c.done; i++ {
				work.now = work.now.Add(c.age / time.Duration(c.done))
				other.request()
			}
			work.now = time.Unix(1000, 0).Add(c.age)
			if c.done == 1 {
				work.h.contexts.plain.pins[0].used = work.now
			} else if c.done <= column {
				other.request()
			}
			work.now = work.now.Add(c.pause)
			begins := &walker{work, root, 1}
			if same := begins.request() == first; same != c.same {
				t.Fatalf("the same: %v", same)
			}
		})
	}
}

func TestASlowWalkKeepsItsTableAmongManyFastOnes(t *testing.T) {
	c := newClockwork(t)
	slow := &walker{c, root, 1}
	first := slow.request()
	for range maxPins { // polls, and walks to the end, of a variable a request
		c.now = c.now.Add(30 * time.Millisecond)
		c.transaction++
		c.ask(c.transaction, &pdu.Get{Ranges: []pdu.SearchRange{{Start: root.Append(1, 1)}}})
		fast := &walker{c, root.Append(1, 20), 1}
		for fast.request() != 0 {
		}
	}
	if n := slow.request(); n != first {
		t.Fatalf("table %d, then %d", first, n)
	}
}

//promise:bounds load
func TestTheTablesHeldAreBounded(t *testing.T) {
	c := newClockwork(t)
	most := 0
	for range 1000 {
		w := &walker{c, root, 2}
		w.request()
		c.now = c.now.Add(300 * time.Millisecond)
		c.h.contexts.plain.expire(c.now)
		held := make(map[*smi.Table]bool)
		for _, p := range c.h.contexts.plain.pins {
			if p.table != nil {
				held[p.table] = true
			}
		}
		most = max(most, len(held))
	}
	if most > int(walkMax/defaultHold)+1 {
		t.Fatalf("%d tables", most)
	}
}
