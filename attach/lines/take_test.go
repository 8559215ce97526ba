// SPDX-License-Identifier: Apache-2.0

package lines

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/petri"
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
		{"another name of the only net", `{"net":"x","instance":"a","transition":"t1"}`, "", "1 0 0"},
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

// A generated program has identifiers instead of names.
func TestNamesAreComparedAsIdentifiersWhereTheyAreUnknown(t *testing.T) {
	def := &petri.Net{ID: "traffic-light", Name: "Main St.", Places: []petri.Place{{ID: "red light"}, {ID: "a-b"}, {ID: "a.b"}, {ID: "c-d"}, {ID: "c_d"}},
		Transitions: []petri.Transition{{ID: "t-1"}}}
	net, err := petri.Compile(def)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		rule, net, place string
		others           string
		want             int32
	}{
		{"by the ids", "traffic-light", "red light", "", 0},
		{"by identifiers", "traffic_light", "red_light", "", 0},
		{"the name of a net", "Main St.", "red light", "", 0},
		{"the name of a net as an identifier", "Main_St_", "red light", "", 0},
		{"both are no identifiers", "traffic light", "red-light", "", 0},
		{"several are one identifier", "traffic_light", "a_b", "", -1},
		{"an id is the identifier of another", "traffic_light", "c_d", "", 4},
		{"another place", "traffic_light", "redlight", "", -1},
		{"another net", "trafficlight", "red light", "", -1},
		{"another net with one for all others", "trafficlight", "red light", "traffic-light", 0},
	} {
		n, err := newNames([]*petri.Tables{net}, &Table{}, c.others)
		if err != nil {
			t.Fatal(err)
		}
		got := int32(-1)
		k, ok := find(n.nets, []byte(c.net))
		if !ok {
			k = n.others
		}
		if k >= 0 {
			if got, ok = find(n.places[k], []byte(c.place)); !ok {
				got = -1
			}
		}
		if got != c.want {
			t.Errorf("%s: place %d, want %d", c.rule, got, c.want)
		}
	}
}

