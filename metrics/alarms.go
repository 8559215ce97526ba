// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"slices"

	dto "github.com/prometheus/client_model/go"

	"github.com/pnagent/pnagent/collector/alarm"
)

// shownAlarm is an active alarm with its labels.
type shownAlarm struct {
	index                  uint32
	severity               alarm.Severity
	raised                 int64            // µs
	labels                 []*dto.LabelPair // the last is the severity
	why                    []*dto.LabelPair // of AlarmReason; nil if none is known
	acknowledged, silenced bool
	unknown                bool
	follows                string // alarm.Alarm.Follows
}

// subject is the number of the labels of an alarm without its severity.
const subject = 7

// alarmReaders have a series for each active alarm, or for some. A label that does not
// apply is empty, which Prometheus treats as absent. Two alarms of one kind cannot have the
// same subject, so no series occurs twice.
func alarmReaders() map[string]func(*scrape) {
	// each puts the value of each alarm for which there is one.
	each := func(value func(*shownAlarm) (float64, bool)) func(*scrape) {
		return func(s *scrape) {
			for i := range s.alarms {
				if v, is := value(&s.alarms[i]); is {
					s.put(v, s.alarms[i].labels[:subject]...)
				}
			}
		}
	}
	return map[string]func(*scrape){
		AlarmActive: func(s *scrape) {
			for i := range s.alarms {
				s.put(1, s.alarms[i].labels...)
			}
		},
		Alarms: func(s *scrape) {
			if s.alarmsKnown && !s.alarmsMissing {
				s.put(float64(len(s.alarms)), s.labels.net)
			}
		},
		AlarmRaisedTimestampSeconds: each(func(a *shownAlarm) (float64, bool) { return float64(a.raised) / 1e6, true }),
		AlarmAcknowledged:           each(func(a *shownAlarm) (float64, bool) { return 1, a.acknowledged }),
		AlarmSilenced:               each(func(a *shownAlarm) (float64, bool) { return 1, a.silenced }),
		AlarmUnknown:                each(func(a *shownAlarm) (float64, bool) { return 1, a.unknown }),
		AlarmFollows: func(s *scrape) {
			for i := range s.alarms {
				if a := &s.alarms[i]; a.follows != "" {
					s.put(1, append(slices.Clone(a.labels[:subject]), pair("follows", a.follows))...)
				}
			}
		},
		// Its labels are ids of the net's definition and names of reasons, so their number has a bound.
		AlarmReason: func(s *scrape) {
			for i := range s.alarms {
				if why := s.alarms[i].why; why != nil {
					s.put(1, why...)
				}
			}
		},
	}
}

// alarmCounterReaders are about the handling of alarms.
func alarmCounterReaders() map[string]func(*scrape) {
	counters := func(read func(*scrape, *alarm.Counters)) func(*scrape) {
		return func(s *scrape) {
			if s.alarmCounters != nil {
				read(s, s.alarmCounters)
			}
		}
	}
	single := func(value func(*alarm.Counters) uint64) func(*scrape) {
		return counters(func(s *scrape, c *alarm.Counters) { s.put(float64(value(c))) })
	}
	byKind := func(value func(*alarm.Counters, alarm.Kind) uint64) func(*scrape) {
		return counters(func(s *scrape, c *alarm.Counters) {
			for _, k := range alarm.Kinds() {
				s.put(float64(value(c, k)), pair("alarm", k.String()))
			}
		})
	}
	return map[string]func(*scrape){
		PnagentAlarms: func(s *scrape) {
			if !s.everything || !s.alarmsKnown || slices.ContainsFunc(s.nets, func(n *netSeries) bool { return n.alarmsMissing }) {
				return
			}
			n := 0
			for _, net := range s.nets {
				n += len(net.alarms)
			}
			s.put(float64(n))
		},
		PnagentAlarmsRaisedTotal:  byKind(func(c *alarm.Counters, k alarm.Kind) uint64 { return c.Raised[k] }),
		PnagentAlarmsClearedTotal: byKind(func(c *alarm.Counters, k alarm.Kind) uint64 { return c.Cleared[k] }),
		PnagentAlarmsDroppedTotal: single(func(c *alarm.Counters) uint64 { return c.Dropped }),
		PnagentAlarmSaveFailuresTotal: single(func(c *alarm.Counters) uint64 {
			n := c.SaveFailures
			for i := range c.Sinks {
				if q := c.Sinks[i].Queued; q != nil {
					n += q.SaveFailures
				}
			}
			return n
		}),
		PnagentAlarmFilesDamagedTotal: counters(func(s *scrape, c *alarm.Counters) {
			s.put(float64(c.Damaged.State), pair("file", "state"))
			s.put(float64(c.Damaged.Notes), pair("file", "notes"))
		}),
		PnagentNotificationsSuppressedTotal: single(func(c *alarm.Counters) uint64 { return c.Suppressed }),
		PnagentNotificationsWaiting:         single(func(c *alarm.Counters) uint64 { return uint64(c.Waiting) }),
		PnagentAlarmsUnannounced:            single(func(c *alarm.Counters) uint64 { return uint64(c.Unannounced) }),
		PnagentNotificationsSkippedTotal: counters(func(s *scrape, c *alarm.Counters) {
			standby := c.Skipped.Standby
			for i := range c.Sinks {
				standby += c.Sinks[i].HandedOver
			}
			s.put(float64(standby), pair("reason", "standby"))
			s.put(float64(c.Skipped.Overflow), pair("reason", "overflow"))
			s.put(float64(c.Skipped.Silenced), pair("reason", "silenced"))
			s.put(float64(c.Skipped.Follows), pair("reason", "follows"))
		}),
	}
}

