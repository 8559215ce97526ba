// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"encoding/json"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// fuzzed reads a message out of bytes: mostly one that is right.
type fuzzed struct {
	b   []byte
	now int64
}

func (f *fuzzed) byte() byte {
	if len(f.b) == 0 {
		return 0
	}
	c := f.b[0]
	f.b = f.b[1:]
	return c
}

func (f *fuzzed) time() int64 {
	return []int64{0, f.now, f.now - int64(f.byte())*1e5, f.now + int64(f.byte())*1e7, 1, telemetry.MaxTime}[int(f.byte())%6]
}

func (f *fuzzed) message() *telemetry.Snapshot {
	flags := f.byte()
	msg := &telemetry.Snapshot{Source: string("abc"[f.byte()%3]), Net: "n", Digest: fuzzDigest(int(f.byte())),
		Epoch: 1 + int64(f.byte()%3), Seq: 1 + uint64(f.byte()%32), SentAt: max(f.time(), 1),
		Interval: time.Duration(1+int(f.byte())) * 100 * time.Millisecond, Full: flags&1 == 0, Bye: flags&14 == 14}
	if flags&48 == 48 {
		at := f.byte()
		msg.Region, msg.Fence, msg.Since = string("rs"[at>>7]), uint64(at%8), int64(at>>3%3)
		if msg.Fence == 0 {
			msg.Since = 0
		}
	}
	msg.Rows.Columns = stats.AllColumns &^ stats.Columns(f.byte())
	size := 2 + int(f.byte()&1)
	for i := range size {
		if msg.Full || f.byte()&1 == 0 {
			p := stats.Place{Tokens: uint64(f.byte()), Arrivals: uint64(f.byte()), Departures: uint64(f.byte()),
				Oldest: f.time(), LastInjection: f.time(), Injected: stats.TimeSum{Sec: uint64(f.time())}}
			p.Dwell.Observe(int64(f.byte()))
			p.Ages.Add(f.time(), msg.SentAt, 1+uint64(f.byte()))
			p.Stuck = []stats.Token{{Instance: "i", Injected: max(f.time(), 1), Waits: []stats.Wait{{Transition: int32(f.byte() % 3), Place: int32(f.byte()%4) - 1}}}}
			p.Groups = []stats.Group{{Reason: stats.ReasonMissing, Tokens: 1, Due: p.Stuck[0].Injected, Oldest: p.Stuck[0]}}
			msg.PlaceIndex, msg.Rows.Places = append(msg.PlaceIndex, uint32(i)), append(msg.Rows.Places, p)
		}
		if msg.Full && i < 2 || f.byte()&1 == 0 {
			tr := stats.Transition{Firings: uint64(f.byte()), Timeouts: uint64(f.byte() % 8), Enabled: 1, EnabledSince: f.time(), LastFiring: f.time()}
			tr.Duration.Observe(int64(f.byte()))
			msg.TransitionIndex, msg.Rows.Transitions = append(msg.TransitionIndex, uint32(i)), append(msg.Rows.Transitions, tr)
			msg.Rows.Blocks = append(msg.Rows.Blocks, stats.Block{Transition: int32(i), Place: int32(f.byte()%4) - 1, Instances: 1})
		}
	}
	if msg.Full {
		msg.PlaceIndex, msg.TransitionIndex = nil, nil
	}
	msg.Rows.Waiting = uint64(f.byte())
	for p := range f.byte() % 4 {
		msg.Rows.Queues = append(msg.Rows.Queues, stats.Queue{Priority: 2*p + f.byte()%2, Ready: uint64(f.byte()), OldestSince: f.time(),
			UnservedSince: f.time(), Served: uint64(f.byte()), QuoteSwitches: uint64(f.byte())})
	}
	return msg
}

// throughTheWire returns what a decoder makes of a message.
func throughTheWire(msg *telemetry.Snapshot) (*telemetry.Snapshot, error) {
	var enc telemetry.Encoder
	payload, err := enc.Append(nil, msg)
	if err != nil {
		return nil, err
	}
	var dec telemetry.Decoder
	var out telemetry.Snapshot
	err = dec.Decode(payload, &out)
	return &out, err
}

