// SPDX-License-Identifier: Apache-2.0

//go:build peers

package pagetest

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/pnagent/pnagent/internal/browsertest"
)

// state is a row of the tables in web/page/states.js: how it comes about, and what the page
// shows while it lasts.
type state struct {
	id    string
	grade string                 // bad, warn, past, info; stage instead of a drawing
	link  string                 // what the address names beyond the net; with net= it has no other net
	begin func(*fake, *scripted) // with the fake locked; nil if the link is the state
	end   func(*fake)            // nil if begin undone is the end
	words string                 // a regular expression of all of them
	grey  string                 // which numbers are grey: net, all or "" for none
	also  []string               // other states that hold meanwhile
	act   string                 // what the button says; "" for none
	works func(*browsertest.Tab) // presses it
	empty bool                   // there is no net
	doc   func(map[string]any)   // changes the overview
	over  func(*fake)            // ends a state of the connection, unlocked
	check func(*testing.T, *browsertest.Tab)
}

const moments = `\d\d:\d\d:\d\d`

// connection is how an engine connects, as an overview has it.
func connection() map[string]any {
	fill := []map[string]any{{"word": "NET.pnml", "means": "a PNML or BPMN file with the net"}, {"word": "ENGINE.creds", "means": "file with the engine's NATS credentials"},
		{"word": "tls://nats.example.org:4222", "means": "<b>right</b>"}}
	return map[string]any{"servers": "tls://nats.example.org:4222", "prefix": "petrinet.shop", "commands": []map[string]any{
		{"does": "Run a net in an engine", "line": "pnagent engine --nats tls://nats.example.org:4222 --nats.creds ENGINE.creds --nats.prefix petrinet.shop NET.pnml", "fill": fill},
		{"does": "Or follow the log of an engine that runs already", "line": "pnagent attach lines --nats tls://nats.example.org:4222 --nats.creds ENGINE.creds --nats.prefix petrinet.shop --follow EVENTS.json NET.pnml",
			"fill": append([]map[string]any{{"word": "EVENTS.json", "means": "the log of the engine, with an event a line"}}, fill...)}}}
}

// field sets fields of the overview.
func field(pairs ...any) func(map[string]any) {
	return func(doc map[string]any) {
		for i := 0; i < len(pairs); i += 2 {
			doc[pairs[i].(string)] = pairs[i+1]
		}
	}
}

// sources sets the sources of the shop, and how many of them the net counts as up and stale.
func sources(up, stale int, list ...map[string]any) func(map[string]any) {
	return func(doc map[string]any) {
		for _, s := range list {
			s["net"] = "order-fulfilment"
		}
		doc["sources"] = append([]map[string]any{}, list...)
		n := doc["nets"].([]map[string]any)[0]
		n["sources_up"], n["sources_stale"] = up, stale
	}
}

func source(name, state string, more ...any) map[string]any {
	s := map[string]any{"name": name, "state": state, "last_heard_age_seconds": 0.4, "gaps": 0}
	field(more...)(s)
	return s
}

// answers has every stream answered with an error.
func answers(status int, text string) func(*fake, *scripted) {
	return func(f *fake, _ *scripted) {
		f.refuse = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/api/v1/live" {
				return false
			}
			w.Header().Set("Retry-After", "2")
			w.Header().Set("WWW-Authenticate", "Basic") // only of 401
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = fmt.Fprintf(w, `{"error": %q}`, text) // fails only if the client is gone
			return true
		}
	}
}

// broken ends the streams that are open.
func broken(f *fake) {
	f.close()
	f.start()
}

