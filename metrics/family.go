// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/stats"
)

// Type is the type of a family.
type Type uint8

// The types of families.
const (
	Gauge Type = iota
	Counter
	Histogram // native and classic buckets in one
)

// String returns the type as in the exposition formats.
func (t Type) String() string { return [...]string{"gauge", "counter", "histogram"}[t] }

// Family describes one metric family.
type Family struct {
	Name   string
	Type   Type
	Help   string
	Labels []string
	// Columns are the columns that a net's rows must fill in; otherwise the net has
	// no series in this family. 0 for a family that is not made from rows.
	Columns stats.Columns

	scope scope
	ages  bool // it changes with time, for the same View
	read  func(*scrape)
}

// scope is what one reading of a family covers.
type scope uint8

const (
	ofRows    scope = iota // the rows of one net
	ofSources              // the sources of one net
	ofAlarms               // the active alarms of one net
	ofEach                 // one net, also of which only alarms are known
	ofSidecar              // the whole View, or the sidecar itself
)

// Families returns every family that is made from a View, and those of the sidecar
// itself. Their order is that of the output, and that in which a net's series
// budget is spent.
func Families() []Family {
	var all []Family
	all = append(all, netFamilies()...)
	all = append(all, sourceFamilies()...)
	all = append(all, regionFamilies()...)
	all = append(all, alarmFamilies()...)
	all = append(all, queueFamilies()...)
	all = append(all, placeFamilies()...)
	all = append(all, transitionFamilies()...)
	all = append(all, detailFamilies()...)
	all = append(all, sidecarFamilies()...)
	return append(all, alarmCounterFamilies()...)
}

func netFamilies() []Family {
	total := func(name, help string, value func(*stats.NetRow) uint64) Family {
		return Family{Name: name, Type: Counter, Help: help, Labels: []string{"net"}, Columns: stats.ColInstances,
			read: func(s *scrape) { s.put(float64(value(&s.net.Rows.Net)), s.labels.net) }}
	}
	return []Family{
		{Name: Instances, Type: Gauge, Labels: []string{"net", "state"}, Columns: stats.ColInstances,
			Help: "Instances of the net now, by state: active, or deadlocked (nothing enabled, nothing running, not final).",
			read: func(s *scrape) {
				s.put(float64(s.net.Rows.Net.Active), s.labels.net, s.fixed.active)
				s.put(float64(s.net.Rows.Net.Deadlocked), s.labels.net, s.fixed.deadlocked)
			}},
		total(InstancesCreatedTotal, "Instances of the net that were created.",
			func(n *stats.NetRow) uint64 { return n.Created }),
		total(InstancesFinishedTotal, "Instances of the net that reached a final marking.",
			func(n *stats.NetRow) uint64 { return n.Finished }),
		total(InstancesFailedTotal, "Instances of the net that failed.",
			func(n *stats.NetRow) uint64 { return n.Failed }),
	}
}

func sourceFamilies() []Family {
	sources := func(name, help string, typ Type, ages bool, value func(src *merge.Source, now int64) float64) Family {
		return Family{Name: name, Type: typ, Help: help, Labels: []string{"net", "source"}, scope: ofSources, ages: ages,
			read: func(s *scrape) {
				for i, src := range s.sources {
					s.put(value(src, s.now), s.labels.net, s.labels.sources[i])
				}
			}}
	}
	return []Family{
		sources(SourceUp, "Whether a message of the source arrived within three of its intervals. While the sidecar itself cannot receive (pnagent_nats_connected is 0) the value does not change.", Gauge, false,
			func(src *merge.Source, _ int64) float64 {
				if src.State == merge.Up {
					return 1
				}
				return 0
			}),
		{Name: SourceRefused, Type: Gauge, Labels: []string{"net", "source", "reason"}, scope: ofSources,
			Help: "1 for each source whose messages are refused, by reason: conflict if two processes publish as it, or a reason of " +
				PnagentMessagesRejectedTotal + ". Other sources have no series. The rows of a refused source are its last accepted ones, or those of one of the two processes.",
			read: func(s *scrape) {
				for i, src := range s.sources {
					if src.State == merge.Refused {
						s.put(1, s.labels.net, s.labels.sources[i], pair("reason", src.Refusal))
					}
				}
			}},
		sources(SourceLastSnapshotAgeSeconds, "Time since the last snapshot of the source arrived.", Gauge, true,
			func(src *merge.Source, now int64) float64 { return age(src.LastMessage, now) }),
		sources(SourceGapsTotal, "Snapshots of the source that were lost on the way. Those that it published while the sidecar itself could not receive, as during a restart or without NATS, are not counted.", Counter, false,
			func(src *merge.Source, _ int64) float64 { return float64(src.Gaps) }),
	}
}

