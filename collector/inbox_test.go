// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"fmt"
	"slices"
	"testing"

	"github.com/nats-io/nats.go"
)

func newInbox(shown ...string) *inbox {
	b := &inbox{shown: make(map[string]bool)}
	b.filled.L = &b.mu
	for _, key := range shown {
		b.shown[key] = true
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
	batch, first := b.next(nil, false)
	if got := subjectsOf(batch); !first || !slices.Equal(got, []string{"n.a", "n.b", "n.a"}) {
		t.Errorf("got %q, first %v; want those of a and b", got, first)
	}
	if came, done := b.progress(); came != 3 || done != 0 {
		t.Errorf("%d came, %d are done; want 3 and 0", came, done)
	}
	batch, first = b.next(batch, first)
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
	batch, first := b.next(nil, false)
	b.show("petrinet.v1.snapshot.n.a")
	put()
	b.keep(map[string]bool{"n.a": true})
	if batch, first = b.next(batch, first); len(batch) != 1 || first {
		t.Errorf("got %d messages, first %v; want the one that waited", len(batch), first)
	}
	b.keep(map[string]bool{"n.a": true})
	put()
	if batch, first = b.next(batch, first); len(batch) != 1 || !first {
		t.Errorf("got %d messages, first %v; want one, first", len(batch), first)
	}
	b.close()
	if batch, _ = b.next(batch, first); len(batch) != 0 {
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
		if batch, first := b.next(nil, false); len(batch) != 1 || !first {
			t.Errorf("got %d messages, first %v; want that of the shown source", len(batch), first)
		}
		if known, unknown := b.takeDropped(); known != 0 || unknown != 0 {
			t.Errorf("%d and %d dropped since; want none", known, unknown)
		}
	}
}