func statesOfThePage() []state {
	minuteAgo := time.Now().Add(-time.Minute).UTC()
	tenAgo := time.Now().Add(-10 * time.Minute).UTC().Format(time.RFC3339)
	back := func(f *fake) { f.refuse = nil }
	then := func(what func(map[string]any)) func(*fake, *scripted) {
		return func(f *fake, _ *scripted) { f.alterPast = what }
	}
	live := func(b *browsertest.Tab) { b.Keys("l") }
	return []state{
		{id: "login", grade: "bad", begin: answers(401, "Unauthorized"), over: broken, end: back, grey: "all", act: "log in",
			words: `The sidecar has not accepted the login of this page since ` + moments + ` \(.*\)\. The numbers shown are .* old\. Log in again\.`},
		{id: "full", grade: "bad", begin: answers(503, "3 viewers are connected; no more are taken"), over: broken, end: back, grey: "all",
			words: `The sidecar has no room for this page: 3 viewers are connected; no more are taken\. The numbers shown are .* old\. This page tries again every \d s\. Close other pages of this sidecar, or raise --web\.viewers or --web\.viewers-per-address there\.`},
		{id: "refused-page", grade: "bad", begin: answers(502, "no <b>upstream</b>"), over: broken, end: back, grey: "all",
			words: `The server has answered this page with an error since ` + moments + ` \(.*\): 502 no <b>upstream</b>\. The numbers shown are .* old\. This page tries again\. Look at the log .*`},
		{id: "lost", grade: "bad", over: (*fake).close, end: func(f *fake) { f.start() }, grey: "all",
			words: `The sidecar has not answered since ` + moments + ` \(.*\)\. The numbers shown are .* old\. This page tries again\. Check that pnagent serve runs at 127\.0\.0\.1:\d+\.`},
		{id: "deaf", grade: "bad", grey: "all",
			doc: func(doc map[string]any) {
				sources(1, 0, source("berlin", "unknown"))(doc)
				field("nats", map[string]any{"connected": false, "since": minuteAgo, "server": "tls://nats.example.org:4222", "reason": "maximum <b>connections</b> exceeded", "disconnects": 1}, "deaf", true)(doc)
			},
			check: func(t *testing.T, b *browsertest.Tab) {
				t.Helper()
				b.Until(`document.querySelector('.row.source .mark').textContent === '?'`)
				if got := browsertest.Eval[string](b, `[...document.querySelectorAll('.row .mark.good')].map((m) => m.parentElement.textContent).join()`); got != "" {
					t.Errorf("while NATS is away, %s is shown as well", got)
				}
			},
			words: `The sidecar has had no connection to NATS at tls://nats\.example\.org:4222 since ` + moments + ` \(1 min \d\d s\) and receives no engine: maximum <b>connections</b> exceeded\. The numbers shown are not current: they are the last known, and tokens grow older\. The sidecar tries again by itself\. Check that the NATS server runs\.`},
		{id: "deaf", grade: "bad", grey: "all",
			doc: field("nats", map[string]any{"connected": false, "since": minuteAgo, "reason": "connection refused"}, "deaf", true,
				"sidecar", map[string]any{"connect": connection(), "above": map[string]any{"prefix": "petrinet.root", "source": "below-1"}}), also: []string{"branch"},
			words: `The sidecar has had no connection to NATS at tls://nats\.example\.org:4222 since its start and receives no engine: connection refused\. .* The sidecar above, which is reached the same way, shows these nets with their last known state\. .*`},
		{id: "settling", grade: "warn", grey: "all", doc: field("nats", map[string]any{"connected": true, "since": minuteAgo}, "deaf", true),
			words: `The sidecar is connected to NATS again since ` + moments + ` \(1 min \d\d s\) and still waits for its sources: each is shown as it was before the break until it is received again\. .*`},
		{id: "silent", grade: "bad", grey: "net",
			doc:   sources(0, 2, source("osaka", "stale", "last_heard_age_seconds", 62), source("berlin", "stale", "last_heard_age_seconds", 130)),
			words: `No source of Order fulfilment is up\. Silent: berlin since ` + moments + ` \(2 min \d\d s\), osaka since ` + moments + ` \(1 min \d\d s\)\. The numbers shown are the last known: they are not zero, and tokens grow older\. Check the engines, .*`,
			check: func(t *testing.T, b *browsertest.Tab) {
				t.Helper()
				if got := b.Text(".row.net .text"); !strings.HasPrefix(got, "120 tokens") {
					t.Errorf("the list shows %q of a silent net; want its last number", got)
				}
				if got := b.Text("#link"); got != "not current" {
					t.Errorf("the bar has %q; want that the numbers are not current", got)
				}
			}},
		{id: "silent", grade: "bad", grey: "net", also: []string{"below"}, doc: sources(0, 1, source("below-1", "stale", "last_heard_age_seconds", 62, "below", true)),
			words: `No source of Order fulfilment is up\. Silent: the sidecar below below-1 since .*\. .* Check the sidecars below, their hosts and their connection to NATS\.`},
		{id: "gone", grade: "warn", grey: "net", doc: func(doc map[string]any) {
			sources(0, 0, source("berlin", "gone"))(doc)
			field("sidecar", map[string]any{"connect": connection()})(doc)
		},
			words: `No engine of Order fulfilment runs any more: each ended, or was silent for so long that it was forgotten\. Where their tokens were is not known any more \(–\); counters are as they were\. Start an engine:`,
			act:   "pnagent engine --nats tls://nats.example.org:4222 --nats.creds ENGINE.creds --nats.prefix petrinet.shop NET.pnml"},
		{id: "arriving", grade: "warn", doc: sources(0, 0, source("berlin", "undefined")),
			words: `berlin of Order fulfilment is received, and its definition or some of its numbers are not known yet\. .*`},
		{id: "never", grade: "warn", begin: func(_ *fake, s *scripted) { s.unknown = true }, end: func(f *fake) { f.nets[0].unknown = false }, doc: func(doc map[string]any) {
			sources(0, 0)(doc)
			field("sidecar", map[string]any{"connect": connection()})(doc)
		},
			words: `No engine has reported Order fulfilment to this sidecar yet\. It is drawn from a file or from what is kept, and its numbers are not known \(–\)\. Start an engine:`,
			act:   "pnagent engine --nats tls://nats.example.org:4222 --nats.creds ENGINE.creds --nats.prefix petrinet.shop NET.pnml"},
		{id: "unknown", grade: "warn", link: "net=no <b>such</b> net", also: []string{"no-such-net"}, act: "choose a net",
			words: `This sidecar has no net “no <b>such</b> net”: no engine has reported it, or it was forgotten\. .* Choose another net\.`,
			works: func(b *browsertest.Tab) {
				b.Click(".banner.unknown button")
				b.Keys("\r")
			}},
		{id: "unknown-node", grade: "warn", link: "place=no <b>such</b> place", act: "close", words: `Order fulfilment has no place “no <b>such</b> place”: the link is wrong, or the net was defined anew without it\. Search for another one with /\.`,
			works: func(b *browsertest.Tab) { b.Click(".banner.unknown-node button") }},
		{id: "unknown-node", grade: "warn", link: "transition=paid", act: "close", words: `Order fulfilment has no transition “paid”: .*`,
			works: func(b *browsertest.Tab) { b.Click(".banner.unknown-node button") }},
		{id: "unknown-instance", grade: "warn", link: "instance=nobody/1", act: "close",
			begin: func(f *fake, _ *scripted) {
				f.refuse = func(w http.ResponseWriter, r *http.Request) bool {
					if r.URL.Path == "/api/v1/instance" {
						answer(w, map[string]any{"instance": "nobody/1", "seen": []any{}, "unanswered": "none of the 2 engines that are up has this instance"})
					}
					return r.URL.Path == "/api/v1/instance"
				}
			}, end: back,
			words: `No source of Order fulfilment that is up has an instance “nobody/1”, and it was not among the oldest tokens in the last hour: .*`,
			works: func(b *browsertest.Tab) { b.Click(".banner.unknown-instance button") }},
		{id: "unknown-around", grade: "warn", link: "around=place nowhere&steps=2", act: "show the whole net", words: `Order fulfilment has no place “nowhere”, so the whole net is shown instead of its surroundings\.`,
			works: func(b *browsertest.Tab) { b.Click(".banner.unknown-around button") }},
		{id: "unknown-time", grade: "warn", link: "at=yesterday", words: `The link asks for the time “yesterday”, which is not one such as 2026-03-01T12:00:00Z\. The numbers shown are those of now\.`,
			works: func(b *browsertest.Tab) { b.Keys("h") }},
		{id: "undrawn", grade: "bad", begin: func(f *fake, _ *scripted) {
			f.refuse = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/api/v1/drawing" {
					answer(w, nil)
				}
				return r.URL.Path == "/api/v1/drawing"
			}
		}, end: back,
			words: `Cannot load the drawing of this net: there is no such thing\. The lists beside it are right\. This page tries again with the next numbers\. .*`},
		{id: "past", grade: "past", link: "at=" + tenAgo, act: "back to live", words: `The data shown is of ` + moments + `, 10 min \d\d s ago\.`, works: live},
		{id: "deaf-then", grade: "warn", link: "at=" + tenAgo, also: []string{"past"}, works: live,
			begin: then(field("nats", map[string]any{"connected": false, "since": time.Now().Add(-15 * time.Minute).UTC(), "reason": "EOF"})),
			words: `The sidecar had no connection to NATS for [45] min \d\d s and received no engine: EOF\. The numbers shown were not current then\.`},
		{id: "silent-then", grade: "warn", link: "at=" + tenAgo, also: []string{"past"}, works: live, begin: then(sources(0, 2)),
			words: `No source of Order fulfilment was up: the numbers are those of the last messages before that\.`},
		{id: "above-then", grade: "warn", link: "at=" + tenAgo, also: []string{"past"}, works: live,
			begin: then(field("up_nats", map[string]any{"connected": false, "since": time.Now().Add(-15 * time.Minute).UTC(), "reason": "EOF"})),
			words: `The sidecar had no connection to the NATS of the sidecar above \(--up\.nats\) for [45] min \d\d s: EOF\. That sidecar showed these nets with their last known state\.`},
		{id: "partial", grade: "warn", doc: sources(1, 1, source("berlin", "up"), source("osaka", "stale", "last_heard_age_seconds", 62)),
			words: `1 source of Order fulfilment is silent, 1 up\. Silent: osaka since ` + moments + ` \(1 min \d\d s\)\. The sums hold the last known numbers of a silent source, and its tokens grow older\. Check the engines, .*`},
		{id: "refused", grade: "warn", act: "runbook", doc: func(doc map[string]any) {
			field("refused", []map[string]any{{"reason": "conflict", "sources": 3, "net": "order-fulfilment", "source": "berlin", "text": "two <b>processes</b> publish as this source"},
				{"reason": "bad_value", "sources": 1, "net": "returns", "source": "osaka", "text": "row 3"}})(doc)
			doc["links"].(map[string]any)["runbooks"].(map[string]string)["sourceConflict"] = "https://r.example/sourceConflict.md"
		},
			words: `The messages of 4 sources are refused\. What they do now is not shown; the sums hold the last numbers that were accepted\. By reason: conflict: berlin of Order fulfilment and 2 more \(two <b>processes</b> publish as this source\)\. Stop one of the two processes, or give it another --source\. bad_value: osaka of “returns” \(row 3\)\. pnagent wire check names what to change in its messages\.`},
		{id: "refused", grade: "warn", grey: "net", doc: func(doc map[string]any) {
			sources(0, 0, source("berlin", "refused", "reason", "it fell"))(doc)
			field("refused", []map[string]any{{"reason": "counter_fell", "sources": 1, "net": "order-fulfilment", "source": "berlin", "text": "it fell"}})(doc)
		},
			words: `The messages of 1 source are refused\. What it does now is not shown; .* counter_fell: berlin of Order fulfilment \(it fell\)\. Restart the engine, so that it counts as a new process\.`},
		{id: "skew", grade: "warn", doc: field("skewed", map[string]any{"sources": 12, "worst": []map[string]any{
			{"net": "order-fulfilment", "name": "berlin", "ahead_seconds": 3725.5}, {"net": "order-fulfilment", "name": "osaka", "ahead_seconds": -65}, {"net": "order-fulfilment", "name": "lima", "ahead_seconds": 6}, {"net": "order-fulfilment", "name": "oslo", "ahead_seconds": 6}}}),
			words: `The clock of 12 sources differs from that of the sidecar: berlin of Order fulfilment is 1 h 02 min ahead, osaka of Order fulfilment is 1 min 05 s behind, lima of Order fulfilment is 6 s ahead and 9 more\. Ages and times here are right: the sidecar corrects them by the difference\. .* Synchronise its clock\.`},
		{id: "pace", grade: "warn", doc: field("interval_asked_seconds", 5),
			words: `The sidecar has too much work with so many engines and asked them to publish each 5 s\. The numbers here are exact, and late by up to that\. .*`},
		{id: "browser-clock", grade: "warn", doc: func(doc map[string]any) { doc["at"] = time.Now().Add(3*time.Minute + 2*time.Second).UTC() }, end: func(*fake) {}, over: broken,
			words: `The clock of this computer is 3 min 0\d s behind that of the sidecar\. Ages here are right\. Times of day are by the sidecar’s clock, and differ from this computer’s by that\. Synchronise the clock that is wrong\.`},
		{id: "above", grade: "warn", doc: field("up_nats", map[string]any{"connected": false, "since": time.Now().Add(-time.Hour).UTC(), "reason": "Authorization Violation", "disconnects": 2}),
			words: `The sidecar has had no connection to the NATS of the sidecar above \(--up\.nats\) since ` + moments + ` \(1 h 0\d min\): Authorization Violation\. That sidecar shows these nets with their last known state\. The numbers on this page are current\. .*`},
		{id: "agentx", grade: "bad", doc: field("agentx", map[string]any{"connected": false, "since": time.Now().Add(-time.Hour).UTC(), "server": "unix:/var/agentx/master", "reason": "dial: permission denied", "disconnects": 1}),
			words: `SNMP shows nothing: the sidecar has had no session with the AgentX master at unix:/var/agentx/master since ` + moments + ` \(1 h 0\d min\), and notifications through it wait\. dial: permission denied\. The numbers on this page are current\. .*`},
		{id: "below", grade: "info", doc: sources(2, 0, source("below-1", "up", "below", true), source("below-2", "up", "below", true, "last_heard_age_seconds", 1.2), source("below-3", "gone", "below", true)),
			words: `The numbers of Order fulfilment come from 2 sidecars below this one, each of which adds up its own engines: below-1 \(.* s ago\), below-2 \(.* s ago\)\.`},
		{id: "branch", grade: "info", doc: field("sidecar", map[string]any{"share": "2/8", "above": map[string]any{"prefix": "petrinet.root", "source": "below-2"}}),
			words: `This sidecar has share 2/8 of the sources, so its numbers are a part of the whole\. The sidecar above, in petrinet\.root, has the sums; this one is below-2 there\.`},
		{id: "standby", grade: "info", doc: field("sidecar", map[string]any{"duty": map[string]any{"on": false, "others": 1}}),
			words: `This sidecar stands by: another one of its pair is on duty and sends the notifications\. The numbers and alarms here are its own, and current\.`},
		{id: "duty", grade: "info", doc: field("sidecar", map[string]any{"duty": map[string]any{"on": true, "others": 1}}),
			words: `This sidecar is on duty: it sends the notifications, and 1 other sidecar stands by\.`},

		{id: "absent", grade: "stage", link: "at=2001-01-01T00:00:00Z", also: []string{"past"}, works: live, words: `No data to show .*`},
		{id: "asking", grade: "stage", link: "at=" + tenAgo, also: []string{"past"}, works: live, end: back,
			begin: func(f *fake, _ *scripted) {
				f.refuse = func(_ http.ResponseWriter, r *http.Request) bool {
					if r.URL.Query().Has("at") {
						<-r.Context().Done()
					}
					return r.URL.Query().Has("at")
				}
			}, words: `asking …`},
		{id: "starting", grade: "stage", empty: true, doc: field("generation", 0), words: `The sidecar starts It has not added up anything yet\. Nets appear here within seconds\.`},
		{id: "no-nats", grade: "stage", grey: "all", empty: true, also: []string{"deaf"},
			doc:   field("nats", map[string]any{"connected": false, "since": minuteAgo, "reason": "connection refused"}, "sidecar", map[string]any{"connect": connection()}),
			words: `Waiting for NATS The sidecar has received no net, because it has no connection to NATS at tls://nats\.example\.org:4222\. Once that server runs, an engine connects like this: Run a net in an engine: pnagent engine .*`},
		{id: "none", grade: "stage", empty: true, also: []string{"branch"}, link: "net=claims",
			doc: field("nats", map[string]any{"connected": true, "since": minuteAgo, "server": "tls://nats.example.org:4222"}, "sidecar", map[string]any{"connect": connection(), "share": "1/2"}),
			words: `Waiting for the first engine The sidecar is connected to NATS at tls://nats\.example\.org:4222 and has received no net in the subject space petrinet\.shop\. It takes share 1/2 of the sources: .* The net “claims” of the link is shown once an engine reports it\.` +
				` Run a net in an engine: pnagent engine --nats tls://nats\.example\.org:4222 --nats\.creds ENGINE\.creds --nats\.prefix petrinet\.shop NET\.pnml NET\.pnml a PNML or BPMN file with the net ENGINE\.creds file with .* tls://nats.example.org:4222 <b>right</b>` +
				` Or follow the log .* EVENTS\.json the log of the engine, with an event a line pnagent attach --help lists adapters .*`,
			check: func(t *testing.T, b *browsertest.Tab) {
				t.Helper()
				if got := browsertest.Eval[string](b, `[...document.querySelectorAll('#empty pre')].map((p) => [...p.querySelectorAll('mark')].map((m) => m.textContent).join()).join(' ')`); got != "ENGINE.creds,NET.pnml ENGINE.creds,EVENTS.json,NET.pnml" {
					t.Errorf("marked in the command lines are %s", got)
				}
			}},
		{id: "no-such-net", grade: "stage", link: "net=claims", also: []string{"unknown"}, words: `No net “claims” There is nothing to draw\.`,
			works: func(b *browsertest.Tab) {
				b.Click(".banner.unknown button")
				b.Keys("\r")
			}},
		{id: "waiting", grade: "stage", begin: func(f *fake, _ *scripted) {
			f.refuse = func(_ http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/api/v1/drawing" {
					<-r.Context().Done()
				}
				return r.URL.Path == "/api/v1/drawing"
			}
		}, end: back, works: func(b *browsertest.Tab) { b.Do(chromedp.Reload()) }, words: `fetching the net …`},
	}
}

