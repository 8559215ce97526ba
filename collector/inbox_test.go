// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"fmt"
	"slices"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// inboxOf returns an inbox with room for a number of messages without payload, and sources that
// are shown.
func inboxOf(room int, shown ...string) *inbox {
	b := newInbox(room * msgBytes)
	for _, key := range shown {
		b.setShown(key, true)
	}
	return b
}

// emptyOf returns a message of a source that has no envelope.
func emptyOf(key string) *nats.Msg { return &nats.Msg{Subject: "petrinet.v1.snapshot." + key} }

// snapshotOf returns a message of source n.a.
func snapshotOf(tb testing.TB, epoch int64, seq uint64, full bool) *nats.Msg {
	tb.Helper()
	msg := telemetry.Snapshot{Source: "a", Net: "n", Digest: telemetry.Digest(nil), Epoch: epoch, Seq: seq, SentAt: epoch, Interval: 1e9, Full: full}
	if full {
		msg.Rows = *stats.NewRows(1, 1)
	}
	payload, err := new(telemetry.Encoder).Append(nil, &msg)
	if err != nil {
		tb.Fatal(err)
	}
	return &nats.Msg{Subject: "petrinet.v1.snapshot.n.a", Data: payload}
}

func keysOf(msgs []waiting) (s []string) {
	for _, m := range msgs {
		s = append(s, subjectKey(m.Subject))
	}
	return s
}

// Messages of shown sources come before all others, and each source's in order.
func TestMessagesOfShownSourcesComeFirst(t *testing.T) {
	b := inboxOf(100, "n.a", "n.b")
	for _, key := range []string{"n.x", "n.a", "n.y", "n.b", "n.a"} {
		b.put(emptyOf(key), t0)
	}
	batch, first := b.next(nil)
	if got := keysOf(batch); !first || !slices.Equal(got, []string{"n.a", "n.a", "n.b"}) {
		t.Errorf("got %q, first %v; want those of a and b", got, first)
	}
	if came, done := b.progress(); came != 5 || done != 1 {
		t.Errorf("%d came, %d are done; want 5, and 1 that is of no shown source", came, done)
	}
	batch, first = b.next(batch)
	if got := keysOf(batch); first || !slices.Equal(got, []string{"n.x", "n.y"}) {
		t.Errorf("got %q, first %v; want the rest", got, first)
	}
	if came, done := b.progress(); came != 5 || done != 5 {
		t.Errorf("%d came, %d are done; want 5 and 5", came, done)
	}
}

// Where messages of shown sources never end, those of others are processed too.
func TestASourceIsReadThatIsNotShown(t *testing.T) {
	b := inboxOf(10*batchSize, "n.a")
	b.put(emptyOf("n.x"), t0)
	var batch []waiting
	for i := range restEvery + 1 {
		b.put(emptyOf("n.a"), t0)
		var first bool
		batch, first = b.next(batch)
		if first != (i < restEvery) {
			t.Errorf("batch %d is of shown sources: %t", i, first)
		}
	}
}

// A source that becomes visible keeps the order of its messages, also of those that waited
// before.
func TestMessagesOfASourceStayInOrderWhenItIsShown(t *testing.T) {
	b := inboxOf(100)
	for range 3 {
		b.put(emptyOf("n.a"), t0)
		b.put(emptyOf("n.b"), t0)
	}
	b.show("petrinet.v1.snapshot.n.b")
	b.put(emptyOf("n.b"), t0)
	b.keep(map[string]bool{"n.b": true})
	batch, first := b.next(nil)
	var order []int64
	for _, m := range batch {
		order = append(order, m.n)
	}
	if !first || !slices.Equal(order, []int64{2, 4, 6, 7}) {
		t.Errorf("got %v, first %v; want all of b in their order", order, first)
	}
	batch, first = b.next(batch)
	if first || len(batch) != 3 {
		t.Errorf("got %d, first %v; want those of a", len(batch), first)
	}
	b.put(emptyOf("n.b"), t0)
	b.keep(nil)
	batch, first = b.next(batch)
	if first || len(batch) != 1 {
		t.Errorf("got %d, first %v; want one of a source that is not shown any more", len(batch), first)
	}
	if n := len(b.sources); n != 0 {
		t.Errorf("%d sources are remembered without a message", n)
	}
	b.close()
	batch, _ = b.next(batch)
	if len(batch) != 0 {
		t.Errorf("got %d messages of a closed inbox", len(batch))
	}
}

