// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/telemetry"
)

const now0 = int64(1790000000000000)

const ordersNet = `<pnml><net id="orders" type="ptnet"><page id="p"><place id="inbox"/><place id="shipped"/><transition id="ship"/>
<arc id="1" source="inbox" target="ship"/><arc id="2" source="ship" target="shipped"/></page></net></pnml>`

// message returns a valid message with a time relative to now0, with some
// fields changed.
func message(seconds int64, change map[string]any) map[string]any {
	m := map[string]any{
		"source": "shop", "epoch": now0 - 1e6, "seq": seconds + 1, "sent_at": now0 + seconds*1e6, "interval": 1_000_000, "net": "orders",
		"digest": telemetry.Digest([]byte(ordersNet)), "full": true,
		"places": map[string]any{"tokens": []int{3, 2}, "arrivals": []int{5, 2}, "departures": []int{2, 0},
			"oldest": []int64{now0 - 9e6, now0 - 8e6}, "last_injection": []int64{now0 - 9e6, now0 - 8e6}, "injected_s": []int{1, 1}, "injected_us": []int{0, 0}},
		"transitions": map[string]any{"firings": []int{2}},
	}
	for k, v := range change {
		m[k] = v
	}
	return m
}

// session is a checker that receives messages at their sent_at.
type session struct {
	t    *testing.T
	c    *Checker
	asks int
	now  int64
}

func newSession(t *testing.T) *session {
	return &session{t: t, c: New(telemetry.Subjects{}, now0), now: now0}
}

func (s *session) receive(m map[string]any) {
	s.t.Helper()
	s.now = max(s.now, m["sent_at"].(int64))
	s.receiveAt(m, s.now)
}

func (s *session) receiveAt(m map[string]any, now int64) {
	s.t.Helper()
	payload, err := json.Marshal(m)
	if err != nil {
		s.t.Fatal(err)
	}
	var decoded telemetry.Snapshot
	err = new(telemetry.Decoder).DecodeJSON(payload, &decoded)
	s.now = now
	if s.c.Receive("petrinet.v1.snapshot.orders.shop", &decoded, err, now) {
		s.asks++
	}
}

func (s *session) define(text string, err error) {
	s.c.Defined("orders", telemetry.Digest([]byte(ordersNet)), []byte(text), err)
}

