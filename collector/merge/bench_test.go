// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// traffic makes full snapshots of many sources, encoded, message after message
// of rising seq.
type traffic struct {
	r       *rand.Rand
	enc     telemetry.Encoder
	msg     telemetry.Snapshot
	sources int
	n       int
}

// newTraffic returns traffic whose dwell histograms have buckets filled buckets,
// and whose ladders have slots slots.
func newTraffic(sources, places, transitions, buckets, slots int) *traffic {
	tr := &traffic{r: rand.New(rand.NewPCG(1, 2)), sources: sources}
	tr.msg = telemetry.Snapshot{Net: "n", Digest: benchDigest, Epoch: t0, Interval: time.Second, Full: true,
		Rows: *stats.NewRows(places, transitions)}
	tr.msg.Rows.Columns = stats.AllColumns &^ (stats.ColStuck | stats.ColBlocks | stats.ColQueues)
	if buckets == 0 {
		tr.msg.Rows.Columns &^= stats.ColDwell | stats.ColDuration
	}
	if slots == 0 {
		tr.msg.Rows.Columns &^= stats.ColAges
	}
	for i := range tr.msg.Rows.Places {
		p := &tr.msg.Rows.Places[i]
		for b := range buckets {
			p.Dwell.Merge(&stats.Histogram{Schema: 3, Buckets: []stats.Bucket{{Index: int32(b), N: 1}}})
		}
	}
	for i := range tr.msg.Rows.Transitions {
		tr.msg.Rows.Transitions[i].Duration.Observe(int64(i) * 1000)
	}
	tr.ages(slots)
	return tr
}

func (tr *traffic) ages(slots int) {
	for i := range tr.msg.Rows.Places {
		p := &tr.msg.Rows.Places[i]
		for s := range slots {
			p.Ages.Add(t0-int64(s)*stats.SlotWidth, t0, 1)
		}
		p.Tokens = uint64(slots)
	}
}

// next returns the next message: everything moved a little since the last.
func (tr *traffic) next() []byte {
	tr.advance()
	return tr.encode(&tr.msg)
}

func (tr *traffic) advance() {
	m := &tr.msg
	m.Source, m.Seq = fmt.Sprintf("engine-%d", tr.n%tr.sources), uint64(tr.n/tr.sources+1)
	m.SentAt = t0 + int64(m.Seq)*1e6
	for i := range m.Rows.Places {
		p := &m.Rows.Places[i]
		p.Tokens = uint64(tr.r.IntN(50))
		p.Arrivals, p.Departures = m.Seq*1000+p.Tokens, m.Seq*1000
		p.Oldest, p.LastInjection = m.SentAt-tr.r.Int64N(1e6), m.SentAt
		p.Injected = stats.TimeSum{Sec: p.Tokens * uint64(m.SentAt/1e6)}
		for b := range p.Dwell.Buckets {
			p.Dwell.Buckets[b].N = m.Seq * 10
		}
	}
	for i := range m.Rows.Transitions {
		t := &m.Rows.Transitions[i]
		t.Firings, t.LastFiring = m.Seq*1000, m.SentAt
		t.Enabled, t.EnabledSince = 1, m.SentAt-1000
	}
	tr.n++
}

func (tr *traffic) encode(m *telemetry.Snapshot) []byte {
	out, err := tr.enc.Append(nil, m)
	if err != nil {
		panic(err)
	}
	return out
}

// BenchmarkSnapshots is what one core takes in: full snapshots of 50 + 50 rows
// of 100 sources, decoded (the base), and decoded and merged, with a view each
// time that every source has sent one snapshot.
func BenchmarkSnapshots(b *testing.B) {
	for _, with := range []struct{ buckets, slots int }{{0, 0}, {4, 4}, {40, 8}} {
		tr := newTraffic(100, 50, 50, with.buckets, with.slots)
		messages := make([][]byte, 100*tr.sources)
		for i := range messages {
			messages[i] = tr.next()
		}
		name := fmt.Sprintf("%d_buckets_%d_slots/", with.buckets, with.slots)
		b.Run(name+"decode", func(b *testing.B) { benchSnapshots(b, messages, tr.sources, false) })
		b.Run(name+"decode_and_merge", func(b *testing.B) { benchSnapshots(b, messages, tr.sources, true) })
	}
}

