// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/stats"
)

// reader is a simple receiver: it puts the rows of sparse snapshots into those
// of the last full one, and records which rows it received.
type reader struct {
	dec      Decoder
	rows     *stats.Rows
	received map[string]bool
	seq      uint64
	fulls    int
	count    int
	bytes    []int
}

func newReader(size [2]int) *reader {
	return &reader{rows: stats.NewRows(size[0], size[1]), received: map[string]bool{}}
}

// receive applies a message of a Publisher. It keeps no reference to it.
func (r *reader) receive(payload []byte) error {
	var s Snapshot
	if err := r.dec.Decode(payload, &s); err != nil {
		return err
	}
	if s.Seq != r.seq+1 {
		return fmt.Errorf("seq %d after %d", s.Seq, r.seq)
	}
	r.seq, r.count, r.bytes = s.Seq, r.count+1, append(r.bytes, len(payload))
	if s.Full {
		r.fulls++
		s.PlaceIndex, s.TransitionIndex = rising(len(s.Rows.Places)), rising(len(s.Rows.Transitions))
	}
	for i, p := range s.PlaceIndex {
		r.rows.Places[p], r.received[fmt.Sprint("p", p)] = s.Rows.Places[i], true
	}
	for i, t := range s.TransitionIndex {
		r.rows.Transitions[t], r.received[fmt.Sprint("t", t)] = s.Rows.Transitions[i], true
	}
	r.rows.Net, r.rows.Blocks, r.rows.Columns = s.Rows.Net, s.Rows.Blocks, r.rows.Columns|s.Rows.Columns
	r.rows.Queues, r.rows.Waiting = slices.Clone(s.Rows.Queues), s.Rows.Waiting
	return nil
}

// diff compares the received rows with those sent. Ladders are compared for one
// time: those of rows that did not change were cut earlier.
func (r *reader) diff(want *stats.Rows) string {
	got := *r.rows
	got.Columns = want.Columns // an empty list has no column
	got.Places, want = cutAt(got.Places), &stats.Rows{Net: want.Net, Places: cutAt(want.Places),
		Transitions: want.Transitions, Blocks: want.Blocks, Queues: want.Queues, Waiting: want.Waiting, Columns: want.Columns}
	return differ(want, &got, same)
}

func cutAt(places []stats.Place) []stats.Place {
	const farAhead = (now0 + 1e13) / stats.SlotWidth
	out := slices.Clone(places)
	for i := range out {
		var l stats.Ladder
		out[i].Ages.CutFor(farAhead, &l)
		out[i].Ages = l
	}
	return out
}

// mutate changes a few rows, as an engine does between two snapshots.
func mutate(r *rand.Rand, rows stats.Rows, now int64, size [2]int) stats.Rows {
	out := stats.Rows{Net: rows.Net, Places: slices.Clone(rows.Places), Transitions: slices.Clone(rows.Transitions),
		Blocks: slices.Clone(rows.Blocks), Queues: rows.Queues, Waiting: rows.Waiting, Columns: rows.Columns}
	for range r.IntN(4) {
		out.Places[r.IntN(size[0])] = randomPlace(r, now, size)
	}
	for range r.IntN(4) {
		out.Transitions[r.IntN(size[1])] = randomTransition(r, now)
	}
	if r.IntN(3) == 0 {
		out.Net.Created++
		out.Blocks = nil
	}
	if r.IntN(3) == 0 {
		out.Queues, out.Waiting = randomQueues(r, now), r.Uint64N(99)
	}
	return out
}

func newFeed(size [2]int) *feed {
	s := snapshotOf(stats.Rows{})
	s.Full, s.SentAt, s.Seq = false, 0, 0
	return &feed{size: size, head: s}
}

