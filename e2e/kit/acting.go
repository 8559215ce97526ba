// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
)

// ClaimProcess is the example process, of which large claims wait for their manager.
func ClaimProcess(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "examples", "claim.bpmn"))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// did is a request and its result, as the API shows it.
type did struct {
	At, Source, Kind, By, Comment, Net, Instance, Place, Transition, Error string

	Tokens uint64
	OK     bool
}

// drawer is what the page shows of an instance or a place.
type drawer struct {
	Commands []string
	Tool     string
	Actions  []did
	Now      []struct{ Place string }
}

// Drawer asks for what the page shows; of is place or instance.
func (w Web) Drawer(t *testing.T, net, of, name string) (d drawer, err error) {
	t.Helper()
	status, body, err := w.Get("/api/v1/" + of + "?net=" + url.QueryEscape(net) + "&" + of + "=" + url.QueryEscape(name))
	if err != nil {
		return d, err
	}
	if status != 200 {
		return d, fmt.Errorf("status %d: %.200s", status, body)
	}
	return d, json.Unmarshal(body, &d)
}

// Says fails the test unless a command ended with a code and wrote a text.
func (r Result) Says(t *testing.T, code int, want string) {
	t.Helper()
	if r.Code != code || !strings.Contains(r.Out+r.Err, want) {
		t.Errorf("got %d:\n%s%s\nwant %d: %s", r.Code, r.Out, r.Err, code, want)
	}
}

// OrdersNet prices an order, looks at the price, books and labels it. Beside
// that, what is in "waiting" asks a service that never answers.
const OrdersNet = `<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
  <net id="orders" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="page">
    <place id="inbox"/><place id="priced"/><place id="accepted"/><place id="refused"/><place id="booked"/><place id="done"/>
    <place id="waiting"/><place id="answered"/>
    <transition id="price"/><transition id="accept"/><transition id="refuse"/><transition id="book"/><transition id="label"/><transition id="ask"/>
    <arc id="1" source="inbox" target="price"/><arc id="2" source="price" target="priced"/>
    <arc id="3" source="priced" target="accept"/><arc id="4" source="accept" target="accepted"/>
    <arc id="5" source="priced" target="refuse"/><arc id="6" source="refuse" target="refused"/>
    <arc id="7" source="accepted" target="book"/><arc id="8" source="book" target="booked"/>
    <arc id="9" source="booked" target="label"/><arc id="10" source="label" target="done"/>
    <arc id="11" source="waiting" target="ask"/><arc id="12" source="ask" target="answered"/>
  </page></net>
</pnml>
`

// Asked is what an action says, as far as tests look at it.
type Asked struct {
	Net, Source, Transition, Key string
	Instance, Attempt            int
	Tokens                       []AskedToken
}

// AskedToken is a token of a request to a program that works.
type AskedToken struct {
	Place string
	ID    uint64
	Data  struct{ Order, Total int }
}

// ParseAsked parses the body of a request to a program that works.
func ParseAsked(t *testing.T, body []byte) (a Asked) {
	t.Helper()
	if err := json.Unmarshal(body, &a); err != nil || len(a.Tokens) != 1 {
		t.Errorf("got %s, %v; want an action of one token", body, err)
		a.Tokens = make([]AskedToken, 1)
	}
	return a
}

// transitionRow is what /metrics shows of a transition of the net orders.
func transitionRow(s Scrape, id string) map[string]float64 {
	row := map[string]float64{}
	for _, column := range []string{"firings_total", "failures_total", "retries_total", "timeouts_total", "cancels_total", "late_answers_total", "running"} {
		if v, ok := s.Value("petrinet_transition_"+column, "net", "orders", "transition", id); !ok {
			row[column] = -1
		} else if v > 0 {
			row[column] = v
		}
	}
	for _, m := range s.Families["petrinet_transition_duration_seconds"].GetMetric() {
		for _, l := range m.GetLabel() {
			if l.GetName() == "transition" && l.GetValue() == id && m.GetHistogram().GetSampleCount() > 0 {
				row["durations"] = float64(m.GetHistogram().GetSampleCount())
			}
		}
	}
	return row
}

// MetricsShow waits until /metrics shows these rows of transitions; what is not
// named is 0.
func (w Web) MetricsShow(t *testing.T, want map[string]map[string]float64) Scrape {
	t.Helper()
	var s Scrape
	Until(t, "/metrics shows the actions", func() error {
		s = w.Scrape(t)
		for id, row := range want {
			if got := transitionRow(s, id); fmt.Sprint(got) != fmt.Sprint(row) {
				return fmt.Errorf("%s: %v, want %v", id, got, row)
			}
		}
		return nil
	})
	return s
}
