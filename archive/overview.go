// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"golang.org/x/sync/errgroup"

	"github.com/pnagent/pnagent/metrics"
	"github.com/pnagent/pnagent/web/api"
)

// The connection of a sidecar to NATS, see telemetry/natsmetrics.
const (
	natsConnected   = "pnagent_nats_connected"
	natsDisconnects = "pnagent_nats_disconnects_total"
)

// maxListed is how many sources, and how many alarms, an overview lists.
const maxListed = 1000

// Overview returns all nets, sources and alarms as of the newest sample at or before a time,
// as Frame does. Alarms have neither index nor text. A source that was neither up nor refused
// has no state if sources of several such states were known.
func (a *Archive) Overview(ctx context.Context, at int64) (*api.Overview, error) {
	key := request{kind: "overview", at: at / 1e6}
	return get(ctx, a, key, func(ctx context.Context) (*api.Overview, int, error) {
		at, err := a.momentOf(ctx, key.at)
		if err != nil {
			return nil, 0, err
		}
		s, err := a.askAll(ctx, at)
		if err != nil {
			return nil, 0, err
		}
		d := s.document(at)
		return d, len(d.Nets) + len(d.Sources) + len(d.Alarms), nil
	})
}

// answers are what Prometheus has of one moment.
type answers struct {
	nets, tokens, oldest, firings, rates, finished, sources, alarms, sidecar model.Vector
}

