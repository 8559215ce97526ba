// SPDX-License-Identifier: Apache-2.0

package web

import (
	"slices"
	"sync"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry/natslink"
	"github.com/pnagent/pnagent/web/api"
)

// ViewDocument returns a View for JSON, with ages as of now (microseconds since
// the Unix epoch). The alarms have the places in which tokens may stay.
func ViewDocument(v *merge.View, alarms *alarm.ActiveSet, now int64) *api.View {
	d := &api.View{At: api.Time(v.At), Age: ageAt(v.At, now), Generation: v.Generation, Nets: make([]api.Net, len(v.Nets)), Sources: make([]api.Source, len(v.Sources)),
		States: api.States{Up: v.States[merge.Up], Stale: v.States[merge.Stale], Gone: v.States[merge.Gone],
			Undefined: v.States[merge.Undefined], Refused: v.States[merge.Refused]},
		Traffic: api.Traffic{Messages: v.Traffic.Messages, MessageRate: rate(v.MessageRate), Bytes: v.Traffic.Bytes, Lost: v.Traffic.Lost,
			Bad: v.Traffic.Bad, Rejected: v.Traffic.Rejected},
		NATS: connection(v.NATS), Up: connection(v.Up), AgentX: master(v.AgentX), Interrupted: v.Interrupted, Pace: v.Pace.Seconds()}
	for i, n := range v.Nets {
		d.Nets[i] = netDocument(n, alarms, now)
	}
	for i := range v.Sources {
		d.Sources[i] = sourceDocument(v, &v.Sources[i], now)
	}
	return d
}

func master(m *merge.Master) *api.Connection {
	if m == nil {
		return nil
	}
	return connection(&m.ConnState)
}

func connection(c *natslink.ConnState) *api.Connection {
	if c == nil {
		return nil
	}
	return &api.Connection{Connected: c.Connected, Since: api.Time(c.Since), Server: c.Server, Reason: c.Reason, Disconnects: c.Disconnects}
}

func netTotals(n *merge.NetView, alarms *alarm.ActiveSet, now int64) api.NetTotals {
	cols := n.Rows.Columns
	d := api.NetTotals{ID: n.Name, Name: n.Def.Name, Since: api.Time(n.Since), Digests: make([]api.Digest, len(n.Digests)), Up: n.Up, Stale: n.Stale,
		Tokens: known(cols, stats.ColTokens, n.Tokens), Waiting: known(cols, stats.ColWaiting, n.Rows.Waiting)}
	for i, g := range n.Digests {
		d.Digests[i] = api.Digest(g)
	}
	if cols.Has(stats.ColInstances) {
		d.Instances, d.FinishedRate = new(api.Instances(n.Rows.Net)), rate(n.Rates.Finished)
	}
	if since, place := alarms.Oldest(n); cols.Has(stats.ColOldest) && since != 0 {
		d.OldestAge, d.OldestPlace = new(ageAt(since, now)), n.Def.Places[place].ID
	}
	if cols.Has(stats.ColFirings) {
		d.Firings, d.Rate, d.DampedRates = &n.Firings, rate(n.Rates.Firings.Now), damped(&n.Rates.Firings)
	}
	return d
}

// rate returns nil for a rate that is not known.
func rate(r float64) *float64 { return rateAt(&r) }

// rateAt is rate without a copy.
func rateAt(r *float64) *float64 {
	if *r == merge.UnknownRate {
		return nil
	}
	return r
}

func damped(r *merge.Rate) api.DampedRates {
	return api.DampedRates{Rate1: &r.Min1, Rate5: &r.Min5, Rate15: &r.Min15}
}

