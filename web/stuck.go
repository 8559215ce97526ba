// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/pnagent/pnagent/act"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/ordered"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/web/api"
)

// Oldest requests tokens of a place from one source. See act.Tokens.
type Oldest func(ctx context.Context, net, source, digest, place string, q *stats.Query) (act.Found, error)

// The limits of a request for stuck tokens.
const (
	stuckTimeout = 2 * time.Second
	tableTimeout = 20 * time.Second
	maxQuestions = 256 // of sources and places
	usualStuck   = 50  // rows
	maxStuck     = telemetry.MaxFound
)

// selection is which tokens a request is for.
type selection struct {
	place string
	stats.Query
	older float64 // s
	after token
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
	ctx, cancel := context.WithTimeout(r.Context(), stuckTimeout)
	defer cancel()
	doc := s.stuck(ctx, n.net, &sel, s.cfg.Now().UnixMicro())
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

// selectionOf reads the parameters of a request.
func selectionOf(q url.Values) (s selection, err error) {
	s = selection{place: q.Get("place"), Query: stats.Query{Name: q.Get("name"), Data: q.Get("data"), Limit: usualStuck}}
	for name, text := range map[string]string{"name": s.Name, "data": s.Data} {
		if len(text) > maxName {
			return s, fmt.Errorf("%s has %d bytes; expected at most %d", name, len(text), maxName)
		}
	}
	if text := q.Get("limit"); text != "" {
		if s.Limit, err = strconv.Atoi(text); err != nil || s.Limit < 1 || s.Limit > maxStuck {
			return s, fmt.Errorf("limit=%q; expected 1 to %d", text, maxStuck)
		}
	}
	if text := q.Get("older"); text != "" {
		if s.older, err = strconv.ParseFloat(text, 64); err != nil || math.IsNaN(s.older) {
			return s, fmt.Errorf("older=%q; expected a number of seconds", text)
		}
	}
	if text := q.Get("after"); text != "" {
		if s.after, err = tokenAfter(text); err != nil {
			return s, fmt.Errorf("after=%q; expected next of another answer", text)
		}
	}
	return s, nil
}

// next returns the parameter after of a request for what is behind a token.
func (t token) next() string { return fmt.Sprintf("%d %s\n%s", t.injected, t.instance, t.place) }

// tokenAfter is the inverse of next.
func tokenAfter(text string) (t token, err error) {
	at, name, _ := strings.Cut(text, " ")
	t.instance, t.place, _ = strings.Cut(name, "\n")
	t.injected, err = strconv.ParseInt(at, 10, 64)
	return t, err
}

// question is one request to a source.
type question struct {
	source *merge.Source
	place  string
}

// stuck returns a page of the tokens of a place, or of all places that are not final, in
// order. Where no source answers, these are tokens of snapshots.
func (s *Server) stuck(ctx context.Context, n *merge.NetView, sel *selection, now int64) *api.Stuck {
	doc := &api.Stuck{Tokens: []api.StuckToken{}}
	questions := s.questions(n, sel.place)
	if over := len(questions) - maxQuestions; over > 0 {
		doc.LeftOut, questions = over, questions[:maxQuestions]
	}
	q := sel.Query
	q.From, q.FromName, q.Limit = sel.after.injected, sel.after.instance, min(q.Limit+spare, telemetry.MaxFound)
	if sel.older > 0 {
		q.Until = max(now-int64(min(sel.older, maxOlder)*1e6), 1)
	}
	answers, failed := make([]act.Found, len(questions)), make([]error, len(questions))
	var asking errgroup.Group
	asking.SetLimit(askAtOnce)
	for i, one := range questions {
		asking.Go(func() error {
			own := q.Shifted(-one.source.Shift.Microseconds())
			answers[i], failed[i] = s.cfg.Oldest(ctx, n.Name, one.source.Name, one.source.Digest, one.place, &own)
			return nil
		})
	}
	_ = asking.Wait() // each has its own error
	p := page{doc: doc, sel: sel, q: &q}
	for i, one := range questions {
		if failed[i] != nil {
			if !slices.Contains(doc.Unanswered, one.source.Name) {
				doc.Unanswered = append(doc.Unanswered, one.source.Name)
			}
			continue
		}
		p.add(&answers[i], stuckTokens(n, one, answers[i].Tokens, now))
	}
	if !p.answered {
		p.add(&act.Found{}, snapshotTokens(n, sel.place, now))
		doc.Bounded = true
	}
	p.finish()
	return doc
}

// allStuck returns all pages together, at most maxRows rows.
func (s *Server) allStuck(ctx context.Context, n *merge.NetView, sel *selection, now int64) *api.Stuck {
	sel.Limit, sel.after = maxStuck, token{}
	all := s.stuck(ctx, n, sel, now)
	for next := all.Next; next != "" && len(all.Tokens) < maxRows; {
		sel.after, _ = tokenAfter(next) // it is of this server
		more := s.stuck(ctx, n, sel, now)
		next = more.Next
		all.Tokens, all.Next, all.Bounded = append(all.Tokens, more.Tokens...), next, all.Bounded || more.Bounded
		for _, source := range more.Unanswered {
			if !slices.Contains(all.Unanswered, source) {
				all.Unanswered = append(all.Unanswered, source)
			}
		}
	}
	all.Bounded = all.Bounded || all.Next != ""
	return all
}

// maxRows is the largest number of rows of a table, about.
const maxRows = 100_000

const (
	// spare is how many rows more than those of a page a source is asked for: the one
	// behind which the page begins, and some that are joined to others.
	spare = 16
	// maxOlder is the greatest age that can be asked for, in seconds: 100 years.
	maxOlder = 100 * 365 * 86400
)

// page joins the answers of sources to a page.
type page struct {
	doc      *api.Stuck
	sel      *selection
	q        *stats.Query
	answered bool
	whole    *token // behind it, tokens of some source are missing; nil for nothing
}

// add adds an answer, in the form for JSON. A source of an older version answers with tokens
// that are not selected too.
func (p *page) add(found *act.Found, tokens []api.StuckToken) {
	p.answered = true
	if found.More && len(tokens) > 0 {
		if last := tokenOf(&tokens[len(tokens)-1]); p.whole == nil || last.compare(*p.whole) < 0 {
			p.whole = &last
		}
	}
	search := stats.NewSearch(p.q)
	tokens = slices.DeleteFunc(tokens, func(t api.StuckToken) bool {
		return !search.Named(t.Instance) || !search.Holds(string(t.Data)) || p.q.Until != 0 && int64(t.Injected) > p.q.Until
	})
	if found.Matches == 0 {
		for i := range tokens {
			p.doc.Matches += tokens[i].Tokens
		}
		p.doc.Bounded = p.doc.Bounded || found.More
	}
	p.doc.Matches += found.Matches
	p.doc.Tokens = append(p.doc.Tokens, tokens...)
}

// finish keeps the tokens of the page. Those of one instance that were put into a place at
// one time are on one page.
func (p *page) finish() {
	all := joined(p.doc.Tokens)
	from, to := 0, len(all)
	behind := func(t token) int { // the index of the first one
		i, _ := slices.BinarySearchFunc(all, t, func(x api.StuckToken, t token) int { return cmp.Or(tokenOf(&x).compare(t), -1) })
		return i
	}
	if p.sel.after != (token{}) {
		from = behind(p.sel.after)
	}
	if p.whole != nil {
		to = max(behind(*p.whole), from)
	}
	if from+p.sel.Limit < to {
		to = behind(tokenOf(&all[from+p.sel.Limit-1]))
	}
	if more := to < len(all) || p.whole != nil; more && to > from {
		p.doc.Next = tokenOf(&all[to-1]).next()
	} else if more {
		p.doc.Bounded = true // an instance has more tokens of one time than a source names
	}
	p.doc.Tokens = all[from:to]
}

// questions returns what to ask for the tokens of a place, or of all places that hold some
// and are not final.
func (s *Server) questions(n *merge.NetView, place string) (out []question) {
	if s.cfg.Oldest == nil {
		return nil
	}
	view := s.board.Load().view
	for i := range n.Def.Places {
		id := n.Def.Places[i].ID
		if place != "" && id != place || place == "" && (n.IsFinal(i) || !n.Work(i) || n.Rows.Places[i].Tokens == 0) {
			continue
		}
		for k := range view.Sources {
			if src := &view.Sources[k]; src.Net == n.Name && src.State == merge.Up {
				out = append(out, question{src, id})
			}
		}
	}
	return out
}

// stuckTokens returns an answer for JSON, with times by this sidecar's clock.
func stuckTokens(n *merge.NetView, q question, answer []act.Waiting, now int64) []api.StuckToken {
	shift := q.source.Shift.Microseconds()
	out := make([]api.StuckToken, 0, len(answer))
	for _, t := range answer {
		d := api.StuckToken{Place: q.place, Source: q.source.Name, Tokens: max(t.Tokens, 1),
			Token: api.Token{Instance: t.Instance, Injected: api.Time(t.Injected + shift), Age: ageAt(t.Injected+shift, now), Waits: []api.Wait{}}, Data: api.Data(t.Data)}
		for i := range t.Waits {
			w := t.Waits[i]
			if w.Until != 0 {
				w.Until += shift
			}
			d.Waits = append(d.Waits, waitDocument(n.Def, &w))
		}
		out = append(out, d)
	}
	return out
}

// snapshotTokens returns the oldest tokens that snapshots name.
func snapshotTokens(n *merge.NetView, place string, now int64) []api.StuckToken {
	out := []api.StuckToken{}
	for i := range n.Def.Places {
		if id := n.Def.Places[i].ID; place == "" && n.Work(i) || id == place {
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
// time with the same data.
func joined(tokens []api.StuckToken) []api.StuckToken {
	ordered.By(tokens, func(a, b *api.StuckToken) int {
		return cmp.Or(tokenOf(a).compare(tokenOf(b)), bytes.Compare(a.Data, b.Data))
	})
	out := tokens[:0]
	for _, t := range tokens {
		if k := len(out) - 1; k >= 0 && tokenOf(&out[k]) == tokenOf(&t) && bytes.Equal(out[k].Data, t.Data) {
			out[k].Tokens += t.Tokens
			continue
		}
		out = append(out, t)
	}
	return out
}