// eachStateHasItsWords brings about each state, and ends it again.
func eachStateHasItsWords(t *testing.T, chromium *browsertest.Browser) {
	held := map[string]bool{"newer": true} // see itGoesOnAfterARestart
	for _, c := range statesOfThePage() {
		held[c.id] = true
	}
	b := chromium.Tab(t)
	b.Do(chromedp.Navigate(newFake(t).url()))
	for _, id := range browsertest.Eval[[]string](b, `import('/states.js').then((m) => [...m.states, ...m.stages].map((s) => s.id))`) {
		if !held[id] {
			t.Errorf("no row of this test is about the state %s", id)
		}
		delete(held, id)
	}
	if len(held) > 0 {
		t.Errorf("the page has no states %v", held)
	}
	tabs := make(chan *browsertest.Tab, 4) // each state borrows one: a new one costs as much as its page
	tabs <- b
	for len(tabs) < cap(tabs) {
		tabs <- chromium.Tab(t)
	}
	for i, c := range statesOfThePage() {
		t.Run(c.id, func(t *testing.T) {
			t.Parallel()
			b := <-tabs
			t.Cleanup(func() { tabs <- b })
			b.Within(t)
			statesOfThePage()[i].hold(t, b) // as of now
		})
	}
}

func (c *state) hold(t *testing.T, b *browsertest.Tab) {
	t.Helper()
	s := shop(t, nowMS())
	f := newFake(t, s)
	f.change(func() {
		f.alter = c.doc
		if c.empty {
			f.nets = nil
		}
		if c.begin != nil && c.over == nil {
			c.begin(f, s)
		}
	})
	b.Do(chromedp.EmulateReset())
	link := c.link
	if !c.empty && !strings.Contains(link, "net=") {
		link = "net=" + s.def.ID + "&" + link
	}
	b.Do(chromedp.Navigate(f.url() + "#" + strings.NewReplacer(" ", "%20", "<", "%3C", ">", "%3E").Replace(link)))
	if c.over != nil && c.doc == nil {
		b.Until(`document.querySelector('#link').textContent === 'live' && document.querySelector('#net').dataset.camera`)
		f.change(func() {
			if c.begin != nil {
				c.begin(f, s)
			}
		})
		c.over(f)
	}
	c.shown(t, b)
	readable(t, b, "state-"+strings.ReplaceAll(t.Name()[strings.LastIndexByte(t.Name(), '/')+1:], "#", "-"))
	b.Do(chromedp.EmulateReset())
	f.change(func() {
		f.alter = nil
		if c.empty {
			f.nets = []*scripted{s}
		}
		if c.end != nil && c.id != "lost" {
			c.end(f)
		}
	})
	switch {
	case c.id == "lost":
		c.end(f)
	case c.over != nil && c.doc != nil:
		c.over(f)
	}
	if c.works != nil {
		c.works(b)
	}
	b.Until(fmt.Sprintf(`!document.querySelector('.banner.%s') && document.querySelector('#empty').dataset.state !== %[1]q && !document.documentElement.matches('.outdated, .all-outdated')`, c.id))
}

