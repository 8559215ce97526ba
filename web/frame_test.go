// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"hash/crc32"
	"io"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/web/api"
)

// apply does what a page does with a diff.
func apply(t *testing.T, f *api.Frame, text []byte) {
	t.Helper()
	d, err := api.Decode[api.Diff](bytes.NewReader(text))
	if err != nil {
		t.Fatalf("reading %s: %v", text, err)
	}
	f.Generation, f.At = d.Generation, d.At
	for _, row := range d.Places {
		f.Places[row.Index] = row.PlaceNow
	}
	for _, row := range d.Transitions {
		f.Transitions[row.Index] = row.TransitionNow
	}
}

func frameOf(t *testing.T, text []byte) *api.Frame {
	t.Helper()
	f, err := api.Decode[api.Frame](bytes.NewReader(text))
	if err != nil {
		t.Fatalf("reading %s: %v", text, err)
	}
	return f
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
		if _, why := st.enter("net", netip.Prefix{}); why != "" {
			t.Fatal("no room")
		}
		var shown *api.Frame
		diffs := 0
		for range 60 {
			if w.random.IntN(15) == 0 {
				w.grow(w.random.IntN(3), w.random.IntN(3))
			}
			if w.random.IntN(20) == 0 {
				st.alarms = &alarm.ActiveSet{Resting: map[string][]string{"net": {"p0", fmt.Sprint("p", w.random.IntN(3)+1)}}}
			}
			if w.random.IntN(20) == 0 {
				w.view.Nets[0].Rows.Columns ^= stats.ColRunning
			}
			st.show(w.tick(w.random.Float64()))
			n := st.board.Load().nets["net"]
			whole := frameOf(t, dataOf(t, n.whole()))
			if fresh := newFrame(n.net, n.drawing.hash, n.resting, whole.Generation, int64(n.frame().At)); !reflect.DeepEqual(fresh, n.frame()) {
				t.Fatalf("seed %d, generation %d (-of the View +of the frame before):\n%s", seed, whole.Generation, cmp.Diff(fresh.Frame, n.frame().Frame))
			}
			if n.diff == nil {
				shown = whole
			} else {
				apply(t, shown, dataOf(t, n.diff))
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
	want := `{"net":"orders","drawing":"` + hash + `","generation":41,"at":"2026-03-01T12:00:00.000000Z",` +
		`"places":[{"tokens":2,"instances":2,"oldest_since":"2026-03-01T11:58:00.000000Z"},{"tokens":0,"instances":0}],` +
		`"transitions":[{"enabled":1,"enabled_since":"2026-03-01T11:59:59.000000Z","blocked":5,"failures":3}]}` + "\n\n"
	if got != want {
		t.Errorf("got  %swant %s", got, want)
	}
	st.show(later(orders(), 2*time.Second, 5))
	got = string(dataOf(t, st.board.Load().nets["orders"].whole()))
	if !strings.Contains(got, `"places":[{"tokens":7,"instances":2,"oldest_since":"2026-03-01T11:58:00.000000Z","arrival_rate":2.5},{"tokens":0,"instances":0,"arrival_rate":0}],"transitions":[{"rate":2.5,`) {
		t.Errorf("after two seconds: %s", got)
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
