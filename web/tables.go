// SPDX-License-Identifier: Apache-2.0

package web

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/pnagent/pnagent/internal/plaintext"
	"github.com/pnagent/pnagent/web/api"
)

// frameOf returns the frame of a request for a table of a net: of the time that it names,
// else of now. It answers with an error and returns nil if there is none.
func (s *Server) frameOf(w http.ResponseWriter, r *http.Request) (*netBoard, *api.Frame) {
	n := s.netOf(w, r)
	switch {
	case n == nil:
		return nil, nil
	case r.URL.Query().Has("at"):
		f, _ := s.frameAt(w, r, n)
		return n, f
	}
	f := n.frame().Frame
	f.At = api.Time(s.cfg.Now().UnixMicro()) // ages are as of the answer
	return n, &f
}

// servePlacesCSV answers with the places of a net, the oldest token first, as the page
// has them.
func (s *Server) servePlacesCSV(w http.ResponseWriter, r *http.Request) {
	n, f := s.frameOf(w, r)
	if f == nil {
		return
	}
	const never = math.MaxInt64
	order, since := n.rows(len(f.Places), n.net.Work), make([]int64, len(f.Places))
	for i := range f.Places {
		since[i] = cmp.Or(int64(f.Places[i].OldestSince), never)
		if n.net.IsFinal(i) {
			since[i] = never
		}
	}
	for _, i := range n.resting {
		since[i] = never
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(since[a], since[b]), compareKnown(f.Places[b].Tokens, f.Places[a].Tokens))
	})
	t := newCSV(w, f.Net, "places", f.At, "at", "net", "place", "name", "final", "tokens", "instances", "oldest_since", "oldest_age_seconds", "arrival_rate_per_second")
	at, net := timeCell(f.At), plaintext.Cell(f.Net)
	for _, i := range order {
		def, p := &n.net.Def.Places[i], &f.Places[i]
		t.row(at, net, plaintext.Cell(def.ID), plaintext.Cell(def.Name), strconv.FormatBool(n.net.IsFinal(i)), numberCell(p.Tokens), numberCell(p.Instances),
			timeCell(p.OldestSince), sinceCell(p.OldestSince, p.Tokens, f.At), numberCell(p.ArrivalRate))
	}
	t.Flush()
}

// rows returns the rows of a table: those that are work.
func (n *netBoard) rows(count int, work func(int) bool) []int {
	rows := make([]int, 0, count)
	for i := range count {
		if work(i) {
			rows = append(rows, i)
		}
	}
	return rows
}

// serveTransitionsCSV answers with the transitions of a net, those that fire most first,
// as the page has them.
func (s *Server) serveTransitionsCSV(w http.ResponseWriter, r *http.Request) {
	n, f := s.frameOf(w, r)
	if f == nil {
		return
	}
	order := n.rows(len(f.Transitions), n.net.WorkTransition)
	slices.SortStableFunc(order, func(a, b int) int { return compareKnown(f.Transitions[b].Rate, f.Transitions[a].Rate) })
	t := newCSV(w, f.Net, "transitions", f.At, "at", "net", "transition", "name", "rate_per_second", "enabled", "enabled_since", "enabled_age_seconds", "running", "blocked", "failures")
	at, net := timeCell(f.At), plaintext.Cell(f.Net)
	for _, i := range order {
		def, row := &n.net.Def.Transitions[i], &f.Transitions[i]
		t.row(at, net, plaintext.Cell(def.ID), plaintext.Cell(def.Name), numberCell(row.Rate), numberCell(row.Enabled), timeCell(row.EnabledSince),
			sinceCell(row.EnabledSince, row.Enabled, f.At), numberCell(row.Running), numberCell(row.Blocked), numberCell(row.Failures))
	}
	t.Flush()
}

// compareKnown compares numbers. One that is not known is less than all others.
func compareKnown[T cmp.Ordered](a, b *T) int {
	switch {
	case a != nil && b != nil:
		return cmp.Compare(*a, *b)
	case a != nil:
		return 1
	case b != nil:
		return -1
	}
	return 0
}

