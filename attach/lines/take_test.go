// SPDX-License-Identifier: Apache-2.0

package lines

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const someTime = 1_600_000_000 * int64(1e6)

func TestFieldsOfALine(t *testing.T) {
	for _, c := range []struct{ rule, line, dropped, firings string }{
		{"a transition by its id", `{"time":1600000000,"net":"orders","instance":"a","transition":"t1"}`, "", "1 0 0"},
		{"a transition by its name", `{"time":1600000000,"instance":"a","transition":"take in"}`, "", "1 0 0"},
		{"members in any order, others passed over", ` { "x" : [1,{"y":null}], "transition":"t1","instance":7, "time":"2020-09-13T12:26:40Z" } `, "", "1 0 0"},
		{"escapes", `{"instance":"\u0061\t\"","transition":"take\u0020in"}`, "bad_instance 1", "0 0 0"},
		{"escapes that make a name", `{"instance":"\ud83d\ude00","transition":"take\u0020in"}`, "", "1 0 0"},
		{"tokens come into a place", `{"instance":"a","place":"open","tokens":2}`, "", "0 0 0"},
		{"garbage", `{"instance":"a",`, "not_json 1", "0 0 0"},
		{"two values", `{"instance":"a"} {}`, "not_json 1", "0 0 0"},
		{"a list", `["t1"]`, "not_json 1", "0 0 0"},
		{"no instance", `{"transition":"t1"}`, "no_instance 1", "0 0 0"},
		{"null is none", `{"instance":null,"transition":"t1"}`, "no_instance 1", "0 0 0"},
		{"an instance's name that is too long", `{"instance":"` + strings.Repeat("x", 256) + `","transition":"t1"}`, "bad_instance 1", "0 0 0"},
		{"nothing happens", `{"instance":"a"}`, "no_transition 1", "0 0 0"},
		{"another net", `{"net":"x","instance":"a","transition":"t1"}`, "unknown_net 1", "0 0 0"},
		{"another transition", `{"instance":"a","transition":"x"}`, "unknown_transition 1", "0 0 0"},
		{"another place", `{"instance":"a","place":"x"}`, "unknown_place 1", "0 0 0"},
		{"too many tokens", `{"instance":"a","place":"new","tokens":1e99}`, "bad_tokens 1", "0 0 0"},
		{"no time", `{"time":"yesterday","instance":"a","transition":"t1"}`, "bad_time 1", "0 0 0"},
		{"before 1970", `{"time":-5,"instance":"a","transition":"t1"}`, "bad_time 1", "0 0 0"},
		{"empty lines", "\n\r\n\n", "", "0 0 0"},
		{"the end of an instance that is not there", `{"instance":"a","end":true}`, "", "0 0 0"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			a := attach(t, nil)
			take(t, a, c.line+"\n")
			if got := dropped(a); got != c.dropped {
				t.Errorf("dropped: %q, want %q", got, c.dropped)
			}
			if got := firings(seen(t, a, someTime+1)); got != c.firings {
				t.Errorf("firings: %s, want %s", got, c.firings)
			}
		})
	}
}

func TestTimes(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		rule, text string
		times      Times
		want       int64 // 0 for none
	}{
		{"seconds", "1600000000", Times{}, someTime},
		{"seconds with a fraction", "1600000000.25", Times{}, someTime + 250_000},
		{"milliseconds", "1600000000001", Times{}, someTime + 1000},
		{"microseconds", "1600000000000001", Times{}, someTime + 1},
		{"nanoseconds", "1600000000000001000", Times{}, someTime + 1},
		{"a unit that is said", "1600000", Times{Unit: time.Millisecond}, 1600 * 1e6},
		{"RFC 3339", "2020-09-13T14:26:40.000001+02:00", Times{}, someTime + 1},
		{"a layout, in a zone", "13/Sep/2020:14:26:40", Times{Layout: "02/Jan/2006:15:04:05", Zone: berlin}, someTime},
		{"1970 itself", "0", Times{}, 0},
		{"too late", "1e30", Times{}, 0},
		{"too late in seconds", "99999999999", Times{Unit: time.Second}, 0},
		{"not a number", "NaN", Times{}, 0},
		{"nothing", "", Times{}, 0},
	} {
		t.Run(c.rule, func(t *testing.T) {
			got, ok := c.times.read([]byte(c.text), strings.ContainsAny(c.text, "T/"))
			if ok != (c.want != 0) || ok && got != c.want {
				t.Errorf("%d, %v; want %d", got, ok, c.want)
			}
		})
	}
}

func TestAPatternReadsLogs(t *testing.T) {
	a := attach(t, func(c *Config) {
		c.Pattern = `^(?P<time>\S+) \[(?P<instance>[^]]*)\] (?P<transition>[a-z ]+?)(?P<end> \(last\))?$`
	})
	take(t, a, "2020-09-13T12:26:40Z [o 1] take in\nnoise\n1600000001 [o 1] pay\n1600000002 [o 1] close (last)\n")
	if got, want := firings(seen(t, a, someTime+5e6)), "1 1 1"; got != want || dropped(a) != "no_match 1" {
		t.Errorf("firings %s, want %s; %s", got, want, dropped(a))
	}
	for rule, pattern := range map[string]string{
		"no expression": `(`, "no instance": `(?P<transition>.)`, "nothing that happens": `(?P<instance>.)`, "too long": strings.Repeat("x", maxPattern+1),
	} {
		if _, err := newPattern(pattern, defaultFields()); err == nil {
			t.Errorf("%s: no error", rule)
		}
	}
}

