// SPDX-License-Identifier: Apache-2.0

package lines

import (
	"bytes"
	"compress/gzip"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/stats"
)

const smallLog = `<?xml version="1.0"?><log xes.version="2.0" xmlns="http://www.xes-standard.org/">
<global scope="event"><string key="concept:name" value="none"/></global>
<trace><string key="concept:name" value="o 1"><string key="concept:name" value="nested"/></string>
<event><string key="concept:name" value="take in"/><date key="time:timestamp" value="2020-09-13T12:26:40Z"/><string key="lifecycle:transition" value="start"/></event>
<event><string key="concept:name" value="take in"/><date key="time:timestamp" value="2020-09-13T12:26:40Z"/><string key="lifecycle:transition" value="complete"/></event>
<event><string key="concept:name" value="pay"/><date key="time:timestamp" value="2020-09-13T12:26:45Z"/></event>
</trace>
<trace><event><string key="concept:name" value="dance"/></event></trace>
<event/>
</log>`

func logFile(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log.xes")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func packedLog(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return logFile(t, b.String())
}

func TestALogIsReplayedTraceByTrace(t *testing.T) {
	for rule, path := range map[string]string{"plain": logFile(t, smallLog), "gzip": packedLog(t, smallLog)} {
		for _, speed := range []float64{0, 1e6} {
			t.Run(fmt.Sprint(rule, " at ", speed), func(t *testing.T) {
				a := attach(t, func(c *Config) { c.EndsByEvent, c.Speed = true, speed })
				if err := a.TakeXES(t.Context(), path); err != nil {
					t.Fatal(err)
				}
				n := a.Nets()[0]
				if got := dropped(a); got != "no_instance 1, unknown_transition 1, ignored 1" {
					t.Error(got)
				}
				// new and open were consumed; paid remained, and a token at the
				// end was missing.
				if n.Open != 0 || n.Unfit != 0 || n.Remaining != 1 || n.Missing != 1 || n.Consumed != 3 || n.Produced != 3 {
					t.Errorf("%+v", n)
				}
				rows := seen(t, a, someTime)
				if rows.Net.Failed != 1 || rows.Places[1].Dwell.Sum != 5e6 {
					t.Errorf("%+v, dwell %d", rows.Net, rows.Places[1].Dwell.Sum)
				}
			})
		}
	}
}

// A time of XES (xs:dateTime) may have no zone, and is then in the zone of the configuration.
func TestTimesOfALogMayHaveNoZone(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		zone *time.Location
		want int64
	}{{nil, someTime + 5e6}, {berlin, someTime + 5e6 - 2*3600e6}} {
		a := attach(t, func(with *Config) { with.EndsByEvent, with.Times.Zone = true, c.zone })
		if err := a.TakeXES(t.Context(), logFile(t, strings.ReplaceAll(smallLog, `Z"/>`, `.000"/>`))); err != nil {
			t.Fatal(err)
		}
		if rows := seen(t, a, someTime); rows.Transitions[1].LastFiring != c.want || rows.Places[1].Dwell.Sum != 5e6 {
			t.Errorf("%v: %+v, want %d", c.zone, rows.Transitions[1], c.want)
		}
	}
}

