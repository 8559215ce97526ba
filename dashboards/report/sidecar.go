// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/pnagent/pnagent/web/api"
)

// Sidecar is one sidecar, for where there is no Prometheus.
type Sidecar struct {
	Client api.Client
	Name   string // what the page calls it: the URL without a password
}

// netDocs is what was had of one net.
type netDocs struct {
	places      []api.PlaceDetail
	transitions []api.TransitionDetail
	names       map[string]string // of its nodes, by kind and id
	left        [2]int            // places and transitions that are not shown
	faults      []string
}

// title returns what a place or transition is called, or its id.
func (d *netDocs) title(kind, id string) string { return cmp.Or(d.names[kind+" "+id], id) }

// overview is what a sidecar has of all nets.
type overview api.Overview

// Report requests what the sidecar keeps, and draws it. The error is ErrNothing if the
// sidecar has no net, and ErrNoNet if it does not have the requested one.
func (s Sidecar) Report(ctx context.Context, o Options) (*Report, error) {
	o.progress(0, 0, "reading the list of nets")
	over, err := s.overview(ctx)
	if err != nil {
		return nil, err
	}
	if len(over.Nets) == 0 {
		return nil, fmt.Errorf("%w: the sidecar has received no net", ErrNothing)
	}
	over.only(o.Net)
	if len(over.Nets) == 0 {
		return nil, fmt.Errorf("%w: the sidecar has no net %q", ErrNoNet, o.Net)
	}
	cleared, unread := api.Get[api.ClearedAlarms](ctx, s.Client, "alarms/cleared", nil)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	nets := over.ranked()
	docs := make([]netDocs, min(len(nets), maxNets))
	for i := range docs {
		o.progress(i, len(docs), "asking for net "+nets[i].id)
		if docs[i], err = s.net(ctx, nets[i].id, over.At.Time()); err != nil {
			return nil, err
		}
	}
	r := s.lay(over, cleared, nets, docs, o)
	if unread != nil { // the rest is right without them
		r.Notes = append(r.Notes, "Cannot read the cleared alarms: "+unread.Error())
	}
	return r, nil
}

// overview asks for all nets.
func (s Sidecar) overview(ctx context.Context) (*overview, error) {
	over, err := api.Get[overview](ctx, s.Client, "overview", nil)
	if err != nil {
		return nil, fmt.Errorf("reading the overview of the sidecar: %w", err)
	}
	if over.At <= 0 || over.At.Time().Year() > 9999 {
		return nil, errors.New("reading the overview of the sidecar: the answer has no time; expected the address of a sidecar")
	}
	return over, nil
}

// only leaves out what is not of a net.
func (d *overview) only(net string) {
	if net == "" {
		return
	}
	d.Nets = slices.DeleteFunc(d.Nets, func(n api.NetOverview) bool { return n.ID != net })
	d.Sources = slices.DeleteFunc(d.Sources, func(s api.SourceState) bool { return s.Net != net })
	d.Alarms = slices.DeleteFunc(d.Alarms, func(a api.Alarm) bool { return a.Net != net && a.Net != "" })
}

func (d *overview) ranked() []netState {
	nets := make([]netState, len(d.Nets))
	for i, n := range d.Nets {
		nets[i] = netState{id: n.ID, name: n.Name, alarms: n.Alarms - n.Follow - n.Unknown, unknown: n.Unknown, following: n.Follow, oldest: orNaN(n.OldestAge), place: n.OldestPlace}
		if n.Instances != nil {
			nets[i].deadlocked = float64(n.Instances.Deadlocked)
		}
	}
	slices.SortFunc(nets, worse)
	return nets
}

func orNaN[T uint64 | float64](v *T) float64 {
	if v == nil {
		return math.NaN()
	}
	return float64(*v)
}

// net asks for the places with the oldest tokens and the fastest transitions of
// a net. What fails is among its faults.
func (s Sidecar) net(ctx context.Context, id string, at time.Time) (d netDocs, err error) {
	drawing, err := api.Get[api.Drawing](ctx, s.Client, "drawing", url.Values{"net": {id}})
	if err != nil {
		return netDocs{faults: []string{"cannot read its places: " + err.Error()}}, ctx.Err()
	}
	frame, err := api.Get[api.Frame](ctx, s.Client, "history", url.Values{"net": {id}, "at": {at.Format(time.RFC3339Nano)}})
	if err != nil {
		return netDocs{faults: []string{"cannot read its current state: " + err.Error()}}, ctx.Err()
	}
	places, morePlaces := largest(drawing, "place", frame.Places, func(i int, p api.PlaceNow) float64 { // the older, the larger
		if p.OldestSince == 0 || slices.Contains(frame.Resting, i) {
			return math.Inf(-1)
		}
		return -float64(p.OldestSince)
	})
	transitions, moreTransitions := largest(drawing, "transition", frame.Transitions, func(_ int, t api.TransitionNow) float64 {
		if t.Rate == nil {
			return math.Inf(-1)
		}
		return *t.Rate
	})
	d.names = make(map[string]string, len(drawing.Nodes))
	for _, n := range drawing.Nodes {
		d.names[n.Kind+" "+n.ID] = n.Called.Or(n.Name)
	}
	d.left = [2]int{morePlaces, moreTransitions}
	var faults [2][]string
	d.places, faults[0], err = each[api.PlaceDetail](ctx, s, "place", id, places)
	if err != nil {
		return d, err
	}
	d.transitions, faults[1], err = each[api.TransitionDetail](ctx, s, "transition", id, transitions)
	d.faults = slices.Concat(faults[0], faults[1])
	return d, err
}

// largest are the ids of one kind with the largest of a value, and how many it
// leaves out.
func largest[R any](drawing *api.Drawing, kind string, rows []R, value func(i int, row R) float64) ([]string, int) {
	type one struct {
		id string
		v  float64
	}
	var all []one
	for _, n := range drawing.Nodes {
		if n.Kind != kind || len(all) == len(rows) {
			continue
		}
		v := value(len(all), rows[len(all)])
		if n.Final {
			v = math.Inf(-1) // finished work
		}
		all = append(all, one{n.ID, v})
	}
	slices.SortStableFunc(all, func(a, b one) int { return cmp.Compare(b.v, a.v) })
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
			docs[i], errs[i] = api.Get[T](ctx, s.Client, kind, url.Values{"net": {net}, kind: {id}})
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