// regionFamilies returns the families about the regions of a net: a series for
// each source that owns a region and reports the number. A source that is gone has
// none.
func regionFamilies() []Family {
	regions := func(name, help string, typ Type, value func(src *merge.Source) *uint64) Family {
		return Family{Name: name, Type: typ, Help: help, Labels: []string{"net", "region", "source"}, scope: ofSources,
			read: func(s *scrape) {
				for i, src := range s.sources {
					if src.Region == "" || src.State == merge.Gone {
						continue
					}
					if n := value(src); n != nil {
						s.put(float64(*n), s.labels.net, s.labels.regions[i], s.labels.sources[i])
					}
				}
			}}
	}
	return []Family{
		regions(RegionEpoch, "Number of the source as owner of the region; it rises when the region moves, and with each start of an engine with a journal.", Gauge,
			func(src *merge.Source) *uint64 {
				if src.Fence == 0 {
					return nil
				}
				return &src.Fence
			}),
		regions(RegionSetbacksTotal, "Take-overs of the region by the source after which its counters were lower than those of the previous owner: the region's log lost something.", Counter,
			func(src *merge.Source) *uint64 {
				if src.Fence == 0 {
					return nil
				}
				return &src.Setbacks
			}),
		regions(RegionCommitsTotal, "Commits in the log of the region.", Counter, func(src *merge.Source) *uint64 { return src.Position }),
		regions(RegionStandbys, "Standby processes that follow the log of the region.", Gauge,
			func(src *merge.Source) *uint64 { return src.Standbys }),
		regions(RegionLagCommits, "Commits by which the nearest standby of the region lags.", Gauge,
			func(src *merge.Source) *uint64 { return src.Lag }),
		regions(RegionStopped, "Whether the region is stopped: 1 if so, else 0. The alarm's text has the reason.", Gauge,
			func(src *merge.Source) *uint64 {
				if src.Position == nil {
					return nil
				}
				stopped := uint64(0)
				if src.RegionStopped != "" {
					stopped = 1
				}
				return &stopped
			}),
	}
}

// ofQueues returns a family with one series for each priority in use.
func ofQueues(name, help string, typ Type, value func(q *stats.Queue, now int64) float64) Family {
	return Family{Name: name, Type: typ, Help: help, Labels: []string{"net", "priority"}, Columns: stats.ColQueues,
		read: func(s *scrape) {
			for i := range s.net.Rows.Queues {
				q := &s.net.Rows.Queues[i]
				s.put(value(q, s.now), s.labels.net, s.fixed.priorities[q.Priority])
			}
		}}
}

func queueFamilies() []Family {
	oldest := ofQueues(QueueOldestAgeSeconds,
		"Time for which the longest waiting instance of the priority has been ready; 0 if none is.", Gauge,
		func(q *stats.Queue, now int64) float64 { return age(q.OldestSince, now) })
	unserved := ofQueues(QueueUnservedAgeSeconds,
		"Time for which the priority has had ready instances and was not served; 0 if none is ready.", Gauge,
		func(q *stats.Queue, now int64) float64 { return age(q.UnservedSince, now) })
	oldest.ages, unserved.ages = true, true
	return []Family{
		{Name: QueueWaiting, Type: Gauge, Labels: []string{"net"}, Columns: stats.ColWaiting,
			Help: "Pieces of work that no worker has started.",
			read: func(s *scrape) { s.put(float64(s.net.Rows.Waiting), s.labels.net) }},
		ofQueues(QueueReady, "Instances of the priority that are ready now.", Gauge,
			func(q *stats.Queue, _ int64) float64 { return float64(q.Ready) }),
		oldest,
		unserved,
		ofQueues(QueueServedTotal, "Events of the priority that were served: firings, or pieces of work.", Counter,
			func(q *stats.Queue, _ int64) float64 { return float64(q.Served) }),
		ofQueues(QueueQuoteSwitchesTotal, "Turns that ended because the quote of the priority was used up.", Counter,
			func(q *stats.Queue, _ int64) float64 { return float64(q.QuoteSwitches) }),
	}
}

// ofPlaces returns a family with one series for each place.
func ofPlaces(name, help string, typ Type, column stats.Columns, value func(*stats.Place) uint64) Family {
	return Family{Name: name, Type: typ, Help: help, Labels: []string{"net", "place"}, Columns: column,
		read: func(s *scrape) {
			for i := range s.net.Rows.Places {
				s.put(float64(value(&s.net.Rows.Places[i])), s.labels.net, s.labels.places[i])
			}
		}}
}

