// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"errors"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/petri"
)

func TestFaultsOfAMappingNamePositionAndExpectation(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"an empty file", "", "m.yaml: found nothing; expected a mapping of about and nets"},
		{"no nets", "about: x", "m.yaml:1:6: no nets; expected nets with at least one"},
		{"an unknown key", "net: x", `m.yaml:1:1: unknown key "net"; expected about or nets`},
		{"a net of nothing", "nets:\n  n: {name: x}", `m.yaml:2:3: net "n" has neither places nor transitions; expected at least one`},
		{"a row of nothing", "nets:\n  n:\n    places:\n      p: {name: x}", `m.yaml:4:7: "p" has no column; expected one of name, reason, tokens,`},
		{"an unknown column", "nets:\n  n:\n    places:\n      p: {token: x}", `m.yaml:4:11: found "token"; expected name, reason, tokens, oldest, arrivals`},
		{"a column of the other table", "nets: {n: {transitions: {t: {tokens: x}}}}", `expected name, from, to, firings`},
		{"no metric", "nets: {n: {places: {p: {tokens: 7up}}}}", `m.yaml:1:33: "7up" is not the name of a metric; expected a metric such as`},
		{"an open brace", "nets: {n: {places: {p: {tokens: 'x{a=\"b\"'}}}}", `"" is not label="value" or the closing brace`},
		{"a value without quotes", "nets: {n: {places: {p: {tokens: 'x{a=b}'}}}}", "the value of label a is not in quotes"},
		{"a bad expression", "nets: {n: {places: {p: {tokens: 'x{a=~\"(\"}'}}}}", "missing closing"},
		{"an id with an open label", "nets: {n: {places: {'{queue': {tokens: x}}}}", `"{queue" has no label in its braces`},
		{"an unknown unit", "nets: {n: {places: {p: {tokens: x, oldest: {metric: y, unit: d}}}}}", `unit "d" of oldest; expected h, m, s, ms, us or ns, of a time`},
		{"a unit of a count", "nets: {n: {places: {p: {tokens: {metric: y, unit: s}}}}}", `unit "s" of tokens; expected h`},
		{"an age of nothing", "nets: {n: {places: {p: {oldest: x}}}}", `"p" has oldest without tokens; expected both`},
		{"observed from nothing", "nets: {n: {places: {p: {tokens: x, oldest: observed}}}}", "an observed oldest token without arrivals or departures"},
		{"observed tokens", "nets: {n: {places: {p: {tokens: observed}}}}", "tokens cannot be observed; expected a metric"},
		{"a gauge that never is", "nets: {n: {places: {p: {tokens: never}}}}", "tokens is no counter"},
		{"an age that is zero where it is unknown", "nets: {n: {places: {p: {tokens: x, oldest: {metric: y, missing: zero}}}}}", `m.yaml:1:65: an unknown oldest is not zero; expected unknown or observed`},
		{"observed tokens where none have a series", "nets: {n: {places: {p: {tokens: {metric: x, missing: observed}}}}}", "tokens cannot be observed; expected zero or unknown"},
		{"observed from nothing where no series gives it", "nets: {n: {places: {p: {tokens: x, oldest: {metric: y, missing: observed}}}}}", "an observed oldest token without arrivals or departures"},
		{"an unknown word for what is missing", "nets: {n: {places: {p: {tokens: {metric: x, missing: none}}}}}", `found "none"; expected zero, unknown or observed`},
		{"what runs since never", "nets: {n: {transitions: {t: {running: x}}}}", `"t" has running without running_since; expected both`},
		{"tokens that are true", "nets: {n: {places: {p: {tokens: 'true'}}}}", "tokens cannot be true; expected a metric"},
		{"an end alone", "nets: {n: {places: {p: {end: true}}}}", `"p" has no column`},
		{"failures alone", "nets: {n: {transitions: {t: {failures: x}}}}", `"t" has failures without retries; expected both`},
		{"a column of some rows only", "nets: {n: {places: {p: {tokens: x}, q: {tokens: x, arrivals: y}}}}", `"q" has arrivals and "p" has not; expected it for all places of a net or for none`},
		{"an arc to nowhere", "nets: {n: {transitions: {t: {from: p, firings: x}}}}", `transition "t" has an arc with place "p", which net "n" does not have`},
		{"a reason that is none", "nets: {n: {places: {p: {tokens: x, reason: tired}}}}", `m.yaml:1:44: found "tired"; expected a reason, such as running`},
		{"a reason without an age", "nets: {n: {places: {p: {tokens: x, reason: running}}}}", `"p" has a reason without the age of its oldest token; expected tokens and oldest`},
		{"a reason that no transition has", "nets: {n: {places: {p: {tokens: x, oldest: y, consumers: z}}, transitions: {'{l}': {from: p, firings: f}}}}", `place "p" of net "n" has a reason or consumers, and no transition is from it; expected`},
		{"a key twice", "nets: {}\nnets: {}", "m.yaml:2:1: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadMapping(strings.NewReader(c.text), "m.yaml")
			var fault *petri.Fault
			if !errors.As(err, &fault) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestAMappingThatDoesNotExistIsAnError(t *testing.T) {
	if _, err := Mappings.Load("nonsuch"); err == nil || !strings.Contains(err.Error(), "--list") {
		t.Error(err)
	}
}

func FuzzReadMapping(f *testing.F) {
	f.Add("nets: {n: {places: {'{a} b': {tokens: [x, 'y{l=~\"v\"}'], oldest: {metric: z, unit: ms, is: timestamp, missing: observed}, departures: [y], end: w}, r: {tokens: x, oldest: observed, departures: y, end: true}}}}")
	f.Add("nets: {n: {transitions: {t: {from: p, to: [q], firings: x, failures: never, retries: never, cancels: never}}}}")
	all := scraped(f, "x{a=\"1\",l=\"v\"} 1\ny{l=\"v\"} 2\nz 3\n")
	f.Fuzz(func(t *testing.T, text string) {
		if m, err := ReadMapping(strings.NewReader(text), "m"); err == nil {
			s := newState(m)
			s.apply(all, second)
			for _, n := range s.nets {
				s.rowsOf(t, n.id)
			}
		}
	})
}
