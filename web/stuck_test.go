// SPDX-License-Identifier: Apache-2.0

package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/act"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/web/api"
)

// hall is a net of which one source holds 120 tokens of place due, the oldest for two hours;
// its clock is ahead. Another source does not answer.
func hall(t *testing.T, ahead time.Duration) *stage {
	st := newStage(t, func(c *Config) {
		c.Oldest = func(_ context.Context, net, source, digest, place string, q *stats.Query) (act.Found, error) {
			if source != "host-1" || net != "orders" || digest != "d1" {
				return act.Found{}, errors.New("silent")
			}
			var out []act.Waiting
			for i := range 120 {
				w := act.Waiting{Instance: fmt.Sprintf("host-1/%03d", i/2), Data: fmt.Sprintf(`{"order":"A-%03d"}`, i/2), Injected: noon.Add(ahead - 2*time.Hour + time.Duration(i/2)*time.Minute).UnixMicro(),
					Waits: []telemetry.InstanceWait{{Transition: "pay", Reason: "delayed", Until: noon.Add(ahead + time.Minute).UnixMicro()}}}
				if place == "due" {
					out = append(out, w)
				}
			}
			return selected(q, out), nil
		}
	})
	view := orders()
	for i := range view.Sources {
		s := &view.Sources[i]
		s.Digest, s.Skew, s.SkewBeyond, s.Shift = "d1", ahead, ahead > time.Minute, -ahead
		s.State = merge.Up
	}
	st.now = noon
	st.show(view)
	return st
}

// stuckIn reads all pages of a request.
func stuckIn(t *testing.T, st *stage, query string) (names []string, pages int) {
	t.Helper()
	for after := ""; ; pages++ {
		doc := st.document(t, "/api/v1/stuck?net=orders&"+query+"&after="+url.QueryEscape(after))
		for _, token := range doc["tokens"].([]any) {
			names = append(names, token.(map[string]any)["instance"].(string))
		}
		after, _ = doc["next"].(string)
		if after == "" {
			return names, pages + 1
		}
	}
}

func TestStuckTokensComeInPages(t *testing.T) {
	st := hall(t, 10*time.Second)
	for query, want := range map[string]struct {
		tokens, pages int
		first         string
	}{
		"place=due":                        {60, 2, "host-1/000"},
		"place=due&limit=7":                {60, 9, "host-1/000"},
		"place=due&limit=1000":             {60, 1, "host-1/000"},
		"place=due&name=HOST-1/01&limit=3": {10, 4, "host-1/010"},
		"place=due&older=7140":             {2, 1, "host-1/000"},
		"place=due&name=nothing":           {0, 1, ""},
		"place=due&data=order=a-01":        {10, 1, "host-1/010"},
		"place=due&data=a-017":             {1, 1, "host-1/017"},
		"place=due&data=customer=a-017":    {0, 1, ""},
		"limit=50":                         {60, 2, "host-1/000"},
	} {
		names, pages := stuckIn(t, st, query)
		if len(names) != want.tokens || pages != want.pages || len(names) > 0 && names[0] != want.first {
			t.Errorf("%s: %d tokens in %d pages: %.60q; want %+v", query, len(names), pages, names, want)
		}
		seen := map[string]bool{}
		for i, name := range names {
			if seen[name] || i > 0 && name < names[i-1] {
				t.Errorf("%s: %s twice, or not in order", query, name)
			}
			seen[name] = true
		}
	}
}

// A wrong clock of a source changes neither the times nor the ages of its tokens.
func TestStuckTokensHaveTimesOfTheSidecarsClock(t *testing.T) {
	for _, ahead := range []time.Duration{-time.Hour, 10 * time.Second, 25 * time.Hour} {
		st := hall(t, ahead)
		doc := st.document(t, "/api/v1/stuck?net=orders&place=due&limit=1")
		equal(t, doc, `{"matches":120,"next":"`+fmt.Sprint(noon.Add(-2*time.Hour).UnixMicro())+` host-1/000\ndue","unanswered":["host-2","host-3"],"tokens":[{"instance":"host-1/000","place":"due","source":"host-1","tokens":2,
		"injected":"2026-03-01T10:00:00.000000Z","age_seconds":7200,"data":{"order":"A-000"},"waits":[{"transition":"pay","reason":"delayed","until":"2026-03-01T12:01:00.000000Z","text":"waits until its time has come"}]}]}`)
	}
}

