// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// Sources that have tokens in a place are asked for the oldest, whatever the order of
// places in their definitions is.
func TestTheOldestTokensOfAllSourcesAreThoseOfOnePlace(t *testing.T) {
	url := startServer(t)
	began := time.Now().UnixMicro()
	start := func(source string, tokens uint64, oldest func(int, int, int) ([]stats.Token, error), places ...string) {
		t.Helper()
		net := &petri.Net{ID: "n", Transitions: []petri.Transition{{ID: "u"}}}
		for _, id := range places {
			net.Places = append(net.Places, petri.Place{ID: id})
		}
		p, err := telemetry.Start(telemetry.Config{
			Conn: connect(t, url), Source: source, Interval: 20 * time.Millisecond, Log: slog.New(slog.DiscardHandler), Oldest: oldest,
			Nets: []telemetry.SourceNet{{ID: "n", PNML: writePNML(t, net), Places: len(places), Transitions: 1}},
			Rows: func(_ int, _ int64, into *stats.Rows) error {
				into.Columns = stats.ColTokens
				for i, id := range places {
					if id == "q" {
						into.Places[i].Tokens = tokens
					}
				}
				return nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { stop(t, p) })
	}
	has := func(place int, ages ...int64) func(int, int, int) ([]stats.Token, error) {
		return func(_, asked, limit int) (all []stats.Token, err error) {
			if asked != place || limit != 3 {
				return nil, fmt.Errorf("asked for %d tokens of place %d; want 3 of place %d", limit, asked, place)
			}
			for _, age := range ages {
				all = append(all, stats.Token{Instance: fmt.Sprint(age), Injected: began - age*1e6,
					Waits: []stats.Wait{{Place: int32(place), Until: began + 1e6}, {Place: stats.NoPlace}}})
			}
			return all, nil
		}
	}
	fails := func(int, int, int) ([]stats.Token, error) { return nil, errors.New("broken") }
	start("a", 2, has(1, 9, 4), "p", "q")
	start("b", 2, has(0, 7, 5), "q", "p")
	start("c", 0, fails, "q") // is not asked: it has none
	start("d", 1, fails, "p")
	c, _ := run(t, Config{Conn: connect(t, url)})
	var q int // in the union, whose order is that in which the definitions arrived
	until(t, c, "all are up", func(v *View) bool {
		if states(v) != "a=up b=up c=up d=up" {
			return false
		}
		q = slices.IndexFunc(v.Net("n").Def.Places, func(p petri.Place) bool { return p.ID == "q" })
		return q >= 0 && len(c.respondents("n", q)) == 2
	})
	tokens, err := c.Oldest(t.Context(), "n", q, 3)
	var got []string
	for _, token := range tokens {
		got = append(got, token.Instance)
		want := []stats.Wait{{Place: int32(q), Until: began + 1e6}, {Place: stats.NoPlace}}
		if d := cmp.Diff(want, token.Waits); d != "" {
			t.Errorf("%s waits (-want +got):\n%s", token.Instance, d)
		}
	}
	if d := cmp.Diff([]string{"9", "7", "5"}, got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	for net, place := range map[string]int{"n": 1 - q, "other": q} { // where nothing is
		if tokens, err := c.Oldest(t.Context(), net, place, 3); tokens != nil || err != nil {
			t.Errorf("net %q, place %d: %+v, %v; want none", net, place, tokens, err)
		}
	}
	start("e", 1, has(0, 20), "q")
	start("f", 1, fails, "q")
	until(t, c, "e and f are asked", func(*View) bool { return len(c.respondents("n", q)) == 4 })
	if tokens, err := c.Oldest(t.Context(), "n", q, 3); err != nil || len(tokens) != 3 || tokens[0].Instance != "20" {
		t.Errorf("%+v, %v; want those of the sources that answer", tokens, err)
	}
}

func TestTokensWithoutAnAnswerAreAnError(t *testing.T) {
	url := startServer(t)
	net := lineNet("n", 1, 1)
	defer stop(t, publish(t, connect(t, url), "a", net, 1)) // it does not answer questions about tokens
	c, _ := run(t, Config{Conn: connect(t, url)})
	until(t, c, "a is up", func(v *View) bool { return states(v) == "a=up" })
	if tokens, err := c.Oldest(t.Context(), "n", 0, 3); !errors.Is(err, ErrNoAnswer) || tokens != nil {
		t.Errorf("%+v, %v; want ErrNoAnswer", tokens, err)
	}
	if found, err := c.Instance(t.Context(), "n", "i"); !errors.Is(err, ErrNoAnswer) || found != nil {
		t.Errorf("%+v, %v; want ErrNoAnswer", found, err)
	}
}

// What a source answers has its own indices and its own clock.
func TestATokenIsTranslatedFromItsSource(t *testing.T) {
	a := &respondent{source: "a", rows: columns{places: []int32{4, 5}, transitions: []int32{7, 6}}, shift: 1000}
	token := func(waits ...stats.Wait) []stats.Token { return []stats.Token{{Injected: 50, Waits: waits}} }
	got, err := a.translate(append(token(stats.Wait{Transition: 1, Place: 1, Until: 60}, stats.Wait{Place: stats.NoPlace}, stats.Wait{Place: 0}), stats.Token{Injected: 2}))
	want := []stats.Token{{Injected: 1050, Waits: []stats.Wait{{Transition: 6, Place: 5, Until: 1060}, {Transition: 7, Place: stats.NoPlace}, {Transition: 7, Place: 4}}}, {Injected: 1002}}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	a.shift = -1000 // a time is never 0, which is none
	if got, err := a.translate(token(stats.Wait{Until: 60})); err != nil || got[0].Injected != 1 || got[0].Waits[0].Until != 1 {
		t.Errorf("%+v, %v; want times of 1", got, err)
	}
	for _, w := range []stats.Wait{{Transition: 2}, {Place: 2}} {
		if got, err := a.translate(token(w)); telemetry.ReasonOf(err) != telemetry.BadIndex || got != nil {
			t.Errorf("%+v: %+v, %v; want that it is outside", w, got, err)
		}
	}
}
