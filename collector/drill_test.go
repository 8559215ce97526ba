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

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// Sources that have tokens in a place are asked for the oldest, whatever the order of
// places in their definitions is.
func TestTheOldestTokensOfAllSourcesAreThoseOfOnePlace(t *testing.T) {
	url := startServer(t)
	began := time.Now().UnixMicro()
	start := func(source string, tokens uint64, oldest func(int, int, *stats.Query) (stats.Found, error), places ...string) {
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
	has := func(place int, ages ...int64) func(int, int, *stats.Query) (stats.Found, error) {
		return func(_, asked int, q *stats.Query) (stats.Found, error) {
			if asked != place || q.Limit != 3 {
				return stats.Found{}, fmt.Errorf("asked for %d tokens of place %d; want 3 of place %d", q.Limit, asked, place)
			}
			var all []stats.FoundToken
			for _, age := range ages {
				all = append(all, stats.FoundToken{Token: stats.Token{Instance: fmt.Sprint(age), Injected: began - age*1e6,
					Waits: []stats.Wait{{Place: int32(place), Until: began + 1e6}, {Place: stats.NoPlace}}}})
			}
			return q.Of(all), nil
		}
	}
	fails := func(int, int, *stats.Query) (stats.Found, error) { return stats.Found{}, errors.New("broken") }
	start("a", 2, has(1, 9, 4), "p", "q")
	start("b", 2, has(0, 7, 5), "q", "p")
	start("c", 0, fails, "q") // is not asked: it has none
	start("d", 1, fails, "p")
	c, _ := run(t, Config{Conn: connect(t, url)})
	var q int // in the union, whose order is that in which the definitions arrived
	until(t, c, "all are up", func(v *merge.View) bool {
		if states(v) != "a=up b=up c=up d=up" {
			return false
		}
		q = slices.IndexFunc(v.Net("n").Def.Places, func(p petri.Place) bool { return p.ID == "q" })
		return q >= 0 && len(respondents(c, "n", q)) == 2
	})
	three := &stats.Query{Limit: 3}
	found, err := c.Oldest(t.Context(), "n", q, three)
	var got []string
	for _, token := range found.Tokens {
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
		if found, err := c.Oldest(t.Context(), net, place, three); found.Tokens != nil || err != nil {
			t.Errorf("net %q, place %d: %+v, %v; want none", net, place, found, err)
		}
	}
	start("e", 1, has(0, 20), "q")
	start("f", 1, fails, "q")
	until(t, c, "e and f are asked", func(*merge.View) bool { return len(respondents(c, "n", q)) == 4 })
	if found, err := c.Oldest(t.Context(), "n", q, three); err != nil || len(found.Tokens) != 3 || found.Tokens[0].Instance != "20" || !found.More || found.Matches != 5 {
		t.Errorf("%+v, %v; want those of the sources that answer", found, err)
	}
}

func TestTokensWithoutAnAnswerAreAnError(t *testing.T) {
	url := startServer(t)
	net := lineNet("n", 1, 1)
	defer stop(t, publish(t, connect(t, url), "a", net, 1)) // it does not answer questions about tokens
	c, _ := run(t, Config{Conn: connect(t, url)})
	until(t, c, "a is up", func(v *merge.View) bool { return states(v) == "a=up" })
	if found, err := c.Oldest(t.Context(), "n", 0, &stats.Query{Limit: 3}); !errors.Is(err, ErrNoAnswer) || found.Tokens != nil {
		t.Errorf("%+v, %v; want ErrNoAnswer", found, err)
	}
	if found, err := c.Instance(t.Context(), "n", "i"); !errors.Is(err, ErrNoAnswer) || found != nil {
		t.Errorf("%+v, %v; want ErrNoAnswer", found, err)
	}
}

// The sources of a net that are up are asked for an instance, one after the other.
func TestAnInstanceIsFoundAtTheSourceThatHasIt(t *testing.T) {
	url := startServer(t)
	nc := connect(t, url)
	start := func(source, id string, instance func(int, string) (*telemetry.Instance, error)) {
		t.Helper()
		net := lineNet(id, 1, 1)
		p, err := telemetry.Start(telemetry.Config{
			Conn: nc, Source: source, Interval: 20 * time.Millisecond, Log: slog.New(slog.DiscardHandler), Instance: instance,
			Nets: []telemetry.SourceNet{{ID: id, PNML: writePNML(t, net), Places: 1, Transitions: 1}},
			Rows: func(_ int, _ int64, into *stats.Rows) error { into.Columns = stats.ColFirings; return nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { stop(t, p) })
	}
	only := func(name string) func(int, string) (*telemetry.Instance, error) {
		return func(_ int, asked string) (*telemetry.Instance, error) {
			if asked != name {
				return nil, telemetry.ErrNoInstance
			}
			return &telemetry.Instance{Instance: name, At: t0}, nil
		}
	}
	start("a", "n", only("one"))
	start("b", "n", only("two"))
	start("c", "other", only("three"))
	c, _ := run(t, Config{Conn: connect(t, url)})
	until(t, c, "all are up", func(v *merge.View) bool { return states(v) == "a=up b=up c=up" })
	for _, name := range []string{"one", "two"} {
		if found, err := c.Instance(t.Context(), "n", name); err != nil || found.Instance != name || found.At != t0 {
			t.Errorf("instance %s: got %+v, error %v; want its answer as of %d", name, found, err, t0)
		}
	}
	for _, name := range []string{"three", "four"} {
		if found, err := c.Instance(t.Context(), "n", name); !errors.Is(err, telemetry.ErrNoInstance) || errors.Is(err, ErrNoAnswer) || found != nil {
			t.Errorf("instance %s: got %+v, error %v; want ErrNoInstance alone", name, found, err)
		}
	}
}

func respondents(c *Collector, net string, place int) []merge.Respondent {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.merger.Respondents(net, place)
}
