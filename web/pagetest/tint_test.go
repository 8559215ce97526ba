// SPDX-License-Identifier: Apache-2.0

//go:build peers

package pagetest

import (
	"regexp"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/internal/browsertest"
)

// offColours lists icons, words and lines of the diagram that what is behind them does not set
// off. Of a shape the first element is its outline.
const offColours = `(() => {
	const light = (c) => {
		const [r, g, b] = c.match(/[\d.]+/g).map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const contrast = (a, b) => { const [x, y] = [light(a), light(b)].sort((m, n) => n - m); return (x + 0.05) / (y + 0.05); };
	const ground = getComputedStyle(document.body).backgroundColor, faults = [], seen = { icons: 0, words: 0, lines: 0 };
	const look = (kind, g, a, b, least) => {
		seen[kind]++;
		if (contrast(a, b) < least) faults.push(g.dataset.elementId + ': ' + kind + ' in ' + a + ' on ' + b);
	};
	for (const g of document.querySelectorAll('#bpmn .djs-element')) {
		const [outline, ...rest] = g.querySelectorAll(':scope > .djs-visual > :not(defs)'), shape = outline && getComputedStyle(outline);
		if (g.matches('.djs-connection')) { look('lines', g, shape.stroke, ground, 2); continue; }
		if (outline?.tagName === 'text') { look('words', g, shape.fill, ground, 4.5); continue; }
		if (!g.matches('.coloured')) continue;
		look('lines', g, shape.stroke, ground, 2);
		if (g.dataset.elementId.startsWith('lane_') && document.documentElement.dataset.theme === 'dark') look('words', g, getComputedStyle(document.body).color, shape.fill, 4.5); // of what is drawn on it
		for (const e of rest) {
			const style = getComputedStyle(e);
			if (e.tagName === 'text') look('words', g, style.fill, shape.fill, 4.5);
			else if (style.stroke !== 'none') look('icons', g, style.stroke === shape.fill && style.fill !== 'none' ? style.fill : style.stroke, shape.fill, 3);
		}
	}
	return Object.values(seen).every((n) => n > 5) ? faults : ['few were looked at: ' + JSON.stringify(seen)];
})()`

// Colours of an author are for white paper: what is on them or beside them is to be seen in both
// themes.
func coloursOfAuthorsLetAllBeSeen(t *testing.T, chromium *browsertest.Browser) {
	text := strings.Replace(inUTF8(t, "testdata/claim.bpmn"), "<definitions ", `<definitions xmlns:color="http://www.omg.org/spec/BPMN/non-normative/color/1.0" `, 1)
	text = strings.ReplaceAll(text, "<bpmndi:BPMNEdge ", `<bpmndi:BPMNEdge color:border-color="#000000" `)
	text = strings.ReplaceAll(text, "<bpmndi:BPMNLabel>", `<bpmndi:BPMNLabel color:color="#000000">`)
	fills, n := []string{"#2953e7", "#c2d7eb", "#b98b00", "#be0000", "#6db700", "#ffffcc"}, 0
	text = regexp.MustCompile(`<bpmndi:BPMNShape id="layout1_`).ReplaceAllStringFunc(text, func(start string) string {
		n++
		return strings.Replace(start, " id", ` color:background-color="`+fills[n%len(fills)]+`" id`, 1)
	})
	b, f := chromium.Tab(t), newFake(t)
	if !drawFile(b, f, text) {
		t.Fatal("the file is not drawn")
	}
	b.Until(`document.querySelector('#bpmn .hot.coloured')`)
	for _, theme := range []string{"light", "dark"} {
		themed(b, theme)
		for _, fault := range browsertest.Eval[[]string](b, offColours) {
			t.Errorf("%s: %s", theme, fault)
		}
		b.Screenshot("bpmn-colours-" + theme)
	}
	b.Clean(f.addr, false)
}