func netDocument(n *merge.NetView, alarms *alarm.ActiveSet, now int64) api.Net {
	cols := n.Rows.Columns
	d := api.Net{NetTotals: netTotals(n, alarms, now), Places: make([]api.Place, len(n.Rows.Places)), Transitions: make([]api.Transition, len(n.Rows.Transitions))}
	for i := range n.Rows.Places {
		d.Places[i] = placeDocument(n, i, alarms, now)
	}
	for i := range n.Rows.Transitions {
		d.Transitions[i] = transitionDocument(n, i, now)
	}
	if cols.Has(stats.ColBlocks) {
		blocks := make([]api.Block, len(n.Rows.Blocks))
		for i := range blocks {
			blocks[i] = blockDocument(n.Def, &n.Rows.Blocks[i])
		}
		d.Blocks = &blocks
	}
	if cols.Has(stats.ColQueues) {
		queues := make([]api.Queue, len(n.Rows.Queues))
		for i, q := range n.Rows.Queues {
			queues[i] = api.Queue{Priority: q.Priority, Ready: q.Ready, OldestAge: ageAt(q.OldestSince, now),
				UnservedAge: ageAt(q.UnservedSince, now), Served: q.Served, QuoteSwitches: q.QuoteSwitches}
		}
		d.Queues = &queues
	}
	return d
}

// placeNow returns the part of a place that frames contain.
func placeNow(n *merge.NetView, i int) (d api.PlaceNow) {
	cols, p := n.Rows.Columns, &n.Rows.Places[i]
	d.Tokens, d.Instances = knownAt(cols, stats.ColTokens, &p.Tokens), knownAt(cols, stats.ColPlaceInstances, &p.Instances)
	if cols.Has(stats.ColOldest) {
		d.OldestSince = api.Time(p.Oldest)
	}
	if cols.Has(stats.ColArrivals) {
		d.ArrivalRate = rateAt(&n.Rates.Arrivals[i])
	}
	return d
}

// called returns nil for what is of no file.
func called(c petri.Called) *api.Called {
	if c.Kind == "" {
		return nil
	}
	return &api.Called{Kind: c.Kind, Name: c.Name}
}

// bookkeeping returns the name of a role; "" for work.
func bookkeeping(r petri.Role) string {
	if r == petri.RoleWork {
		return ""
	}
	return r.String()
}

func placeDocument(n *merge.NetView, i int, alarms *alarm.ActiveSet, now int64) api.Place {
	def, p, cols := n.Def, &n.Rows.Places[i], n.Rows.Columns
	d := api.Place{ID: def.Places[i].ID, Name: def.Places[i].Name, Called: called(def.Places[i].Called), Final: n.IsFinal(i), Resting: alarms.Rests(n, i), Role: bookkeeping(def.Places[i].Role), PlaceNow: placeNow(n, i),
		Arrivals:   known(cols, stats.ColArrivals, p.Arrivals),
		Departures: known(cols, stats.ColDepartures, p.Departures),
		OldestAge:  known(cols, stats.ColOldest, ageAt(p.Oldest, now)),
		MeanAge:    known(cols, stats.ColOldest|stats.ColTokens, ageAt(p.Injected.Mean(p.Tokens), now)),
		Dwell:      histogram(cols, stats.ColDwell, &p.Dwell),
		Slowest:    slowest(p.Slowest),
	}
	if cols.Has(stats.ColOldest) {
		d.LastInjection = api.Time(p.LastInjection)
	}
	if cols.Has(stats.ColDepartures) {
		d.DepartureRate = rate(n.Rates.Departures[i])
	}
	if cols.Has(stats.ColAges) {
		at := func(step int) uint64 { return p.Ages.InjectedBefore(now - stats.AgeSteps()[step].Age) }
		d.OlderThan = &api.OlderThan{S1: at(0), S10: at(1), M1: at(2), M10: at(3), H1: at(4), H6: at(5), D1: at(6), D7: at(7)}
	}
	if cols.Has(stats.ColStuck) {
		stuck := make([]api.Token, 0, len(p.Stuck))
		for _, t := range n.Stuck(i) {
			stuck = append(stuck, tokenDocument(def, &t, now))
		}
		d.Stuck = &stuck
	}
	if cols.Has(stats.ColGroups) {
		reasons := make([]api.Reason, 0, len(p.Groups))
		for k := range n.Groups(i) {
			g := &p.Groups[k]
			reasons = append(reasons, api.Reason{Reason: g.Reason.String(), Tokens: g.Tokens, Due: api.Time(g.Due), Oldest: tokenDocument(def, &g.Oldest, now)})
		}
		d.Reasons = &reasons
	}
	return d
}