// BenchmarkFleet is what one message costs of those that 10,000 sources of 50 + 50 rows send
// each second, in which 24 rows changed and the others are left out: decoded (the base), and
// decoded and merged, with a View after each round.
func BenchmarkFleet(b *testing.B) {
	const sources, rounds = 10_000, 4
	tr := newTraffic(sources, 50, 50, 8, 4)
	var all [][]byte
	for range rounds * sources {
		all = append(all, tr.some(12))
	}
	first := newTraffic(sources, 50, 50, 8, 4)
	var whole [][]byte
	for range sources {
		whole = append(whole, first.next())
	}
	var d telemetry.Decoder
	var msg telemetry.Snapshot
	b.Run("decode", func(b *testing.B) {
		cpu := cpuTime(b)
		defer func() { b.ReportMetric(float64(cpuTime(b)-cpu)/float64(b.N), "cpu-ns/op") }()
		for i := 0; b.Loop(); i++ {
			if err := d.Decode(all[i%len(all)], &msg); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decode_and_merge", func(b *testing.B) {
		m := NewMerger(Rules{}, t0)
		if _, err := m.Define(benchDigest, lineNet("n", 50, 50), t0); err != nil {
			b.Fatal(err)
		}
		take := func(payload []byte) {
			err := d.Decode(payload, &msg)
			if err == nil {
				_, err = m.Take(&msg, len(payload), msg.SentAt)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		for _, payload := range whole {
			take(payload)
		}
		m.Tick(msg.SentAt)
		b.ReportAllocs()
		b.ResetTimer()
		cpu := cpuTime(b)
		defer func() { b.ReportMetric(float64(cpuTime(b)-cpu)/float64(b.N), "cpu-ns/op") }()
		for i := range b.N {
			if i == len(all) {
				b.Skip("more messages than were made")
			}
			take(all[i])
			if i%sources == sources-1 {
				m.Tick(msg.SentAt)
			}
		}
	})
}

// some returns the next message of traffic, with some places and as many transitions only.
func (tr *traffic) some(rows int) []byte {
	if tr.n < tr.sources {
		tr.n = tr.sources
	}
	whole := tr.msg
	tr.advance()
	part := tr.msg
	part.Full = false
	part.Rows.Places, part.Rows.Transitions = nil, nil
	for _, i := range slices.Sorted(slices.Values(tr.r.Perm(len(whole.Rows.Places))[:rows])) {
		part.PlaceIndex, part.Rows.Places = append(part.PlaceIndex, uint32(i)), append(part.Rows.Places, whole.Rows.Places[i])
		part.TransitionIndex, part.Rows.Transitions = append(part.TransitionIndex, uint32(i)), append(part.Rows.Transitions, whole.Rows.Transitions[i])
	}
	return tr.encode(&part)
}

func benchSnapshots(b *testing.B, messages [][]byte, sources int, merge bool) {
	var d telemetry.Decoder
	var msg telemetry.Snapshot
	var m *Merger
	b.SetBytes(int64(len(messages[0])))
	b.ReportAllocs()
	cpu := cpuTime(b)
	for i := 0; b.Loop(); i++ {
		at := i % len(messages)
		if at == 0 {
			m = NewMerger(Rules{}, t0)
			if _, err := m.Define(benchDigest, lineNet("n", 50, 50), t0); err != nil {
				b.Fatal(err)
			}
		}
		if err := d.Decode(messages[at], &msg); err != nil {
			b.Fatal(err)
		}
		if !merge {
			continue
		}
		if _, err := m.Take(&msg, len(messages[at]), msg.SentAt); err != nil {
			b.Fatal(err)
		}
		if at%sources == sources-1 {
			m.Tick(msg.SentAt)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "snapshots/s")
	b.ReportMetric(float64(cpuTime(b)-cpu)/float64(b.N), "cpu-ns/op")
}

// cpuTime returns the CPU time of this process so far: on a shared machine it is
// more precise than elapsed time.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkView is the rebuilding of a View of 10,000 places and as many
// transitions in which every row changed. The base copies the rows.
func BenchmarkView(b *testing.B) {
	const places = 10_000
	for _, sources := range []int{1, 10} {
		tr := newTraffic(sources, places, places, 8, 8)
		m := NewMerger(Rules{}, t0)
		if _, err := m.Define(benchDigest, lineNet("n", places, places), t0); err != nil {
			b.Fatal(err)
		}
		var d telemetry.Decoder
		var msg telemetry.Snapshot
		for range sources {
			if err := d.Decode(tr.next(), &msg); err != nil {
				b.Fatal(err)
			}
			if _, err := m.Take(&msg, 0, msg.SentAt); err != nil {
				b.Fatal(err)
			}
		}
		n := m.nets["n"]
		b.Run(fmt.Sprintf("%d_sources/copy", sources), func(b *testing.B) {
			from, to := stats.NewRows(places, places), stats.NewRows(places, places)
			for b.Loop() {
				for range n.order {
					copy(to.Places, from.Places)
					copy(to.Transitions, from.Transitions)
				}
			}
		})
		b.Run(fmt.Sprintf("%d_sources/rebuild", sources), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				n.live.Places.AddAll(places)
				n.live.Transitions.AddAll(places)
				n.changed = true
				m.Tick(msg.SentAt)
			}
		})
		b.Run(fmt.Sprintf("%d_sources/nothing_changed", sources), func(b *testing.B) {
			for b.Loop() {
				m.Tick(msg.SentAt)
			}
		})
	}
}

// BenchmarkMemory is what is kept for one place of one source, with a dwell
// histogram of 40 filled buckets and 8 slots of ages.
func BenchmarkMemory(b *testing.B) {
	var per float64
	for b.Loop() {
		per = bytesPerPlace(b, 40, 8)
	}
	b.ReportMetric(per, "bytes/place")
}

func TestAPlaceOfASourceTakesLessThanAQuarterOfAKibibyte(t *testing.T) {
	if per := bytesPerPlace(t, 40, 8); per > 256 {
		t.Errorf("%.0f bytes", per)
	}
}

func bytesPerPlace(tb testing.TB, buckets, slots int) float64 {
	const sources, places = 100, 100
	tr := newTraffic(sources, places, 0, buckets, slots)
	m := NewMerger(Rules{}, t0)
	if _, err := m.Define(benchDigest, lineNet("n", places, 0), t0); err != nil {
		tb.Fatal(err)
	}
	before := heap()
	var d telemetry.Decoder
	var msg telemetry.Snapshot
	for range 3 * sources {
		if err := d.Decode(tr.next(), &msg); err != nil {
			tb.Fatal(err)
		}
		if _, err := m.Take(&msg, 0, msg.SentAt); err != nil {
			tb.Fatal(err)
		}
	}
	after := heap()
	runtime.KeepAlive(m)
	return float64(after-before) / (sources * places)
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}

// BenchmarkSilence is a second in which one source of 1,000 publishes and the others are silent: a
// message, a View, and a frame of the log.
func BenchmarkSilence(b *testing.B) {
	const sources = 1_000
	tr := newTraffic(sources, 50, 50, 8, 4)
	m, log := NewMerger(Rules{}, t0), new(Saver)
	if _, err := m.Define(benchDigest, lineNet("n", 50, 50), t0); err != nil {
		b.Fatal(err)
	}
	var d telemetry.Decoder
	var msg telemetry.Snapshot
	take := func(payload []byte, now int64) {
		err := d.Decode(payload, &msg)
		if err == nil {
			_, err = m.Take(&msg, len(payload), now)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	for range sources {
		take(tr.next(), t0+1e6)
	}
	now, one := t0+1e6, tr.msg
	one.Full, one.Rows.Places, one.Rows.Transitions, one.TransitionIndex = false, nil, one.Rows.Transitions[:1], []uint32{0}
	second := func() {
		now += 1e6
		one.Seq++
		one.SentAt = now
		one.Rows.Transitions[0].Firings++
		take(tr.encode(&one), now)
		m.ReceivedUntil(now, true)
		m.Tick(now)
		if frame := log.Begin(m, false); frame != nil {
			for more := true; more; {
				more = frame.Piece()
			}
			if _, err := frame.Frame(); err != nil {
				b.Fatal(err)
			}
		}
	}
	for range 10 {
		second()
	}
	b.ReportAllocs()
	for b.Loop() {
		second()
	}
}
