// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"hash/crc32"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/stats"
)

// shownFrame is a frame as a page keeps it.
type shownFrame struct {
	Net         string
	Drawing     string
	Generation  uint64
	At          int64
	Places      [][]any
	Transitions [][]any
}

// apply does what a page does with a diff.
func (f *shownFrame) apply(t *testing.T, text []byte) {
	t.Helper()
	var d struct {
		Generation uint64
		At         int64
		P, T       [][]any
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	f.Generation, f.At = d.Generation, d.At
	for _, row := range d.P {
		f.Places[int(row[0].(float64))] = row[1:]
	}
	for _, row := range d.T {
		f.Transitions[int(row[0].(float64))] = row[1:]
	}
}

func frameOf(t *testing.T, text []byte) *shownFrame {
	t.Helper()
	var f shownFrame
	if err := json.Unmarshal(text, &f); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return &f
}

// dataOf is the JSON of an event.
func dataOf(t *testing.T, e *event) []byte {
	t.Helper()
	_, text, ok := bytes.Cut(e.text, []byte("\ndata: "))
	if !ok || !bytes.HasSuffix(text, []byte("\n\n")) || bytes.Count(e.text, []byte("\n")) != 4 {
		t.Fatalf("no event: %q", e.text)
	}
	return text
}

// TestDiffsGiveWhatWholeFramesGive follows random Views, over definitions that
// grow and columns that come and go.
func TestDiffsGiveWhatWholeFramesGive(t *testing.T) {
	for seed := range uint64(8) {
		st, w := newStage(t, nil), newWorld(seed, 6, 4)
		if !st.enter("net") {
			t.Fatal("no room")
		}
		var shown *shownFrame
		diffs := 0
		for range 60 {
			if w.random.IntN(15) == 0 {
				w.grow(w.random.IntN(3), w.random.IntN(3))
			}
			if w.random.IntN(20) == 0 {
				w.view.Nets[0].Rows.Columns ^= stats.ColRunning
			}
			st.show(w.tick(w.random.Float64()))
			n := st.board.Load().nets["net"]
			whole := frameOf(t, dataOf(t, n.whole()))
			if n.diff == nil {
				shown = whole
			} else {
				shown.apply(t, dataOf(t, n.diff))
				diffs++
			}
			if !reflect.DeepEqual(whole, shown) {
				t.Fatalf("seed %d, generation %d (-whole +from diffs):\n%s", seed, whole.Generation, cmp.Diff(whole, shown))
			}
		}
		if diffs < 40 {
			t.Errorf("seed %d: only %d diffs of 60", seed, diffs)
		}
	}
}

func TestAFrameHasTheNumbersOfTheView(t *testing.T) {
	st := newStage(t, nil)
	st.show(orders())
	got := string(dataOf(t, st.board.Load().nets["orders"].whole()))
	hash := st.board.Load().nets["orders"].drawing.hash
	want := `{"net":"orders","drawing":"` + hash + `","generation":41,"at":1772366400000,` +
		`"places":[[2,1772366280000,2,null],[0,0,0,null]],"transitions":[[null,1,1772366399000,null,5,3]]}` + "\n\n"
	if got != want {
		t.Errorf("got  %swant %s", got, want)
	}
	st.show(later(orders(), 2*time.Second, 5))
	got = string(dataOf(t, st.board.Load().nets["orders"].whole()))
	if !strings.Contains(got, `"places":[[7,1772366280000,2,2.5],[0,0,0,0]],"transitions":[[2.5,`) {
		t.Errorf("after two seconds: %s", got)
	}
}

func TestRatesAreOverTheLastSeconds(t *testing.T) {
	st, v := newStage(t, nil), orders()
	st.show(v)
	for i := range 20 {
		n := uint64(10)
		if i >= 10 {
			n = 2
		}
		v = later(v, time.Second, n)
		st.show(v)
		want := map[int]rate{0: 10, 9: 10, 10: 8.4, 12: 5.2, 14: 2, 19: 2}[i]
		if got := st.board.Load().nets["orders"].rates[0]; want != 0 && got != want {
			t.Errorf("after %d s the rate is %v, want %v", i+1, got, want)
		}
	}
	if w := st.windows["orders"]; len(w.samples) > windowSamples+2 {
		t.Errorf("%d samples", len(w.samples))
	}
}

// TestTheWindowHoldsTwoIntervalsOfSlowSources: two or three snapshots are in it;
// with a window of five seconds the rate would be 0 and
// twice too high by turns.
func TestTheWindowHoldsTwoIntervalsOfSlowSources(t *testing.T) {
	st, v := newStage(t, nil), orders()
	v.Sources[0].Interval = 10 * time.Second
	st.show(v)
	for i := range 100 {
		n := uint64(0)
		if i%10 == 0 {
			n = 50
		}
		v = later(v, time.Second, n)
		st.show(v)
		if got := st.board.Load().nets["orders"].rates[0]; i > 40 && (got < 4 || got > 7.5) {
			t.Errorf("after %d s the rate is %v, want about 5", i+1, got)
		}
		if w := st.windows["orders"]; len(w.samples) > windowSamples+2 {
			t.Fatalf("%d samples", len(w.samples))
		}
	}
}

// TestACounterThatFallsHasNoRate until the window is past it.
func TestACounterThatFallsHasNoRate(t *testing.T) {
	st, v := newStage(t, nil), orders()
	st.show(v)
	v = later(v, time.Second, 0)
	v.Nets[0].Rows.Places[0].Arrivals = 3
	for i := range 8 {
		st.show(v)
		want := unknownRate
		if i >= 5 {
			want = 2
		}
		if got := st.board.Load().nets["orders"].rates[0]; got != want {
			t.Errorf("%d s after it the rate is %v, want %v", i, got, want)
		}
		v = later(v, time.Second, 2)
	}
	w := st.document(t, "/api/v1/history?net=orders&at=2026-03-01T12:00:01Z")
	if row := w["places"].([]any)[0].([]any); row[3] != nil {
		t.Errorf("in the past it has %v", row)
	}
}

func TestRatesKeepFourDigits(t *testing.T) {
	for r, want := range map[float64]rate{0: 0, -1: 0, 0.123456: 0.1235, 1.00004: 1, 12345.6: 12350, 99999: 100000, 1e-7: 1e-7, 0.3: 0.3} {
		if got := rounded(r); got != want {
			t.Errorf("%v is rounded to %v, want %v", r, got, want)
		}
	}
}

// TestChunksInAnyOrderAreOneStream is what lets viewers share packed events.
func TestChunksInAnyOrderAreOneStream(t *testing.T) {
	texts := []string{"", "event: a\n\n", strings.Repeat("the same again ", 5000), ": alive\n\n"}
	var stream bytes.Buffer
	var want strings.Builder
	stream.WriteString(gzipHeader)
	for _, i := range []int{1, 2, 2, 0, 3, 1, 2, 3} {
		stream.Write(packChunk([]byte(texts[i])))
		want.WriteString(texts[i])
	}
	stream.Write(gzipEnd(crc32.ChecksumIEEE([]byte(want.String())), uint64(want.Len())))
	z, err := gzip.NewReader(bufio.NewReader(&stream))
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(z)
	if string(got) != want.String() || err != nil {
		t.Errorf("%d bytes, want %d: %v", len(got), want.Len(), err)
	}
}
