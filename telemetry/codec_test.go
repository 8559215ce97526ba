// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/stats"
)

var update = flag.Bool("update", false, "write the golden files")

const now0 = int64(1_790_000_000_000_000) // an arbitrary moment in 2026

// same makes a comparison of snapshots ignore memory that is kept for reuse.
var same = cmpopts.EquateEmpty()

// differ is cmp.Diff, but faster for values that are the same down to the last
// bit.
func differ(want, got any, options ...cmp.Option) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got, options...)
}

// randomAge is distributed evenly over the orders of magnitude from a
// microsecond to a year.
func randomAge(r *rand.Rand) int64 { return r.Int64N(int64(1) << r.IntN(45)) }

func randomTime(r *rand.Rand, now int64) int64 {
	if r.IntN(4) == 0 {
		return 0
	}
	return now - randomAge(r)
}

func randomHistogram(r *rand.Rand, n int) stats.Histogram {
	var h stats.Histogram
	for range n {
		h.Observe(randomAge(r))
	}
	return h
}

func randomPlace(r *rand.Rand, now int64, size [2]int) stats.Place {
	p := stats.Place{Tokens: r.Uint64N(1000), Arrivals: r.Uint64N(1e12), Departures: r.Uint64N(1e12), Instances: r.Uint64N(100),
		Oldest: randomTime(r, now), LastInjection: randomTime(r, now), Dwell: randomHistogram(r, r.IntN(20)),
		Ages: stats.Ladder{At: now / stats.SlotWidth}, Slowest: randomSlowest(r, now)}
	for range r.IntN(10) {
		injected := now - randomAge(r)
		p.Injected.Add(injected)
		p.Ages.Add(injected, now, 1+r.Uint64N(9))
	}
	for range r.IntN(4) {
		p.Stuck = append(p.Stuck, stats.Token{Instance: fmt.Sprintf("case %d", r.IntN(1e6)), Injected: now - randomAge(r),
			Waits: []stats.Wait{{Transition: r.Int32N(int32(size[1])), Reason: stats.Reason(r.IntN(9)),
				Place: r.Int32N(int32(size[0])+1) - 1, Count: r.Uint32N(9), Until: randomTime(r, now), What: randomWhat(r)}}})
	}
	slices.SortFunc(p.Stuck, func(a, b stats.Token) int { return a.Compare(&b) })
	for reason := stats.ReasonEnabled; reason <= stats.LastReason; reason++ {
		g := stats.Group{Reason: reason, Tokens: 1 + r.Uint64N(99), Oldest: stats.Token{Instance: "hidden", Injected: now - randomAge(r)}}
		if len(p.Stuck) > 0 && r.IntN(2) == 0 {
			g.Oldest = p.Stuck[r.IntN(len(p.Stuck))]
		}
		g.Due = g.Oldest.Due()
		if r.IntN(2) == 0 {
			g.Due -= 1000
		}
		if r.IntN(4) == 0 {
			p.Groups = append(p.Groups, g)
		}
	}
	return p
}

// randomWhat sometimes returns none.
func randomWhat(r *rand.Rand) string {
	return stats.Clip(strings.Repeat("é", r.IntN(2)*r.IntN(2*stats.MaxWhat)), stats.MaxWhat)
}

func randomTransition(r *rand.Rand, now int64) stats.Transition {
	return stats.Transition{Firings: r.Uint64N(1e12), Failures: r.Uint64N(9), Retries: r.Uint64N(9), Cancels: r.Uint64N(9),
		Timeouts: r.Uint64N(9), Late: r.Uint64N(9),
		Enabled: r.Uint64N(99), EnabledSince: randomTime(r, now), Running: r.Uint64N(99), RunningSince: randomTime(r, now),
		LastFiring: randomTime(r, now), NextDue: randomTime(r, now), Duration: randomHistogram(r, r.IntN(20)), Slowest: randomSlowest(r, now)}
}

// randomSlowest sometimes returns none.
func randomSlowest(r *rand.Rand, now int64) stats.Slowest {
	at := randomTime(r, now)
	if at == 0 {
		return stats.Slowest{}
	}
	return stats.Slowest{Instance: fmt.Sprintf("case %d", r.IntN(1e6)), Micros: randomAge(r), At: at}
}

