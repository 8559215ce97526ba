// SPDX-License-Identifier: Apache-2.0

package report

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// Sidecar is one sidecar, for where there is no Prometheus.
type Sidecar struct {
	URL  string // as in http://127.0.0.1:9797
	Name string // what the page calls it: the URL without a password
	HTTP *http.Client
}

// The documents of the sidecar's API, as far as they are shown. A nil pointer
// is a figure that no source knows. Ages are seconds as of the answer.
type (
	overviewDoc struct {
		At      time.Time `json:"at"`
		History *struct {
			From time.Time `json:"from"`
		} `json:"history"`
		Nets           []overviewNet `json:"nets"`
		Sources        []sourceDoc   `json:"sources"`
		Alarms         []alarmDoc    `json:"alarms"`
		SourcesLeftOut int           `json:"sources_left_out"`
		AlarmsLeftOut  int           `json:"alarms_left_out"`
	}
	overviewNet struct {
		ID          string   `json:"id"`
		Name        string   `json:"name"`
		Tokens      *float64 `json:"tokens"`
		Instances   *float64 `json:"instances"`
		Deadlocked  *float64 `json:"deadlocked"`
		OldestAge   *float64 `json:"oldest_age"`
		OldestPlace string   `json:"oldest_place"`
		Rate        *float64 `json:"rate"`
		Up          int      `json:"sources_up"`
		Stale       int      `json:"sources_stale"`
		Alarms      int      `json:"alarms"`
	}
	sourceDoc struct {
		Name         string   `json:"name"`
		Net          string   `json:"net"`
		State        string   `json:"state"`
		LastHeardAge float64  `json:"last_heard_age"`
		Gaps         float64  `json:"gaps"`
		Region       string   `json:"region"`
		Fence        float64  `json:"fence"`
		Standbys     *float64 `json:"standbys"`
		Lag          *float64 `json:"lag"`
	}
	alarmDoc struct {
		Kind    string    `json:"kind"`
		Net     string    `json:"net"`
		Subject string    `json:"subject"`
		Since   time.Time `json:"since"`
		Text    string    `json:"text"`
	}
	// drawingDoc and frameDoc list places and transitions in one order.
	drawingDoc struct {
		Nodes []struct {
			ID    string `json:"id"`
			Kind  string `json:"kind"`
			Final bool   `json:"final"` // no transition takes tokens from the place
		} `json:"nodes"`
	}
	frameDoc struct {
		Places      [][]*float64 `json:"places"`      // tokens, oldest in ms since the Unix epoch, ...
		Transitions [][]*float64 `json:"transitions"` // rate, ...
	}
	placeDoc struct {
		ID        string   `json:"id"`
		Final     bool     `json:"final"`
		Tokens    *float64 `json:"tokens"`
		OldestAge *float64 `json:"oldest_age"`
		MeanAge   *float64 `json:"mean_age"`
		Dwell     *struct {
			P50 *float64 `json:"p50"`
			P99 *float64 `json:"p99"`
		} `json:"dwell"`
		Oldest []struct {
			Instance string `json:"instance"`
			Waits    []struct {
				Transition string `json:"transition"`
				Text       string `json:"text"`
			} `json:"waits"`
		} `json:"oldest"`
		Series seriesDoc `json:"series"`
	}
	transitionDoc struct {
		ID         string   `json:"id"`
		Rate       *float64 `json:"rate"`
		Firings    *float64 `json:"firings"`
		Failures   *float64 `json:"failures"`
		Enabled    *float64 `json:"enabled"`
		EnabledAge *float64 `json:"enabled_age"`
		Blocked    []struct {
			Place     string  `json:"place"`
			Reason    string  `json:"reason"`
			Instances float64 `json:"instances"`
			Text      string  `json:"text"`
		} `json:"blocked"`
		Series seriesDoc `json:"series"`
	}
	// A point is its time in ms since the Unix epoch and values.
	seriesDoc struct {
		Points [][]*float64 `json:"points"`
	}
)

// netDocs is what was had of one net.
type netDocs struct {
	places      []placeDoc
	transitions []transitionDoc
	left        [2]int // places and transitions that are not shown
	faults      []string
}

// Report asks for what the sidecar keeps, and draws it. The error is ErrNothing
// where it has heard of no net, ErrNoNet where the net is not known to it.
func (s Sidecar) Report(ctx context.Context, o Options) (*Report, error) {
	o.progress(0, 0, "asking which nets there are")
	over, err := s.overview(ctx)
	if err != nil {
		return nil, err
	}
	if len(over.Nets) == 0 {
		return nil, fmt.Errorf("%w: the sidecar has heard of no net", ErrNothing)
	}
	over.only(o.Net)
	if len(over.Nets) == 0 {
		return nil, fmt.Errorf("%w: the sidecar has heard of no %q", ErrNoNet, o.Net)
	}
	nets := over.ranked()
	docs := make([]netDocs, min(len(nets), maxNets))
	for i := range docs {
		o.progress(i, len(docs), "asking for net "+nets[i].id)
		if docs[i], err = s.net(ctx, nets[i].id, over.At); err != nil {
			return nil, err
		}
	}
	return s.lay(over, nets, docs, o), nil
}

