// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/stats"
)

func TestReadOldest(t *testing.T) {
	const good = `{"place":2,"tokens":[{"instance":"a 1","injected":"5","waits":[{"transition":1,"reason":"REASON_MISSING","place":3,"count":2}]},{"instance":"b","injected":"7","n":"3","data":"{\"order\":7}"}],"more":true,"matches":"900"}`
	got, err := readOldest([]byte(good), 2)
	want := []stats.FoundToken{{Token: stats.Token{Instance: "a 1", Injected: 5, Waits: []stats.Wait{{Transition: 1, Reason: stats.ReasonMissing, Place: 2, Count: 2}}}},
		{Token: stats.Token{Instance: "b", Injected: 7}, N: 3, Data: `{"order":7}`}}
	if d := cmp.Diff(stats.Found{Tokens: want, More: true, Matches: 900}, got); d != "" || err != nil {
		t.Errorf("%v\n%s", err, d)
	}
	for answer, reason := range map[string]Reason{
		"":              NotJSON,
		"[]":            NotJSON,
		`{"place":1}`:   BadIndex,
		`{"place":"x"}`: NotJSON,
		good + good:     NotJSON,
		`{"place":2,"tokens":[{"instance":"a","injected":"-1"}]}`:                                       BadValue,
		`{"place":2,"tokens":[{"instance":"a\u0000","injected":"1"}]}`:                                  BadName,
		`{"place":2,"tokens":[` + strings.Repeat(`{"injected":"1"},`, MaxFound) + `{}]}`:                TooMany,
		`{"place":2,"tokens":[{"injected":"1","waits":[{"transition":4000000000}]}]}`:                   BadIndex,
		`{"place":2,"tokens":[{"injected":"1","waits":[{"until":"9223372036854775807"}]}]}`:             BadValue,
		`{"place":2,"tokens":[{"injected":"1"}],"x":"` + strings.Repeat("x", MaxMessage) + `"}`:         TooLarge,
		`{"place":2,"tokens":[{"injected":"1","data":"7"}]}`:                                            BadValue,
		`{"place":2,"tokens":[{"injected":"1","data":"{\"a\":"}]}`:                                      BadValue,
		`{"place":2,"tokens":[{"injected":"1","data":"` + strings.Repeat("{", stats.MaxData+1) + `"}]}`: TooLarge,
		`{"place":2,"tokens":[{"injected":"1","n":"18446744073709551615"}]}`:                            BadValue,
		`{"place":2,"matches":"18446744073709551615"}`:                                                  BadValue,
	} {
		if _, err := readOldest([]byte(answer), 2); !errors.Is(err, reason) {
			t.Errorf("%.80s: %v, want %s", answer, err, reason)
		}
	}
}

func FuzzReadOldest(f *testing.F) {
	f.Add([]byte(`{"place":2,"tokens":[{"instance":"a 1","injected":"5","waits":[{"transition":1,"place":3,"count":2}]}]}`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		found, err := readOldest(answer, 2)
		if err != nil && ReasonOf(err) == "" {
			t.Errorf("no reason: %v", err)
		}
		for _, token := range found.Tokens {
			if token.Injected <= 0 || token.Injected > MaxTime || len(token.Data) > stats.MaxData || token.Data != "" && !json.Valid([]byte(token.Data)) {
				t.Errorf("%+v", token)
			}
		}
	})
}
