// SPDX-License-Identifier: Apache-2.0

package action

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/pnagent/pnagent/engine/coloured"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// run is what all these tests perform.
func run() *Run {
	return &Run{Net: "shop", Source: "s", Transition: "pay", Key: "s/1/7", Places: []string{"cart", "card", "paid", "void"},
		Start: coloured.Start{Run: 7, Instance: 42, Transition: 1, Attempt: 2, Started: 10_000_000,
			Taken: []coloured.Placed{
				{Place: 0, Token: coloured.Token{ID: 5, Injected: 7_500_000, Data: []byte(`{"amount": 3, "note": "<b>"}`)}},
				{Place: 0, Token: coloured.Token{ID: 6, Injected: 11_000_000}},
			},
			Read: []coloured.Placed{{Place: 1, Token: coloured.Token{ID: 2, Injected: 10_000_000, Data: []byte("\x01\x02")}}},
		}}
}

const runAsJSON = `{"net":"shop","source":"s","instance":42,"transition":"pay","attempt":2,"key":"s/1/7",` +
	`"tokens":[{"place":"cart","id":5,"age":2.5,"data":{"amount":3,"note":"<b>"}},{"place":"cart","id":6,"age":0}],` +
	`"read":[{"place":"card","id":2,"age":0,"bytes":"AQI="}]}`

func TestARequestHoldsWhatIsTriedWithWhichTokens(t *testing.T) {
	got, err := request(run())
	if d := cmp.Diff(runAsJSON+"\n", string(got)); d != "" || err != nil {
		t.Error(d, err)
	}
	r := run()
	for range 9 {
		r.Start.Taken = append(r.Start.Taken, coloured.Placed{Token: coloured.Token{Data: make([]byte, 1<<20)}})
	}
	if _, err := request(r); err == nil || !strings.Contains(err.Error(), "expected at most 8388608") {
		t.Error(err)
	}
}

func TestARunFindsItsTokensAndPlaces(t *testing.T) {
	r := run()
	if p, ok := r.Place("paid"); p != 2 || !ok {
		t.Error(p, ok)
	}
	if _, ok := r.Place("nowhere"); ok {
		t.Error("a place that is not there")
	}
	if in := r.In("cart"); len(in) != 2 || in[0].ID != 5 || in[1].ID != 6 {
		t.Error(in)
	}
	if in := r.In("card"); len(in) != 1 || in[0].ID != 2 {
		t.Error("tested tokens:", in)
	}
	if in := r.In("nowhere"); in != nil {
		t.Error(in)
	}
}

func TestAnswers(t *testing.T) {
	for text, want := range map[string]coloured.Outcome{
		"":                           {},
		" \n":                        {},
		"{}":                         {},
		`{"data": null}`:             {},
		`{"data": {"a":1}}`:          {Data: []byte(`{"a":1}`)},
		`{"data": 7, "error": null}`: {Data: []byte(`7`)},
		`{"put": []}`:                {Puts: []coloured.Put{}},
		`{"put": [{"place":"paid","data":"x"},{"place":"void"},{"place":"paid","token":5}]}`: {
			Puts: []coloured.Put{{Place: 2, Data: []byte(`"x"`)}, {Place: 3}, {Place: 2, Moved: 5}}},
		`{"error": "card\nrefused"}`: {Kind: coloured.Failed, Err: "card refused"},
		`{"delay": "1m30s"}`:         {Kind: coloured.Delayed, After: 90_000_000},
		`{"wait": true}`:             {Kind: coloured.Awaits},
	} {
		got, err := decode([]byte(text), run())
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%s: %v\n%s", text, err, d)
		}
	}
}

func TestWhatIsNoAnswer(t *testing.T) {
	for text, want := range map[string]string{
		`fired`:                          "expected one of",
		`[]`:                             "expected one of",
		`{} {}`:                          "more after the first value",
		`{"date": 1}`:                    `unknown field "date"`,
		`{"data": 1, "wait": true}`:      "2 forms in one",
		`{"wait": false}`:                "wait is false; expected true",
		`{"delay": "5"}`:                 `the delay "5"; expected a duration`,
		`{"delay": "-5s"}`:               `the delay "-5s"; expected a duration`,
		`{"delay": 5}`:                   "expected one of",
		`{"put": [{"place":"nowhere"}]}`: `net "shop" has no place "nowhere"`,
		`{"put": [{"place":"paid","data":1,"token":5}]}`: "data for token 5",
		`"` + strings.Repeat("x", MaxAnswer) + `"`:       "more than 1048576 bytes",
		`{"` + strings.Repeat("x", 9000) + `":1}`:        "unknown field",
	} {
		_, err := decode([]byte(text), run())
		if !errors.Is(err, ErrAnswer) || !strings.Contains(err.Error(), want) || len(err.Error()) > 2*maxReason {
			t.Errorf("%.60s: got  %v\nwant %s", text, err, want)
		}
	}
}

func TestAFuncInGo(t *testing.T) {
	var f Func = func(_ context.Context, r *Run) (coloured.Outcome, error) {
		p, _ := r.Place("paid")
		return coloured.Outcome{Puts: []coloured.Put{{Place: p, Moved: r.In("cart")[0].ID}}}, nil
	}
	o, err := f(t.Context(), run())
	if d := cmp.Diff(coloured.Outcome{Puts: []coloured.Put{{Place: 2, Moved: 5}}}, o); d != "" || err != nil {
		t.Error(d, err)
	}
}

func FuzzAnswer(f *testing.F) {
	for _, text := range []string{`{"data": {"a":1}}`, `{"put": [{"place":"paid","data":"x"},{"place":"cart","token":5}]}`, `{"error":"e"}`, `{"delay":"5s"}`, `{"wait":true}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r := run()
		o, err := decode(text, r)
		if err != nil {
			if !errors.Is(err, ErrAnswer) || len(err.Error()) > 4*maxReason {
				t.Fatal(err)
			}
			return
		}
		if o.After < 0 || o.Data != nil && !json.Valid(o.Data) {
			t.Fatalf("%+v", o)
		}
		for _, p := range o.Puts {
			if int(p.Place) >= len(r.Places) || p.Data != nil && !json.Valid(p.Data) {
				t.Fatalf("%+v", p)
			}
		}
	})
}
