// SPDX-License-Identifier: Apache-2.0

package lines

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/stats"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// orders is a net whose instances have an end.
const orders = `<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
<net id="orders" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="g">
<place id="new"><name><text>New</text></name><initialMarking><text>1</text></initialMarking></place>
<place id="open"/><place id="paid"/><place id="closed"/>
<transition id="t1"><name><text>take in</text></name></transition>
<transition id="t2"><name><text>pay</text></name></transition>
<transition id="t3"><name><text>close</text></name></transition>
<arc id="a1" source="new" target="t1"/><arc id="a2" source="t1" target="open"/>
<arc id="a3" source="open" target="t2"/><arc id="a4" source="t2" target="paid"/>
<arc id="a5" source="paid" target="t3"/><arc id="a6" source="t3" target="closed"/>
</page></net></pnml>`

func compiled(t testing.TB, text string) []*petri.Tables {
	t.Helper()
	f, err := pnml.Read(strings.NewReader(text), "net.pnml", pnml.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	var out []*petri.Tables
	for _, n := range f.Nets {
		tables, err := petri.Compile(n)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, tables)
	}
	return out
}

// attach returns an Attachment to the net of orders, with the changed Config.
func attach(t testing.TB, change func(c *Config)) *Attachment {
	t.Helper()
	c := Config{Nets: compiled(t, orders), Fields: defaultFields(), Held: 100_000, Instances: 1_000_000, Search: 1000,
		Log: slog.New(slog.DiscardHandler)}
	if change != nil {
		change(&c)
	}
	a, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func take(t testing.TB, a *Attachment, text string) {
	t.Helper()
	if err := a.Feed().Take(t.Context(), []byte(text), nil); err != nil {
		t.Fatal(err)
	}
}

// seen returns the rows of the first net.
func seen(t testing.TB, a *Attachment, now int64) *stats.Rows {
	t.Helper()
	rows := stats.NewRows(a.defs[0].Places, a.defs[0].Transitions)
	if err := a.rows(0, now, rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

func firings(rows *stats.Rows) string {
	var out []string
	for _, tr := range rows.Transitions {
		out = append(out, fmt.Sprint(tr.Firings))
	}
	return strings.Join(out, " ")
}

// dropped lists what was dropped, by reason.
func dropped(a *Attachment) string {
	var out []string
	c := a.Counters()
	for _, why := range Reasons() {
		if n := c.Dropped[why]; n > 0 {
			out = append(out, fmt.Sprintf("%s %d", why, n))
		}
	}
	return strings.Join(out, ", ")
}

// eventually waits for a condition.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			t.Fatalf("not in time: %s", what)
		case <-tick.C:
		}
	}
}

// defaultFields returns the default names.
func defaultFields() Fields {
	return Fields{Time: "time", Net: "net", Instance: "instance", Transition: "transition", Place: "place", Tokens: "tokens", End: "end", Dropped: "dropped"}
}