// Each lane is bounded by bytes, and counts what it drops. A flood of unknown sources drops
// no message of a shown one.
//
//promise:bounds load
func TestEachLaneIsBounded(t *testing.T) {
	const room = 1000
	for size, kept := range map[int]int{0: room, msgBytes: room / 2} {
		b := inboxOf(room, "n.a")
		for i := range room + 10 {
			m := emptyOf(fmt.Sprint("n.x", i))
			m.Data = make([]byte, size)
			b.put(m, t0)
		}
		b.put(emptyOf("n.a"), t0)
		known, unknown := b.takeDropped()
		if want := uint64(room + 10 - kept); known != 0 || unknown != want || b.rest.n != kept || len(b.sources) != kept+1 {
			t.Errorf("%d bytes: %d and %d dropped, %d kept; want 0, %d and %d", size, known, unknown, b.rest.n, want, kept)
		}
		batch, first := b.next(nil)
		if len(batch) != 1 || !first {
			t.Errorf("got %d messages, first %v; want that of the shown source", len(batch), first)
		}
		if known, unknown := b.takeDropped(); known != 0 || unknown != 0 {
			t.Errorf("%d and %d dropped since; want none", known, unknown)
		}
	}
}

// A flood under the name of one shown source drops and delays no message of another one.
// All messages up to a number are processed only once the oldest one is.
//
//promise:bounds hostile load
func TestAFloodUnderOneNameDelaysNoOtherSource(t *testing.T) {
	b := inboxOf(2*maxOfSource, "n.a", "n.b")
	for range maxOfSource + 10 {
		b.put(emptyOf("n.a"), t0)
	}
	b.put(emptyOf("n.b"), t0)
	if known, unknown := b.takeDropped(); known != 10 || unknown != 0 {
		t.Errorf("got %d and %d dropped; want 10 of the flood", known, unknown)
	}
	batch, first := b.next(nil)
	if got := keysOf(batch); !first || len(got) != batchSize+1 || got[turn] != "n.b" {
		t.Errorf("got %q, first %v; want %d of the flood, and then the other one", got, first, turn)
	}
	if came, done := b.progress(); came != maxOfSource+11 || done != 0 {
		t.Errorf("%d came, %d are done; want %d and 0", came, done, maxOfSource+11)
	}
	for b.shown.n > 0 {
		taken := b.taken
		batch, _ = b.next(batch)
		if _, done := b.progress(); done != batch[0].n-1 || b.taken <= taken {
			t.Errorf("%d are done before message %d is", done, batch[0].n)
		}
	}
	b.put(emptyOf("n.b"), t0)
	batch, _ = b.next(batch)
	if len(batch) != 1 || batch[0].skipped != 0 {
		t.Errorf("got %d messages; want one", len(batch))
	}
	b.put(emptyOf("n.a"), t0)
	batch, _ = b.next(batch)
	if len(batch) != 1 || batch[0].skipped != 10 {
		t.Errorf("the message after ten that were dropped has %d of them", batch[0].skipped)
	}
}

