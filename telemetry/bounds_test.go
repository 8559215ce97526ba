// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pnagent/pnagent/stats"
)

// decoded decodes a golden message with one change of its text.
func decoded(t *testing.T, old, change string) (*Snapshot, error) {
	t.Helper()
	text, err := os.ReadFile("testdata/snapshot.json")
	if err != nil || strings.Count(string(text), old) != 1 {
		t.Fatalf("%v, or not exactly one occurrence of %s", err, old)
	}
	var s Snapshot
	err = new(Decoder).DecodeJSON([]byte(strings.Replace(string(text), old, change, 1)), &s)
	return &s, err
}

func TestBlocksOfOneReasonInOneMessageAddUp(t *testing.T) {
	const block = `{
      "place": 2,
      "reason": "REASON_MISSING",
      "instances": "2"
    }`
	s, err := decoded(t, block, block+","+block+","+block)
	if err != nil || len(s.Rows.Blocks) != 1 || s.Rows.Blocks[0].Instances != 6 {
		t.Errorf("%v: %+v", err, s.Rows.Blocks)
	}
}

func TestAnIndexOfTransitionsInAFullMessageIsRejected(t *testing.T) {
	if _, err := decoded(t, `"transitions": {`, `"transitions": {"index": [3, 2],`); !errors.Is(err, BadIndex) || !strings.Contains(err.Error(), "transitions") {
		t.Errorf("%v", err)
	}
}

func TestTokensOfOneEventAreBounded(t *testing.T) {
	s := bareSource(1, 1)
	r := s.Recorder()
	r.Inject(0, maxTokens, now0)
	r.Take(0, maxTokens, now0, now0+1)
	r.Fire(0, now0+1)
	if rows := rowsOf(t, s, now0+2); s.strays != 0 || rows.Places[0].Departures != maxTokens || rows.Places[0].Arrivals != maxTokens {
		t.Errorf("%d strays, %+v", s.strays, rows.Places[0])
	}
	for _, n := range []int{maxTokens + 1, 0, -1} {
		before := s.strays
		r.Take(0, n, now0, now0+3)
		r.Inject(0, n, now0+3)
		rowsOf(t, s, now0+4)
		if s.strays != before+2 {
			t.Errorf("%d tokens: %d strays after %d", n, s.strays, before)
		}
	}
}

// A source whose rows fail is logged once when that begins, not with every
// snapshot.
func TestRowsThatFailAreLoggedWhenThatBegins(t *testing.T) {
	var said bytes.Buffer
	var fails atomic.Bool
	fails.Store(true)
	cfg := testConfig("a")
	cfg.Log = slog.New(slog.NewTextHandler(&said, nil))
	good := cfg.Rows
	cfg.Rows = func(net int, now int64, into *stats.Rows) error {
		if fails.Load() {
			return errors.New("engine is gone")
		}
		return good(net, now, into)
	}
	story(t, cfg, func(t *testing.T, _ *Publisher, _ *fakeLink) {
		for want := 1; want <= 2; want++ {
			time.Sleep(3 * DefaultInterval)
			synctest.Wait()
			if n := strings.Count(said.String(), "engine is gone"); n != want {
				t.Errorf("logged %d times, want %d:\n%s", n, want, &said)
			}
			fails.Store(false)
			time.Sleep(2 * DefaultInterval)
			fails.Store(true)
		}
		fails.Store(false)
	})
}