// randomQueues returns rows of some priorities.
func randomQueues(r *rand.Rand, now int64) (queues []stats.Queue) {
	for p := range uint8(stats.Priorities) {
		if r.IntN(3) == 0 {
			queues = append(queues, stats.Queue{Priority: p, Ready: r.Uint64N(99), OldestSince: randomTime(r, now),
				UnservedSince: randomTime(r, now), Served: r.Uint64N(1e12), QuoteSwitches: r.Uint64N(99)})
		}
	}
	return queues
}

// randomRows returns rows with all columns for a net of the given number of
// places and transitions.
func randomRows(r *rand.Rand, now int64, size [2]int) stats.Rows {
	rows := stats.Rows{Columns: stats.AllColumns, Waiting: r.Uint64N(99), Queues: randomQueues(r, now),
		Net: stats.NetRow{Created: r.Uint64N(99), Finished: r.Uint64N(99), Failed: r.Uint64N(9), Active: r.Uint64N(99), Deadlocked: r.Uint64N(9)}}
	for range size[0] {
		rows.Places = append(rows.Places, randomPlace(r, now, size))
	}
	for t := range size[1] {
		rows.Transitions = append(rows.Transitions, randomTransition(r, now))
		if r.IntN(2) == 0 {
			rows.Blocks = append(rows.Blocks, stats.Block{Transition: int32(t), Place: r.Int32N(int32(size[0])+1) - 1,
				Reason: stats.ReasonMissing, Instances: 1 + r.Uint64N(9)})
		}
	}
	return rows
}

func snapshotOf(rows stats.Rows) Snapshot {
	return Snapshot{Source: "host-1", Epoch: now0 - 1e9, Seq: 7, SentAt: now0, Interval: time.Second, Net: "orders",
		Digest: Digest([]byte("orders")), Full: true, Rows: rows}
}

// sparse keeps a random part of the rows.
func sparse(r *rand.Rand, s Snapshot) Snapshot {
	out := s
	out.Full, out.Rows.Places, out.Rows.Transitions = false, nil, nil
	for i, p := range s.Rows.Places {
		if r.IntN(3) == 0 {
			out.PlaceIndex = append(out.PlaceIndex, uint32(i))
			out.Rows.Places = append(out.Rows.Places, p)
		}
	}
	for i, t := range s.Rows.Transitions {
		if r.IntN(3) == 0 {
			out.TransitionIndex = append(out.TransitionIndex, uint32(i))
			out.Rows.Transitions = append(out.Rows.Transitions, t)
		}
	}
	return out
}

// forget clears the columns that are not in keep, as the wire does.
func forget(s *Snapshot, keep stats.Columns) {
	s.Rows.Columns &= keep
	if len(s.Rows.Places) == 0 || s.Rows.Columns&placeColumns == 0 {
		s.Rows.Columns &^= placeColumns
	}
	if len(s.Rows.Transitions) == 0 {
		s.Rows.Columns &^= transitionColumns
	}
	c, stuck, groups := s.Rows.Columns, false, false
	if !c.Has(stats.ColInstances) {
		s.Rows.Net = stats.NetRow{}
	}
	if !c.Has(stats.ColBlocks) {
		s.Rows.Blocks = nil
	}
	if len(s.Rows.Blocks) == 0 {
		s.Rows.Columns &^= stats.ColBlocks
	}
	if !c.Has(stats.ColQueues) {
		s.Rows.Queues = nil
	}
	if len(s.Rows.Queues) == 0 {
		s.Rows.Columns &^= stats.ColQueues
	}
	if !c.Has(stats.ColWaiting) {
		s.Rows.Waiting = 0
	}
	for i := range s.Rows.Places {
		forgetPlace(&s.Rows.Places[i], c)
		stuck, groups = stuck || len(s.Rows.Places[i].Stuck) > 0, groups || len(s.Rows.Places[i].Groups) > 0
	}
	if !stuck {
		s.Rows.Columns &^= stats.ColStuck
	}
	if !groups {
		s.Rows.Columns &^= stats.ColGroups
	}
	for i := range s.Rows.Transitions {
		forgetTransition(&s.Rows.Transitions[i], c)
	}
	if s.Full && s.Rows.Columns&placeColumns == 0 {
		s.Rows.Places = nil
	}
	if s.Full && s.Rows.Columns&transitionColumns == 0 {
		s.Rows.Transitions = nil
	}
}

