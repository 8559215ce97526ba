// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/web/api"
)

// Archive answers about moments that the history no longer keeps. Times are microseconds
// since the Unix epoch. What it returns is shared and must not be changed. Errors are for
// people; api.ErrNothing and api.ErrBusy have a status of their own.
type Archive interface {
	// Extent returns the time of the oldest moment and the time between two, at once; 0 if
	// there is none.
	Extent() (from int64, step time.Duration)
	// Frame returns a net as of the newest moment at or before a time.
	Frame(ctx context.Context, def *petri.Net, at int64) (*api.Frame, error)
	// Overview returns everything but rows.
	Overview(ctx context.Context, at int64) (*api.Overview, error)
	// PlaceSeries and TransitionSeries return the hour before a time.
	PlaceSeries(ctx context.Context, net, place string, at int64) (*api.Series, error)
	TransitionSeries(ctx context.Context, net, transition string, at int64) (*api.Series, error)
}

// archived describes what the archive has; nil for nothing.
func (s *Server) archived() *api.Archive {
	if s.cfg.Archive == nil {
		return nil
	}
	from, step := s.cfg.Archive.Extent()
	if from == 0 {
		return nil
	}
	return &api.Archive{From: api.Time(from), Step: step.Seconds()}
}

// refuseOlder answers with an error of the archive.
func refuseOlder(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, api.ErrNothing):
		refuse(w, http.StatusNotFound, err.Error())
	case errors.Is(err, api.ErrBusy):
		w.Header().Set("Retry-After", "2")
		refuse(w, http.StatusServiceUnavailable, err.Error())
	default:
		refuse(w, http.StatusBadGateway, err.Error())
	}
}

// olderFrame returns a frame of the archive.
func (s *Server) olderFrame(ctx context.Context, n *netBoard, at int64) (*api.Frame, error) {
	f, err := s.cfg.Archive.Frame(ctx, n.net.Def, at)
	if err != nil {
		return nil, err
	}
	shown := *f
	shown.Drawing = n.drawing.hash
	return &shown, nil
}

// olderOverview returns an overview of the archive. What is not in it and does not change with
// time is added: names, drawings, and the indices and notes of alarms.
func (s *Server) olderOverview(ctx context.Context, at int64) (*api.Overview, error) {
	kept, err := s.cfg.Archive.Overview(ctx, at)
	if err != nil {
		return nil, err
	}
	d, b := *kept, s.board.Load()
	d.History, d.Links = b.kept(), b.links
	d.Nets, d.Alarms = slices.Clone(kept.Nets), slices.Clone(kept.Alarms)
	for i := range d.Nets {
		if n := b.nets[d.Nets[i].ID]; n != nil {
			d.Nets[i].Name, d.Nets[i].Drawing = n.net.Def.Name, n.drawing.hash
		}
	}
	names := namesOf(b.view)
	for i := range d.Alarms {
		identify(&d.Alarms[i], b.alarms)
		names.name(&d.Alarms[i])
	}
	return &d, nil
}

// identify adds to an alarm of the past what is known of it from alarms that are still active
// or were cleared: its index, and who acknowledged it. They are one if they have the same
// kind and subject, and were raised within a second.
func identify(d *api.Alarm, set *alarm.ActiveSet) {
	take := func(a *alarm.Alarm) bool {
		place, transition, source, region := a.About()
		apart := int64(d.Raised) - a.Raised
		if d.Raised == 0 || apart < -1e6 || apart > 1e6 || d.Alarm != a.Kind.String() || d.Net != a.Net || d.Place != place || d.Transition != transition || d.Source != source || d.Region != region || d.ForReason != a.Selects.IfKnown() {
			return false
		}
		d.Index = a.Index
		if d.Acknowledged != nil && a.Ack != nil {
			d.Acknowledged = &api.Ack{By: a.Ack.By, At: api.Time(a.Ack.At), Comment: a.Ack.Comment}
		}
		return true
	}
	for i := range set.Active {
		if take(&set.Active[i]) {
			return
		}
	}
	for i := range set.Cleared {
		if take(&set.Cleared[i].Alarm) {
			return
		}
	}
}