func tokenDocument(def *petri.Net, t *stats.Token, now int64) api.Token {
	return api.Token{Instance: t.Instance, Injected: api.Time(t.Injected), Age: ageAt(t.Injected, now), Waits: waits(def, t.Waits)}
}

func waits(def *petri.Net, waits []stats.Wait) []api.Wait {
	out := make([]api.Wait, len(waits))
	for i, w := range waits {
		place, _ := placeNames(def, w.Place)
		out[i] = api.Wait{Transition: def.Transitions[w.Transition].ID, Reason: w.Reason.String(), Place: place, Count: w.Count, Until: api.Time(w.Until), What: w.What}
	}
	return out
}

// transitionNow returns the part of a transition that frames contain.
func transitionNow(n *merge.NetView, i int) (d api.TransitionNow) {
	cols, t := n.Rows.Columns, &n.Rows.Transitions[i]
	d.Enabled, d.Running = knownAt(cols, stats.ColEnabled, &t.Enabled), knownAt(cols, stats.ColRunning, &t.Running)
	d.Blocked, d.Failures = knownAt(cols, stats.ColBlocks, &n.Blocked[i]), knownAt(cols, stats.ColFailures, &t.Failures)
	if cols.Has(stats.ColFirings) {
		d.Rate = rateAt(&n.Rates.Transitions[i].Now)
	}
	if cols.Has(stats.ColEnabled) {
		d.EnabledSince = api.Time(t.EnabledSince)
	}
	return d
}

func transitionDocument(n *merge.NetView, i int, now int64) api.Transition {
	def, t, cols := &n.Def.Transitions[i], &n.Rows.Transitions[i], n.Rows.Columns
	d := api.Transition{ID: def.ID, Name: def.Name, Called: called(def.Called), Role: bookkeeping(def.Role), TransitionNow: transitionNow(n, i),
		EnabledAge: known(cols, stats.ColEnabled, ageAt(t.EnabledSince, now)),
		RunningAge: known(cols, stats.ColRunning, ageAt(t.RunningSince, now)),
		Duration:   histogram(cols, stats.ColDuration, &t.Duration),
		Slowest:    slowest(t.Slowest),
	}
	for i, to := range d.Counters() {
		c := &stats.TransitionTable.Counts[i]
		*to = known(cols, c.Column, *c.Of(t))
	}
	if cols.Has(stats.ColFirings) {
		d.DampedRates = damped(&n.Rates.Transitions[i])
	}
	if cols.Has(stats.ColLastFiring) {
		d.LastFiring = api.Time(t.LastFiring)
	}
	if cols.Has(stats.ColNextDue) {
		d.NextDue = api.Time(t.NextDue)
	}
	return d
}

func blockDocument(def *petri.Net, b *stats.Block) api.Block {
	place, _ := placeNames(def, b.Place)
	return api.Block{Transition: def.Transitions[b.Transition].ID, Place: place, Reason: b.Reason.String(), Instances: b.Instances}
}

// stateOf returns the state of a source. While sources are shown as of before a break, it is not
// known whether one that was up still is.
func stateOf(v *merge.View, s *merge.Source) string {
	if s.State == merge.Up && v.Interrupted {
		return api.UnknownState
	}
	return s.State.String()
}

func sourceState(v *merge.View, s *merge.Source, now int64) api.SourceState {
	d := api.SourceState{Name: s.Name, Net: s.Net, State: stateOf(v, s), Reason: s.Reason, Gaps: s.Gaps,
		Region: s.Region, Fence: s.Fence, Position: s.Position, Standbys: s.Standbys, Lag: s.Lag, RegionStopped: s.RegionStopped,
		Below: s.Below(), RefusedRequests: refusedRequests(s.Requests)}
	if s.LastMessage != 0 {
		d.LastMessageAge = new(ageAt(s.LastMessage, now))
	}
	return d
}

