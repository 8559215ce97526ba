// SPDX-License-Identifier: Apache-2.0

package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/pnagent/pnagent/act"
	"github.com/pnagent/pnagent/collector"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/web/api"
)

// Oldest requests the oldest tokens of a place from one source. See act.Tokens.
type Oldest func(ctx context.Context, net, source, digest, place string, limit int) ([]act.Waiting, error)

// The limits of a request for stuck tokens.
const (
	stuckTimeout = 2 * time.Second
	maxQuestions = 256 // of sources and places
	usualStuck   = 50  // tokens
	maxStuck     = 1000
)

// selection is which tokens a request is for.
type selection struct {
	place, name string
	older       float64
	limit       int
	after       token
}

// token is the place of a token in the order of answers.
type token struct {
	injected        int64
	instance, place string
}

func (t token) compare(o token) int {
	return cmp.Or(cmp.Compare(t.injected, o.injected), cmp.Compare(t.instance, o.instance), cmp.Compare(t.place, o.place))
}

func tokenOf(t *api.StuckToken) token { return token{int64(t.Injected), t.Instance, t.Place} }

func (s *Server) serveStuck(w http.ResponseWriter, r *http.Request) {
	n, sel := s.selected(w, r)
	if n == nil {
		return
	}
	doc := s.stuckNow(r.Context(), n, sel, s.cfg.Now().UnixMicro())
	answerJSON(w, doc)
}

// selected returns the net and the selection of a request, or answers with an error and
// returns nil.
func (s *Server) selected(w http.ResponseWriter, r *http.Request) (*netBoard, selection) {
	n := s.netOf(w, r)
	if n == nil {
		return nil, selection{}
	}
	sel, err := selectionOf(r.URL.Query())
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return nil, sel
	}
	if sel.place != "" && indexOf(n.net.Def.Places, sel.place, func(p *petri.Place) string { return p.ID }) < 0 {
		refuse(w, http.StatusNotFound, fmt.Sprintf("there is no place %q in net %q", sel.place, n.net.Name))
		return nil, sel
	}
	return n, sel
}

// stuckNow returns the tokens that are selected, within stuckTimeout.
func (s *Server) stuckNow(ctx context.Context, n *netBoard, sel selection, now int64) *api.Stuck {
	ctx, cancel := context.WithTimeout(ctx, stuckTimeout)
	defer cancel()
	doc := s.stuck(ctx, n.net, sel.place, now)
	sel.page(doc)
	return doc
}

// selectionOf reads the parameters of a request.
func selectionOf(q url.Values) (s selection, err error) {
	s = selection{place: q.Get("place"), name: strings.ToLower(q.Get("name")), limit: usualStuck}
	if text := q.Get("limit"); text != "" {
		if s.limit, err = strconv.Atoi(text); err != nil || s.limit < 1 || s.limit > maxStuck {
			return s, fmt.Errorf("limit=%q; expected 1 to %d", text, maxStuck)
		}
	}
	if text := q.Get("older"); text != "" {
		if s.older, err = strconv.ParseFloat(text, 64); err != nil {
			return s, fmt.Errorf("older=%q; expected a number of seconds", text)
		}
	}
	if text := q.Get("after"); text != "" {
		var at, name string
		at, name, _ = strings.Cut(text, " ")
		s.after.instance, s.after.place, _ = strings.Cut(name, "\n")
		if s.after.injected, err = strconv.ParseInt(at, 10, 64); err != nil {
			return s, fmt.Errorf("after=%q; expected next of another answer", text)
		}
	}
	return s, nil
}

// page keeps the tokens of a document that are selected.
func (s *selection) page(doc *api.Stuck) {
	doc.Tokens = slices.DeleteFunc(doc.Tokens, func(t api.StuckToken) bool {
		return t.Age < s.older || !strings.Contains(strings.ToLower(t.Instance), s.name)
	})
	doc.Matches = len(doc.Tokens)
	from, _ := slices.BinarySearchFunc(doc.Tokens, s.after, func(t api.StuckToken, after token) int {
		return cmp.Or(tokenOf(&t).compare(after), -1) // behind it
	})
	doc.Tokens = doc.Tokens[from:]
	if len(doc.Tokens) > s.limit {
		doc.Tokens = doc.Tokens[:s.limit]
		last := tokenOf(&doc.Tokens[s.limit-1])
		doc.Next = fmt.Sprintf("%d %s\n%s", last.injected, last.instance, last.place)
	}
}

