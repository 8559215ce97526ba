// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/logtest"
	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/telemetry"
)

func TestParseShare(t *testing.T) {
	for text, want := range map[string]merge.Share{"1/1": {Index: 1, Count: 1}, "2/8": {Index: 2, Count: 8}, "4096/4096": {Index: 4096, Count: 4096}} {
		if got, err := merge.ParseShare(text); err != nil || got != want {
			t.Errorf("share %s: got %v, error %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "x", "1", "0/8", "9/8", "-1/8", "1/0", "0/0", "1/4097", "01/8", "+1/8", "1/8/2", "1/8 ", "1/x"} {
		if got, err := merge.ParseShare(text); !errors.Is(err, merge.ErrShare) {
			t.Errorf("share %q: got %v, error %v; want merge.ErrShare", text, got, err)
		}
	}
}

// startMappingServer runs a NATS server that divides sources into shares, with the
// documented configuration.
func startMappingServer(t *testing.T, shares int, byNet bool) string {
	t.Helper()
	return natstest.Run(t, natstest.Listen, telemetry.Subjects{}.Mappings(shares, byNet)).ClientURL()
}

// Names of any characters are divided as the server divides their subjects.
func TestShareIsThatOfTheServer(t *testing.T) {
	for name, byNet := range map[string]bool{"by net and source": false, "by net": true} {
		t.Run(name, func(t *testing.T) { agreesWithServer(t, byNet) })
	}
}

func agreesWithServer(t *testing.T, byNet bool) {
	const shares = 7
	nc := connect(t, startMappingServer(t, shares, byNet))
	sub, err := nc.SubscribeSync(telemetry.Subjects{}.Shared(0, 0, false))
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	alphabet := []rune("ab. *>=-_0é€")
	name := func() string {
		var b strings.Builder
		for range 1 + r.IntN(12) {
			b.WriteRune(alphabet[r.IntN(len(alphabet))])
		}
		return b.String()
	}
	seen := map[merge.Share]int{}
	for i := range 300 {
		net, source := name(), name()
		subject := telemetry.Subjects{}.Snapshot(net, source)
		if i%2 == 0 {
			subject = telemetry.Subjects{}.Bye(net, source)
		}
		if err := nc.Publish(subject, nil); err != nil {
			t.Fatal(err)
		}
		m, err := sub.NextMsg(enough)
		if err != nil {
			t.Fatal(err)
		}
		if plain, mapped := (telemetry.Subjects{}).Plain(m.Subject); !mapped || plain != subject {
			t.Fatalf("%s is mapped to %s, which is %s", subject, m.Subject, plain)
		}
		for k := 1; k <= shares; k++ {
			s := merge.Share{Index: k, Count: shares, ByNet: byNet}
			is := strings.HasPrefix(m.Subject, strings.TrimSuffix(telemetry.Subjects{}.Shared(k, shares, byNet), "*.*.*"))
			if s.Has(net, source) != is || s.HasSubject(subject) != is {
				t.Fatalf("share %s: got %t for net %q, source %q; want %t, as the server maps it to %s", s, s.Has(net, source), net, source, is, m.Subject)
			}
			if is {
				seen[s]++
			}
		}
	}
	if len(seen) != shares {
		t.Errorf("%d of %d shares have sources", len(seen), shares)
	}
}

// Whether the server or the collectors divide the sources, each source is received
// by one collector; a collector without a share receives all.
func TestCollectorsOfSharesReceiveEachSourceOnce(t *testing.T) {
	const shares = 3
	net := lineNet("order", 2, 1)
	for mode, url := range map[string]string{"plain": startServer(t), "mapped": startMappingServer(t, shares, false)} {
		t.Run(mode, func(t *testing.T) {
			var parts []*Collector
			var books []*logtest.Buffer
			for k := range shares {
				c, book := run(t, Config{Conn: connect(t, url), Share: merge.Share{Index: k + 1, Count: shares}})
				parts, books = append(parts, c), append(books, book)
			}
			all, _ := run(t, Config{Conn: connect(t, url)})
			nc := connect(t, url)
			var sources []*telemetry.Publisher
			for i := range 9 {
				sources = append(sources, publish(t, nc, fmt.Sprint("e ", i), net, 1))
			}
			until(t, all, "all nine are up", func(v *merge.View) bool { return len(v.Nets) == 1 && v.Nets[0].Up == 9 })
			for k, c := range parts {
				s := merge.Share{Index: k + 1, Count: shares}
				want := 0
				for i := range 9 {
					if s.Has("order", fmt.Sprint("e ", i)) {
						want++
					}
				}
				v := until(t, c, "its sources are up", func(v *merge.View) bool { return len(v.Nets) == 1 && v.Nets[0].Up == want })
				if got := v.Nets[0].Rows.Places[0].Tokens; got != uint64(want) {
					t.Errorf("share %s has %d tokens of %d sources", s, got, want)
				}
				if passed := c.Passed(); (passed > 0) != (mode == "plain") {
					t.Errorf("%d messages were passed over", passed)
				}
				for reason, n := range v.Traffic.Rejected { // sparse ones may come before the definition does
					if n > 0 && reason != string(merge.UnknownDigest) {
						t.Errorf("%d messages rejected: %s", n, reason)
					}
				}
				if said := "maps no subjects"; strings.Contains(books[k].String(), said) != (mode == "plain") {
					t.Errorf("the log: %s", books[k].String())
				}
			}
			for _, p := range sources {
				stop(t, p)
			}
			until(t, all, "all said bye", func(v *merge.View) bool { return v.Nets[0].Up == 0 && v.Nets[0].Rows.Places[0].Tokens == 0 })
		})
	}
}

func TestPlainSubject(t *testing.T) {
	for subject, want := range map[string]string{
		"petrinet.v1.snapshot.n.s":              "",
		"petrinet.v1.shared.8.3.snapshot.n.s":   "petrinet.v1.snapshot.n.s",
		"petrinet.v1.shared.8.3":                "",
		"other.shared.8.3.snapshot.n.s":         "",
		"petrinet.v1.shared":                    "",
		"petrinet.v1.shared.8.3.bye.n.s":        "petrinet.v1.bye.n.s",
		"petrinet.v1.shared.8.3.something.else": "petrinet.v1.something.else",
	} {
		plain, mapped := (telemetry.Subjects{}).Plain(subject)
		if mapped != (want != "") || (mapped && plain != want) || (!mapped && plain != subject) {
			t.Errorf("subject %s: got %s, mapped %t; want %q", subject, plain, mapped, want)
		}
	}
}

func BenchmarkHasSubject(b *testing.B) {
	s, subject := merge.Share{Index: 2, Count: 8}, telemetry.Subjects{}.Snapshot("order fulfilment", "host-1")
	for b.Loop() {
		s.HasSubject(subject)
	}
}

// A collector that receives nothing for its share logs that once.
func TestAShareWithoutMessagesIsLoggedOnce(t *testing.T) {
	book := &logtest.Buffer{}
	c := &Collector{cfg: Config{Share: merge.Share{Index: 1, Count: 2}, Log: slog.New(slog.NewTextHandler(book, nil))}}
	for _, at := range []int64{0, 1, silence - 1, silence, silence + 1, 2 * silence} {
		c.logSilence(t0 + at)
		want := 0
		if at >= silence {
			want = 1
		}
		if n := strings.Count(book.String(), "no message has arrived"); n != want {
			t.Errorf("after %d us: %d lines, want %d", at, n, want)
		}
	}
	c = &Collector{cfg: Config{Log: c.cfg.Log}}
	for _, at := range []int64{0, silence} {
		c.logSilence(t0 + at)
	}
	if n := strings.Count(book.String(), "no message has arrived"); n != 1 {
		t.Errorf("got %d lines of a collector of all sources; want 1", n)
	}
}