// A name with a dot is a path through objects. What is less deep counts.
func TestFieldsOfNestedObjects(t *testing.T) {
	for _, c := range []struct{ rule, line, want string }{
		{"a path", `{"ticket":{"id":"a"},"act":{"did":{"name":"t1"}}}`, "a t1"},
		{"others beside it", `{"x":{"id":"b"},"ticket":{"x":{"id":"c"},"id":"a","y":[{"id":"d"}]},"act":{"did":{"name":"t1","x":null}},"id":"e"}`, "a t1"},
		{"a member of that name before it", `{"ticket.id":"a","ticket":{"id":"b"},"act.did":{"name":"t1"}}`, "a t1"},
		{"a member of that name after it", `{"ticket":{"id":"b"},"ticket.id":"a","act":{"did.name":"t1","did":{"name":"t2"}}}`, "a t1"},
		{"null before it", `{"ticket.id":null,"ticket":{"id":"a"}}`, "a "},
		{"null after it", `{"ticket":{"id":"a"},"ticket.id":null}`, "a "},
		{"twice", `{"ticket":{"id":"b"},"ticket":{"id":"a"}}`, "a "},
		{"an array instead of an object", `{"ticket":"a","act":[{"did":{"name":"t1"}}]}`, " "},
		{"an object for a value", `{"ticket":{"id":{"id":"a"}}}`, " "},
		{"escapes", `{"tick\u0065t":{"\u0069d":"\u0061"},"act":{"did":{"name":"t\u0031"}}}`, "a t1"},
		{"not closed", `{"ticket":{"id":"a"}`, "not_json"},
		{"a comma too many", `{"ticket":{"id":"a",}}`, "not_json"},
		{"names without one", `{"":{"":1},".":{".":2}}`, " "},
	} {
		t.Run(c.rule, func(t *testing.T) {
			names := defaultFields()
			names.Instance, names.Transition = "ticket.id", "act.did.name"
			var into fields
			got := newJSONLines(names).read([]byte(c.line), &into).String()
			if got == "taken" {
				got = string(into.instance) + " " + string(into.transition)
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	names := defaultFields()
	names.Net, names.Instance, names.End = "order", "order.id", "order.state.over"
	var into fields
	why := newJSONLines(names).read([]byte(`{"order":{"id":7,"state":{"over":true}}}`), &into)
	if why != Taken || string(into.instance) != "7" || into.net != nil || !into.end {
		t.Errorf("%v: %+v", why, into)
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
		{"no zone", "2020-09-13T12:26:40.000001", Times{}, someTime + 1},
		{"no zone, which is another", "2020-09-13T14:26:40", Times{Zone: berlin}, someTime},
		{"no zone, in winter", "2021-01-13T13:26:40", Times{Zone: berlin}, 1_610_540_800_000_000},
		{"a zone that is not asked for", "2020-09-13T12:26:40Z", Times{Zone: berlin}, someTime},
		{"midnight at the end of a day", "2020-12-31T24:00:00Z", Times{}, 1_609_459_200_000_000},
		{"the same with a fraction", "2020-12-31T24:00:00.000+01:00", Times{}, 1_609_455_600_000_000},
		{"the same without a zone, of a day of 25 hours", "2020-10-25T24:00:00", Times{Zone: berlin}, 1_603_666_800_000_000},
		{"after the end of a day", "2020-12-31T24:00:00.001Z", Times{}, 0},
		{"24:00 of no day", "2020-02-30T24:00:00Z", Times{}, 0},
		{"a minute after the end of a day", "2020-12-31T24:01:00Z", Times{}, 0},
		{"a day", "2020-09-13T", Times{}, 0},
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

// A silent transition fires when an event needs it, and is no event itself. The list of a table replaces that of the file.
func TestAnInvisibleTransitionIsSilent(t *testing.T) {
	nets := strings.Replace(orders, `<name><text>take in</text></name>`, `<name><text>skip_1</text></name><toolspecific tool="ProM" version="6.4" activity="$invisible$"/>`, 1)
	table, err := ReadTable(strings.NewReader("nets: {orders: {silent: []}}"), "table.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		table         *Table
		unfit, silent uint64
	}{{nil, 0, 1}, {table, 1, 0}} {
		a := attach(t, func(with *Config) { with.Nets, with.Table = compiled(t, nets), c.table })
		take(t, a, `{"instance":"a","transition":"pay"}`)
		if n := a.Nets()[0]; n.Unfit != c.unfit || n.Silent != c.silent {
			t.Errorf("%+v, want %+v", n, c)
		}
	}
}

// An event is one of the transitions that have its name. In a log the events that follow decide which one.
func TestSeveralTransitionsHaveOneName(t *testing.T) {
	const choice = `<pnml><net id="n" type="ptnet">
<place id="p"><initialMarking><text>1</text></initialMarking></place><place id="l"/><place id="r"/><place id="end"/>
<transition id="a1" name="a"/><transition id="a2" name="a"/><transition id="b" name="b"/><transition id="c" name="c"/>
<arc id="1" source="p" target="a1"/><arc id="2" source="a1" target="l"/><arc id="3" source="p" target="a2"/><arc id="4" source="a2" target="r"/>
<arc id="5" source="l" target="b"/><arc id="6" source="b" target="end"/><arc id="7" source="r" target="c"/><arc id="8" source="c" target="end"/></net></pnml>`
	event := func(name string) string { return `<event><string key="concept:name" value="` + name + `"/></event>` }
	log := "<log><trace>" + event("a") + event("c") + "</trace><trace>" + event("a") + event("b") + "</trace></log>"
	for _, speed := range []float64{0, 1e6} {
		a := attach(t, func(c *Config) { c.Nets, c.EndsByEvent, c.Speed = compiled(t, choice), true, speed })
		if err := a.TakeXES(t.Context(), logFile(t, log)); err != nil {
			t.Fatal(err)
		}
		if got, n := firings(seen(t, a, someTime)), a.Nets()[0]; got != "1 1 1 1" || fitness(&n) != 1 {
			t.Errorf("speed %v: firings %s; %+v", speed, got, n)
		}
	}
	a := attach(t, func(c *Config) { c.Nets = compiled(t, choice) })
	take(t, a, `{"instance":"x","transition":"a"}`+"\n"+`{"instance":"x","transition":"a2"}`+"\n"+`{"instance":"x","transition":"a"}`)
	if got := firings(seen(t, a, someTime)); got != "2 1 0 0" || a.Nets()[0].Unfit != 2 || a.called(&event0) != "a" {
		t.Errorf("of a stream the first that fits fires: %s; %+v", got, a.Nets()[0])
	}
}

// event0 has the first name that several transitions of a net of four have.
var event0 = event{kind: fires, index: 4}

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
	if n := a.Nets()[0]; n.Open != 0 || fitness(&n) != 1 {
		t.Errorf("%+v", n)
	}
	rows := seen(t, a, a.clock())
	if rows.Net.Finished != 1000 || rows.Places[3].Arrivals != 1000 || rows.Places[3].Tokens != 0 {
		t.Errorf("%+v %+v", rows.Net, rows.Places[3])
	}
}