func TestATableMapsNamesInEvents(t *testing.T) {
	table, err := ReadTable(strings.NewReader(`
nets:
  orders:
    aliases: [shop]
    transitions: {"IN": t1, "PAY": t2}
    places: {"till": paid}
    ignore: [heartbeat]
    silent: [t1]
`), "table.yaml")
	if err != nil {
		t.Fatal(err)
	}
	a := attach(t, func(c *Config) { c.Table = table })
	take(t, a, `{"net":"shop","instance":"a","transition":"PAY"}
{"net":"shop","instance":"a","transition":"heartbeat"}
{"net":"shop","instance":"b","place":"till"}`)
	if got := firings(seen(t, a, someTime)); got != "1 1 0" || dropped(a) != "ignored 1" {
		t.Errorf("firings %s; %s", got, dropped(a))
	}
	if n := a.Nets()[0]; n.Unfit != 0 || n.Silent != 1 {
		t.Errorf("%+v", n)
	}
}

func TestFaultsOfATableHaveAPosition(t *testing.T) {
	for text, want := range map[string]string{
		"net: 1":         "table.yaml:1:1",
		"nets:\n  x: {}": "table.yaml:2:3",
		"nets:\n  orders:\n    transitions: {a: x}": "table.yaml:3:22",
		"nets:\n  orders:\n    silent: [x]":         "table.yaml:3:14",
		"nets:\n  orders:\n    silent: x":           "table.yaml:3:13",
		"nets:\n  orders:\n    other: x":            "table.yaml:3:5",
	} {
		table, err := ReadTable(strings.NewReader(text), "table.yaml")
		if err == nil {
			_, err = New(Config{Nets: compiled(t, orders), Table: table, Fields: defaultFields()})
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestWhatAWriterDroppedIsShown(t *testing.T) {
	a := attach(t, nil)
	take(t, a, `{"instance":"a","transition":"t1","dropped":2}`+"\n"+`{"instance":"b","transition":"t1","dropped":1}`)
	if n := a.Counters().Unwritten; n != 2 {
		t.Errorf("%d", n)
	}
}

func TestAnEventFromTheFutureIsOfNow(t *testing.T) {
	a := attach(t, nil)
	a.clock = func() int64 { return someTime }
	take(t, a, `{"time":1600000061,"instance":"a","transition":"t1"}`+"\n"+`{"time":1600000059,"instance":"b","transition":"t1"}`)
	if c := a.Counters(); c.Future != 1 {
		t.Errorf("%d events of the future", c.Future)
	}
	if p := seen(t, a, someTime).Places[1]; p.Oldest != someTime || p.Tokens != 2 {
		t.Errorf("%+v", p)
	}
}

// Events that are within the window are put in order; others are late.
func TestEventsInAWindowComeInOrder(t *testing.T) {
	line := func(at int, transition string) string {
		return fmt.Sprintf(`{"time":%d,"instance":"a","transition":%q}`+"\n", 1_600_000_000+at, transition)
	}
	a := attach(t, func(c *Config) { c.Window = 5 * time.Second })
	now := someTime
	a.clock = func() int64 { return now }
	take(t, a, line(3, "t2")+line(1, "t1"))
	if got := firings(seen(t, a, now)); got != "0 0 0" {
		t.Errorf("%s fired before the window was over", got)
	}
	take(t, a, line(9, "t3"))
	if n := a.Nets()[0]; n.Unfit != 0 || n.Events != 2 {
		t.Errorf("%+v", n)
	}
	if got := firings(seen(t, a, now+5e6)); got != "1 1 1" {
		t.Errorf("%s after the window has passed", got)
	}
	take(t, a, line(20, "t1")+line(40, "t2")+line(10, "t3"))
	a.Flush()
	if n := a.Nets()[0]; n.Late != 1 {
		t.Errorf("%d late", n.Late)
	}
}

func TestAFullWindowLetsTheEarliestGo(t *testing.T) {
	a := attach(t, func(c *Config) { c.Window, c.Held = time.Hour, 2 })
	a.clock = func() int64 { return someTime }
	for k := range 5 {
		take(t, a, fmt.Sprintf(`{"time":%d,"instance":"%d","transition":"t1"}`, 1_600_000_000+k, k))
	}
	if c := a.Counters(); c.Hurried != 3 || c.Held != 2 {
		t.Errorf("%d hurried, %d held", c.Hurried, c.Held)
	}
}

// Instances start and end; only the state of open ones is kept.
func TestInstancesThatEndAreForgotten(t *testing.T) {
	a := attach(t, nil)
	for k := range 1000 {
		take(t, a, fmt.Sprintf(`{"instance":"%d","transition":"t1"}
{"instance":"%d","transition":"t2"}
{"instance":"%d","transition":"t3"}`, k, k, k))
	}
	if n := a.Nets()[0]; n.Open != 0 || n.Fitness != 1 {
		t.Errorf("%+v", n)
	}
	rows := seen(t, a, a.clock())
	if rows.Net.Finished != 1000 || rows.Places[3].Arrivals != 1000 || rows.Places[3].Tokens != 0 {
		t.Errorf("%+v %+v", rows.Net, rows.Places[3])
	}
}