func sourceDocument(v *merge.View, s *merge.Source, now int64) api.Source {
	return api.Source{SourceState: sourceState(v, s, now), Digest: s.Digest, Since: api.Time(s.Since), Conflict: s.Conflict, Epoch: s.Epoch, Seq: s.Seq,
		LastMessage: api.Time(s.LastMessage), Interval: s.Interval.Seconds(), Skew: s.Skew.Seconds(), SkewBeyond: s.SkewBeyond,
		Duplicates: s.Duplicates, Restarts: s.Restarts, Setbacks: s.Setbacks}
}

func refusedRequests(r *stats.RefusedRequests) *api.RefusedRequests {
	if r == nil {
		return nil
	}
	return &api.RefusedRequests{Tokens: r[stats.RefusedTokens], Place: r[stats.RefusedPlace], Queue: r[stats.RefusedQueue], Size: r[stats.RefusedSize]}
}

func histogram(cols, want stats.Columns, h *stats.Histogram) *api.Histogram {
	if !cols.Has(want) {
		return nil
	}
	d := &api.Histogram{Count: h.Count(), Sum: float64(h.Sum) / 1e6}
	if d.Count > 0 {
		mean, p50, p95, p99 := d.Sum/float64(d.Count), h.Quantile(0.5), h.Quantile(0.95), h.Quantile(0.99)
		d.Mean, d.P50, d.P95, d.P99 = &mean, &p50, &p95, &p99
	}
	return d
}

func slowest(s stats.Slowest) *api.Slowest {
	if s.At == 0 {
		return nil
	}
	return &api.Slowest{Instance: s.Instance, Seconds: float64(s.Micros) / 1e6, At: api.Time(s.At)}
}

// AlarmsDocument returns alarms for JSON, with the names of a View and ages as of now.
func AlarmsDocument(s *alarm.ActiveSet, v *merge.View, now int64) *api.Alarms {
	names := namesOf(v)
	d := &api.Alarms{LastChange: api.Time(s.LastChange), Suppressed: s.Suppressed, Active: make([]api.Alarm, len(s.Active)), Silences: silenceDocuments(s.Silences)}
	for i := range s.Active {
		d.Active[i] = alarmDocument(&s.Active[i], now)
		names.name(&d.Active[i])
	}
	return d
}

// names are the names of nets, and of the places and transitions of each, by id.
type names map[string]*netNames

type netNames struct {
	def *petri.Net
	of  func() map[string]named
}

func namesOf(v *merge.View) names {
	all := make(names, len(v.Nets))
	for _, n := range v.Nets {
		all[n.Name] = &netNames{n.Def, sync.OnceValue(func() map[string]named { return elementNames(n.Def) })}
	}
	return all
}

// named is what a place or a transition is called.
type named struct {
	name   string
	called petri.Called
}

// elementNames returns what a net's places and transitions are called, by id.
func elementNames(def *petri.Net) map[string]named {
	of := make(map[string]named, len(def.Places)+len(def.Transitions))
	for i := range def.Places {
		of[def.Places[i].ID] = named{def.Places[i].Name, def.Places[i].Called}
	}
	for i := range def.Transitions {
		of[def.Transitions[i].ID] = named{def.Transitions[i].Name, def.Transitions[i].Called}
	}
	return of
}

// name adds the names of its net and of its place or transition to an alarm.
func (all names) name(a *api.Alarm) {
	n := all[a.Net]
	if n == nil {
		return
	}
	a.NetName = n.def.Name
	if id := a.Place + a.Transition; id != "" {
		of := n.of()[id]
		a.Name, a.Called = of.name, called(of.called)
	}
}