// serveAlarmsCSV answers with the active alarms that the filters of the page select.
func (s *Server) serveAlarmsCSV(w http.ResponseWriter, r *http.Request) {
	now, q := s.cfg.Now().UnixMicro(), r.URL.Query()
	doc := AlarmsDocument(s.alarms.Load(), s.board.Load().view, now)
	t := newCSV(w, q.Get("net"), "alarms", api.Time(now), "at", "index", "severity", "alarm", "net", "net_name", "place", "transition", "source", "region", "name", "since", "age_seconds",
		"raised", "affected", "text", "acknowledged_by", "acknowledged_at", "acknowledged_comment", "silenced_until", "unknown", "follows")
	at := timeCell(api.Time(now))
	for i := range doc.Active {
		a := &doc.Active[i]
		if !alarmSelected(a, q) {
			continue
		}
		ack := cmp.Or(a.Acknowledged, &api.Ack{})
		t.row(at, strconv.FormatUint(uint64(a.Index), 10), plaintext.Cell(a.Severity), plaintext.Cell(a.Alarm), plaintext.Cell(a.Net), plaintext.Cell(a.NetName), plaintext.Cell(a.Place), plaintext.Cell(a.Transition), plaintext.Cell(a.Source),
			plaintext.Cell(a.Region), plaintext.Cell(a.Name), timeCell(a.Since), numberCell(a.Age), timeCell(a.Raised), numberCell(a.Affected), plaintext.Cell(a.Text),
			plaintext.Cell(ack.By), timeCell(ack.At), plaintext.Cell(ack.Comment), timeCell(a.SilencedUntil), plaintext.Cell(a.Unknown), plaintext.Cell(a.Follows))
	}
	t.Flush()
}

// alarmSelected reports whether an alarm has each value that a request names.
func alarmSelected(a *api.Alarm, q url.Values) bool {
	is := map[bool]string{true: "yes", false: "no"}
	for name, value := range map[string]string{"severity": a.Severity, "net": a.Net, "alarm": a.Alarm, "acknowledged": is[a.Acknowledged != nil], "silenced": is[a.SilencedUntil != 0]} {
		if want := q.Get(name); want != "" && want != value {
			return false
		}
	}
	return true
}

// serveStuckCSV answers with all tokens that wait in places, the oldest first.
func (s *Server) serveStuckCSV(w http.ResponseWriter, r *http.Request) {
	n, sel := s.selected(w, r)
	if n == nil {
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), tableTimeout)
	defer cancel()
	now := s.cfg.Now().UnixMicro()
	doc := s.allStuck(ctx, n.net, &sel, now)
	if why := lacking(doc); why != "" {
		w.Header().Set(incomplete, why)
	}
	t := newCSV(w, n.net.Name, "stuck", api.Time(now), "at", "net", "instance", "place", "place_name", "tokens", "since", "age_seconds", "source", "waits_for", "data")
	at, net, names := timeCell(api.Time(now)), plaintext.Cell(n.net.Name), elementNames(n.net.Def)
	for i := range doc.Tokens {
		d := &doc.Tokens[i]
		reasons := make([]string, len(d.Waits))
		for k := range d.Waits {
			reasons[k] = d.Waits[k].Transition + ": " + cmp.Or(d.Waits[k].Text, d.Waits[k].Reason)
		}
		t.row(at, net, plaintext.Cell(d.Instance), plaintext.Cell(d.Place), plaintext.Cell(names[d.Place].name), strconv.FormatUint(d.Tokens, 10), timeCell(d.Injected), numberCell(&d.Age), plaintext.Cell(d.Source), plaintext.Cell(strings.Join(reasons, "; ")), plaintext.Cell(string(d.Data)))
	}
	t.Flush()
}

// lacking returns why there may be more tokens than a document has; "" if it has all.
func lacking(doc *api.Stuck) string {
	var why []string
	if doc.Bounded {
		why = append(why, "sources did not name all tokens")
	}
	if doc.LeftOut > 0 {
		why = append(why, fmt.Sprintf("%d questions to sources were not asked: choose a place", doc.LeftOut))
	}
	if len(doc.Unanswered) > 0 {
		why = append(why, fmt.Sprintf("%d sources did not answer", len(doc.Unanswered)))
	}
	return strings.Join(why, "; ")
}
