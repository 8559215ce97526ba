// SPDX-License-Identifier: Apache-2.0

package lines

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// objectCentric has two orders and an item. The events are not in the order of time, and the objects come last.
const objectCentric = `{"eventTypes":[{"name":"take in","attributes":[]}],"events":[
{"id":"e2","type":"pay","time":"2020-09-13T12:26:45","relationships":[{"objectId":"o 1","qualifier":"paid"},{"objectId":"o 2","qualifier":"paid"},{"objectId":"i 1"}]},
{"id":"e1","type":"take in","time":"2020-09-13T12:26:40Z","relationships":[{"objectId":"o 1","qualifier":"a"},{"objectId":"o 1","qualifier":"b"}]},
{"id":"e3","type":"take in","time":"2020-09-13T12:26:40Z","relationships":[{"objectId":"o 2","qualifier":""}]},
{"id":"e4","type":"close","time":"2020-09-13T12:26:50Z","relationships":[{"objectId":"o 1"},{"objectId":"not there"}]},
{"id":"e5","type":"dance","time":"2020-09-13T12:26:50Z","relationships":[{"objectId":"o 1"}]},
{"id":"e6","type":"close","time":"2020-09-13T12:26:50Z","relationships":[{"objectId":"i 1"}]},
{"id":"e7","type":"close","time":"2020-09-13T12:26:50Z"}],
"objectTypes":[],"objects":[{"id":"o 1","type":"order","attributes":[]},{"id":"o 2","type":"order"},{"id":"i 1","type":"item"}]}`

func TestObjectsOfOneTypeAreInstances(t *testing.T) {
	for rule, path := range map[string]string{"plain": logFile(t, objectCentric), "gzip": packedLog(t, objectCentric)} {
		for _, speed := range []float64{0, 1e6} {
			a := attach(t, func(c *Config) { c.EndsByEvent, c.Speed = true, speed })
			if err := a.TakeOCEL(t.Context(), path, "order"); err != nil {
				t.Fatal(err)
			}
			n, rows := a.Nets()[0], seen(t, a, someTime)
			if got := firings(rows); got != "2 2 1" || dropped(a) != "unknown_transition 1, ignored 2" || a.Counters().Lines != 7 {
				t.Errorf("%s, speed %v: firings %s; dropped %s of %d", rule, speed, got, dropped(a), a.Counters().Lines)
			}
			if n.Events != 5 || n.Unfit != 0 || n.Open != 0 || n.Remaining != 1 || rows.Net.Finished != 1 || rows.Places[1].Dwell.Sum != 10e6 {
				t.Errorf("%s, speed %v: %+v, %+v, dwell %d", rule, speed, n, rows.Net, rows.Places[1].Dwell.Sum)
			}
		}
	}
}

func TestAnObjectCentricLogIsAppliedOnceOverARestart(t *testing.T) {
	path, state := logFile(t, objectCentric), filepath.Join(t.TempDir(), "state")
	for range 2 {
		a := attach(t, func(c *Config) { c.EndsByEvent, c.State = true, state })
		if err := a.TakeOCEL(t.Context(), path, "order"); err != nil {
			t.Fatal(err)
		}
		if n := a.Nets()[0]; n.Events != 5 {
			t.Errorf("%d events", n.Events)
		}
		a.Save()
	}
}

func TestAMalformedObjectCentricLogIsAnError(t *testing.T) {
	for text, want := range map[string]string{
		objectCentric[:300]:       "unexpected EOF",
		`[]`:                      "the value [",
		`{"events":{}}`:           "at byte 11: the value {; expected an event log in OCEL 2.0 JSON",
		`{"events":[{"type":1}]}`: "cannot unmarshal number",
		`<log/>`:                  "at byte 0: invalid character",
		`{}`:                      `no object has the type "order"`,
		strings.ReplaceAll(objectCentric, `"order"`, `"Order"`): `no object has the type "order"; expected one of: Order, item`,
	} {
		a := attach(t, func(c *Config) { c.EndsByEvent = true })
		if err := a.TakeOCEL(t.Context(), logFile(t, text), "order"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30q: %v, want %s", text, err, want)
		}
	}
}

func FuzzOCEL(f *testing.F) {
	f.Add([]byte(objectCentric))
	f.Add([]byte(`{"events":[{}],"objects":[{"type":"order"}]}`))
	tables := compiled(f, orders)
	f.Fuzz(func(t *testing.T, text []byte) {
		a := attach(t, func(c *Config) { c.Nets, c.EndsByEvent = tables, true })
		x := &logReader{a: a, feed: a.Feed(), pos: &position{}}
		_ = x.readOCEL(t.Context(), bytes.NewReader(text), "log.json", "order") // an error is an answer
		x.deliver()
		if n := a.Nets()[0]; n.Open > 0 {
			t.Errorf("%d instances are open behind the log", n.Open)
		}
	})
}
