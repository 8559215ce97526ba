// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"fmt"
	"slices"
	"testing"

	"github.com/nats-io/nats.go"
)

func newInbox(shown ...string) *inbox {
	b := &inbox{shown: make(map[string]*queue)}
	b.filled.L = &b.mu
	for _, key := range shown {
		b.shown[key] = &queue{}
	}
	return b
}

func subjectsOf(msgs []*nats.Msg) (s []string) {
	for _, m := range msgs {
		s = append(s, subjectKey(m.Subject))
	}
	return s
}

// Messages of shown sources come before all others, and each source's in order.
func TestMessagesOfShownSourcesComeFirst(t *testing.T) {
	b := newInbox("n.a", "n.b")
	for _, key := range []string{"n.x", "n.a", "n.y", "n.b", "n.a"} {
		b.put(&nats.Msg{Subject: "petrinet.v1.snapshot." + key})
	}
	batch, first := b.next(nil)
	if got := subjectsOf(batch); !first || !slices.Equal(got, []string{"n.a", "n.a", "n.b"}) {
		t.Errorf("got %q, first %v; want those of a and b", got, first)
	}
	if came, done := b.progress(); came != 3 || done != 0 {
		t.Errorf("%d came, %d are done; want 3 and 0", came, done)
	}
	batch, first = b.next(batch)
	if got := subjectsOf(batch); first || !slices.Equal(got, []string{"n.x", "n.y"}) {
		t.Errorf("got %q, first %v; want the rest", got, first)
	}
	if came, done := b.progress(); came != 3 || done != 3 {
		t.Errorf("%d came, %d are done; want 3 and 3", came, done)
	}
}

// A source that becomes visible moves to the first queue once none of its messages
// wait in the other one.
func TestASourceMovesWhenNoneOfItsMessagesWait(t *testing.T) {
	b := newInbox()
	put := func() { b.put(&nats.Msg{Subject: "petrinet.v1.snapshot.n.a"}) }
	put()
	batch, _ := b.next(nil)
	b.show("petrinet.v1.snapshot.n.a")
	put()
	b.keep(map[string]bool{"n.a": true})
	batch, first := b.next(batch)
	if len(batch) != 1 || first {
		t.Errorf("got %d messages, first %v; want the one that waited", len(batch), first)
	}
	b.keep(map[string]bool{"n.a": true})
	put()
	if batch, first = b.next(batch); len(batch) != 1 || !first {
		t.Errorf("got %d messages, first %v; want one, first", len(batch), first)
	}
	b.close()
	if batch, _ = b.next(batch); len(batch) != 0 {
		t.Errorf("got %d messages of a closed inbox", len(batch))
	}
}

// Each queue is bounded by messages and by bytes, and counts what it drops. A flood
// of unknown sources drops no message of a shown one.
func TestEachQueueIsBounded(t *testing.T) {
	for _, c := range []struct {
		size           int
		wantUnknown    uint64
		messages, kept int
	}{
		{0, 10, maxUnknown + 10, maxUnknown},
		{1 << 20, 8, maxUnknownBytes>>20 + 8, maxUnknownBytes >> 20},
	} {
		b := newInbox("n.a")
		for i := range c.messages {
			b.put(&nats.Msg{Subject: fmt.Sprint("petrinet.v1.snapshot.n.x", i), Data: make([]byte, c.size)})
		}
		b.put(&nats.Msg{Subject: "petrinet.v1.snapshot.n.a"})
		if known, unknown := b.takeDropped(); known != 0 || unknown != c.wantUnknown || len(b.rest.msgs) != c.kept {
			t.Errorf("%d of %d bytes: %d and %d dropped, %d kept; want 0, %d and %d", c.messages, c.size, known, unknown, len(b.rest.msgs), c.wantUnknown, c.kept)
		}
		if batch, first := b.next(nil); len(batch) != 1 || !first {
			t.Errorf("got %d messages, first %v; want that of the shown source", len(batch), first)
		}
		if known, unknown := b.takeDropped(); known != 0 || unknown != 0 {
			t.Errorf("%d and %d dropped since; want none", known, unknown)
		}
	}
}

// A flood under the name of one shown source drops and delays no message of another one.
// All messages up to a number are processed only once the oldest one is.
func TestAFloodUnderOneNameDelaysNoOtherSource(t *testing.T) {
	b := newInbox("n.a", "n.b")
	for range maxOfSource + 10 {
		b.put(&nats.Msg{Subject: "petrinet.v1.snapshot.n.a"})
	}
	b.put(&nats.Msg{Subject: "petrinet.v1.snapshot.n.b"})
	if known, unknown := b.takeDropped(); known != 10 || unknown != 0 {
		t.Errorf("got %d and %d dropped; want 10 of the flood", known, unknown)
	}
	batch, first := b.next(nil)
	if got := subjectsOf(batch); !first || len(got) != turn+1 || got[turn] != "n.b" {
		t.Errorf("got %q, first %v; want %d of the flood, and the other one", got, first, turn)
	}
	if came, done := b.progress(); came != maxOfSource+1 || done != 0 {
		t.Errorf("%d came, %d are done; want %d and 0", came, done, maxOfSource+1)
	}
	for range maxOfSource/turn - 1 {
		batch, _ = b.next(batch)
	}
	if _, done := b.progress(); done != maxOfSource-turn {
		t.Errorf("before the last turn %d are done; want %d", done, maxOfSource-turn)
	}
	b.put(&nats.Msg{Subject: "petrinet.v1.snapshot.n.b"})
	if batch, _ = b.next(batch); len(batch) != 1 {
		t.Errorf("got %d messages; want one", len(batch))
	}
	if came, done := b.progress(); came != maxOfSource+2 || done != maxOfSource+1 {
		t.Errorf("%d came, %d are done; want one that is not", came, done)
	}
}

// Queues use their memory again.
func TestQueuesAllocateNothing(t *testing.T) {
	b, m := newInbox("n.a"), &nats.Msg{Subject: "petrinet.v1.snapshot.n.a"}
	var batch []*nats.Msg
	step := func() {
		for range turn {
			b.put(m)
		}
		batch, _ = b.next(batch)
	}
	for range 3 * turn {
		b.put(m) // so that the queue is never empty
	}
	for range 100 {
		step()
	}
	if n := testing.AllocsPerRun(100, step); n != 0 {
		t.Errorf("got %v allocations; want none", n)
	}
}