func alarmDocument(a *alarm.Alarm, now int64) api.Alarm {
	place, transition, source, region := a.About()
	age := float64(max(now-a.Since, 0)) / 1e6
	d := api.Alarm{Index: a.Index, Alarm: a.Kind.String(), Severity: a.Severity.String(), Net: a.Net, Place: place, Transition: transition, Source: source, Region: region,
		Raised: api.Time(a.Raised), Since: api.Time(a.Since), Age: &age, Affected: &a.Affected, Text: a.Text, SilencedUntil: api.Time(a.SilencedUntil),
		After: a.After.Seconds(), Above: a.Above, Window: a.Window.Seconds(), Outdated: a.Outdated, Unknown: a.Unknown, Lost: lostBy(a), Follows: a.Follows,
		ForReason: a.Selects.IfKnown(), Reason: a.Reason().IfKnown(), Instance: a.Why.Instance, Why: a.Why.Words}
	switch a.Kind {
	case alarm.FailureRatio:
		d.Runs = a.Measured
	case alarm.FiringMissed:
		d.LastFired = api.Time(a.LastFired)
	case alarm.TransitionLoop:
		d.Rate = a.Measured
	}
	if a.Ack != nil {
		d.Acknowledged = &api.Ack{By: a.Ack.By, At: api.Time(a.Ack.At), Comment: a.Ack.Comment}
	}
	return d
}

// lostBy returns the source because of which it is not known whether an alarm holds; "" if
// there are several, or another reason.
func lostBy(a *alarm.Alarm) string {
	lost := a.Lost.All()
	switch _, _, source, _ := a.About(); {
	case a.Unknown == "":
		return ""
	case source != "":
		return source
	case len(lost) == 0 || slices.ContainsFunc(lost, func(o alarm.Origin) bool { return o.Source != lost[0].Source }):
		return ""
	}
	return lost[0].Source
}

// clearedDocument returns the cleared alarms for JSON.
func clearedDocument(s *alarm.ActiveSet) *api.ClearedAlarms {
	d := &api.ClearedAlarms{Cleared: make([]api.ClearedAlarm, 0, len(s.Cleared))}
	for i := range s.Cleared {
		c := &s.Cleared[len(s.Cleared)-1-i]
		a := alarmDocument(&c.Alarm, c.Cleared)
		d.Cleared = append(d.Cleared, api.ClearedAlarm{Index: a.Index, Alarm: a.Alarm, Severity: a.Severity, Net: a.Net, Place: a.Place, Transition: a.Transition, Source: a.Source,
			Region: a.Region, Raised: a.Raised, Since: a.Since, Cleared: api.Time(c.Cleared), Affected: c.Affected, Text: a.Text, Acknowledged: a.Acknowledged})
	}
	return d
}

func silenceDocuments(silences []alarm.Silence) []api.Silence {
	out := make([]api.Silence, len(silences))
	for i := range silences {
		out[i] = silenceDocument(&silences[i])
	}
	return out
}

func silenceDocument(s *alarm.Silence) api.Silence {
	d := api.Silence{ID: s.ID, From: api.Time(s.From), Until: api.Time(s.Until), By: s.By, Comment: s.Comment, Pending: s.Pending, Cron: s.Recurs.Cron, Zone: s.Recurs.Zone, Ends: api.Time(s.Ends),
		Selection: api.Selection{Net: s.Net, Place: s.Place, Transition: s.Transition, Source: s.Source, ForReason: s.ForReason.IfKnown()}}
	if s.Kind != 0 {
		d.Alarm = s.Kind.String()
	}
	return d
}

// known returns a value, or nil if its columns are absent.
func known[T any](cols, want stats.Columns, v T) *T { return knownAt(cols, want, &v) }

// knownAt is known of a value of a View, which is not copied.
func knownAt[T any](cols, want stats.Columns, v *T) *T {
	if !cols.Has(want) {
		return nil
	}
	return v
}

// ageAt returns the seconds since a time, or 0 for no time or a future one.
func ageAt(t, now int64) float64 {
	if t == 0 || t > now {
		return 0
	}
	return float64(now-t) / 1e6
}

// placeNames returns the id and the label of a place; "" for NoPlace.
func placeNames(def *petri.Net, place int32) (id, name string) {
	if place == stats.NoPlace {
		return "", ""
	}
	p := &def.Places[place]
	return p.ID, p.Label()
}