// shown checks what is shown while the state lasts.
func (c *state) shown(t *testing.T, b *browsertest.Tab) {
	t.Helper()
	at := ".banner." + c.grade + "." + c.id + " bdi"
	if c.grade == "stage" {
		at = "#empty[data-state=" + c.id + "]"
	}
	text := fmt.Sprintf(`(document.querySelector(%q)?.innerText ?? '').replaceAll(/\s+/g, ' ').trim()`, at)
	b.Until(text + ` !== '' && !` + text + `.startsWith('Asking for') && document.querySelector('#said').textContent !== ''`)
	if c.grey == "" {
		b.Until(`!document.documentElement.matches('.outdated, .all-outdated')`)
	} else {
		b.Until(fmt.Sprintf(`document.documentElement.classList.contains('all-outdated') === %v`, c.grey == "all"))
	}
	// No other state is shown. On a busy machine the server may not have answered for a moment.
	b.Until(fmt.Sprintf(`[...document.querySelectorAll('.banner')].every((e) => %q.split(' ').includes(e.dataset.key))`, strings.Join(append(c.also, c.id), " ")))
	if got := browsertest.Eval[string](b, text); !regexp.MustCompile("^(?:" + c.words + ")$").MatchString(got) {
		t.Errorf("got  %s\nwant %s", got, c.words)
	}
	if got := browsertest.Eval[string](b, fmt.Sprintf(`[...document.querySelectorAll('.banner.%s :is(button, a, code)')].map((e) => e.textContent).join()`, c.id)); c.grade != "stage" && got != c.act {
		t.Errorf("got %q to do; want %q", got, c.act)
	}
	greyed := browsertest.Eval[string](b, `getComputedStyle(document.querySelector('#net')).filter`) != "none"
	if wanted := c.grey != "" && !strings.Contains(c.link, "net="); greyed != wanted && c.grade != "stage" {
		t.Errorf("the drawing is grey: %v; want %v", greyed, wanted)
	}
	if c.check != nil {
		c.check(t, b)
	}
}

