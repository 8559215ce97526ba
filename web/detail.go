// SPDX-License-Identifier: Apache-2.0

package web

import (
	"fmt"
	"net/http"
	"time"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

type placeDoc struct {
	ID         string      `json:"id"`
	Name       string      `json:"name"`
	Final      bool        `json:"final,omitempty"` // no transition takes tokens from it
	Tokens     *uint64     `json:"tokens,omitempty"`
	Instances  *uint64     `json:"instances,omitempty"`
	OldestAge  *float64    `json:"oldest_age,omitempty"` // absent without a token
	MeanAge    *float64    `json:"mean_age,omitempty"`
	Arrivals   *uint64     `json:"arrivals,omitempty"`
	Departures *uint64     `json:"departures,omitempty"`
	Ages       []olderDoc  `json:"ages,omitempty"`
	Dwell      *spreadDoc  `json:"dwell,omitempty"`
	Oldest     *[]tokenDoc `json:"oldest,omitempty"`
	Series     seriesDoc   `json:"series"`
}

type olderDoc struct {
	OlderThan float64 `json:"older_than"` // seconds
	Tokens    uint64  `json:"tokens"`
}

// spreadDoc is a histogram of durations, in seconds.
type spreadDoc struct {
	Count   uint64       `json:"count"`
	Mean    *float64     `json:"mean,omitempty"` // this and the percentiles absent while count is 0
	P50     *float64     `json:"p50,omitempty"`
	P95     *float64     `json:"p95,omitempty"`
	P99     *float64     `json:"p99,omitempty"`
	Buckets [][2]float64 `json:"buckets"`
}

type tokenDoc struct {
	Instance string    `json:"instance"`
	Injected time.Time `json:"injected"`
	Age      float64   `json:"age"`
	Waits    []waitDoc `json:"waits"`
}

type waitDoc struct {
	Transition string     `json:"transition"`
	Place      string     `json:"place,omitempty"`
	Reason     string     `json:"reason"`
	Count      uint32     `json:"count,omitempty"`
	Until      *time.Time `json:"until,omitempty"`
	Text       string     `json:"text"`
}

// seriesDoc is what was kept of the last hour; a value that is not known is
// null.
type seriesDoc struct {
	Step   float64 `json:"step"` // seconds
	Points [][]any `json:"points"`
}

type transitionDoc struct {
	ID         string     `json:"id"`
	Name       string     `json:"name"`
	Firings    *uint64    `json:"firings,omitempty"`
	Rate       *rate      `json:"rate,omitempty"`
	Enabled    *uint64    `json:"enabled,omitempty"`
	EnabledAge *float64   `json:"enabled_age,omitempty"` // absent where it is enabled nowhere
	Running    *uint64    `json:"running,omitempty"`
	RunningAge *float64   `json:"running_age,omitempty"`
	Failures   *uint64    `json:"failures,omitempty"`
	Retries    *uint64    `json:"retries,omitempty"`
	Cancels    *uint64    `json:"cancels,omitempty"`
	LastFiring *time.Time `json:"last_firing,omitempty"`
	Duration   *spreadDoc `json:"duration,omitempty"`
	Blocked    *[]heldDoc `json:"blocked,omitempty"`
	Series     seriesDoc  `json:"series"`
}

type heldDoc struct {
	Place     string `json:"place,omitempty"`
	Reason    string `json:"reason"`
	Instances uint64 `json:"instances"`
	Text      string `json:"text"`
}

func (s *Server) servePlace(w http.ResponseWriter, r *http.Request) {
	n := s.netOf(w, r)
	if n == nil {
		return
	}
	id := r.URL.Query().Get("place")
	i := indexOf(n.net.Def.Places, id, func(p *petri.Place) string { return p.ID })
	if i < 0 {
		refuse(w, http.StatusNotFound, fmt.Sprintf("there is no place %q in net %q", id, n.net.Name))
		return
	}
	doc := placeDocument(n, i, s.cfg.Now().UnixMicro())
	doc.Series = s.placeSeries(n.net.Name, i)
	answerJSON(w, r, &doc)
}

func placeDocument(n *netBoard, i int, now int64) placeDoc {
	def, cols, p := n.net.Def, n.net.Rows.Columns, &n.net.Rows.Places[i]
	d := placeDoc{ID: def.Places[i].ID, Name: def.Places[i].Name, Final: n.net.IsFinal(i),
		Tokens:    known(cols, stats.ColTokens, p.Tokens),
		Instances: known(cols, stats.ColPlaceInstances, p.Instances),
		OldestAge: knownAge(cols, stats.ColOldest, p.Oldest, now),
		MeanAge:   knownAge(cols, stats.ColOldest|stats.ColTokens, p.Injected.Mean(p.Tokens), now),
		Arrivals:  known(cols, stats.ColArrivals, p.Arrivals), Departures: known(cols, stats.ColDepartures, p.Departures),
		Dwell: spread(cols, stats.ColDwell, &p.Dwell),
	}
	if cols.Has(stats.ColAges) {
		for _, step := range stats.AgeSteps() {
			d.Ages = append(d.Ages, olderDoc{float64(step.Age) / 1e6, p.Ages.InjectedBefore(now - step.Age)})
		}
	}
	if cols.Has(stats.ColStuck) {
		oldest := make([]tokenDoc, 0, len(p.Stuck))
		for _, t := range n.net.Stuck(i) {
			oldest = append(oldest, tokenDoc{t.Instance, moment(t.Injected), ageAt(t.Injected, now), waitDocs(def, t.Waits)})
		}
		d.Oldest = &oldest
	}
	return d
}

func (s *Server) serveTransition(w http.ResponseWriter, r *http.Request) {
	n := s.netOf(w, r)
	if n == nil {
		return
	}
	id := r.URL.Query().Get("transition")
	i := indexOf(n.net.Def.Transitions, id, func(t *petri.Transition) string { return t.ID })
	if i < 0 {
		refuse(w, http.StatusNotFound, fmt.Sprintf("there is no transition %q in net %q", id, n.net.Name))
		return
	}
	doc := transitionDocument(n, i, s.cfg.Now().UnixMicro())
	doc.Series = s.transitionSeries(n.net.Name, i)
	answerJSON(w, r, &doc)
}

func transitionDocument(n *netBoard, i int, now int64) transitionDoc {
	def, cols, t := n.net.Def, n.net.Rows.Columns, &n.net.Rows.Transitions[i]
	d := transitionDoc{ID: def.Transitions[i].ID, Name: def.Transitions[i].Name,
		Firings:    known(cols, stats.ColFirings, t.Firings),
		Enabled:    known(cols, stats.ColEnabled, t.Enabled),
		EnabledAge: knownAge(cols, stats.ColEnabled, t.EnabledSince, now),
		Running:    known(cols, stats.ColRunning, t.Running),
		RunningAge: knownAge(cols, stats.ColRunning, t.RunningSince, now),
		Failures:   known(cols, stats.ColFailures, t.Failures),
		Retries:    known(cols, stats.ColFailures, t.Retries), Cancels: known(cols, stats.ColFailures, t.Cancels),
		Duration: spread(cols, stats.ColDuration, &t.Duration),
	}
	if r := rateAt(n.rates, len(n.net.Rows.Places)+i); r != unknownRate {
		d.Rate = known(cols, stats.ColFirings, r)
	}
	if cols.Has(stats.ColLastFiring) && t.LastFiring != 0 {
		at := moment(t.LastFiring)
		d.LastFiring = &at
	}
	if cols.Has(stats.ColBlocks) {
		held := []heldDoc{}
		for _, b := range n.net.Rows.Blocks {
			if int(b.Transition) == i {
				id, name := placeNames(def, b.Place)
				held = append(held, heldDoc{id, b.Reason.String(), b.Instances, b.Reason.Words(name, 0)})
			}
		}
		d.Blocked = &held
	}
	return d
}

// indexOf returns the index of what has an id, or -1.
func indexOf[T any](all []T, id string, idOf func(*T) string) int {
	for i := range all {
		if idOf(&all[i]) == id {
			return i
		}
	}
	return -1
}

// placeNames returns the id of a place and what to call it; "" for NoPlace.
func placeNames(def *petri.Net, place int32) (id, name string) {
	if place == stats.NoPlace {
		return "", ""
	}
	p := &def.Places[place]
	if p.Name == "" {
		return p.ID, p.ID
	}
	return p.ID, p.Name
}

func waitDocs(def *petri.Net, waits []stats.Wait) []waitDoc {
	out := make([]waitDoc, 0, len(waits))
	for _, w := range waits {
		id, name := placeNames(def, w.Place)
		out = append(out, newWaitDoc(def.Transitions[w.Transition].ID, id, name, w.Reason, w.Count, w.Until))
	}
	return out
}

func newWaitDoc(transition, place, placeName string, reason stats.Reason, count uint32, until int64) waitDoc {
	d := waitDoc{Transition: transition, Place: place, Reason: reason.String(), Count: count, Text: reason.Words(placeName, count)}
	if until != 0 {
		at := moment(until)
		d.Until = &at
	}
	return d
}

// knownAge returns the age of a time, nil if its columns are absent or there is
// no time.
func knownAge(cols, want stats.Columns, t, now int64) *float64 {
	if t == 0 {
		return nil
	}
	return known(cols, want, ageAt(t, now))
}

func spread(cols, want stats.Columns, h *stats.Histogram) *spreadDoc {
	if !cols.Has(want) {
		return nil
	}
	d := &spreadDoc{Count: h.Count(), Buckets: [][2]float64{}}
	if h.Zero > 0 {
		d.Buckets = append(d.Buckets, [2]float64{stats.ZeroThreshold, float64(h.Zero)})
	}
	for _, b := range h.Buckets {
		d.Buckets = append(d.Buckets, [2]float64{stats.UpperBound(h.Schema, b.Index), float64(b.N)})
	}
	if d.Count > 0 {
		mean, p50, p95, p99 := float64(h.Sum)/1e6/float64(d.Count), h.Quantile(0.5), h.Quantile(0.95), h.Quantile(0.99)
		d.Mean, d.P50, d.P95, d.P99 = &mean, &p50, &p95, &p99
	}
	return d
}