// sinkReaders are about the notifications of each sink.
func sinkReaders() map[string]func(*scrape) {
	bySink := func(put func(*scrape, *alarm.SinkCounters)) func(*scrape) {
		return func(s *scrape) {
			if s.alarmCounters == nil {
				return
			}
			for i := range s.alarmCounters.Sinks {
				put(s, &s.alarmCounters.Sinks[i])
			}
		}
	}
	byQueue := func(put func(*scrape, *alarm.SinkCounters)) func(*scrape) {
		return bySink(func(s *scrape, c *alarm.SinkCounters) {
			if c.Queued != nil {
				put(s, c)
			}
		})
	}
	return map[string]func(*scrape){
		PnagentNotificationsSentTotal: bySink(func(s *scrape, c *alarm.SinkCounters) { s.put(float64(c.Sent), pair("sink", c.Name)) }),
		PnagentNotificationsFailedTotal: bySink(func(s *scrape, c *alarm.SinkCounters) {
			for why, n := range c.Failed {
				s.put(float64(n), pair("sink", c.Name), pair("reason", alarm.Failure(why).String()))
			}
		}),
		PnagentNotificationsQueued: byQueue(func(s *scrape, c *alarm.SinkCounters) { s.put(float64(c.Queued.Waiting), pair("sink", c.Name)) }),
		PnagentNotificationsQueuedOldestAgeSeconds: byQueue(func(s *scrape, c *alarm.SinkCounters) {
			if c.Queued.Oldest != 0 {
				s.put(float64(max(0, s.now-c.Queued.Oldest))/1e6, pair("sink", c.Name))
			}
		}),
		PnagentNotificationsRetriesTotal: byQueue(func(s *scrape, c *alarm.SinkCounters) { s.put(float64(c.Queued.Retries), pair("sink", c.Name)) }),
	}
}

// alarmsByNet groups the active alarms by net; those about sources are at "".
func alarmsByNet(state *alarm.ActiveSet) map[string][]*alarm.Alarm {
	if state == nil {
		return nil
	}
	by := make(map[string][]*alarm.Alarm)
	for i := range state.Active {
		a := &state.Active[i]
		by[a.Net] = append(by[a.Net], a)
	}
	return by
}

// followAlarms takes the active alarms of the net, by index. The labels of an
// alarm are made once for its severity: an index is never used again.
func (n *netSeries) followAlarms(alarms []*alarm.Alarm) {
	before, next := n.alarms, make([]shownAlarm, 0, len(alarms))
	for _, a := range alarms {
		for len(before) > 0 && before[0].index < a.Index {
			before = before[1:]
		}
		s := shownAlarm{index: a.Index, severity: a.Severity, raised: a.Raised, acknowledged: a.Ack != nil, silenced: a.SilencedUntil != 0,
			unknown: a.Unknown != "", follows: a.Follows}
		var why []*dto.LabelPair
		if len(before) > 0 && before[0].index == a.Index && before[0].severity == a.Severity {
			s.labels, why = before[0].labels, before[0].why
		} else {
			place, transition, source, region := a.About()
			s.labels = []*dto.LabelPair{n.labels.net, pair("place", place), pair("transition", transition),
				pair("source", source), pair("region", region), pair("alarm", a.Kind.String()), pair("for_reason", a.Selects.IfKnown()), pair("severity", a.Severity.String())}
		}
		s.why = reasonLabels(a, s.labels[:len(s.labels)-1], why)
		next = append(next, s)
	}
	n.alarms = next
}

// reasonLabels returns the labels of the reason of an alarm; nil if none is known. It reuses
// those of before if they are the same.
func reasonLabels(a *alarm.Alarm, subject, before []*dto.LabelPair) []*dto.LabelPair {
	if a.Why.Transition == "" {
		return nil
	}
	own := [...]string{a.Why.Transition, a.Why.Wait.Reason.String(), a.Why.Place}
	if k := len(subject); len(before) == k+len(own) && slices.EqualFunc(before[k:], own[:], func(l *dto.LabelPair, v string) bool { return l.GetValue() == v }) {
		return before
	}
	return append(slices.Clone(subject), pair("waits_for", own[0]), pair("reason", own[1]), pair("blocked_by", own[2]))
}
