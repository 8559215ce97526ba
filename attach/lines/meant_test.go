// SPDX-License-Identifier: Apache-2.0

package lines

import (
	"path/filepath"
	"strings"
	"testing"
)

// With one net, another name in events means it, if it is the only other name.
func TestTheOnlyNetIsMeant(t *testing.T) {
	aliases, err := ReadTable(strings.NewReader("nets: {orders: {aliases: [shop]}}"), "table.yaml")
	if err != nil {
		t.Fatal(err)
	}
	// each event is "NET INSTANCE TRANSITION"
	for _, c := range []struct {
		rule, events  string
		table         *Table
		net           string
		fire, dropped string
	}{
		{"by its own name", "orders a t1; orders a t2", nil, "", "1 1 0", ""},
		{"by another one", "shop a t1; shop b t1; shop a t2", nil, "", "2 1 0", ""},
		{"the first other one", "shop a t1; bakery b t1; shop a t2; bakery b t2", nil, "", "1 1 0", "unknown_net 2"},
		{"the first other one of which the net has the transition", "bakery b bake; shop a t1; bakery b t1", nil, "", "1 0 0", "unknown_net 2"},
		{"an unknown transition of the one that means it", "shop a t1; shop a bake", nil, "", "1 0 0", "unknown_transition 1"},
		{"an end decides nothing", "shop a -; bakery b t1; shop a t1", nil, "", "1 0 0", "unknown_net 2"},
		{"no other one after its own", "orders a t1; shop b t1", nil, "", "1 0 0", "unknown_net 1"},
		{"its own takes over", "shop b t1; orders a t1; shop b t2", nil, "", "2 0 0", "unknown_net 1"},
		{"an alias takes the place of the rule", "shop a t1; bakery b t1", aliases, "", "1 0 0", "unknown_net 1"},
		{"all names, if that is asked for", "shop a t1; bakery b t1; orders c t1", nil, "orders", "3 0 0", ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			a := attach(t, func(cfg *Config) { cfg.Table, cfg.Net = c.table, c.net })
			take(t, a, named(c.events))
			if got := firings(seen(t, a, someTime)); got != c.fire || dropped(a) != c.dropped {
				t.Errorf("firings %s, want %s; dropped %q, want %q", got, c.fire, dropped(a), c.dropped)
			}
		})
	}
}

// named returns lines of events, see above.
func named(events string) string {
	var b strings.Builder
	for e := range strings.SplitSeq(events, "; ") {
		f := strings.Fields(e)
		what := `"transition":"` + f[2] + `"`
		if f[2] == "-" {
			what = `"end":true`
		}
		b.WriteString(`{"net":"` + f[0] + `","instance":"` + f[1] + `",` + what + "}\n")
	}
	return b.String()
}

// With several nets, every event needs the name of one.
func TestOfSeveralNetsNoneIsMeantByAnotherName(t *testing.T) {
	a := attach(t, func(cfg *Config) {
		cfg.Nets = append(cfg.Nets, compiled(t, strings.ReplaceAll(orders, `"orders"`, `"returns"`))...)
	})
	take(t, a, named("shop a t1; orders a t1; returns a t1"))
	if got := firings(seen(t, a, someTime)); got != "1 0 0" || dropped(a) != "unknown_net 1" {
		t.Errorf("firings %s, dropped %q", got, dropped(a))
	}
}

// The next process takes the same name for the net.
func TestTheNameThatMeansTheNetIsKeptOverARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	a := attach(t, func(c *Config) { c.State = path })
	take(t, a, named("shop a t1"))
	a.Save()
	b := attach(t, func(c *Config) { c.State = path })
	take(t, b, named("bakery b t1; shop a t2"))
	if dropped(b) != "unknown_net 1" || b.Nets()[0].Events != 2 {
		t.Errorf("dropped %q, %d events", dropped(b), b.Nets()[0].Events)
	}
}
