// SPDX-License-Identifier: Apache-2.0

//go:build peers

package page

import (
	_ "embed" // the witness
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/browsertest"
	"github.com/pnagent/pnagent/internal/porttest"
)

// pageWitness records what the API sends to the page while the page shows it.
//
//go:embed witness.js
var pageWitness string

// pressed is what there was when a key had been pressed.
type pressed struct {
	Generations [2]uint64 // of the frame and of the overview that the page had
	Sent        string    // the id of the place with the oldest token, by the overview
	Stuck       []int     // the nodes in which it is by the frame: of those in which tokens may not stay
	Row         string    // the first place of the table
	Address     string    // of what was shown
}

// panel is what the page showed of a place, and what the API had answered.
type panel struct {
	Asked string
	Doc   struct {
		ID, Name string
		Stuck    []struct {
			Instance string
			Waits    []struct{ Text string }
		}
	}
	Title  string
	Tokens []string
}

// agrees checks that the panel shows the place that was asked for, and its
// tokens with what they wait for as the API says.
func (p panel) agrees(t *testing.T, net, place string) {
	t.Helper()
	asked, err := url.Parse(p.Asked)
	if err != nil {
		t.Fatal(err)
	}
	if q := asked.Query(); q.Get("net") != net || q.Get("place") != place || p.Doc.ID != place || p.Title != p.Doc.Name {
		t.Errorf("the page shows %q, which is %q of %q to %s; want %q", p.Title, p.Doc.Name, p.Doc.ID, p.Asked, place)
	}
	stuck, shown := p.Doc.Stuck[:0:0], map[string]bool{} // tokens of one instance that wait for the same are one line
	for _, token := range p.Doc.Stuck {
		if key := fmt.Sprint(token); !shown[key] {
			shown[key] = true
			stuck = append(stuck, token)
		}
	}
	if len(p.Tokens) != len(stuck) {
		t.Errorf("got %d tokens on the page; want %d, as in the API", len(p.Tokens), len(stuck))
		return
	}
	for i, token := range stuck {
		says := strings.Contains(p.Tokens[i], token.Instance)
		for _, wait := range token.Waits {
			says = says && strings.Contains(p.Tokens[i], wait.Text)
		}
		if !says {
			t.Errorf("got %q on the page; want %+v, as in the API", p.Tokens[i], token)
		}
	}
}

// oldestPlace presses a key that selects the place with the oldest token that may not stay,
// and checks that the overview and the frame agree about the oldest token.
func oldestPlace(t *testing.T, b *browsertest.Tab, d *kit.Demo, net, key string) (at pressed, ids, names []string) {
	t.Helper()
	b.Keys(key)
	at = browsertest.Eval[pressed](b, fmt.Sprintf(`witness.pressed[%q]`, key))
	nodes := nodesOf(t, d.Web, net)
	for _, i := range at.Stuck {
		ids, names = append(ids, nodes[i].ID), append(names, nodes[i].Name)
	}
	if at.Generations[0] != at.Generations[1] || !slices.Contains(ids, at.Sent) {
		t.Errorf("got the oldest token in %q; want it in one of the nodes %v and one generation: %+v", at.Sent, at.Stuck, at)
	}
	return at, ids, names
}

func TestThePageOfTheDemoLeadsFromTheNetToTheStuckInstance(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t).Tab(t)
	d := kit.StartDemo(t)
	const net = "backup-window"
	b.Before(pageWitness)
	b.Open(d.URL + "/#net=" + net)
	b.Until(`/oldest (\d\d|\d m)/.test(document.querySelector('#vitals').innerText)`) // something is stuck for ten seconds
	b.Moves()
	b.Screenshot("demo")
	at, _, names := oldestPlace(t, b, d, net, "t")
	if !slices.Contains(names, at.Row) {
		t.Errorf("the table begins with %q; the oldest token is in %q", at.Row, names)
	}
	b.Screenshot("demo-table")
	b.Keys("t")
	at, ids, _ := oldestPlace(t, b, d, net, "h")
	address, err := url.ParseQuery(strings.TrimPrefix(at.Address, "#"))
	place := address.Get("place")
	if err != nil || !slices.Contains(ids, place) {
		t.Fatalf("h leads to %q, %v; the oldest token is in %q", at.Address, err, ids)
	}
	b.Until(`document.querySelector('#panel .tokens .waits li') && witness.panels.length >= 3`)
	b.Screenshot("demo-place")
	for _, p := range browsertest.Eval[[]panel](b, `witness.panels`) {
		p.agrees(t, net, place)
	}
	b.Click("#panel .tokens button")
	b.Until(`document.querySelector('#panel .panel-head p')?.textContent === 'instance'`)
	b.Until(`document.querySelector('#panel .tokens .badge')`) // its engine was asked where it is
	b.Until(`document.querySelector('#panel .seen li')`)
	b.Screenshot("demo-instance")
	b.Keys("[", "[")
	b.Until(`document.querySelector('.banner.past')`)
	b.Keys("l")
	b.Until(`!document.querySelector('.banner.past')`)
	b.Clean(strings.TrimPrefix(d.URL, "http://"), false)
}

func TestThePageContinuesAfterARestartOfTheSidecar(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t).Tab(t)
	nats := kit.StartNATS(t)
	net := kit.Write(t, "orders.pnml", kit.OrdersNet)
	addr := porttest.Addr(t)
	first := kit.Serve(t, nats, "--web.listen-address", addr, net)
	kit.Start(t, kit.Built().Pnagent, "engine", "--nats", nats, "--source", "one", "--instances", "3", net)
	b.Open(first.URL + "/")
	b.Until(`document.querySelector('.tables') && document.querySelector('#net-name').innerText === 'orders'`)
	first.Kill(t)
	b.Until(`document.documentElement.classList.contains('outdated')`)
	kit.Serve(t, nats, "--web.listen-address", addr, net)
	b.Until(`document.querySelector('#link').textContent === 'live' && !document.documentElement.classList.contains('outdated')`)
	b.Until(`/3 tokens|6 tokens|\d+ tokens/.test(document.querySelector('.row.net .text').innerText)`)
	b.Clean(addr, true)
}

// nodesOf are the ids and names of what is drawn of a net.
func nodesOf(t *testing.T, w kit.Web, net string) []struct{ ID, Name string } {
	t.Helper()
	var drawing struct{ Nodes []struct{ ID, Name string } }
	if err := json.Unmarshal(w.Page(t, "/api/v1/drawing?"+url.Values{"net": {net}}.Encode()), &drawing); err != nil {
		t.Fatal(err)
	}
	return drawing.Nodes
}
