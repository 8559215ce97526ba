// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/pnagent/pnagent/stats"
)

// benchSnapshot returns a snapshot of an engine of 50 places and 50
// transitions.
func benchSnapshot(columns stats.Columns) Snapshot {
	r := rand.New(rand.NewPCG(50, 50))
	s := snapshotOf(randomRows(r, now0, [2]int{50, 50}))
	for i := range s.Rows.Places {
		s.Rows.Places[i].Dwell = randomHistogram(r, 100) // about 40 filled buckets
	}
	forget(&s, columns)
	return s
}

// The base is the same fields as plain structs with encoding/json.
func BenchmarkDecode(b *testing.B) {
	const plain = stats.AllColumns &^ (stats.ColAges | stats.ColDwell | stats.ColDuration | stats.ColStuck | stats.ColBlocks | stats.ColQueues)
	for _, c := range []struct {
		name    string
		columns stats.Columns
	}{
		{"counts and times", plain}, {"with ages", plain | stats.ColAges},
		{"with histograms", plain | stats.ColAges | stats.ColDwell | stats.ColDuration}, {"all", stats.AllColumns},
	} {
		s := benchSnapshot(c.columns)
		base, err := json.Marshal(&s)
		if err != nil {
			b.Fatal(err)
		}
		var enc Encoder
		payload, err := enc.Append(nil, &s)
		if err != nil {
			b.Fatal(err)
		}
		text, err := enc.AppendJSON(nil, &s)
		if err != nil {
			b.Fatal(err)
		}
		var dec Decoder
		var into Snapshot
		for _, lane := range []struct {
			name    string
			payload []byte
			decode  func([]byte, *Snapshot) error
		}{
			{"base=encoding-json", base, func(p []byte, into *Snapshot) error { return json.Unmarshal(p, into) }},
			{"protobuf", payload, dec.Decode}, {"json lane", text, dec.DecodeJSON},
		} {
			b.Run(c.name+"/"+lane.name, func(b *testing.B) {
				b.ReportAllocs()
				b.ReportMetric(float64(len(lane.payload)), "B/msg")
				for b.Loop() {
					if err := lane.decode(lane.payload, &into); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	s := benchSnapshot(stats.AllColumns)
	b.Run("base=encoding-json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := json.Marshal(&s); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("protobuf", func(b *testing.B) {
		b.ReportAllocs()
		var enc Encoder
		var buf []byte
		var err error
		for b.Loop() {
			if buf, err = enc.Append(buf[:0], &s); err != nil {
				b.Fatal(err)
			}
		}
	})
}