func placeFamilies() []Family {
	return []Family{
		{Name: PlaceFinal, Type: Gauge, Labels: []string{"net", "place"}, Columns: stats.ColOldest,
			Help: "1 for each place from which no transition takes tokens: tokens stay there once the work is done, so their age is no problem. Other places have no series. " +
				"To exclude final places from an expression about ages: unless on (net, place) " + PlaceFinal + ".",
			read: func(s *scrape) {
				for i := range s.net.Rows.Places {
					if s.net.IsFinal(i) {
						s.put(1, s.labels.net, s.labels.places[i])
					}
				}
			}},
		{Name: PlaceResting, Type: Gauge, Labels: []string{"net", "place"}, Columns: stats.ColOldest,
			Help: "1 for each place in which tokens may stay, because an override of the rules for alarms turns tokenStuck off. Other places have no series. " +
				"The oldest token of a net is that of the other places: unless on (net, place) (" + PlaceFinal + " or " + PlaceResting + ").",
			read: func(s *scrape) {
				for _, i := range s.resting {
					s.put(1, s.labels.net, s.labels.places[i])
				}
			}},
		ofPlaces(PlaceTokens, "Tokens in the place now.", Gauge, stats.ColTokens,
			func(p *stats.Place) uint64 { return p.Tokens }),
		ofPlaces(PlaceInstances, "Instances with a token in the place now.", Gauge, stats.ColPlaceInstances,
			func(p *stats.Place) uint64 { return p.Instances }),
		{Name: PlaceOldestTokenAgeSeconds, Type: Gauge, Labels: []string{"net", "place"}, Columns: stats.ColOldest,
			Help: "Time since the oldest token in the place was put there; 0 without a token.", ages: true,
			read: func(s *scrape) {
				for i := range s.net.Rows.Places {
					s.put(age(s.net.Rows.Places[i].Oldest, s.now), s.labels.net, s.labels.places[i])
				}
			}},
		ofPlaces(PlaceArrivalsTotal, "Tokens put into the place, including those of initial markings.", Counter, stats.ColArrivals,
			func(p *stats.Place) uint64 { return p.Arrivals }),
		ofPlaces(PlaceDeparturesTotal, "Tokens taken from the place.", Counter, stats.ColDepartures,
			func(p *stats.Place) uint64 { return p.Departures }),
	}
}

// ofTransitions returns a family with one series for each transition.
func ofTransitions(name, help string, typ Type, column stats.Columns, value func(*stats.Transition) uint64) Family {
	return Family{Name: name, Type: typ, Help: help, Labels: []string{"net", "transition"}, Columns: column,
		read: func(s *scrape) {
			for i := range s.net.Rows.Transitions {
				s.put(float64(value(&s.net.Rows.Transitions[i])), s.labels.net, s.labels.transitions[i])
			}
		}}
}

// sinceTransition returns a family with the age of a time of each transition.
func sinceTransition(name, help string, column stats.Columns, since func(*stats.Transition) int64) Family {
	return Family{Name: name, Type: Gauge, Help: help, Labels: []string{"net", "transition"}, Columns: column, ages: true,
		read: func(s *scrape) {
			for i := range s.net.Rows.Transitions {
				s.put(age(since(&s.net.Rows.Transitions[i]), s.now), s.labels.net, s.labels.transitions[i])
			}
		}}
}