func checkView(t *testing.T, old, next *View) {
	t.Helper()
	if err := json.NewEncoder(io.Discard).Encode(next); err != nil {
		t.Fatal(err)
	}
	if old == nil {
		return
	}
	for i, n := range old.Nets {
		was, is := n.Rows, next.Nets[i].Rows
		for _, a := range was.Queues {
			if b := queueOf(is.Queues, a.Priority); b == nil || b.Served < a.Served || b.QuoteSwitches < a.QuoteSwitches {
				t.Fatalf("a counter of priority %d fell: %+v, now %+v", a.Priority, a, b)
			}
		}
		for j := range was.Places {
			if a, b := &was.Places[j], &is.Places[j]; b.Arrivals < a.Arrivals || b.Departures < a.Departures || b.Dwell.Count() < a.Dwell.Count() {
				t.Fatalf("a counter of place %d fell: %+v, now %+v", j, a, b)
			}
		}
		for j := range was.Transitions {
			if a, b := &was.Transitions[j], &is.Transitions[j]; b.Firings < a.Firings || b.Timeouts < a.Timeouts || b.Duration.Count() < a.Duration.Count() {
				t.Fatalf("a counter of transition %d fell: %+v, now %+v", j, a, b)
			}
		}
	}
}

// digests of the fuzzed nets: two that are known, one that comes late, one
// that never comes.
func fuzzDigest(i int) string { return benchDigest[:31] + string("0123"[i&3]) }

func fuzzDefinition(i int) *petri.Net {
	n := lineNet("n", 2+i&1, 2)
	if i&3 == 2 {
		n.Places[0].ID, n.Places[1].ID = "p1", "other"
	}
	return n
}

func FuzzReadDefinition(f *testing.F) {
	f.Add("n", []byte(`<pnml><net id="n" type="ptnet"><place id="p"/></net></pnml>`))
	f.Fuzz(func(t *testing.T, net string, text []byte) {
		n, err := ReadDefinition(telemetry.Definition{Net: net, Digest: telemetry.Digest(text), PNML: text}, pnmlLimits())
		if err == nil && (n.ID != net || n.Validate() != nil) {
			t.Errorf("got %+v; want a valid net with the id %q", n, net)
		}
		if err != nil && telemetry.ReasonOf(err) != BadDefinition {
			t.Error(err)
		}
	})
}

// Whatever sources say, nothing panics, no counter of a View falls, a View can
// be written, and what was rejected is counted.
func FuzzMerger(f *testing.F) {
	r := rand.New(rand.NewPCG(9, 9))
	for range 8 {
		seed := make([]byte, 300)
		for i := range seed {
			seed[i] = byte(r.Uint32())
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		in := &fuzzed{b: b, now: t0}
		m := NewMerger(Rules{ForgetAfter: 20 * time.Second, Limits: Limits{Sources: 3, GoneRows: 6, Past: 2, Definitions: 2}}, t0)
		for i := range 2 {
			if _, err := m.Define(fuzzDigest(i), fuzzDefinition(i), t0); err != nil {
				t.Fatal(err)
			}
		}
		var last *View
		var rejected uint64
		for n := 0; len(in.b) > 0; n++ {
			in.now += int64(in.byte()) * 1e5
			msg, err := throughTheWire(in.message())
			if err == nil {
				_, err = m.Take(msg, 1, in.now)
			} else {
				m.Reject(err, 1)
			}
			if err != nil {
				rejected++
			}
			if n == 10 {
				_, _ = m.Define(fuzzDigest(2), fuzzDefinition(2), in.now)
			}
			if in.byte()&3 == 0 {
				view, _ := m.Tick(in.now)
				checkView(t, last, view)
				checkSources(t, m, view)
				last = view
			}
		}
		view, _ := m.Tick(in.now)
		counted := uint64(0)
		for _, n := range view.Traffic.Rejected {
			counted += n
		}
		if counted < rejected || len(view.Traffic.Rejected) != len(Reasons()) {
			t.Errorf("%d rejections counted, of %d", counted, rejected)
		}
	})
}