func forgetPlace(p *stats.Place, c stats.Columns) {
	was := *p
	*p = stats.Place{}
	if c.Has(stats.ColTokens) {
		p.Tokens = was.Tokens
	}
	if c.Has(stats.ColArrivals) {
		p.Arrivals = was.Arrivals
	}
	if c.Has(stats.ColDepartures) {
		p.Departures = was.Departures
	}
	if c.Has(stats.ColPlaceInstances) {
		p.Instances = was.Instances
	}
	if c.Has(stats.ColOldest) {
		p.Oldest, p.LastInjection, p.Injected = was.Oldest, was.LastInjection, was.Injected
	}
	if c.Has(stats.ColAges) {
		p.Ages = was.Ages
	}
	if c.Has(stats.ColDwell) {
		p.Dwell, p.Slowest = was.Dwell, was.Slowest
	}
	if c.Has(stats.ColStuck) {
		p.Stuck = was.Stuck
	}
	if c.Has(stats.ColGroups) {
		p.Groups = was.Groups
	}
}

func forgetTransition(t *stats.Transition, c stats.Columns) {
	was := *t
	*t = stats.Transition{}
	if c.Has(stats.ColFirings) {
		t.Firings = was.Firings
	}
	if c.Has(stats.ColFailures) {
		t.Failures, t.Retries, t.Cancels = was.Failures, was.Retries, was.Cancels
	}
	if c.Has(stats.ColTimeouts) {
		t.Timeouts, t.Late = was.Timeouts, was.Late
	}
	if c.Has(stats.ColEnabled) {
		t.Enabled, t.EnabledSince = was.Enabled, was.EnabledSince
	}
	if c.Has(stats.ColRunning) {
		t.Running, t.RunningSince = was.Running, was.RunningSince
	}
	if c.Has(stats.ColLastFiring) {
		t.LastFiring = was.LastFiring
	}
	if c.Has(stats.ColNextDue) {
		t.NextDue = was.NextDue
	}
	if c.Has(stats.ColDuration) {
		t.Duration, t.Slowest = was.Duration, was.Slowest
	}
}

// One encoder and one decoder serve all snapshots, so data left over from one
// would appear in the next.
func TestDecodeIsTheInverseOfEncode(t *testing.T) {
	var enc Encoder
	var dec Decoder
	var got, gotJSON Snapshot
	var buf []byte
	for i := range seeds.Of(20, 200, 84, 140, 52, 113, 32, 46, 48, 72, 106) {
		r := rand.New(rand.NewPCG(1, i))
		s := snapshotOf(randomRows(r, now0, [2]int{1 + r.IntN(20), 1 + r.IntN(20)}))
		s.Bye, s.Seq = i%7 == 0, i+1
		if i%5 == 0 {
			s.Region, s.Fence = "region 7", r.Uint64()
		}
		if i%2 == 0 {
			s = sparse(r, s)
		}
		if i%4 == 0 {
			s.Remnants = randomRemnants(r)
		}
		if i%3 == 0 {
			forget(&s, stats.Columns(r.Uint32()))
		} else {
			forget(&s, stats.AllColumns)
		}
		if lists := stats.ColStuck | stats.ColGroups; s.Full && s.Rows.Columns&lists != 0 && s.Rows.Columns&placeColumns&^lists == 0 {
			continue
		}
		var err error
		if buf, err = enc.Append(buf[:0], &s); err != nil {
			t.Fatal(err)
		}
		if err := dec.Decode(buf, &got); err != nil {
			t.Fatalf("decode: %v", err)
		}
		if d := differ(s, got, same); d != "" {
			t.Fatalf("seed %d (-sent +decoded):\n%s", i, d)
		}
		if buf, err = enc.AppendJSON(buf[:0], &s); err != nil {
			t.Fatal(err)
		}
		if err := dec.DecodeJSON(buf, &gotJSON); err != nil {
			t.Fatalf("decode json: %v", err)
		}
		if d := differ(s, gotJSON, same); d != "" {
			t.Fatalf("seed %d, json (-sent +decoded):\n%s", i, d)
		}
	}
}