// question is one request to a source.
type question struct {
	source *collector.Source
	place  string
}

// stuck returns the tokens of a place, or of all places that are not final, in order.
// Where no source answers, these are the tokens of snapshots.
func (s *Server) stuck(ctx context.Context, n *collector.NetView, place string, now int64) *api.Stuck {
	doc := &api.Stuck{Tokens: []api.StuckToken{}}
	questions := s.questions(n, place)
	if over := len(questions) - maxQuestions; over > 0 {
		doc.LeftOut, questions = over, questions[:maxQuestions]
	}
	answers, failed := make([][]act.Waiting, len(questions)), make([]error, len(questions))
	var asking errgroup.Group
	asking.SetLimit(askAtOnce)
	for i, q := range questions {
		asking.Go(func() error {
			answers[i], failed[i] = s.cfg.Oldest(ctx, n.Name, q.source.Name, q.source.Digest, q.place, act.MaxTokens)
			return nil
		})
	}
	_ = asking.Wait() // each has its own error
	answered := false
	for i, q := range questions {
		switch {
		case failed[i] != nil && !slices.Contains(doc.Unanswered, q.source.Name):
			doc.Unanswered = append(doc.Unanswered, q.source.Name)
		case failed[i] == nil:
			answered = true
			doc.Bounded = doc.Bounded || len(answers[i]) == act.MaxTokens
			doc.Tokens = append(doc.Tokens, stuckTokens(n, q, answers[i], now)...)
		}
	}
	if !answered {
		doc.Bounded, doc.Tokens = true, snapshotTokens(n, place, now)
	}
	doc.Tokens = joined(doc.Tokens)
	return doc
}

// questions returns what to ask for the tokens of a place, or of all places that hold some
// and are not final.
func (s *Server) questions(n *collector.NetView, place string) (out []question) {
	if s.cfg.Oldest == nil {
		return nil
	}
	view := s.board.Load().view
	for i := range n.Def.Places {
		id := n.Def.Places[i].ID
		if place != "" && id != place || place == "" && (n.IsFinal(i) || n.Rows.Places[i].Tokens == 0) {
			continue
		}
		for k := range view.Sources {
			if src := &view.Sources[k]; src.Net == n.Name && src.State == collector.Up {
				out = append(out, question{src, id})
			}
		}
	}
	return out
}

// stuckTokens returns an answer for JSON, with times by this sidecar's clock.
func stuckTokens(n *collector.NetView, q question, answer []act.Waiting, now int64) []api.StuckToken {
	ahead := q.source.Skew.Microseconds()
	out := make([]api.StuckToken, 0, len(answer))
	for _, t := range answer {
		d := api.StuckToken{Place: q.place, Source: q.source.Name, Tokens: 1,
			Token: api.Token{Instance: t.Instance, Injected: api.Time(t.Injected - ahead), Age: ageAt(t.Injected-ahead, now), Waits: []api.Wait{}}}
		for i := range t.Waits {
			w := t.Waits[i]
			if w.Until != 0 {
				w.Until -= ahead
			}
			d.Waits = append(d.Waits, waitDocument(n.Def, &w))
		}
		out = append(out, d)
	}
	return out
}

// snapshotTokens returns the oldest tokens that snapshots name.
func snapshotTokens(n *collector.NetView, place string, now int64) []api.StuckToken {
	out := []api.StuckToken{}
	for i := range n.Def.Places {
		if id := n.Def.Places[i].ID; place == "" || id == place {
			for _, t := range n.Stuck(i) {
				d := api.StuckToken{Place: id, Tokens: 1, Token: api.Token{Instance: t.Instance, Injected: api.Time(t.Injected), Age: ageAt(t.Injected, now), Waits: waits(n.Def, t.Waits)}}
				withText(n.Def, d.Waits, t.Waits)
				out = append(out, d)
			}
		}
	}
	return out
}

// joined sorts tokens, and joins those of one instance that were put into a place at one
// time.
func joined(tokens []api.StuckToken) []api.StuckToken {
	slices.SortStableFunc(tokens, func(a, b api.StuckToken) int { return tokenOf(&a).compare(tokenOf(&b)) })
	out := tokens[:0]
	for _, t := range tokens {
		if k := len(out) - 1; k >= 0 && tokenOf(&out[k]) == tokenOf(&t) {
			out[k].Tokens += t.Tokens
			continue
		}
		out = append(out, t)
	}
	return out
}
