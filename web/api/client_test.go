// SPDX-License-Identifier: Apache-2.0

package api

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/stats"
)

// decodeView reads a View as Client.View does.
func decodeView(r io.Reader) (*View, error) {
	v, err := Decode[View](r)
	if err == nil {
		err = v.check()
	}
	return v, err
}

func TestDecodeRefusesWhatIsNoView(t *testing.T) {
	for name, text := range map[string]string{
		"nothing": "", "a page": "<html>", "another document": `{"active":[]}`, "a list": "[]", "half a View": `{"generation":1,"at":"2026-01-01T00:00:00Z","nets":[`,
	} {
		if v, err := decodeView(strings.NewReader(text)); err == nil {
			t.Errorf("%s is taken for %+v", name, v)
		}
	}
}

func TestDecodeRefusesWhatIsTooLarge(t *testing.T) {
	endless := io.MultiReader(strings.NewReader(`{"nets":[`), repeated("{},"))
	if _, err := decodeView(endless); !errors.Is(err, ErrTooLarge) {
		t.Errorf("an endless answer: %v", err)
	}
	small := `{"nets":[` + strings.Repeat("{},", maxObjects) + `{}]}`
	if _, err := decodeView(strings.NewReader(small)); !errors.Is(err, ErrTooLarge) {
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

func TestStepsAreThoseOfTheStatistics(t *testing.T) {
	if got, want := len((&OlderThan{}).Steps()), len(stats.AgeSteps()); got != want {
		t.Fatalf("%d steps, want %d", got, want)
	}
	for i, step := range stats.AgeSteps() {
		o, err := Decode[OlderThan](strings.NewReader(`{"` + step.Label + `":7}`))
		if err != nil || o.Steps()[i] != 7 {
			t.Errorf("step %s: %+v, %v", step.Label, o, err)
		}
	}
}
