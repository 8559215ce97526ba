// SPDX-License-Identifier: Apache-2.0

//go:build peers

package pagetest

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/internal/browsertest"
)

// One dot is one firing, or as many as the legend says: over a hundred seconds
// as many start as were measured, however often the screen is drawn.
func dotsAreAsManyAsFirings(t *testing.T, chromium *browsertest.Browser) {
	f := newFake(t, shop(t, nowMS()))
	b := chromium.Tab(t)
	b.Open(f.url())
	for _, measured := range []float64{0.3, 4, 90, 25_000} {
		for _, frame := range []int{7, 16, 100} {
			got := browsertest.Eval[[]float64](b, fmt.Sprintf(`(async () => {
				const {Flow} = await import('/flow.js');
				const arcs = [{from: 0, to: 2, kind: 'normal'}, {from: 2, to: 1, kind: 'normal'}, {from: 1, to: 2, kind: 'inhibitor'}];
				const flow = new Flow(), begun = new Set();
				flow.draw({placeCount: 2, nodes: [{}, {}, {}], arcs, arcsOf: [[0], [1, 2], [0, 1, 2]]});
				flow.measure({transitions: [{rate: %f}]});
				let most = 0;
				for (let time = 0; time <= 100000; time += %d) {
					flow.step(time);
					most = Math.max(most, flow.firings.length);
					for (const firing of flow.firings) begun.add(firing);
				}
				return [begun.size * flow.transitions[0].worth, flow.transitions[0].worth, most];
			})()`, measured, frame))
			firings, worth, most := got[0], got[1], got[2]
			if want := measured * 100; math.Abs(firings-want) > 2*worth+want/100 {
				t.Errorf("%v firings a second, drawn every %d ms: dots stand for %v firings in 100 s, want %v", measured, frame, firings, want)
			}
			if most > 240 {
				t.Errorf("%v firings a second: %v dots at once", measured, most)
			}
		}
	}
}

// What is not known is a dash, never 0.
func numbersAreWrittenForPeople(t *testing.T, chromium *browsertest.Browser) {
	f := newFake(t, shop(t, nowMS()))
	b := chromium.Tab(t)
	b.Open(f.url())
	for expression, want := range map[string][]string{
		`[null, undefined, 0, 0.004, 0.35, 1, 59.9, 60, 3599, 3600, 86399, 86400, 1e7].map(m.age)`: {"–", "–", "0 s", "4 ms", "0.3 s", "1 s", "59 s", "1 min 00 s", "59 min 59 s", "1 h 00 min", "23 h 59 min", "1 d 0 h", "115 d 17 h"},
		`[null, 0, 7, 9999, 10000, 123456, 7.5e6, 2e9].map(m.count)`:                               {"–", "0", "7", "9999", "10k", "123k", "7.5M", "2G"},
		`[null, 0, 0.0004, 0.01, 0.25, 3, 99.5, 1234, 5e6].map(m.rate)`:                            {"–", "0/s", "1.44/h", "0.6/min", "0.25/s", "3/s", "99.5/s", "1234/s", "5M/s"},
		`[null, 3.9, 75, 7300, 90000].map(m.shortAge)`:                                             {"–", "3 s", "1 min", "2 h", "1 d"},
		`[m.short('a\u{1F469}bc', 3), m.short('two\nlines', 20), ...m.twoLines('somewhere over there', 12), ...m.twoLines('x'.repeat(500), 5)]`: {
			"a…c", "two lines", "somewhere", "over there", "xx…xx"},
	} {
		got := browsertest.Eval[[]string](b, `import('/format.js').then((m) => `+expression+`)`)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", expression, d)
		}
	}
	order := browsertest.Eval[[]float64](b, `import('/heat.js').then((m) => [null, 0, 1, 10, 60, 600, 3600, 1e9].map((s) => Math.round(100 * m.heat(s))))`)
	if d := cmp.Diff([]float64{0, 0, 0, 28, 50, 78, 100, 100}, order); d != "" {
		t.Errorf("heat of ages (-want +got):\n%s", d)
	}
}