// A reader that applies sparse snapshots to the last full one always has the
// engine's rows. Half of the runs use small messages.
func TestReaderAlwaysHasTheRowsOfTheSender(t *testing.T) {
	for seed := range uint64(16) {
		r := rand.New(rand.NewPCG(seed, 5))
		size := [2]int{1 + r.IntN(12), 1 + r.IntN(12)}
		f, reader := newFeed(size), newReader(size)
		limit := MaxMessage
		if seed%2 == 0 {
			limit = 3000
		}
		now := now0
		rows := randomRows(r, now, size)
		for tick := range 40 {
			*f.blank() = rows
			full := r.IntN(15) == 0
			if err := f.send(now, full, false, limit, reader.receive); err != nil {
				t.Fatalf("seed %d, tick %d: %v", seed, tick, err)
			}
			if d := reader.diff(&rows); d != "" {
				t.Fatalf("seed %d, tick %d (-sent +received):\n%s", seed, tick, d)
			}
			now += 1 + r.Int64N(1<<r.IntN(36))
			rows = mutate(r, rows, now, size)
		}
	}
}

func TestFullSnapshotFirstEveryTenthAndWhenAsked(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	size := [2]int{3, 3}
	f, rows := newFeed(size), randomRows(r, now0, size)
	var fulls []int
	for tick := range 35 {
		*f.blank() = rows
		err := f.send(now0+int64(tick), tick == 14, false, MaxMessage, func(payload []byte) error {
			var s Snapshot
			if err := new(Decoder).Decode(payload, &s); err != nil {
				return err
			}
			if s.Full {
				fulls = append(fulls, tick)
			} else if len(s.PlaceIndex)+len(s.TransitionIndex) > 0 {
				t.Errorf("tick %d: rows %v and %v are sent although no row changed", tick, s.PlaceIndex, s.TransitionIndex)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff([]int{0, 10, 14, 24, 34}, fulls); d != "" {
		t.Errorf("full snapshots (-want +got):\n%s", d)
	}
}

func TestFullSnapshotAfterAFailureAndWhenColumnsChange(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	size := [2]int{3, 3}
	f, rows := newFeed(size), randomRows(r, now0, size)
	say := func(fail error) (full bool) {
		*f.blank() = rows
		err := f.send(now0, false, false, MaxMessage, func(payload []byte) error {
			var s Snapshot
			if err := new(Decoder).Decode(payload, &s); err != nil {
				t.Fatal(err)
			}
			full = s.Full
			return fail
		})
		if !errors.Is(err, fail) {
			t.Fatalf("got %v, want %v", err, fail)
		}
		return full
	}
	if !say(nil) || say(nil) || say(errors.New("no")) || !say(nil) || say(nil) {
		t.Error("not full first, sparse, sparse that fails, full, sparse")
	}
	rows.Columns &^= stats.ColDwell
	if !say(nil) || say(nil) {
		t.Error("not full after a column went away, then sparse")
	}
}

func TestRowsWithNewTimeoutsOrLateAnswersAreSentAndQueuesAlways(t *testing.T) {
	size := [2]int{1, 3}
	f := newFeed(size)
	rows := stats.NewRows(1, 3)
	rows.Columns = stats.AllColumns
	rows.Queues, rows.Waiting = []stats.Queue{{Priority: 2, Ready: 1, OldestSince: now0, UnservedSince: now0, Served: 3}}, 4
	var got Snapshot
	say := func() {
		next := *rows
		next.Places, next.Transitions = slices.Clone(rows.Places), slices.Clone(rows.Transitions)
		*f.blank() = next
		if err := f.send(now0, false, false, MaxMessage, func(payload []byte) error {
			return new(Decoder).Decode(payload, &got)
		}); err != nil {
			t.Fatal(err)
		}
	}
	say()
	rows.Transitions[1].Timeouts++
	rows.Transitions[2].Late++
	say()
	if d := cmp.Diff([]uint32{1, 2}, got.TransitionIndex); d != "" {
		t.Errorf("rows that changed (-want +sent):\n%s", d)
	}
	rows.Queues = []stats.Queue{{Priority: 2, Served: 4}}
	for range 2 {
		say()
		if d := cmp.Diff(rows.Queues, got.Rows.Queues); d != "" || got.Rows.Waiting != 4 || len(got.TransitionIndex) > 0 {
			t.Errorf("%d pieces of work, rows %v, queues (-want +sent):\n%s", got.Rows.Waiting, got.TransitionIndex, d)
		}
	}
}

// A net of 10,000 places with filled histograms needs several messages.
func TestLargeNetIsCutIntoSparseMessagesThatListEveryRow(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	size := [2]int{10_000, 8_000}
	rows := stats.Rows{Columns: stats.AllColumns}
	kinds := randomRows(r, now0, [2]int{20, 20})
	for i := range kinds.Places {
		kinds.Places[i].Dwell = randomHistogram(r, 60)
	}
	for i := range size[0] {
		rows.Places = append(rows.Places, kinds.Places[i%20])
	}
	for i := range size[1] {
		rows.Transitions = append(rows.Transitions, kinds.Transitions[i%20])
		rows.Blocks = append(rows.Blocks, stats.Block{Transition: int32(i), Place: int32(i), Reason: stats.ReasonMissing, Instances: 1})
	}
	f, reader := newFeed(size), newReader(size)
	*f.blank() = rows
	if err := f.send(now0, true, false, MaxMessage, reader.receive); err != nil {
		t.Fatal(err)
	}
	if reader.fulls != 0 || reader.count < 2 || len(reader.received) != size[0]+size[1] {
		t.Errorf("%d full of %d messages, %d of %d rows received", reader.fulls, reader.count, len(reader.received), size[0]+size[1])
	}
	if top := slices.Max(reader.bytes); top > MaxMessage {
		t.Errorf("a message of %d bytes", top)
	}
	for i := range rows.Places {
		if !reader.rows.Places[i].Equal(&rows.Places[i]) {
			t.Fatalf("place %d: received %+v, want %+v", i, reader.rows.Places[i], rows.Places[i])
		}
	}
	for i := range rows.Transitions {
		if !reader.rows.Transitions[i].Equal(&rows.Transitions[i]) {
			t.Fatalf("transition %d: received %+v, want %+v", i, reader.rows.Transitions[i], rows.Transitions[i])
		}
	}
}

// A row that fits no message is named in the error, and the others are sent.
func TestRowThatFitsNoMessageIsAnErrorAndTheOthersAreSent(t *testing.T) {
	size := [2]int{4, 4}
	f, reader := newFeed(size), newReader(size)
	rows := stats.NewRows(4, 4)
	rows.Columns = stats.AllColumns
	rows.Places[2].Stuck = []stats.Token{{Instance: "x", Injected: now0, Waits: make([]stats.Wait, 1000)}}
	*f.blank() = *rows
	err := f.send(now0, true, false, 1000, reader.receive)
	if !errors.Is(err, errTooLarge) {
		t.Errorf("got %v, want %v", err, errTooLarge)
	}
	if reader.received["p2"] || len(reader.received) != 7 {
		t.Errorf("received %v, want all but place 2", reader.received)
	}

	f, reader = newFeed(size), newReader(size)
	rows = stats.NewRows(4, 4)
	rows.Columns, rows.Blocks = stats.AllColumns, make([]stats.Block, 200)
	*f.blank() = *rows
	if err := f.send(now0, true, false, 1000, reader.receive); !errors.Is(err, errTooLarge) || reader.count != 0 {
		t.Errorf("blocks alone too large: %v, %d messages", err, reader.count)
	}
}

func TestRowsOfAnotherSizeAreNotSent(t *testing.T) {
	f := newFeed([2]int{2, 2})
	*f.blank() = *stats.NewRows(3, 2)
	err := f.send(now0, true, false, MaxMessage, func([]byte) error { t.Error("sent"); return nil })
	if err == nil {
		t.Error("no error")
	}
}

// Rows with sums of other sources are cut by the clocks of those, which may be
// ahead.
func TestSentAtIsNotBeforeTheCutOfALadder(t *testing.T) {
	f, reader := newFeed([2]int{1, 1}), newReader([2]int{1, 1})
	rows := stats.NewRows(1, 1)
	rows.Columns = stats.AllColumns
	rows.Places[0].Ages.Add(now0, now0+stats.SlotWidth, 3)
	*f.blank() = *rows
	if err := f.send(now0, true, false, MaxMessage, reader.receive); err != nil {
		t.Fatal(err)
	}
	if d := reader.diff(rows); d != "" {
		t.Errorf("(-sent +received):\n%s", d)
	}
}