func transitionFamilies() []Family {
	return []Family{
		ofTransitions(TransitionFiringsTotal, "Firings of the transition.", Counter, stats.ColFirings,
			func(t *stats.Transition) uint64 { return t.Firings }),
		ofTransitions(TransitionFailuresTotal, "Times the transition was enabled and could not fire.", Counter, stats.ColFailures,
			func(t *stats.Transition) uint64 { return t.Failures }),
		ofTransitions(TransitionRetriesTotal, "Firings of the transition that were retried.", Counter, stats.ColFailures,
			func(t *stats.Transition) uint64 { return t.Retries }),
		ofTransitions(TransitionCancelsTotal, "Firings of the transition that were cancelled, with the tokens put back.", Counter, stats.ColFailures,
			func(t *stats.Transition) uint64 { return t.Cancels }),
		ofTransitions(TransitionTimeoutsTotal, "Firings of the transition that were cancelled because they timed out; each counts as cancelled too.", Counter, stats.ColTimeouts,
			func(t *stats.Transition) uint64 { return t.Timeouts }),
		ofTransitions(TransitionLateAnswersTotal, "Answers to firings of the transition that arrived after the firing had ended, and were not used.", Counter, stats.ColTimeouts,
			func(t *stats.Transition) uint64 { return t.Late }),
		ofTransitions(TransitionEnabledInstances, "Instances in which the transition is enabled now.", Gauge, stats.ColEnabled,
			func(t *stats.Transition) uint64 { return t.Enabled }),
		sinceTransition(TransitionEnabledAgeSeconds,
			"Time for which the transition has been enabled in the instance where it waits longest; 0 if nowhere.", stats.ColEnabled,
			func(t *stats.Transition) int64 { return t.EnabledSince }),
		ofTransitions(TransitionRunning, "Firings of the transition that are running now.", Gauge, stats.ColRunning,
			func(t *stats.Transition) uint64 { return t.Running }),
		sinceTransition(TransitionRunningAgeSeconds,
			"Time since the start of the longest running firing; 0 without one.", stats.ColRunning,
			func(t *stats.Transition) int64 { return t.RunningSince }),
		{Name: TransitionLastFiringTimestampSeconds, Type: Gauge, Labels: []string{"net", "transition"}, Columns: stats.ColLastFiring,
			Help: "Unix time of the transition's last firing; absent if it never fired.",
			read: func(s *scrape) {
				for i := range s.net.Rows.Transitions {
					if last := s.net.Rows.Transitions[i].LastFiring; last != 0 {
						s.put(float64(last)/1e6, s.labels.net, s.labels.transitions[i])
					}
				}
			}},
	}
}

// detailFamilies returns the families with several series for a place, a
// transition or a source. They come last, so that a net over its budget loses them first.
func detailFamilies() []Family {
	return []Family{
		{Name: PlaceTokensOlderThan, Type: Gauge, Labels: []string{"net", "place", "age"}, Columns: stats.ColAges, ages: true,
			Help: "Tokens in the place now that were put there at least this long ago, to a sixteenth of that time.",
			read: func(s *scrape) {
				for i := range s.net.Rows.Places {
					ages := &s.net.Rows.Places[i].Ages
					for _, rung := range s.fixed.ladder {
						s.put(float64(ages.InjectedBefore(s.now-rung.micros)), s.labels.net, s.labels.places[i], rung.label)
					}
				}
			}},
		{Name: TransitionBlockedInstances, Type: Gauge, Labels: []string{"net", "transition", "place", "reason"}, Columns: stats.ColBlocks,
			Help: "Instances in which the transition is blocked, by place and reason; place is empty if no single place is the cause.",
			read: func(s *scrape) {
				for _, b := range s.net.Rows.Blocks {
					s.put(float64(b.Instances), s.labels.net, s.labels.transitions[b.Transition], s.labels.place(b.Place), s.fixed.reason(b.Reason))
				}
			}},
		{Name: SourceRequestsRefusedTotal, Type: Counter, Labels: []string{"net", "source", "reason"}, scope: ofSources,
			Help: "Requests that the source refused because they exceed a bound of it, by reason, since the sidecar first received the source. Sources that take no requests have no series.",
			read: (*scrape).putRequests},
		{Name: PlaceDwellSeconds, Type: Histogram, Labels: []string{"net", "place"}, Columns: stats.ColDwell,
			Help: "Time that tokens stayed in the place, for those that left it.",
			read: func(s *scrape) {
				for i := range s.net.Rows.Places {
					s.putHistogram(&s.net.Rows.Places[i].Dwell, &s.net.Rows.Places[i].Slowest, s.labels.net, s.labels.places[i])
				}
			}},
		{Name: TransitionDurationSeconds, Type: Histogram, Labels: []string{"net", "transition"}, Columns: stats.ColDuration,
			Help: "Time from start to end of the transition's firings.",
			read: func(s *scrape) {
				for i := range s.net.Rows.Transitions {
					s.putHistogram(&s.net.Rows.Transitions[i].Duration, &s.net.Rows.Transitions[i].Slowest, s.labels.net, s.labels.transitions[i])
				}
			}},
	}
}

// age returns the time from then to now, in seconds, or 0 if then is 0.
func age(then, now int64) float64 {
	if then == 0 || now < then {
		return 0
	}
	return float64(now-then) / 1e6
}

// putRequests emits the requests that each source refused, by reason.
func (s *scrape) putRequests() {
	for i, src := range s.sources {
		if src.Requests == nil {
			continue
		}
		for reason, n := range src.Requests {
			s.put(float64(n), s.labels.net, s.labels.sources[i], s.fixed.refusals[reason])
		}
	}
}