// askAll evaluates the expressions of an overview.
func (a *Archive) askAll(ctx context.Context, at time.Time) (*answers, error) {
	var s answers
	byNet := func(labels, expr string) string { return "sum by (net) (" + most(labels, expr) + ")" }
	finished, age := []string{metrics.InstancesFinishedTotal}, []string{metrics.PlaceOldestTokenAgeSeconds}
	asked := []struct {
		expr string
		into *model.Vector
	}{
		{most("__name__, net, state", a.of([]string{metrics.Instances, metrics.InstancesCreatedTotal, metrics.InstancesFinishedTotal, metrics.InstancesFailedTotal, metrics.QueueWaiting})), &s.nets},
		{byNet("net, place", a.of([]string{metrics.PlaceTokens})), &s.tokens},
		{"topk by (net) (1, " + most("net, place", a.of(age)+" unless on (net, place) "+a.of([]string{metrics.PlaceFinal, metrics.PlaceResting})) + ")", &s.oldest},
		{byNet("net, transition", a.of([]string{metrics.TransitionFiringsTotal})), &s.firings},
		{byNet("net, transition", a.rate(a.of([]string{metrics.TransitionFiringsTotal}))), &s.rates},
		{most("net", a.rate(a.of(finished))), &s.finished},
		{most("__name__, net, source, region", a.of([]string{metrics.SourceUp, metrics.SourceRefused, metrics.SourceLastSnapshotAgeSeconds, metrics.SourceGapsTotal,
			metrics.RegionEpoch, metrics.RegionCommitsTotal, metrics.RegionStandbys, metrics.RegionLagCommits, metrics.RegionStopped})), &s.sources},
		{most("__name__, net, place, transition, source, region, alarm, for_reason, severity, follows", a.of([]string{metrics.AlarmActive, metrics.AlarmRaisedTimestampSeconds, metrics.AlarmAcknowledged, metrics.AlarmUnknown, metrics.AlarmFollows})), &s.alarms},
		{most("__name__, state", a.of([]string{natsConnected, natsDisconnects, metrics.PnagentSources})), &s.sidecar},
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for _, one := range asked {
		g.Go(func() (err error) {
			*one.into, err = a.at(ctx, one.expr, at)
			return err
		})
	}
	return &s, g.Wait()
}

// document returns the overview of the answers.
func (s *answers) document(at time.Time) *api.Overview {
	d := &api.Overview{At: api.Time(at.UnixMicro()), Archive: true, Sources: s.sourceStates(), Alarms: s.activeAlarms(at), Silences: []api.Silence{}, NATS: s.connection()}
	nets := s.allNets()
	for i := range d.Sources {
		if n := nets[d.Sources[i].Net]; n != nil {
			switch d.Sources[i].State {
			case "up":
				n.Up++
			case "stale":
				n.Stale++
			}
		}
	}
	for i := range d.Alarms {
		if n := nets[d.Alarms[i].Net]; n != nil {
			n.Alarms++
			switch {
			case d.Alarms[i].Follows != "":
				n.Follow++
			case d.Alarms[i].Unknown != "":
				n.Unknown++
			}
		}
	}
	d.Nets = make([]api.NetOverview, 0, len(nets))
	for _, n := range nets {
		d.Nets = append(d.Nets, *n)
	}
	slices.SortFunc(d.Nets, func(a, b api.NetOverview) int { return strings.Compare(a.ID, b.ID) })
	all := len(d.Sources)
	d.Sources = fewest(d.Sources, func(s api.SourceState) bool { return s.State == "up" })
	d.SourcesLeftOut = all - len(d.Sources)
	all = len(d.Alarms)
	d.Alarms = fewest(d.Alarms, func(api.Alarm) bool { return false })
	d.AlarmsLeftOut = all - len(d.Alarms)
	return d
}

// fewest returns a list without what there is no room for: first those that matter less.
func fewest[T any](all []T, less func(T) bool) []T {
	surplus := max(len(all)-maxListed, 0)
	out := slices.DeleteFunc(all, func(v T) bool {
		if surplus == 0 || !less(v) {
			return false
		}
		surplus--
		return true
	})
	return out[:min(len(out), maxListed)]
}

// allNets returns the nets by id.
func (s *answers) allNets() map[string]*api.NetOverview {
	nets := map[string]*api.NetOverview{}
	each := func(samples model.Vector, set func(n *api.NetOverview, s *model.Sample)) {
		for _, sample := range samples {
			id := label(sample, "net")
			if id == "" {
				continue
			}
			if nets[id] == nil {
				nets[id] = &api.NetOverview{NetTotals: api.NetTotals{ID: id}}
			}
			set(nets[id], sample)
		}
	}
	each(s.nets, setInstances)
	each(s.tokens, func(n *api.NetOverview, s *model.Sample) { n.Tokens = whole(s) })
	each(s.firings, func(n *api.NetOverview, s *model.Sample) { n.Firings = whole(s) })
	each(s.rates, func(n *api.NetOverview, s *model.Sample) { n.Rate = number(s) })
	each(s.finished, func(n *api.NetOverview, s *model.Sample) { n.FinishedRate = number(s) })
	each(s.oldest, func(n *api.NetOverview, s *model.Sample) {
		if known(s) && s.Value > 0 {
			n.OldestAge, n.OldestPlace = number(s), label(s, "place")
		}
	})
	each(s.sources, func(*api.NetOverview, *model.Sample) {})
	return nets
}

func setInstances(n *api.NetOverview, s *model.Sample) {
	name := label(s, model.MetricNameLabel)
	if name == metrics.QueueWaiting {
		n.Waiting = whole(s)
		return
	}
	v := whole(s)
	if v == nil {
		return
	}
	if n.Instances == nil {
		n.Instances = &api.Instances{}
	}
	switch {
	case name == metrics.InstancesCreatedTotal:
		n.Instances.Created = *v
	case name == metrics.InstancesFinishedTotal:
		n.Instances.Finished = *v
	case name == metrics.InstancesFailedTotal:
		n.Instances.Failed = *v
	case label(s, "state") == "active":
		n.Instances.Active = *v
	case label(s, "state") == "deadlocked":
		n.Instances.Deadlocked = *v
	}
}

// sourceStates returns the sources by net and name.
func (s *answers) sourceStates() []api.SourceState {
	type id struct{ net, name string }
	all, refused := map[id]*api.SourceState{}, map[id]bool{}
	for _, sample := range s.sources {
		key := id{label(sample, "net"), label(sample, "source")}
		if all[key] == nil {
			all[key] = &api.SourceState{Net: key.net, Name: key.name, State: s.silent()}
		}
		setSource(all[key], sample)
		if label(sample, model.MetricNameLabel) == metrics.SourceRefused {
			refused[key] = true
		}
	}
	out := make([]api.SourceState, 0, len(all))
	for key, one := range all {
		if refused[key] {
			one.State = "refused"
		}
		out = append(out, *one)
	}
	slices.SortFunc(out, func(a, b api.SourceState) int {
		return cmp.Or(strings.Compare(a.Net, b.Net), strings.Compare(a.Name, b.Name))
	})
	return out
}

// silent returns the state of a source that is neither up nor refused; "" if there are
// sources of several such states.
func (s *answers) silent() (state string) {
	for _, sample := range s.sidecar {
		if of := label(sample, "state"); label(sample, model.MetricNameLabel) == metrics.PnagentSources && sample.Value > 0 && of != "up" && of != "refused" {
			if state != "" {
				return ""
			}
			state = of
		}
	}
	return state
}

// setSource sets a number of a source.
func setSource(d *api.SourceState, s *model.Sample) {
	v := whole(s)
	if v == nil {
		return
	}
	if region := label(s, "region"); region != "" {
		d.Region = region
	}
	switch label(s, model.MetricNameLabel) {
	case metrics.SourceUp:
		if *v == 1 {
			d.State = "up"
		}
	case metrics.SourceLastSnapshotAgeSeconds:
		d.LastMessageAge = number(s)
	case metrics.SourceGapsTotal:
		d.Gaps = *v
	case metrics.RegionEpoch:
		d.Fence = *v
	case metrics.RegionCommitsTotal:
		d.Position = v
	case metrics.RegionStandbys:
		d.Standbys = v
	case metrics.RegionLagCommits:
		d.Lag = v
	case metrics.RegionStopped:
		if *v == 1 {
			d.RegionStopped = "the reason is not known any more"
		}
	}
}

// activeAlarms returns the alarms by the time of their raise.
func (s *answers) activeAlarms(at time.Time) []api.Alarm {
	type id struct{ net, place, transition, source, region, alarm, forReason string }
	idOf := func(s *model.Sample) id {
		return id{label(s, "net"), label(s, "place"), label(s, "transition"), label(s, "source"), label(s, "region"), label(s, "alarm"), label(s, "for_reason")}
	}
	all := map[id]*api.Alarm{}
	for _, sample := range s.alarms {
		if key := idOf(sample); label(sample, model.MetricNameLabel) == metrics.AlarmActive {
			all[key] = &api.Alarm{Alarm: key.alarm, Severity: label(sample, "severity"), Net: key.net, Place: key.place, Transition: key.transition, Source: key.source, Region: key.region, ForReason: key.forReason}
		}
	}
	for _, sample := range s.alarms {
		d := all[idOf(sample)]
		switch name := label(sample, model.MetricNameLabel); {
		case d == nil:
		case name == metrics.AlarmRaisedTimestampSeconds && known(sample) && sample.Value > 0 && float64(sample.Value) < float64(at.Unix()+1):
			d.Raised = api.Time(float64(sample.Value) * 1e6)
		case name == metrics.AlarmAcknowledged:
			d.Acknowledged = &api.Ack{}
		case name == metrics.AlarmUnknown:
			d.Unknown = "the reason is not known any more"
		case name == metrics.AlarmFollows:
			d.Follows = label(sample, "follows")
		}
	}
	out := make([]api.Alarm, 0, len(all))
	for _, one := range all {
		out = append(out, *one)
	}
	slices.SortFunc(out, func(a, b api.Alarm) int {
		return cmp.Or(cmp.Compare(a.Raised, b.Raised), strings.Compare(a.Alarm, b.Alarm), strings.Compare(a.Net, b.Net), strings.Compare(a.About(), b.About()))
	})
	return out
}

// connection returns the connection to NATS; nil if it is not known.
func (s *answers) connection() (c *api.Connection) {
	for _, sample := range s.sidecar {
		if label(sample, model.MetricNameLabel) == natsConnected {
			c = &api.Connection{Connected: sample.Value == 1}
		}
	}
	for _, sample := range s.sidecar {
		if v := whole(sample); c != nil && v != nil && label(sample, model.MetricNameLabel) == natsDisconnects {
			c.Disconnects = *v
		}
	}
	return c
}