// Encode cuts a ladder for sent_at, even if it was cut earlier for a row that
// has not changed since. The result is the same.
func TestEncodeCutsLaddersForSentAt(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	s := snapshotOf(randomRows(r, now0-3600e6, [2]int{5, 1}))
	payload, err := new(Encoder).Append(nil, &s)
	if err != nil {
		t.Fatal(err)
	}
	var got Snapshot
	if err := new(Decoder).Decode(payload, &got); err != nil {
		t.Fatal(err)
	}
	for i := range got.Rows.Places {
		if at := got.Rows.Places[i].Ages.At; at != s.SentAt/stats.SlotWidth {
			t.Errorf("ladder cut for %d, want %d", at, s.SentAt/stats.SlotWidth)
		}
		if !got.Rows.Places[i].Equal(&s.Rows.Places[i]) {
			t.Errorf("place %d: got %+v, want %+v", i, got.Rows.Places[i], s.Rows.Places[i])
		}
	}
}

func TestEncodeRejectsWhatWouldBeReadAsSomethingElse(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for name, c := range map[string]struct {
		change func(*Snapshot)
		want   Reason
	}{
		"sparse without index": {func(s *Snapshot) { s.Full = false }, BadIndex},
		"full with index":      {func(s *Snapshot) { s.PlaceIndex = []uint32{0} }, BadIndex},
		"too many rows":        {func(s *Snapshot) { s.Rows.Places = make([]stats.Place, MaxRows+1) }, TooMany},
		"ladder of the future": {func(s *Snapshot) {
			s.Rows.Places[0].Ages = stats.Ladder{At: now0, Slots: []stats.Slot{{Start: 1, N: 1}}}
		}, BadValue},
		"a priority twice":          {func(s *Snapshot) { s.Rows.Queues = make([]stats.Queue, 2) }, BadIndex},
		"stuck tokens and no count": {func(s *Snapshot) { s.Rows.Columns = stats.ColStuck }, BadColumns},
		"groups and no count":       {func(s *Snapshot) { s.Rows.Columns = stats.ColStuck | stats.ColGroups }, BadColumns},
	} {
		s := snapshotOf(randomRows(r, now0, [2]int{2, 2}))
		c.change(&s)
		if _, err := new(Encoder).Append(nil, &s); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// goldenSnapshot returns a small snapshot with every field.
func goldenSnapshot() Snapshot {
	rows := stats.Rows{
		Columns: stats.AllColumns &^ (stats.ColNextDue | stats.ColGroups),
		Net:     stats.NetRow{Created: 5, Finished: 2, Failed: 1, Active: 2, Deadlocked: 1},
		Places:  make([]stats.Place, 2), Transitions: make([]stats.Transition, 1),
		Blocks: []stats.Block{{Transition: 0, Place: 1, Reason: stats.ReasonMissing, Instances: 2}},
		Queues: []stats.Queue{{Priority: 0, Served: 11, QuoteSwitches: 3},
			{Priority: 7, Ready: 4, OldestSince: now0 - 3_000_000, UnservedSince: now0 - 2_000_000, Served: 5}},
		Waiting: 9,
	}
	p := &rows.Places[0]
	*p = stats.Place{Tokens: 3, Arrivals: 5, Departures: 2, Instances: 2, Oldest: now0 - 90_000_000, LastInjection: now0 - 1_000_000}
	for _, age := range []int64{90_000_000, 2_000_000, 1_000_000} {
		p.Injected.Add(now0 - age)
		p.Ages.Add(now0-age, now0, 1)
	}
	for _, d := range []int64{0, 40_000_000} {
		p.Dwell.Observe(d)
	}
	p.Stuck = []stats.Token{{Instance: "case 17", Injected: now0 - 90_000_000, Waits: []stats.Wait{
		{Transition: 0, Reason: stats.ReasonMissing, Place: 1, Count: 1}}}}
	rows.Places[1].Ages.At = now0 / stats.SlotWidth
	rows.Transitions[0] = stats.Transition{Firings: 2, Failures: 1, Retries: 1, Cancels: 2, Timeouts: 1, Late: 1, Running: 1, RunningSince: now0 - 500_000, LastFiring: now0 - 60_000_000}
	rows.Transitions[0].Duration.Observe(250_000)
	s := snapshotOf(rows)
	s.Region, s.Fence = "north", 3
	return s
}

// firstGolden returns the golden snapshot of the first version, without actions
// and queues.
func firstGolden() Snapshot {
	s := goldenSnapshot()
	s.Rows.Transitions[0].Cancels = 0
	forget(&s, stats.AllColumns&^(stats.ColTimeouts|stats.ColQueues|stats.ColWaiting))
	return s
}

// slowestGolden returns goldenSnapshot with the slowest instances.
func slowestGolden() Snapshot {
	s := goldenSnapshot()
	s.Rows.Places[1].Slowest = stats.Slowest{Instance: "case 12", Micros: 40_000_000, At: now0 - 500_000}
	s.Rows.Transitions[0].Slowest = stats.Slowest{Instance: "case 13", Micros: 250_000, At: now0}
	return s
}

// regionGolden returns slowestGolden for a region whose counters continue from
// owner to owner.
func regionGolden() Snapshot {
	s := slowestGolden()
	lag := uint64(0) // 0, and known
	s.Since, s.State = now0-86_400_000_000, &RegionState{Position: 1234, Standbys: 2, Lag: &lag}
	return s
}

// whatGolden returns regionGolden with what a token waits for, in words.
func whatGolden() Snapshot {
	s := regionGolden()
	s.Rows.Places[0].Stuck[0].Waits = append(s.Rows.Places[0].Stuck[0].Waits,
		stats.Wait{Reason: stats.ReasonEnabled, Place: stats.NoPlace, What: "external task ship, no worker"})
	return s
}

// refusedGolden returns whatGolden with refused requests.
func refusedGolden() Snapshot {
	s := whatGolden()
	s.Refused = &stats.RefusedRequests{stats.RefusedTokens: 300, stats.RefusedQueue: 70_000, stats.RefusedSize: 1}
	return s
}

// dueGolden returns refusedGolden with when a transition is to fire next.
func dueGolden() Snapshot {
	s := refusedGolden()
	s.Rows.Columns |= stats.ColNextDue
	s.Rows.Transitions[0].NextDue = now0 + 600_000_000
	return s
}

// groupsGolden returns refusedGolden with the tokens of a place by why they wait: of one reason the
// oldest is stuck too, of the other it is not.
func groupsGolden() Snapshot {
	s := refusedGolden()
	s.Rows.Columns |= stats.ColGroups
	p := &s.Rows.Places[0]
	p.Groups = []stats.Group{{Reason: stats.ReasonDelayed, Tokens: 2, Due: now0 + 3_600_000_000, Oldest: stats.Token{Instance: "case 20", Injected: now0 - 2_000_000,
		Waits: []stats.Wait{{Reason: stats.ReasonDelayed, Place: stats.NoPlace, Until: now0 + 7_200_000_000}}}},
		{Reason: stats.ReasonMissing, Tokens: 1, Due: p.Stuck[0].Injected, Oldest: p.Stuck[0]}}
	return s
}

// The bytes are a public interface and never change within v1.
func TestGoldenBytes(t *testing.T) {
	checkGolden(t, "snapshot", firstGolden())
	checkGolden(t, "snapshot_actions", goldenSnapshot())
	checkGolden(t, "snapshot_slowest", slowestGolden())
	checkGolden(t, "snapshot_region", regionGolden())
	checkGolden(t, "snapshot_what", whatGolden())
	checkGolden(t, "snapshot_refused", refusedGolden())
	checkGolden(t, "snapshot_groups", groupsGolden())
	checkGolden(t, "snapshot_remnants", remnantsGolden())
	checkGolden(t, "snapshot_due", dueGolden())
}

func checkGolden(t *testing.T, name string, s Snapshot) {
	t.Helper()
	var enc Encoder
	var dec Decoder
	payload, err := enc.Append(nil, &s)
	if err != nil {
		t.Fatal(err)
	}
	text, err := enc.AppendJSON(nil, &s)
	if err != nil {
		t.Fatal(err)
	}
	var compact bytes.Buffer // the spaces of protojson's output are not stable
	if err := json.Indent(&compact, text, "", "  "); err != nil {
		t.Fatal(err)
	}
	compact.WriteByte('\n')
	for name, c := range map[string]struct {
		encoded []byte
		decode  func([]byte, *Snapshot) error
	}{
		name + ".pb":   {payload, dec.Decode},
		name + ".json": {compact.Bytes(), dec.DecodeJSON},
	} {
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, c.encoded, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		golden, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(golden, c.encoded); d != "" {
			t.Errorf("%s (-golden +encoded):\n%s", name, d)
		}
		var got Snapshot
		if err := c.decode(golden, &got); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if d := differ(s, got, same); d != "" {
			t.Errorf("%s (-want +decoded):\n%s", name, d)
		}
	}
}

func TestDecodeMsgChecksTheSubjectAndTakesTheLaneOfTheHeader(t *testing.T) {
	s := goldenSnapshot()
	s.Net, s.Source = "a.b", "host 1"
	bye := s
	bye.Bye = true
	var enc Encoder
	encode := func(f func([]byte, *Snapshot) ([]byte, error), s Snapshot) []byte {
		b, err := f(nil, &s)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	jsonHeader := nats.Header{ContentTypeHeader: {ContentTypeJSON}}
	subjects := Subjects{}
	right, rightBye := subjects.Snapshot("a.b", "host 1"), subjects.Bye("a.b", "host 1")
	for name, c := range map[string]struct {
		msg  *nats.Msg
		want error
	}{
		"protobuf":              {&nats.Msg{Subject: right, Data: encode(enc.Append, s)}, nil},
		"json":                  {&nats.Msg{Subject: right, Data: encode(enc.AppendJSON, s), Header: jsonHeader}, nil},
		"json with a charset":   {&nats.Msg{Subject: right, Data: encode(enc.AppendJSON, s), Header: nats.Header{ContentTypeHeader: {ContentTypeJSON + "; charset=utf-8"}}}, nil},
		"bye":                   {&nats.Msg{Subject: rightBye, Data: encode(enc.Append, bye)}, nil},
		"bye on the other":      {&nats.Msg{Subject: right, Data: encode(enc.Append, bye)}, BadSubject},
		"no bye on bye":         {&nats.Msg{Subject: rightBye, Data: encode(enc.Append, s)}, BadSubject},
		"another source's":      {&nats.Msg{Subject: subjects.Snapshot("a.b", "host 2"), Data: encode(enc.Append, s)}, BadSubject},
		"another net's":         {&nats.Msg{Subject: subjects.Snapshot("a", "host 1"), Data: encode(enc.Append, s)}, BadSubject},
		"json without header":   {&nats.Msg{Subject: right, Data: encode(enc.AppendJSON, s)}, NotProtobuf},
		"protobuf with header":  {&nats.Msg{Subject: right, Data: encode(enc.Append, s), Header: jsonHeader}, NotJSON},
		"more than MaxMessage":  {&nats.Msg{Subject: right, Data: make([]byte, MaxMessage+1)}, TooLarge},
		"nothing":               {&nats.Msg{Subject: right}, BadName},
		"json of another thing": {&nats.Msg{Subject: right, Data: []byte(`{"hello":"world"}`), Header: jsonHeader}, BadName},
		"deep json":             {&nats.Msg{Subject: right, Data: []byte(strings.Repeat(`{"x":`, 1000)), Header: jsonHeader}, NotJSON},
	} {
		var got Snapshot
		if err := new(Decoder).DecodeMsg(subjects, c.msg, &got); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}