func TestAValidEngineHasNoFindings(t *testing.T) {
	s := newSession(t)
	for i := range int64(5) {
		s.receive(message(i, map[string]any{"bye": i == 4}))
		s.define(ordersNet, nil)
	}
	r := s.c.Report(s.now + 60e6)
	if !r.Right() || s.asks != 1 {
		t.Errorf("%d requests; %+v", s.asks, r)
	}
	var out strings.Builder
	if err := r.Write(&out); err != nil {
		t.Fatal(err)
	}
	want := `source "shop", net "orders": 5 messages, 5 of them full, one in 1s, then a bye
  right  definition ` + telemetry.Digest([]byte(ordersNet)) + ` is answered and holds the net
  right  it sends tokens, arrivals, departures, oldest, firings
  note   it does not send, so these are shown nowhere: instances, ages, dwell, stuck, failures, retries, cancels, enabled, running, last_firing, duration, row, blocks, timeouts, late, queues, waiting, next_due, groups

No findings in 64.0 s.
`
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

func TestEachFaultIsReported(t *testing.T) {
	for _, c := range []struct {
		name string
		play func(s *session)
		want string
	}{
		{"a message that cannot be read", func(s *session) { s.receive(message(0, map[string]any{"digest": "x"})) }, "bad_name: digest of 1 characters"},
		{"messages are missing", func(s *session) { s.receive(message(0, nil)); s.receive(message(4, nil)) }, "3 messages are missing before seq 5"},
		{"refused requests fall", func(s *session) {
			s.receive(message(0, map[string]any{"refused_requests": map[string]any{"queue": 7}}))
			s.receive(message(1, map[string]any{"refused_requests": map[string]any{"queue": 6}}))
		}, "refused requests (queue full) fell from 7 to 6"},
		{"seq does not rise", func(s *session) { s.receive(message(1, nil)); s.receive(message(2, map[string]any{"seq": 2})) }, "seq 2 came after 2"},
		{"the epoch falls", func(s *session) { s.receive(message(0, nil)); s.receive(message(1, map[string]any{"epoch": 7})) }, "the epoch fell from"},
		{"a process follows without a bye", func(s *session) { s.receive(message(0, nil)); s.receive(message(1, map[string]any{"epoch": now0})) }, "sent no bye"},
		{"it continues after its bye", func(s *session) { s.receive(message(0, map[string]any{"bye": true})); s.receive(message(1, nil)) }, "after the bye"},
		{"the epoch is in the future", func(s *session) { s.receive(message(0, map[string]any{"epoch": now0 + 1})) }, "is after sent_at"},
		{"the clock is off", func(s *session) { s.receiveAt(message(0, nil), now0+3600e6) }, "sent_at is 1h0m0s off"},
		{"it is late", func(s *session) { s.receive(message(0, nil)); s.receive(message(4, map[string]any{"seq": 2})) }, "no message came for 4s, and the interval is 1s"},
		{"it falls silent", func(s *session) { s.receive(message(0, nil)); s.now += 9e6 }, "no message came for 9s"},
		{"it does not answer hello", func(s *session) {
			for i := range int64(4) {
				s.receive(message(i, map[string]any{"full": false, "places": nil, "transitions": nil}))
			}
		}, "no full snapshot came"},
		{"no source answers with the definition", func(s *session) { s.receive(message(0, nil)); s.define("", errors.New("no responders")) }, "rows have no names: no responders"},
		{"the definition cannot be read", func(s *session) { s.receive(message(0, nil)); s.define("<pnml>", nil) }, "cannot be read"},
		{"the definition has another net", func(s *session) {
			s.receive(message(0, nil))
			s.define(strings.Replace(ordersNet, `"orders"`, `"x"`, 1), nil)
		}, `no net with the id "orders"`},
		{"rows do not fit, known before the definition", func(s *session) {
			s.receive(message(0, map[string]any{"transitions": map[string]any{"firings": []int{1, 2}}}))
			s.define(ordersNet, nil)
		}, "2 rows of transitions, and the definition has 1"},
		{"an index is beyond", func(s *session) {
			s.receive(message(0, nil))
			s.define(ordersNet, nil)
			s.receive(message(1, map[string]any{"full": false, "places": nil, "transitions": map[string]any{"index": []int{7}, "firings": []int{1}}}))
		}, "row of transitions with the index 7"},
		{"a remnant has a row beyond the definition", func(s *session) {
			s.receive(message(0, map[string]any{"remnants": map[string]any{"lost": []any{map[string]any{"path": []string{"a"}, "left": 1, "places": []int{2}}}}}))
			s.define(ordersNet, nil)
		}, "row of places with the index 2"},
		{"firings fall", func(s *session) {
			s.receive(message(0, nil))
			s.define(ordersNet, nil)
			s.receive(message(1, map[string]any{"transitions": map[string]any{"firings": []int{1}}}))
		}, "firings of transition ship fell from 2 to 1"},
		{"counters of a region fall in its next epoch", func(s *session) {
			s.receive(message(0, owned(1, nil)))
			s.receive(message(1, owned(2, map[string]any{"epoch": now0, "seq": 1, "transitions": map[string]any{"firings": []int{1}}})))
		}, "firings of transition 0 fell from 2 to 1"},
		{"the log of a region falls", func(s *session) {
			s.receive(message(0, owned(1, map[string]any{"region_state": map[string]any{"position": 7}})))
			s.receive(message(1, owned(1, map[string]any{"region_state": map[string]any{"position": 6}})))
		}, `the log of region "north" fell from 7 commits to 6`},
		{"a region's counters began later than now", func(s *session) {
			s.receive(message(0, owned(1, map[string]any{"since": now0 + 1})))
		}, "since is"},
		{"tokens without an oldest", func(s *session) {
			s.receive(message(0, map[string]any{"places": map[string]any{"tokens": []int{3, 0}, "oldest": []int{0, 0}, "last_injection": []int{0, 0}, "injected_s": []int{0, 0}, "injected_us": []int{0, 0}}}))
		}, "place 0 has 3 tokens, and the oldest came at 0"},
		{"arrivals do not agree", func(s *session) {
			s.receive(message(0, map[string]any{"places": map[string]any{"tokens": []int{3, 0}, "arrivals": []int{3, 0}, "departures": []int{2, 0}}}))
		}, "place 0 has 3 tokens after 3 arrivals and 2 departures"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSession(t)
			c.play(s)
			r := s.c.Report(s.now)
			said := func(f Finding) bool { return strings.Contains(f.What, c.want) }
			if r.Right() || len(r.Sources) != 1 || !slices.ContainsFunc(r.Sources[0].Wrong, said) {
				t.Errorf("%+v, want %q", r, c.want)
			}
		})
	}
}

// owned makes a message that of the region's owner with the given fence.
func owned(fence int, change map[string]any) map[string]any {
	m := map[string]any{"region": "north", "fence": fence, "since": now0 - 2e6}
	for k, v := range change {
		m[k] = v
	}
	return m
}