// A source that is shown always has room for one message: otherwise it would be taken for silent.
func TestAShownSourceHasRoomForOneMessage(t *testing.T) {
	b := inboxOf(10, "n.a", "n.b", "n.c")
	for range 20 {
		b.put(emptyOf("n.a"), t0)
	}
	b.put(emptyOf("n.b"), t0)
	b.put(emptyOf("n.b"), t0)
	batch, _ := b.next(nil)
	if got, want := keysOf(batch), append(slices.Repeat([]string{"n.a"}, 10), "n.b"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Where much waits, a full message replaces those before it that it covers, at their place.
func TestAFullMessageReplacesEarlierOnes(t *testing.T) {
	bye := snapshotOf(t, 1, 3, true)
	bye.Data = append(bye.Data, fieldBye<<3, 1)
	json := snapshotOf(t, 1, 3, true)
	json.Header = nats.Header{telemetry.ContentTypeHeader: {telemetry.ContentTypeJSON}}
	for name, test := range map[string]struct {
		before []*nats.Msg
		last   *nats.Msg
		want   int // messages that wait then
	}{
		"sparse ones of the process":       {[]*nats.Msg{snapshotOf(t, 1, 2, false), snapshotOf(t, 1, 3, false)}, snapshotOf(t, 1, 4, true), 1},
		"an earlier full one":              {[]*nats.Msg{snapshotOf(t, 1, 2, true), snapshotOf(t, 1, 3, false)}, snapshotOf(t, 1, 4, true), 1},
		"not by a sparse one":              {[]*nats.Msg{snapshotOf(t, 1, 2, true), snapshotOf(t, 1, 3, false)}, snapshotOf(t, 1, 4, false), 3},
		"not the first one of a process":   {[]*nats.Msg{snapshotOf(t, 1, 1, true), snapshotOf(t, 1, 2, false)}, snapshotOf(t, 1, 3, true), 2},
		"not those of an earlier process":  {[]*nats.Msg{snapshotOf(t, 1, 2, false), snapshotOf(t, 2, 2, false)}, snapshotOf(t, 2, 3, true), 2},
		"not what is before another":       {[]*nats.Msg{snapshotOf(t, 2, 2, false), snapshotOf(t, 1, 2, false)}, snapshotOf(t, 2, 3, true), 3},
		"not a later one":                  {[]*nats.Msg{snapshotOf(t, 1, 4, false)}, snapshotOf(t, 1, 3, true), 2},
		"not what is no message":           {[]*nats.Msg{{Subject: "s.n.a", Data: []byte{0xff}}}, snapshotOf(t, 1, 3, true), 2},
		"not by what is no message":        {[]*nats.Msg{snapshotOf(t, 1, 2, false)}, &nats.Msg{Subject: "s.n.a", Data: []byte{0xff}}, 2},
		"not by JSON, which is read later": {[]*nats.Msg{snapshotOf(t, 1, 2, false)}, json, 2},
		"not by a bye":                     {[]*nats.Msg{snapshotOf(t, 1, 2, false)}, bye, 2},
		"not a bye":                        {[]*nats.Msg{bye}, snapshotOf(t, 1, 4, true), 2},
	} {
		b := inboxOf(1000, "n.a", "n.b")
		pressed := func() {
			for range 1000/pressure + 1 {
				b.put(emptyOf("n.b"), t0)
			}
		}
		put := func() {
			for _, m := range test.before {
				b.put(m, t0)
			}
			b.put(test.last, t0+1)
		}
		put()
		if n := b.sources["n.a"].msgs; len(n) != len(test.before)+1 {
			t.Errorf("%s: %d messages wait where few do; want all", name, len(n))
		}
		b.next(nil)
		b.keep(map[string]bool{"n.b": true})
		b.keep(map[string]bool{"n.a": true, "n.b": true})
		pressed()
		first := b.came + 1
		put()
		q := b.sources["n.a"]
		last := q.msgs[len(q.msgs)-1]
		replaced := len(test.before) + 1 - test.want
		if len(q.msgs) != test.want || int(last.skipped) != replaced || last.n != first+int64(test.want)-1 || last.at != t0+1 {
			t.Errorf("%s: %d messages wait, the last one instead of %d, with number %d; want %d, %d and %d",
				name, len(q.msgs), last.skipped, last.n, test.want, replaced, first+int64(test.want)-1)
		}
		if n, bytes := b.takeReplaced(); n != replaced || (bytes > 0) != (n > 0) {
			t.Errorf("%s: %d messages of %d bytes were replaced", name, n, bytes)
		}
		n, bytes := 0, 0
		for batch, _ := b.next(nil); ; batch, _ = b.next(batch) {
			n += len(batch)
			for i := range batch {
				bytes += batch[i].size()
			}
			if b.shown.first == nil {
				break
			}
		}
		if n != 1000/pressure+1+test.want || b.shown.n != 0 || b.shown.bytes != 0 || q.bytes != 0 || bytes == 0 {
			t.Errorf("%s: %d messages came out, and %d with %d bytes are left", name, n, b.shown.n, b.shown.bytes)
		}
	}
}

// Queues use their memory again.
func TestQueuesAllocateNothing(t *testing.T) {
	b, m := inboxOf(1000, "n.a"), emptyOf("n.a")
	var batch []waiting
	step := func() {
		for range batchSize {
			b.put(m, t0)
		}
		batch, _ = b.next(batch)
	}
	for range batchSize / 2 {
		b.put(m, t0) // so that the queue is never empty
	}
	for range 100 {
		step()
	}
	if n := testing.AllocsPerRun(100, step); n != 0 {
		t.Errorf("got %v allocations; want none", n)
	}
}

func FuzzEnvelope(f *testing.F) {
	f.Add(snapshotOf(f, 1, 2, true).Data)
	f.Add([]byte{fieldFull<<3 | 5, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, payload []byte) {
		var msg telemetry.Snapshot
		e, ok := envelopeOf(&nats.Msg{Data: payload})
		if err := new(telemetry.Decoder).Decode(payload, &msg); err != nil {
			return
		}
		want := envelope{series{uint64(msg.Epoch), msg.Fence, uint64(msg.Since), msg.Digest, msg.Region}, msg.Seq, msg.Full, msg.Bye}
		if !ok || e != want {
			t.Errorf("got %+v, %t; want %+v", e, ok, want)
		}
	})
}
