// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
)

const orderNet = `<?xml version="1.0" encoding="UTF-8"?>
<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
  <net id="orders" type="http://www.pnml.org/version-2009/grammar/ptnet">
    <page id="page">
      <place id="placed"/>
      <transition id="ship"/>
      <arc id="a1" source="placed" target="ship"/>
    </page>
  </net>
</pnml>
`

// A thousand and more orders wait at two engines. All of them are found, in pages and as a
// table, and one of them by its number, at the sidecar and at the one above it.
func TestEachOfManyTokensIsFound(t *testing.T) {
	t.Parallel()
	const each = 1100
	bus := kit.StartNATS(t)
	nc := kit.Connect(t, bus)
	bindings := kit.Write(t, "orders.yaml", `{nets: {orders: {transitions: {ship: {manual: true, guard: "amount > 0"}}}}}`)
	for _, source := range []string{"berlin", "osaka"} {
		kit.RunEngine(t, bus, source, "--instances", fmt.Sprint(each), "--bindings", bindings, "--show-data", "order,amount", kit.Write(t, "orders.pnml", orderNet))
		for i := range each {
			kit.Request(t, nc, "inject", "orders", source, fmt.Sprintf(`{"instance":%d,"place":"placed","data":{"customer":"Kim","amount":%d,"order":"%.1s-%04d"}}`, i, i, source, i))
		}
	}
	below := kit.Serve(t, bus, "--up", "up.v1", "--up.source", "site")
	above := kit.Serve(t, bus, "--nats.prefix", "up.v1")
	for name, s := range map[string]*kit.Sidecar{"the sidecar of the engines": below, "the sidecar above": above} {
		t.Run(name, func(t *testing.T) {
			kit.Until(t, "all tokens are shown", func() error {
				if got := findTokens(t, s.Web, "limit=1"); got.Matches != 2*each || got.Bounded {
					return fmt.Errorf("%+v", got)
				}
				return nil
			})
			got := allTokens(t, s.Web, "data=ORDER=o-1017")
			if len(got.Tokens) != 1 || got.Matches != 1 || got.Tokens[0].Instance != "osaka/1017" || string(got.Tokens[0].Data) != `{"order":"o-1017","amount":1017}` {
				t.Errorf("got %+v; want the token of the order with what its engine shows", got)
			}
			if got := allTokens(t, s.Web, "data=Kim"); got.Matches != 0 || len(got.Tokens) != 0 {
				t.Errorf("got %+v; want none by data that no engine shows", got)
			}
			if got := allTokens(t, s.Web, "name=OSAKA/10"); got.Matches != 100 {
				t.Errorf("got %d; want those of a hundred instances", got.Matches)
			}
			kit.Until(t, "the pages have all instances", func() error {
				seen := map[string]bool{}
				for after, pages := "", 0; after != "" || pages == 0; pages++ {
					page := findTokens(t, s.Web, "limit=300&after="+url.QueryEscape(after))
					for _, token := range page.Tokens {
						seen[token.Instance] = true
					}
					after = page.Next
				}
				if len(seen) != 2*each {
					return fmt.Errorf("%d; want %d", len(seen), 2*each)
				}
				return nil
			})
			kit.Until(t, "the table has a row for each token", func() error {
				status, body, err := s.Get("/api/v1/stuck.csv?net=orders&place=placed")
				rows, broken := csv.NewReader(strings.NewReader(string(body))).ReadAll()
				if err := errors.Join(err, broken); err != nil {
					return err
				}
				if status != http.StatusOK || len(rows) != 1+2*each {
					return fmt.Errorf("%d rows, status %d; want %d", len(rows), status, 1+2*each)
				}
				return nil
			})
		})
	}
}

// found is what GET /api/v1/stuck answers.
type found struct {
	Tokens []struct {
		Instance, Source string
		Tokens           int
		Data             json.RawMessage
	}
	Next       string
	Matches    int
	Bounded    bool
	Unanswered []string
}

// allTokens reads such a page once every engine has answered: a busy one may not in time.
func allTokens(t *testing.T, w kit.Web, query string) (out found) {
	t.Helper()
	kit.Until(t, "every engine answers "+query, func() error {
		out = findTokens(t, w, query)
		if len(out.Unanswered) > 0 || out.Bounded {
			return fmt.Errorf("%q do not, and the answer is from snapshots: %v", out.Unanswered, out.Bounded)
		}
		return nil
	})
	return out
}

// findTokens reads a page of the tokens that wait in orders.
func findTokens(t *testing.T, w kit.Web, query string) (out found) {
	t.Helper()
	status, body, err := w.Get("/api/v1/stuck?net=orders&place=placed&" + query)
	if err != nil {
		t.Fatal(err)
	}
	if status != http.StatusOK {
		return out // the net is not there yet
	}
	if err := json.Unmarshal(body, &out); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return out
}
