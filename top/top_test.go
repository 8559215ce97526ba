// SPDX-License-Identifier: Apache-2.0

package top

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestEveryFieldThatIsReadIsOneThatTheCollectorWrites(t *testing.T) {
	text, err := os.ReadFile("../collector/testdata/view.json")
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	written := map[string]bool{}
	keysOf(document, written)
	for _, v := range []any{View{}, Net{}, Instances{}, Place{}, Histogram{}, Token{}, Wait{}, Transition{}, Block{}, Source{}} {
		for i := range reflect.TypeOf(v).NumField() {
			if tag := reflect.TypeOf(v).Field(i).Tag.Get("json"); !written[tag] {
				t.Errorf("%T has %q, which the collector does not write", v, tag)
			}
		}
	}
	if _, err := Decode(strings.NewReader(string(text))); err != nil {
		t.Error(err)
	}
}

func keysOf(document any, into map[string]bool) {
	switch d := document.(type) {
	case map[string]any:
		for k, v := range d {
			into[k] = true
			keysOf(v, into)
		}
	case []any:
		for _, v := range d {
			keysOf(v, into)
		}
	}
}

func TestDecodeRefusesWhatIsNoView(t *testing.T) {
	for name, text := range map[string]string{
		"nothing": "", "a page": "<html>", "another document": `{"active":[]}`, "a list": "[]", "half a View": `{"generation":1,"at":"2026-01-01T00:00:00Z","nets":[`,
	} {
		if v, err := Decode(strings.NewReader(text)); err == nil {
			t.Errorf("%s is taken for %+v", name, v)
		}
	}
}

func TestDecodeRefusesWhatIsTooLarge(t *testing.T) {
	endless := io.MultiReader(strings.NewReader(`{"nets":[`), repeated("{},"))
	if _, err := Decode(endless); !errors.Is(err, ErrTooLarge) {
		t.Errorf("an endless answer: %v", err)
	}
	small := `{"nets":[` + strings.Repeat("{},", maxObjects) + `{}]}`
	if _, err := Decode(strings.NewReader(small)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a small text of many objects: %v", err)
	}
}

// repeated is a reader that does not end.
type repeated string

func (r repeated) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = r[i%len(r)]
	}
	return len(p), nil
}

func TestRatesAreUnknownRatherThanWrong(t *testing.T) {
	at := func(second int, generation, firings uint64) *View {
		return &View{At: begun().Add(time.Duration(second) * time.Second), Generation: generation,
			Nets: []Net{{ID: "n", Since: begun(), Transitions: []Transition{{ID: "t", Firings: &firings}}}}}
	}
	renamed := at(1, 2, 110)
	renamed.Nets[0].Transitions[0].ID = "other"
	later := at(1, 2, 110)
	later.Nets[0].Since = begun().Add(time.Second)
	nobody := at(1, 2, 0)
	nobody.Nets[0].Transitions[0].Firings = nil
	for _, rule := range []struct {
		name  string
		views []*View
		want  float64
	}{
		{"one View tells none", []*View{at(0, 1, 100)}, math.NaN()},
		{"two tell the difference", []*View{at(0, 1, 100), at(1, 2, 110)}, 10},
		{"nothing fired is a known zero", []*View{at(0, 1, 100), at(1, 2, 100)}, 0},
		{"the same View twice tells no more", []*View{at(0, 1, 100), at(1, 2, 110), at(1, 2, 110)}, 10},
		{"over the last five seconds", []*View{at(0, 1, 0), at(1, 2, 1000), at(3, 3, 1000), at(6, 4, 1010)}, 2},
		{"a gap in time is divided by", []*View{at(0, 1, 100), at(100, 2, 300)}, 2},
		{"a counter that fell", []*View{at(0, 1, 100), at(1, 2, 50)}, math.NaN()},
		{"a sidecar that started again", []*View{at(0, 50, 100), at(1, 1, 150)}, math.NaN()},
		{"a clock that went back", []*View{at(5, 1, 100), at(1, 2, 150)}, math.NaN()},
		{"another transition in its row", []*View{at(0, 1, 100), renamed}, math.NaN()},
		{"a net that was forgotten and came back", []*View{at(0, 1, 100), later}, math.NaN()},
		{"nobody knows", []*View{at(0, 1, 100), nobody}, math.NaN()},
	} {
		var h history
		var got float64
		for _, v := range rule.views {
			got = h.add(v).nets[0].firings[0]
		}
		if got != rule.want && !(math.IsNaN(got) && math.IsNaN(rule.want)) {
			t.Errorf("%s: %v, want %v", rule.name, got, rule.want)
		}
	}
}

func TestFiguresFitTheirColumns(t *testing.T) {
	for _, f := range []struct {
		write func(float64) string
		value float64
		want  string
	}{
		{formatAge, 0, "0.0s"}, {formatAge, 9.99, "9.9s"}, {formatAge, 59.9, "59s"}, {formatAge, 60, "1m00s"}, {formatAge, 3599, "59m59s"},
		{formatAge, 7384, "2h03m"}, {formatAge, 86400*5 + 7200, "5d02h"}, {formatAge, 86400 * 400, "400d"}, {formatAge, 1e300, "∞"}, {formatAge, -5, "0.0s"},
		{formatDuration, 0, "0s"}, {formatDuration, 0.00085, "850µs"}, {formatDuration, 0.0129, "12ms"}, {formatDuration, 1.26, "1.2s"}, {formatDuration, -0.25, "-250ms"},
		{formatCount, 0, "0"}, {formatCount, 9999999, "9999999"}, {formatCount, 12345678, "12.3M"}, {formatCount, math.MaxUint64, "18.4E"},
		{formatRate, 0, "0"}, {formatRate, 0.001, "<0.01"}, {formatRate, 9.999, "10.0"}, {formatRate, 999.99, "1000"}, {formatRate, 123456, "123k"},
	} {
		if got := f.write(f.value); got != f.want {
			t.Errorf("%v is written %q, want %q", f.value, got, f.want)
		}
	}
}

func TestColourIsByAgeAndOnlyWhereWanted(t *testing.T) {
	for _, colour := range []bool{false, true} {
		m := New(Options{Tab: Places, Colour: colour, Now: begun()})
		m.Hear(scripted(0), nil, begun())
		frame := m.Frame()
		for _, code := range []string{"31m", ";31m", "38;5;", "33m"} {
			if strings.Contains(frame, code) && !colour {
				t.Errorf("without colours there is %q", code)
			}
		}
		if hot := "7;31m"; strings.Contains(frame, hot) != colour {
			t.Errorf("colour %t: a place stuck for over an hour is hot: %t", colour, !colour)
		}
	}
}
