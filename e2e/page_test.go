// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/internal/browsertest"
)

// oldestPlace is the place with the oldest token of a net, by the API, as the
// page calls it.
func (w web) oldestPlace(t *testing.T, net string) (id, name string) {
	t.Helper()
	var overview struct {
		Nets []struct {
			ID          string
			OldestPlace string `json:"oldest_place"`
		}
	}
	w.read(t, "/api/v1/overview", &overview)
	for _, n := range overview.Nets {
		if n.ID == net {
			id = n.OldestPlace
		}
	}
	var place struct{ Name string }
	w.read(t, "/api/v1/place?"+url.Values{"net": {net}, "place": {id}}.Encode(), &place)
	return id, place.Name
}

// read parses the JSON at a path.
func (w web) read(t *testing.T, path string, to any) {
	t.Helper()
	if err := json.Unmarshal(w.page(t, path), to); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func TestThePageOfTheDemoLeadsFromTheNetToTheStuckInstance(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t).Tab(t)
	d := startDemo(t)
	const net = "order-fulfilment"
	b.Open(d.url + "/#net=" + net)
	b.Until(`/oldest (\d\d|\d m)/.test(document.querySelector('#vitals').innerText)`) // something is stuck for ten seconds
	if changes := b.Changes(); changes < 5 {
		t.Errorf("the drawing changed %d times within two seconds; want tokens that move", changes)
	}
	b.Screenshot("demo")
	_, name := d.oldestPlace(t, net)
	b.Keys("t")
	b.Until(fmt.Sprintf(`document.querySelector('.tables tbody th')?.innerText === %q`, name))
	b.Screenshot("demo-table")
	b.Keys("t", "h")
	b.Until(fmt.Sprintf(`document.querySelector('#panel h2')?.innerText === %q && document.querySelector('#panel .tokens .waits li')`, name))
	b.Screenshot("demo-place")
	var oldest struct {
		Oldest []struct {
			Instance string
			Waits    []struct{ Text string }
		}
	}
	id, _ := d.oldestPlace(t, net)
	d.read(t, "/api/v1/place?"+url.Values{"net": {net}, "place": {id}}.Encode(), &oldest)
	if got := b.Text("#panel .tokens li"); len(oldest.Oldest) == 0 || !strings.Contains(got, oldest.Oldest[0].Instance) || !strings.Contains(got, oldest.Oldest[0].Waits[0].Text) {
		t.Errorf("the page shows %q; the API says %+v", got, oldest)
	}
	b.Click("#panel .tokens button")
	b.Until(`document.querySelector('#panel .tokens .badge')`) // its engine was asked where it is
	b.Until(`document.querySelector('#panel .seen li')`)
	b.Screenshot("demo-instance")
	b.Keys("[", "[")
	b.Until(`document.querySelector('.banner.past')`)
	b.Keys("l")
	b.Until(`!document.querySelector('.banner.past')`)
	b.Clean(strings.TrimPrefix(d.url, "http://"), false)
}

func TestThePageGoesOnWhenTheSidecarIsStartedAgain(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t).Tab(t)
	nats := startNATS(t)
	net := write(t, "orders.pnml", ordersNet)
	addr := freeAddr(t, "tcp")
	first := serve(t, nats, "--web.listen-address", addr, net)
	start(t, built.pnagent, "engine", "--nats", nats, "--source", "one", "--instances", "3", net)
	b.Open(first.url + "/")
	b.Until(`document.querySelector('.tables') && document.querySelector('#net-name').innerText === 'orders'`)
	first.kill(t)
	b.Until(`document.documentElement.classList.contains('lost')`)
	serve(t, nats, "--web.listen-address", addr, net)
	b.Until(`document.querySelector('#link').textContent === 'live' && !document.documentElement.classList.contains('lost')`)
	b.Until(`/3 tokens|6 tokens|\d+ tokens/.test(document.querySelector('.row.net .text').innerText)`)
	b.Clean(addr, true)
}