func TestStuckTokensOfSnapshotsAreShownIfNoSourceAnswers(t *testing.T) {
	st := newStage(t, func(*Config) {})
	st.now = noon
	st.show(orders())
	doc := st.document(t, "/api/v1/stuck?net=orders&place=due")
	if tokens := doc["tokens"].([]any); len(tokens) != 2 || tokens[0].(map[string]any)["instance"] != "host-1/07" || doc["bounded"] != true {
		t.Errorf("got %v", doc)
	}
	for path, want := range map[string]string{"net=orders&place=nowhere": `404 {"error":"there is no place`, "net=orders&limit=0": `400 {"error":"limit=`, "net=orders&limit=1001": "400",
		"net=orders&older=x": "400", "net=orders&older=NaN": "400", "net=orders&data=" + strings.Repeat("x", maxName+1): "400", "net=orders&after=x": "400", "net=x": "404", "": "400"} {
		w := st.get("/api/v1/stuck?" + path)
		if got := fmt.Sprint(w.Code, " ", w.Body); !strings.HasPrefix(got, want) || w.Code == http.StatusOK {
			t.Errorf("%s: got %s; want %s", path, got, want)
		}
	}
}

// selected answers as a source does that has all these tokens.
func selected(q *stats.Query, all []act.Waiting) act.Found {
	out := act.Found{}
	slices.SortStableFunc(all, func(a, b act.Waiting) int {
		return cmp.Or(cmp.Compare(a.Injected, b.Injected), cmp.Compare(a.Instance, b.Instance))
	})
	for _, t := range all {
		if !strings.Contains(strings.ToLower(t.Instance), strings.ToLower(q.Name)) || q.Until != 0 && t.Injected > q.Until {
			continue
		}
		if q.Data != "" && !strings.Contains(strings.ToLower(t.Data), strings.ToLower(q.Data[strings.Index(q.Data, "=")+1:])) {
			continue
		}
		out.Matches += max(t.Tokens, 1)
		if t.Injected < q.From || t.Injected == q.From && t.Instance < q.FromName {
			continue
		}
		if len(out.Tokens) == q.Limit {
			out.More = true
			continue
		}
		out.Tokens = append(out.Tokens, t)
	}
	return out
}

// Whatever a page holds, however many tokens the sources have, and whatever their clocks
// show: all pages together have each token once, in order.
func TestPagesOfSeveralSourcesHaveEachTokenOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 1))
	for range 40 {
		all := map[[2]string][]act.Waiting{}
		total := uint64(0)
		st := newStage(t, func(c *Config) {
			c.Oldest = func(_ context.Context, _, source, _, place string, q *stats.Query) (act.Found, error) {
				return selected(q, slices.Clone(all[[2]string{source, place}])), nil
			}
		})
		view := orders()
		for i := range view.Sources {
			s := &view.Sources[i]
			s.State, s.Shift = merge.Up, time.Duration(r.IntN(3)-1)*time.Hour
			for _, place := range []string{"due", "paid"} {
				for range r.IntN(400) {
					n := uint64(1 + r.IntN(2))
					all[[2]string{s.Name, place}] = append(all[[2]string{s.Name, place}], act.Waiting{Instance: fmt.Sprint(s.Name, "/", r.IntN(100)), Tokens: n,
						Injected: noon.Add(-s.Shift - time.Duration(r.IntN(20))*time.Minute).UnixMicro()})
				}
			}
		}
		st.show(view)
		n := st.board.Load().nets["orders"].net
		for key, tokens := range all {
			if i := indexOf(n.Def.Places, key[1], func(p *petri.Place) string { return p.ID }); n.IsFinal(i) || n.Rows.Places[i].Tokens == 0 {
				continue // it is not asked
			}
			for _, w := range tokens {
				total += w.Tokens
			}
		}
		got, last, limit := uint64(0), token{}, 1+r.IntN(100)
		for after := ""; ; {
			var page api.Stuck
			if err := json.Unmarshal(st.get("/api/v1/stuck?net=orders&limit="+fmt.Sprint(limit)+"&after="+url.QueryEscape(after)).Body.Bytes(), &page); err != nil {
				t.Fatal(err)
			}
			for i := range page.Tokens {
				if this := tokenOf(&page.Tokens[i]); this.compare(last) <= 0 {
					t.Fatalf("%+v after %+v", this, last)
				} else {
					last = this
				}
				got += page.Tokens[i].Tokens
			}
			if page.Matches != total || page.Bounded {
				t.Fatalf("matches %d, bounded %t; want %d", page.Matches, page.Bounded, total)
			}
			if after = page.Next; after == "" {
				break
			}
		}
		if got != total {
			t.Fatalf("pages of %d have %d tokens of %d", limit, got, total)
		}
	}
}
