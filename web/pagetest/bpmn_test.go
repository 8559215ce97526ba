// SPDX-License-Identifier: Apache-2.0

//go:build peers

package pagetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/internal/browsertest"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/bpmn"
	"github.com/pnagent/pnagent/petri/petritest"
)

// claims is a net from a BPMN file in which something is stuck at a user task.
func claims(t *testing.T, text string) *scripted {
	t.Helper()
	file, err := bpmn.Read(strings.NewReader(text), "claims.bpmn", bpmn.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	def := file.Nets[0]
	stuck := ""
	for _, p := range file.Parts[0] {
		if p.Element == "decide" {
			stuck = p.Tokens[0]
		}
	}
	s := newScripted(def, stuck, nowMS()-42*minute, "berlin/claim 17", "osaka/claim 3")
	s.file = text
	s.drawing["model"] = map[string]any{"kind": "bpmn", "digest": "d" + fmt.Sprint(len(text)), "elements": elementsOf(def, file.Parts[0])}
	return s
}

func elementsOf(def *petri.Net, parts []bpmn.Part) (out []map[string]any) {
	index := map[string]int{}
	for i := range def.Places {
		index[def.Places[i].ID] = i
	}
	for i := range def.Transitions {
		index[def.Transitions[i].ID] = i
	}
	rows := func(ids []string) []int {
		out := []int{}
		for _, id := range ids {
			out = append(out, index[id])
		}
		return out
	}
	for _, p := range parts {
		out = append(out, map[string]any{"id": p.Element, "calls": p.Calls, "places": rows(p.Places), "transitions": rows(p.Transitions), "tokens": rows(p.Tokens), "fires": rows(p.Fires)})
	}
	return out
}

// openedClaims is the page of the claims, drawn as BPMN.
func openedClaims(t *testing.T, chromium *browsertest.Browser, address string) (*browsertest.Tab, *fake) {
	t.Helper()
	f := newFake(t, claims(t, petritest.Claims()))
	b := chromium.Tab(t)
	b.Open(f.url() + address)
	return b, f
}

// drawnBPMN waits for the file to be drawn with numbers.
const drawnBPMN = `document.querySelector('#bpmn').dataset.drawn && document.querySelector('[data-container-id=decide] .held')?.textContent > 0`

// shape is the visual of an element.
func shape(id string) string {
	return fmt.Sprintf(`document.querySelector('[data-element-id=%s]')`, id)
}

func aNetFromBPMNIsShownAsBPMN(t *testing.T, chromium *browsertest.Browser) {
	b, f := openedClaims(t, chromium, "")
	b.Do(chromedp.EmulateViewport(1440, 900))
	b.Until(drawnBPMN)
	b.Keys("0")
	b.Until(`document.querySelector('[data-container-id=decide] .since').textContent === '42 min'`)
	b.MoveMouse(5, 5)
	b.Screenshot("bpmn-light")
	fill := func(id string) string {
		return browsertest.Eval[string](b, `getComputedStyle(`+shape(id)+`.querySelector('.djs-visual > *')).fill`)
	}
	hot := browsertest.Eval[string](b, `import('/heat.js').then((m) => new m.HeatScale('light').fill(m.heat(42 * 60)))`)
	if got := fill("decide"); got != hot {
		t.Errorf("the task has the colour %s; want %s, that of 42 minutes", got, hot)
	}
	if got := fill("archive"); got == hot {
		t.Error("an element in which nothing is stuck has the same colour")
	}
	mark := browsertest.Eval[bool](b, `(() => {
		const mark = document.querySelector('.bjs-powered-by'), box = mark.getBoundingClientRect();
		return box.width > 20 && mark.contains(document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2));
	})()`)
	if !mark {
		t.Error("the mark of bpmn.io is not to be seen")
	}
	b.Clean(f.addr, false)
}

// The element leads to its place, the place to the others of the element, and the net
// shows the same.
func anElementLeadsToItsPlace(t *testing.T, chromium *browsertest.Browser) {
	b, f := openedClaims(t, chromium, "")
	b.Until(drawnBPMN)
	hover := func(id string) (x, y float64) {
		at := browsertest.Eval[[]float64](b, `(() => { const box = `+shape(id)+`.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()`)
		b.MoveMouse(at[0], at[1])
		b.Until(`!document.querySelector('#tip').hidden`)
		return at[0], at[1]
	}
	b.Do(chromedp.MouseClickXY(hover("decide")))
	b.Until(`document.querySelector('#tip').innerText.includes('3 waiting, oldest 42 min')`)
	b.Until(`location.hash.includes('place=') && ` + shape("decide") + `.classList.contains('chosen')`)
	b.Until(`document.querySelector('#panel .tokens') && document.querySelector('#panel .also button')`)
	b.Screenshot("bpmn-chosen")
	b.Click("#panel .also button")
	b.Until(`location.hash.includes('transition=decide') && ` + shape("decide") + `.classList.contains('chosen')`)
	b.Click("#view-net")
	b.Until(`location.hash.includes('view=net') && document.querySelector('#bpmn').hidden && getComputedStyle(document.querySelector('#net')).display !== 'none'`)
	b.Screenshot("bpmn-as-net")
	b.Keys("b")
	b.Until(`!location.hash.includes('view=net') && !document.querySelector('#bpmn').hidden`)
	b.Keys(kb.Escape)
	b.Until(`document.querySelector('#panel').hidden`)
	b.Keys("0")
	for i, tr := range f.nets[0].def.Transitions {
		if i%4 == 3 && strings.HasPrefix(tr.ID, "task") { // one that the fake blocks
			hover(tr.ID)
			break
		}
	}
	b.Until(`document.querySelector('#tip .reason')?.textContent.includes('12 instances')`)
	b.Screenshot("bpmn-tip")
	b.Clean(f.addr, false)
}

// A place that was linked to, searched or has an alarm is shown in its sub-process or
// called process.
func aPlaceInsideIsShownWhereItIs(t *testing.T, chromium *browsertest.Browser) {
	b, f := openedClaims(t, chromium, "#net=claims&transition=transfer")
	visible := func(id string) string {
		return `(() => { const box = ` + shape(id) + `?.getBoundingClientRect(); return box?.width > 0; })()`
	}
	b.Until(`document.querySelector('#bpmn').dataset.drawn && ` + visible("transfer"))
	b.Until(`document.querySelector('.bjs-breadcrumbs-shown')`)
	b.Screenshot("bpmn-inside")
	b.Keys("/", kb.Backspace, "Scan", kb.Enter) // see searchJumps
	b.Until(visible("scan") + ` && document.querySelector('.way-out')`)
	b.Screenshot("bpmn-called")
	b.Click(".way-out")
	b.Until(visible("decide") + ` && !document.querySelector('.way-out')`)
	b.Click("[data-container-id=archive] .door")
	b.Until(visible("scan"))
	b.Clean(f.addr, false)
}

func elementsAreReachedWithTheKeyboard(t *testing.T, chromium *browsertest.Browser) {
	b, f := openedClaims(t, chromium, "")
	b.Until(drawnBPMN)
	browsertest.Eval[bool](b, `(document.querySelector('#bpmn').focus(), true)`)
	b.Keys(kb.ArrowRight)
	b.Until(`document.querySelector('#said').textContent.startsWith('user task Decide on the claim: ')`)
	b.Keys(kb.Enter)
	b.Until(shape("decide") + `.classList.contains('chosen')`)
	b.Keys(kb.Escape, kb.ArrowRight, kb.ArrowRight, kb.Enter)
	b.Until(`location.hash.includes('ask6')`)
	b.Clean(f.addr, false)
}

// Frames change numbers and nothing else.
func framesKeepTheElementsOfThePage(t *testing.T, chromium *browsertest.Browser) {
	b, _ := openedClaims(t, chromium, "")
	b.Until(drawnBPMN)
	added := browsertest.Eval[float64](b, `new Promise((done) => {
		let added = 0;
		const watch = new MutationObserver((all) => all.forEach((m) => m.addedNodes.forEach((n) => n.nodeType === 1 && added++)));
		watch.observe(document.querySelector('#bpmn'), { childList: true, subtree: true });
		setTimeout(() => (watch.disconnect(), done(added)), 2500);
	})`)
	if added != 0 {
		t.Errorf("within some frames %v elements were added", added)
	}
}

func thePastAndAlarmsAreShownInBPMN(t *testing.T, chromium *browsertest.Browser) {
	b, f := openedClaims(t, chromium, "")
	f.change(func() {
		f.alarms = []map[string]any{{"index": 7, "alarm": "tokenStuck", "severity": "major", "net": "claims", "place": f.nets[0].def.Places[f.nets[0].stuck].ID,
			"since": moment(nowMS() - 32*minute), "text": "stuck"}}
	})
	b.Until(drawnBPMN + ` && ` + shape("decide") + `.classList.contains('alarmed')`)
	slide(b, 24)
	b.Until(`document.querySelector('.banner.past') && document.querySelector('[data-container-id=decide] .since').textContent === '18 min'`)
	b.Until(shape("decide") + `.classList.contains('alarmed')`)
	b.Screenshot("bpmn-past")
	b.Keys("c")
	b.Until(`document.querySelector('[data-container-id=decide] .change').textContent === 'same, +24 min'`)
	b.Screenshot("bpmn-compare")
	slide(b, 36) // before its alarm
	b.Until(`document.querySelector('[data-container-id=decide] .since').textContent === '6 min' && !` + shape("decide") + `.classList.contains('alarmed')`)
	b.Keys("l")
	b.Until(`document.querySelector('[data-container-id=decide] .since').textContent === '42 min'`)
	b.Clean(f.addr, false)
}

func bpmnInTheDarkAndOnAPhone(t *testing.T, chromium *browsertest.Browser) {
	b, f := openedClaims(t, chromium, "")
	b.Until(drawnBPMN)
	b.Keys("d")
	b.Until(`document.documentElement.dataset.theme === 'dark'`)
	b.MoveMouse(5, 5)
	b.Screenshot("bpmn-dark")
	b.Do(chromedp.EmulateViewport(390, 844))
	b.Until(`document.querySelector('#bpmn').clientWidth <= 390`)
	b.Keys("0", "h")
	b.Until(`!document.querySelector('#panel').hidden`)
	b.Screenshot("bpmn-phone-dark")
	b.Keys("d")
	b.Until(`document.documentElement.dataset.theme === 'light'`)
	b.Keys(kb.Escape, "0")
	b.Until(`document.querySelector('#panel').hidden`)
	b.Screenshot("bpmn-phone-light")
	b.Clean(f.addr, false)
}

// A file that cannot be drawn leaves the net, and the reader sees why.
func aFileThatCannotBeDrawnLeavesTheNet(t *testing.T, chromium *browsertest.Browser) {
	for _, c := range []struct {
		rule, why string
		change    func(*scripted)
	}{
		{"it is left out", "No BPMN: the file is larger than 4 MiB", func(s *scripted) {
			s.drawing["model"] = map[string]any{"kind": "bpmn", "missing": "the file is larger than 4 MiB", "elements": []any{}}
		}},
		{"it has no diagram", "No BPMN: no diagram", func(s *scripted) { s.file = s.file[:strings.Index(s.file, "<bpmndi:")] + "</definitions>" }},
		{"it is no BPMN", "No BPMN: ", func(s *scripted) { s.file = "<html><script>alert(1)</script></html>" }},
		{"it is gone", "No BPMN: there is no such thing", func(s *scripted) { s.file = "" }},
	} {
		t.Run(c.rule, func(t *testing.T) {
			s := claims(t, petritest.Claims())
			c.change(s)
			f := newFake(t, s)
			b := chromium.Tab(t)
			b.Open(f.url())
			b.Until(fmt.Sprintf(`document.querySelector('#view-why').textContent.startsWith(%q)`, c.why))
			b.Until(`document.querySelector('#bpmn').hidden && getComputedStyle(document.querySelector('#net')).display !== 'none' && document.querySelector('#view-bpmn').disabled`)
		})
	}
}

// Names in a file are text.
func namesInBPMNAreOnlyText(t *testing.T, chromium *browsertest.Browser) {
	evil := `&lt;img src=x onerror=&quot;document.title='taken'&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;`
	text := strings.NewReplacer("Decide on the claim", evil, "Pay the claim", evil, `name="Archiving"`, `name="`+evil+`"`, "Archive the file", evil).Replace(petritest.Claims())
	f := newFake(t, claims(t, text))
	b := chromium.Tab(t)
	b.Open(f.url() + "#net=claims&transition=transfer")
	b.Until(`document.querySelector('.bjs-breadcrumbs-shown')`)
	b.Keys("/", kb.Backspace, "Scan", kb.Enter) // see searchJumps
	b.Until(`document.querySelector('.way-out')`)
	if got := browsertest.Eval[bool](b, `document.querySelector('#bpmn img, #bpmn script') !== null || document.title === 'taken'`); got {
		t.Error("a name became an element")
	}
	b.Clean(f.addr, false)
}

// A net from PNML loads nothing for BPMN.
func otherNetsLoadNothingForBPMN(t *testing.T, chromium *browsertest.Browser) {
	b, _, _ := opened(t, chromium)
	if got := browsertest.Eval[[]string](b, `performance.getEntriesByType('resource').map((r) => r.name).filter((n) => n.includes('vendor'))`); len(got) > 0 {
		t.Errorf("loaded %v", got)
	}
	if !browsertest.Eval[bool](b, `document.querySelector('#view').hidden`) {
		t.Error("there is a choice of views")
	}
}

// The tokens of an element are those at it, its age that of the oldest that is not finished.
func elementsHaveTheNumbersOfTheirRows(t *testing.T, chromium *browsertest.Browser) {
	f := newFake(t, shop(t, nowMS()))
	b := chromium.Tab(t)
	b.Open(f.url())
	got := browsertest.Eval[[]string](b, `(async () => {
		const [{ Elements }, { Frame }] = await Promise.all([import('/elements.js'), import('/frame.js')]);
		const nodes = [{ kind: 'place' }, { kind: 'place' }, { kind: 'place', final: true }, { kind: 'transition' }, { kind: 'transition' }];
		const e = (id, tokens, places, transitions, fires, calls) => ({ id, tokens, places, transitions, fires, calls });
		const elements = new Elements({ kind: 'bpmn', elements: [e('task', [0, 1], [1], [0, 1], [1]), e('flow', [], [0], [], []), e('end', [2], [2], [], []), e('task', [], [], [], [], ['call'])] }, nodes, 3);
		const since = (s) => new Date(1e12 - s * 1000).toISOString();
		const frame = new Frame({ net: 'n', drawing: 'd', generation: 1, at: since(0), places: [{ tokens: 2, oldest_since: since(60), arrival_rate: 0.5 }, { tokens: 1, oldest_since: since(600) }, { tokens: 9, oldest_since: since(9000) }],
			transitions: [{ rate: 7, blocked: 1, running: 0 }, { rate: 0.25 }] });
		const words = (id, calls, at) => { const x = elements.at(calls, id), s = elements.state(x, at, 1e12); return [id, s.tokens, s.age, s.final, s.rate, s.blocked, elements.nodesOf(x, at).join(' ')].join(', '); };
		return [words('task', [], frame), words('flow', [], frame), words('end', [], frame), words('task', ['call'], frame), words('task', [], null), elements.of(0).id, elements.of(3).id];
	})()`)
	want := []string{"task, 3, 600, false, 0.25, true, 1 0 4 3", "flow, 0, , false, 0.5, false, 0", "end, 9, , true, , false, 2", "task, 0, , false, , false, ", "task, , , false, , false, 0 1 4 3", "task", "task"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("numbers of elements (-want +got):\n%s", d)
	}
}

// What shows a part of a net is not there while the net is shown as BPMN.
func theNeighbourhoodOfAnElementIsShownInTheNet(t *testing.T, chromium *browsertest.Browser) {
	b, f := openedClaims(t, chromium, "")
	b.Do(chromedp.EmulateViewport(1440, 900))
	b.Until(drawnBPMN)
	hidden := `['sight', 'minimap', 'quiet'].every((id) => document.getElementById(id).hidden)`
	b.Until(hidden)
	b.Keys("q", "h")
	b.Until(`!document.querySelector('#panel').hidden && document.querySelector('#panel [data-key=near]')`)
	if at := browsertest.Eval[string](b, "location.hash"); strings.Contains(at, "quiet") {
		t.Errorf("q changes the address to %s", at)
	}
	b.Click("#panel [data-key=near]")
	b.Until(`location.hash.includes('around=') && location.hash.includes('view=net') && document.querySelector('#bpmn').hidden && !document.querySelector('#sight').hidden && !document.querySelector('#quiet').hidden`)
	b.Screenshot("bpmn-near")
	if browsertest.Eval[bool](b, `document.querySelector('#sight').getBoundingClientRect().top < document.querySelector('#view').getBoundingClientRect().bottom`) {
		t.Error("what is shown is said over the choice between BPMN and net")
	}
	b.Keys("b")
	b.Until(`!document.querySelector('#bpmn').hidden && ` + hidden)
	b.Clean(f.addr, false)
}
