// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/stats"
)

func TestReadOldest(t *testing.T) {
	const good = `{"place":2,"tokens":[{"instance":"a 1","injected":"5","waits":[{"transition":1,"reason":"REASON_MISSING","place":3,"count":2}]},{"instance":"b","injected":"7"}]}`
	got, err := readOldest([]byte(good), 2)
	want := []stats.Token{{Instance: "a 1", Injected: 5, Waits: []stats.Wait{{Transition: 1, Reason: stats.ReasonMissing, Place: 2, Count: 2}}},
		{Instance: "b", Injected: 7}}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v\n%s", err, d)
	}
	for answer, reason := range map[string]Reason{
		"":              NotJSON,
		"[]":            NotJSON,
		`{"place":1}`:   BadIndex,
		`{"place":"x"}`: NotJSON,
		good + good:     NotJSON,
		`{"place":2,"tokens":[{"instance":"a","injected":"-1"}]}`:                               BadValue,
		`{"place":2,"tokens":[{"instance":"a\u0000","injected":"1"}]}`:                          BadName,
		`{"place":2,"tokens":[` + strings.Repeat(`{"injected":"1"},`, maxLimit) + `{}]}`:        TooMany,
		`{"place":2,"tokens":[{"injected":"1","waits":[{"transition":4000000000}]}]}`:           BadIndex,
		`{"place":2,"tokens":[{"injected":"1","waits":[{"until":"9223372036854775807"}]}]}`:     BadValue,
		`{"place":2,"tokens":[{"injected":"1"}],"x":"` + strings.Repeat("x", MaxMessage) + `"}`: TooLarge,
	} {
		if _, err := readOldest([]byte(answer), 2); !errors.Is(err, reason) {
			t.Errorf("%.80s: %v, want %s", answer, err, reason)
		}
	}
}

func FuzzReadOldest(f *testing.F) {
	f.Add([]byte(`{"place":2,"tokens":[{"instance":"a 1","injected":"5","waits":[{"transition":1,"place":3,"count":2}]}]}`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		tokens, err := readOldest(answer, 2)
		if err != nil && ReasonOf(err) == "" {
			t.Errorf("no reason: %v", err)
		}
		for i := range tokens {
			if tokens[i].Injected <= 0 || tokens[i].Injected > MaxTime {
				t.Errorf("%+v", tokens[i])
			}
		}
	})
}