func TestAMalformedLogIsAnErrorWithItsPosition(t *testing.T) {
	for text, want := range map[string]string{
		"<log><trace><event></log>":      ":1:",
		"<html/>":                        "expected <log>",
		"<log><trace>":                   "the file ends",
		"<!DOCTYPE x [<!ENTITY a 'b'>]>": "entities are not expanded",
		"\x1f\x8bnot gzip":               "gzip",
	} {
		a := attach(t, func(c *Config) { c.EndsByEvent = true })
		if err := a.TakeXES(t.Context(), logFile(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestALogIsAppliedOnceOverARestart(t *testing.T) {
	path, state := logFile(t, smallLog), filepath.Join(t.TempDir(), "state")
	for range 2 {
		a := attach(t, func(c *Config) { c.EndsByEvent, c.State = true, state })
		if err := a.TakeXES(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		if n := a.Nets()[0]; n.Events != 2 {
			t.Errorf("%d events", n.Events)
		}
		a.Save()
	}
}

func FuzzXES(f *testing.F) {
	f.Add([]byte(smallLog))
	f.Add([]byte("<log><trace><event>"))
	tables := compiled(f, orders)
	f.Fuzz(func(t *testing.T, text []byte) {
		a := attach(t, func(c *Config) { c.Nets, c.EndsByEvent = tables, true })
		x := &logReader{a: a, feed: a.Feed(), pos: &position{}}
		_ = x.readXES(t.Context(), bytes.NewReader(text), "log.xes") // the error is a valid result
		x.deliver()
		if n := a.Nets()[0]; n.Open > 1 {
			t.Errorf("%d instances are open, although each trace ends before the next one", n.Open)
		}
	})
}

// The corpus is not part of the project.
const corpus = "../../../shared/corpus/xes/"

// wholeLog is an event log decoded by encoding/xml as a whole.
type wholeLog struct {
	Traces []struct {
		Strings []pair `xml:"string"`
		Events  []struct {
			Strings []pair `xml:"string"`
			Dates   []pair `xml:"date"`
		} `xml:"event"`
	} `xml:"trace"`
}

type pair struct {
	Key   string `xml:"key,attr"`
	Value string `xml:"value,attr"`
}

func valueOf(pairs []pair, key string) string {
	k := slices.IndexFunc(pairs, func(p pair) bool { return p.Key == key })
	if k < 0 {
		return ""
	}
	return pairs[k].Value
}

// obvious replays a log with lists of times and a breadth-first search over
// whole markings: by arcs, by names, one trace at a time. It is simple and
// slow.
type obvious struct {
	net                                    *petri.Net
	held                                   map[string][]int64
	produced, consumed, missing, remaining uint64
	unfit                                  uint64
	firings, dwell, departed               map[string]uint64
	final                                  map[string]uint64 // tokens at the ends of all traces
}

func (o *obvious) arcs(from, to string) (n int) {
	for _, a := range o.net.Arcs {
		if a.Source == from && a.Target == to {
			n++
		}
	}
	return n
}

func (o *obvious) enabled(held map[string][]int64, transition string) bool {
	for _, p := range o.net.Places {
		if len(held[p.ID]) < o.arcs(p.ID, transition) {
			return false
		}
	}
	return true
}

func (o *obvious) fired(held map[string][]int64, transition string, at int64, count bool) map[string][]int64 {
	next := map[string][]int64{}
	for _, p := range o.net.Places {
		tokens := held[p.ID]
		for range o.arcs(p.ID, transition) {
			if count {
				o.consumed++
			}
			if count && tokens[0] != repaired { // one that was missing was in no place
				o.departed[p.ID]++
				o.dwell[p.ID] += uint64(at - tokens[0])
			}
			tokens = tokens[1:]
		}
		next[p.ID] = slices.Clone(tokens)
		for range o.arcs(transition, p.ID) {
			if count {
				o.produced++
			}
			next[p.ID] = append(next[p.ID], at)
		}
	}
	if count {
		o.firings[transition]++
	}
	return next
}

func silent(tr petri.Transition) bool { return strings.HasPrefix(tr.Name, "tau ") }

// repaired is the time of a token that was missing.
const repaired = -1

// way finds the shortest way of silent transitions to a marking that is wanted.
func (o *obvious) way(wanted func(held map[string][]int64) bool) ([]string, bool) {
	type place struct {
		held map[string][]int64
		way  []string
	}
	for queue := []place{{o.held, nil}}; len(queue) > 0; queue = queue[1:] {
		here := queue[0]
		if wanted(here.held) {
			return here.way, true
		}
		if len(here.way) > 4 {
			continue
		}
		for _, tr := range o.net.Transitions {
			if silent(tr) && o.enabled(here.held, tr.ID) {
				queue = append(queue, place{o.fired(here.held, tr.ID, 0, false), append(slices.Clone(here.way), tr.ID)})
			}
		}
	}
	return nil, false
}

func (o *obvious) event(name string, at int64) {
	for _, tr := range o.net.Transitions {
		if tr.Name != name {
			continue
		}
		way, ok := o.way(func(held map[string][]int64) bool { return o.enabled(held, tr.ID) })
		for _, quiet := range way {
			o.held = o.fired(o.held, quiet, at, true)
		}
		if !ok {
			o.unfit++
			for _, p := range o.net.Places {
				for len(o.held[p.ID]) < o.arcs(p.ID, tr.ID) {
					o.held[p.ID] = append(o.held[p.ID], repaired)
					o.missing++
				}
			}
		}
		o.held = o.fired(o.held, tr.ID, at, true)
	}
}

func (o *obvious) begin(at int64) {
	o.held = map[string][]int64{}
	for _, p := range o.net.Places {
		for range p.Initial {
			o.held[p.ID] = append(o.held[p.ID], at)
			o.produced++
		}
	}
}

// end consumes one token of the sink, which a trace that came to its end has there.
func (o *obvious) end(sink string) {
	came := uint64(len(o.held[sink]))
	for p, tokens := range o.held {
		o.final[p] += uint64(len(tokens))
		o.remaining += uint64(len(tokens))
	}
	if came == 0 {
		o.missing++
	} else {
		o.remaining--
	}
	o.consumed++
}

func TestTheRunningExampleIsReplayedAsTheReferenceDoes(t *testing.T) {
	def, err := os.ReadFile(corpus + "running-example.pnml")
	if err != nil {
		t.Skip("the corpus is missing: ", err)
	}
	text, err := os.ReadFile(corpus + "running-example.xes")
	if err != nil {
		t.Fatal(err)
	}
	for rule, change := range map[string]func(string) string{
		"as it is": func(s string) string { return s },
		// One log treats checks as decisions, the other has no decisions.
		"with events that do not fit": func(s string) string { return strings.ReplaceAll(s, `value="check ticket"`, `value="decide"`) },
		"with events that are not there": func(s string) string {
			return strings.ReplaceAll(s, `<string key="concept:name" value="decide"/>`, `<string key="concept:name" value="nothing"/>`)
		},
	} {
		t.Run(rule, func(t *testing.T) { compareLog(t, def, change(string(text))) })
	}
}

func compareLog(t *testing.T, def []byte, text string) {
	f, err := pnml.Read(bytes.NewReader(def), "net.pnml", pnml.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	var log wholeLog
	if err := xml.Unmarshal([]byte(text), &log); err != nil {
		t.Fatal(err)
	}
	o := &obvious{net: f.Nets[0], firings: map[string]uint64{}, dwell: map[string]uint64{}, departed: map[string]uint64{}, final: map[string]uint64{}}
	for _, trace := range log.Traces {
		for k, e := range trace.Events {
			at, err := time.Parse(time.RFC3339, valueOf(e.Dates, "time:timestamp"))
			if err != nil {
				t.Fatal(err)
			}
			if k == 0 {
				o.begin(at.UnixMicro())
			}
			o.event(valueOf(e.Strings, "concept:name"), at.UnixMicro())
		}
		o.end("n2")
	}

	a := attach(t, func(c *Config) { c.Nets, c.EndsByEvent = compiled(t, string(def)), true })
	if err := a.TakeXES(t.Context(), logFile(t, text)); err != nil {
		t.Fatal(err)
	}
	n := a.Nets()[0]
	if got, want := [5]uint64{n.Produced, n.Consumed, n.Missing, n.Remaining, n.Unfit}, [5]uint64{o.produced, o.consumed, o.missing, o.remaining, o.unfit}; got != want {
		t.Errorf("produced, consumed, missing, remaining, unfit: %v, want %v", got, want)
	}
	share := func(a, b uint64) float64 { return float64(a) / float64(b) }
	if want := 0.5*(1-share(o.missing, o.consumed)) + 0.5*(1-share(o.remaining, o.produced)); fitness(&n) != want {
		t.Errorf("fitness %v, want %v", fitness(&n), want)
	}
	compareRows(t, o, seen(t, a, someTime))
	t.Logf("fitness %.4f, %d traces, %d unfit", fitness(&n), len(log.Traces), n.Unfit)
}

func compareRows(t *testing.T, o *obvious, rows *stats.Rows) {
	t.Helper()
	for i, tr := range o.net.Transitions {
		if got := rows.Transitions[i].Firings; got != o.firings[tr.ID] {
			t.Errorf("%s fired %d times, want %d", tr.Name, got, o.firings[tr.ID])
		}
	}
	for i, p := range o.net.Places {
		row := &rows.Places[i]
		if row.Departures != o.departed[p.ID] || row.Dwell.Sum != o.dwell[p.ID] {
			t.Errorf("%s: %d left after %d µs, want %d after %d", p.Name, row.Departures, row.Dwell.Sum, o.departed[p.ID], o.dwell[p.ID])
		}
		if final := row.Arrivals - row.Departures - row.Tokens; final != o.final[p.ID] {
			t.Errorf("%s: %d tokens in final markings, want %d", p.Name, final, o.final[p.ID])
		}
	}
}