// severalStatesAreInOrder has the most important one first, and each is said once.
func severalStatesAreInOrder(t *testing.T, chromium *browsertest.Browser) {
	s := shop(t, nowMS())
	f := newFake(t, s)
	b := chromium.Tab(t)
	b.Open(f.url() + "#net=" + s.def.ID)
	browsertest.Eval[bool](b, `(() => {
		window.heard = [];
		new MutationObserver(() => heard.push(document.querySelector('#said').textContent)).observe(document.querySelector('#said'), {childList: true, characterData: true, subtree: true});
		return true;
	})()`)
	f.change(func() {
		f.alter = func(doc map[string]any) {
			sources(1, 1, source("berlin", "up", "below", true), source("osaka", "stale", "last_heard_age_seconds", 62))(doc)
			field("sidecar", map[string]any{"duty": map[string]any{"on": true, "others": 1}}, "skewed", map[string]any{"sources": 1, "worst": []map[string]any{{"net": "order-fulfilment", "name": "berlin", "ahead_seconds": 65}}})(doc)
		}
	})
	order := `[...document.querySelectorAll('.banner')].map((e) => e.dataset.key).join(' ')`
	b.Until(order + ` === 'partial skew below duty'`)
	old := f.alter
	f.change(func() {
		f.alter = func(doc map[string]any) {
			old(doc)
			field("nats", map[string]any{"connected": false, "since": time.Now().UTC(), "reason": "EOF", "disconnects": 1})(doc)
		}
	})
	b.Until(order + ` === 'deaf partial skew below duty'`)
	b.Until(`heard.length >= 2`)
	readable(t, b, "state-several")
	b.Do(chromedp.EmulateReset())
	f.change(func() { f.alter = nil })
	b.Until(order + ` === '' && heard.length >= 3`)
	got := browsertest.Eval[[]string](b, `heard`)
	want := []string{`1 source of .* The clock of .* come from .* on duty: .*`, `The sidecar has had no connection to NATS .*`, `The numbers are current again\.`}
	if len(got) != len(want) {
		t.Fatalf("a screen reader was given %q; want %q", got, want)
	}
	for i := range want {
		if !regexp.MustCompile("^" + want[i] + "$").MatchString(got[i]) {
			t.Errorf("a screen reader was given %q; want %q", got[i], want[i])
		}
	}
}
