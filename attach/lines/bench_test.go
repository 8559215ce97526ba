// SPDX-License-Identifier: Apache-2.0

package lines

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"testing"
)

// benchLines returns events of instances that start, continue and end; open of
// them are open at a time.
func benchLines(events, open int) []byte {
	var b bytes.Buffer
	for k := range events {
		round, i := k/(3*open), k%open
		fmt.Fprintf(&b, `{"time":"2020-09-13T12:26:%02d.%06dZ","net":"orders","instance":"order-%d-%d","transition":"t%d"}`+"\n",
			k/1_000_000%60, k%1_000_000, round, i, k/open%3+1)
	}
	return b.Bytes()
}

const benchEvents = 300_000

// BenchmarkLines reads lines, replays them and makes rows, on one core.
func BenchmarkLines(b *testing.B) {
	for _, open := range []int{100, 10_000} {
		b.Run(fmt.Sprint("open=", open), func(b *testing.B) {
			text := benchLines(benchEvents, open)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				a := attach(b, nil)
				if err := a.Stream(b.Context(), bytes.NewReader(text)); err != nil {
					b.Fatal(err)
				}
				seen(b, a, a.clock())
				if n := a.Nets()[0]; n.Events != benchEvents || n.Unfit != 0 {
					b.Fatalf("%+v", n)
				}
			}
			b.ReportMetric(benchEvents*float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

// BenchmarkProcess replays a process in which almost every event requires a
// search for silent gateways.
func BenchmarkProcess(b *testing.B) {
	var text bytes.Buffer
	tasks := []string{"assess", "pay", "write"}
	for k := range benchEvents {
		fmt.Fprintf(&text, `{"time":%d,"instance":"claim-%d-%d","transition":%q}`+"\n", 1_600_000_000+k/1000, k/3000, k%1000, tasks[k/1000%3])
	}
	nets := claim(b)
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		a := attach(b, func(c *Config) { c.Nets = nets })
		if err := a.Stream(b.Context(), bytes.NewReader(text.Bytes())); err != nil {
			b.Fatal(err)
		}
		if n := a.Nets()[0]; n.Events != benchEvents || n.Unfit != 0 || n.Open != 0 {
			b.Fatalf("%+v", n)
		}
	}
	b.ReportMetric(benchEvents*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkBase only decodes the same lines with encoding/json.
func BenchmarkBase(b *testing.B) {
	text := benchLines(benchEvents, 100)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		d, n := json.NewDecoder(bytes.NewReader(text)), 0
		for {
			var e struct{ Time, Net, Instance, Transition string }
			if err := d.Decode(&e); err == io.EOF {
				break
			} else if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != benchEvents {
			b.Fatal(n)
		}
	}
	b.ReportMetric(benchEvents*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}
