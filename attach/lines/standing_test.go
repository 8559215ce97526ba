// SPDX-License-Identifier: Apache-2.0

package lines

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/stats"
)

// posted posts a body to a handler.
func posted(h http.Handler, target, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, target, strings.NewReader(body)))
	return w
}

// standing is a line of a state: an order that is open.
func standing(instance string) string {
	return fmt.Sprintf(`{"time":1600000000,"net":"orders","instance":%q,"place":"open"}`+"\n", instance)
}

// An adapter that begins late knows no token until a writer sends a first line, or what is
// there, also if that is nothing. What it counts itself is known.
func TestTokensOfALateAdapterAreNotKnownAtFirst(t *testing.T) {
	for name, c := range map[string]struct {
		post  func(a *Attachment) *httptest.ResponseRecorder
		knows bool
	}{
		"nothing came": {func(a *Attachment) *httptest.ResponseRecorder { return posted(a.Handler(), "/events", "") }, false},
		"garbage came": {func(a *Attachment) *httptest.ResponseRecorder { return posted(a.Handler(), "/events", "what\n") }, false},
		"a line came":  {func(a *Attachment) *httptest.ResponseRecorder { return posted(a.Handler(), "/events", opened("a")) }, true},
		"the state came": {func(a *Attachment) *httptest.ResponseRecorder {
			return posted(a.StateHandler(), "/state", standing("a"))
		}, true},
		"there is no token": {func(a *Attachment) *httptest.ResponseRecorder { return posted(a.StateHandler(), "/state", "") }, true},
		"no state but lines": {func(a *Attachment) *httptest.ResponseRecorder {
			return posted(a.StateHandler(), "/state", standing("a")+"what\n")
		}, false},
	} {
		a := attach(t, func(cfg *Config) { cfg.Late = true })
		answer := c.post(a)
		if bad := answer.Code != http.StatusOK; bad != strings.HasPrefix(name, "no state") {
			t.Errorf("%s: %d %s", name, answer.Code, answer.Body)
		}
		rows := stats.NewRows(a.defs[0].Places, a.defs[0].Transitions)
		if err := a.rows(0, a.clock(), rows); err != nil {
			t.Fatal(err)
		}
		if got := rows.Columns.Has(stats.ColTokens | stats.ColOldest | stats.ColInstances); got != c.knows || !rows.Columns.Has(stats.ColFirings) {
			t.Errorf("%s: columns %b; expected that tokens are known: %v", name, rows.Columns, c.knows)
		}
	}
}

func TestTheStateOfSomeInstancesLeavesTheOthers(t *testing.T) {
	a := attach(t, nil)
	posted(a.Handler(), "/events", opened("q 1")+opened("q 2")+opened("r 1"))
	first := posted(a.StateHandler(), "/state?prefix="+url.QueryEscape("q "), standing("q 2")+standing("q 3"))
	if n := a.Nets()[0].Open; first.Code != http.StatusOK || n != 3 {
		t.Errorf("%d instances are open, %d %s; expected q 2, q 3 and r 1", n, first.Code, first.Body)
	}
	if again := posted(a.Handler(), "/events", ""); again.Header().Get(StartedHeader) == "" || again.Header().Get(StartedHeader) != first.Header().Get(StartedHeader) {
		t.Errorf("the adapter was started at %q and %q", first.Header(), again.Header())
	}
	for target, body := range map[string]string{"/state?prefix=x": standing("q 1"), "/state?net=other": standing("q 1"), "/state": opened("q 1")} {
		if w := posted(a.StateHandler(), target, body); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "nothing of the state is used") {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
	if n := a.Nets()[0].Open; n != 3 {
		t.Errorf("%d instances are open after bad states", n)
	}
}