// A region is handed from owner to owner: the old owner sends no bye message,
// and the next one continues its counters.
func TestOwnersOfARegion(t *testing.T) {
	firings := func(n int) map[string]any { return map[string]any{"firings": []int{n}} }
	by := func(source string, fence, n int) map[string]any {
		return owned(fence, map[string]any{"source": source, "seq": fence, "transitions": firings(n)})
	}
	for _, c := range []struct {
		name string
		play func(s *session)
		of   string // the source with the finding
		want string
	}{
		{"handed over", func(s *session) {
			s.receive(message(0, by("a", 1, 2)))
			s.receive(message(1, by("b", 2, 3)))
			s.receive(message(9, owned(3, map[string]any{"source": "a", "epoch": now0, "seq": 1, "transitions": firings(4)})))
			s.receive(message(10, owned(3, map[string]any{"source": "a", "epoch": now0, "seq": 2, "transitions": firings(4)})))
		}, "", ""},
		{"with a new beginning", func(s *session) {
			s.receive(message(0, by("a", 1, 2)))
			s.receive(message(1, owned(2, map[string]any{"source": "b", "seq": 1, "since": now0, "transitions": firings(0)})))
		}, "", ""},
		{"the next one counted less", func(s *session) {
			s.receive(message(0, by("a", 1, 2)))
			s.receive(message(1, by("b", 2, 1)))
		}, "b", "firings of transition 0 fell from 2 to 1"},
		{"the old one continues", func(s *session) {
			s.receive(message(0, by("a", 1, 2)))
			s.receive(message(1, by("b", 2, 2)))
			s.receive(message(1, owned(1, map[string]any{"source": "a", "seq": 2})))
		}, "a", `has fence 2 by source "b", and this one still sends fence 1`},
		{"a log that is created again", func(s *session) {
			s.receive(message(0, by("a", 7, 2)))
			s.receive(message(1, owned(1, map[string]any{"source": "b", "seq": 1, "epoch": now0 - 500_000, "since": now0 - 600_000, "transitions": firings(0)})))
			s.receive(message(1, owned(1, map[string]any{"source": "b", "seq": 2, "epoch": now0 - 500_000, "since": now0 - 600_000, "transitions": firings(1)})))
		}, "", ""},
		{"the owner of a replaced log continues", func(s *session) {
			s.receive(message(0, by("a", 7, 2)))
			s.receive(message(1, owned(1, map[string]any{"source": "b", "seq": 1, "epoch": now0 - 500_000, "since": now0 - 600_000, "transitions": firings(0)})))
			s.receive(message(1, owned(7, map[string]any{"source": "a", "seq": 8})))
		}, "a", `by source "b", and this one still sends fence 7 in a log of`},
		{"two with one fence", func(s *session) {
			s.receive(message(0, by("a", 1, 2)))
			s.receive(message(1, by("b", 1, 2)))
		}, "b", `has fence 1 by source "a" already`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSession(t)
			c.play(s)
			wrong := map[string][]string{}
			for _, src := range s.c.Report(s.now).Sources {
				for _, f := range src.Wrong {
					wrong[src.Source] = append(wrong[src.Source], f.What)
				}
			}
			if c.of == "" && len(wrong) > 0 || c.of != "" && (len(wrong) != 1 || len(wrong[c.of]) != 1 || !strings.Contains(wrong[c.of][0], c.want)) {
				t.Errorf("%q, want %q of %q", wrong, c.want, c.of)
			}
		})
	}
}

func TestNoMessagesIsAFinding(t *testing.T) {
	if r := New(telemetry.Subjects{}, now0).Report(now0 + 1e6); r.Right() || !strings.Contains(r.Wrong[0], "no message was received") {
		t.Errorf("%+v", r)
	}
}

func TestADefinitionIsRequestedOnceASecond(t *testing.T) {
	s := newSession(t)
	for range 50 {
		s.now += 100_000
		s.receiveAt(message(0, nil), s.now)
	}
	if s.asks != 5 {
		t.Errorf("%d requests in five seconds", s.asks)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	c := New(telemetry.Subjects{}, now0)
	for i := range 2 * MaxSources {
		c.Receive("petrinet.v1.snapshot.n."+telemetry.Escape(string(rune('a'+i))), nil, telemetry.NotJSON, now0)
	}
	if r := c.Report(now0); len(r.Sources) != MaxSources || len(r.Wrong) != 1 {
		t.Errorf("%d sources, %v", len(r.Sources), r.Wrong)
	}
}

// Any input gives a report with findings.
func FuzzReceive(f *testing.F) {
	for _, name := range []string{"snapshot.json", "snapshot_actions.json", "snapshot_slowest.json", "snapshot_region.json", "snapshot_what.json"} {
		text, err := os.ReadFile("../testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, []byte(ordersNet))
	}
	f.Fuzz(func(t *testing.T, text, definition []byte) {
		c := New(telemetry.Subjects{}, now0)
		var s telemetry.Snapshot
		for i := range int64(3) {
			err := new(telemetry.Decoder).DecodeJSON(text, &s)
			if c.Receive("petrinet.v1.snapshot.orders.shop", &s, err, now0+i) && i == 0 {
				c.Defined(s.Net, s.Digest, definition, nil)
			}
		}
		r := c.Report(now0 + 4)
		if r.Right() || len(r.Sources) != 1 || r.Sources[0].Messages != 3 { // at least the same seq three times
			t.Errorf("%+v", r)
		}
	})
}