// overview asks for all nets.
func (s Sidecar) overview(ctx context.Context) (*overviewDoc, error) {
	over, err := get[overviewDoc](ctx, s.HTTP, s.address("overview"), nil)
	if err != nil {
		return nil, fmt.Errorf("asking the sidecar for its overview: %w", err)
	}
	if over.At.IsZero() || over.At.Year() > 9999 {
		return nil, fmt.Errorf("asking the sidecar for its overview: it says no time; is this a sidecar's address?")
	}
	return over, nil
}

func (s Sidecar) address(what string) string {
	return strings.TrimSuffix(s.URL, "/") + "/api/v1/" + what
}

// only leaves out what is not of a net.
func (d *overviewDoc) only(net string) {
	if net == "" {
		return
	}
	d.Nets = slices.DeleteFunc(d.Nets, func(n overviewNet) bool { return n.ID != net })
	d.Sources = slices.DeleteFunc(d.Sources, func(s sourceDoc) bool { return s.Net != net })
	d.Alarms = slices.DeleteFunc(d.Alarms, func(a alarmDoc) bool { return a.Net != net && a.Net != "" })
}

func (d *overviewDoc) ranked() []netState {
	nets := make([]netState, len(d.Nets))
	for i, n := range d.Nets {
		nets[i] = netState{id: n.ID, alarms: n.Alarms, deadlocked: orNaN(n.Deadlocked), oldest: orNaN(n.OldestAge), place: n.OldestPlace}
		if math.IsNaN(nets[i].deadlocked) {
			nets[i].deadlocked = 0
		}
	}
	slices.SortFunc(nets, worse)
	return nets
}

func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

// net asks for the places with the oldest tokens and the fastest transitions of
// a net. What fails is among its faults.
func (s Sidecar) net(ctx context.Context, id string, at time.Time) (d netDocs, err error) {
	drawing, err := get[drawingDoc](ctx, s.HTTP, s.address("drawing"), url.Values{"net": {id}})
	if err != nil {
		return netDocs{faults: []string{"which places it has is not known: " + err.Error()}}, ctx.Err()
	}
	frame, err := get[frameDoc](ctx, s.HTTP, s.address("history"), url.Values{"net": {id}, "at": {at.UTC().Format(time.RFC3339Nano)}})
	if err != nil {
		return netDocs{faults: []string{"how it is now is not known: " + err.Error()}}, ctx.Err()
	}
	age := func(row []*float64) float64 { // the older, the larger
		if len(row) < 2 || row[1] == nil || *row[1] == 0 {
			return math.Inf(-1)
		}
		return -*row[1]
	}
	fast := func(row []*float64) float64 {
		if len(row) == 0 || row[0] == nil {
			return math.Inf(-1)
		}
		return *row[0]
	}
	places, morePlaces := largest(drawing, "place", frame.Places, age)
	transitions, moreTransitions := largest(drawing, "transition", frame.Transitions, fast)
	d.left = [2]int{morePlaces, moreTransitions}
	var faults [2][]string
	d.places, faults[0], err = each[placeDoc](ctx, s, "place", id, places)
	if err != nil {
		return d, err
	}
	d.transitions, faults[1], err = each[transitionDoc](ctx, s, "transition", id, transitions)
	d.faults = slices.Concat(faults[0], faults[1])
	return d, err
}

// largest are the ids of one kind with the largest of a value, and how many it
// leaves out.
func largest(drawing *drawingDoc, kind string, rows [][]*float64, value func([]*float64) float64) ([]string, int) {
	type one struct {
		id string
		v  float64
	}
	var all []one
	for _, n := range drawing.Nodes {
		if n.Kind != kind || len(all) == len(rows) {
			continue
		}
		v := value(rows[len(all)])
		if n.Final {
			v = math.Inf(-1) // finished work
		}
		all = append(all, one{n.ID, v})
	}
	slices.SortStableFunc(all, func(a, b one) int {
		if a.v > b.v {
			return -1
		}
		if a.v < b.v {
			return 1
		}
		return 0
	})
	ids := []string(nil)
	for _, o := range all[:min(len(all), maxLines)] {
		ids = append(ids, o.id)
	}
	return ids, len(all) - len(ids)
}

// each asks for some places or transitions, some at once.
func each[T any](ctx context.Context, s Sidecar, kind, net string, ids []string) ([]T, []string, error) {
	docs, errs := make([]*T, len(ids)), make([]error, len(ids))
	var g errgroup.Group
	g.SetLimit(atOnce)
	for i, id := range ids {
		g.Go(func() error {
			docs[i], errs[i] = get[T](ctx, s.HTTP, s.address(kind), url.Values{"net": {net}, kind: {id}})
			return nil
		})
	}
	_ = g.Wait() // errors are in errs
	var had []T
	var faults []string
	for i := range ids {
		if errs[i] != nil {
			faults = append(faults, fmt.Sprintf("%s %s: %v", kind, ids[i], errs[i]))
			continue
		}
		had = append(had, *docs[i])
	}
	return had, faults, ctx.Err()
}
