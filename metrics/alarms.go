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

// alarmFamilies have a series for each active alarm, or for some. A label that does not
// apply is empty, which Prometheus treats as absent. Two alarms of one kind cannot have the
// same subject, so no series occurs twice.
func alarmFamilies() []Family {
	subject := []string{"net", "place", "transition", "source", "region", "alarm"}
	each := func(name, help string, value func(*shownAlarm) (float64, bool)) Family {
		return Family{Name: name, Type: Gauge, scope: ofAlarms, ages: true, Labels: subject, Help: help,
			read: func(s *scrape) {
				for i := range s.alarms {
					if v, is := value(&s.alarms[i]); is {
						s.put(v, s.alarms[i].labels[:len(subject)]...)
					}
				}
			}}
	}
	noted := func(name, help string, is func(*shownAlarm) bool) Family {
		return each(name, help, func(a *shownAlarm) (float64, bool) { return 1, is(a) })
	}
	return []Family{
		{Name: AlarmActive, Type: Gauge, scope: ofAlarms, ages: true, Labels: append(slices.Clone(subject), "severity"),
			Help: "An active alarm, by its subject; always 1. A cleared alarm has no series.",
			read: func(s *scrape) {
				for i := range s.alarms {
					s.put(1, s.alarms[i].labels...)
				}
			}},
		{Name: Alarms, Type: Gauge, scope: ofEach, ages: true, Labels: []string{"net"},
			Help: "Active alarms about the net, or, without a net, about sources and the sidecar; 0 if there are none. Absent while " + AlarmActive + " may lack some: before the first View, for settle after a start or a break of NATS, and over the series budget.",
			read: func(s *scrape) {
				if s.alarmsKnown && !s.alarmsMissing {
					s.put(float64(len(s.alarms)), s.labels.net)
				}
			}},
		each(AlarmRaisedTimestampSeconds, "Time at which an active alarm was raised, as Unix time.",
			func(a *shownAlarm) (float64, bool) { return float64(a.raised) / 1e6, true }),
		noted(AlarmAcknowledged, "An active alarm that an operator has acknowledged; always 1. Other alarms have no series.", func(a *shownAlarm) bool { return a.acknowledged }),
		noted(AlarmSilenced, "An active alarm whose notifications are held back; always 1. Other alarms have no series.", func(a *shownAlarm) bool { return a.silenced }),
		noted(AlarmUnknown, "An active alarm of which it is not known whether its condition still holds, because what it is about is not reported any more; always 1. Other alarms have no series.", func(a *shownAlarm) bool { return a.unknown }),
		{Name: AlarmFollows, Type: Gauge, scope: ofAlarms, ages: true, Labels: append(slices.Clone(subject), "follows"),
			Help: "An active alarm that is there only because a source is lost, by that source (follows). Its notifications are held back while it is; always 1. Other alarms have no series.",
			read: func(s *scrape) {
				for i := range s.alarms {
					if a := &s.alarms[i]; a.follows != "" {
						s.put(1, append(slices.Clone(a.labels[:len(subject)]), pair("follows", a.follows))...)
					}
				}
			}},
		alarmReasons(subject),
	}
}

// alarmCounterFamilies returns the families about the handling of alarms.
func alarmCounterFamilies() []Family {
	counter := func(name, help string, read func(*scrape, *alarm.Counters), labels ...string) Family {
		return Family{Name: name, Type: Counter, Help: help, Labels: labels, scope: ofSidecar, read: func(s *scrape) {
			if s.alarmCounters != nil {
				read(s, s.alarmCounters)
			}
		}}
	}
	byKind := func(name, help string, value func(*alarm.Counters, alarm.Kind) uint64) Family {
		return counter(name, help, func(s *scrape, c *alarm.Counters) {
			for _, k := range alarm.Kinds() {
				s.put(float64(value(c, k)), pair("alarm", k.String()))
			}
		}, "alarm")
	}
	single := func(name, help string, value func(*alarm.Counters) uint64) Family {
		return counter(name, help, func(s *scrape, c *alarm.Counters) { s.put(float64(value(c))) })
	}
	gauge := func(name, help string, value func(*alarm.Counters) uint64) Family {
		f := single(name, help, value)
		f.Type = Gauge
		return f
	}
	bySink := func(name, help string, put func(*scrape, *alarm.SinkCounters), labels ...string) Family {
		return counter(name, help, func(s *scrape, c *alarm.Counters) {
			for i := range c.Sinks {
				put(s, &c.Sinks[i])
			}
		}, labels...)
	}
	return []Family{
		{Name: PnagentAlarms, Type: Gauge, scope: ofSidecar, Help: "Active alarms; 0 if there are none. Only at /metrics, which has all of them, and absent while " + AlarmActive + " may lack some.",
			read: func(s *scrape) {
				if !s.everything || !s.alarmsKnown || slices.ContainsFunc(s.nets, func(n *netSeries) bool { return n.alarmsMissing }) {
					return
				}
				n := 0
				for _, net := range s.nets {
					n += len(net.alarms)
				}
				s.put(float64(n))
			}},
		byKind(PnagentAlarmsRaisedTotal, "Alarms that were raised, by kind.",
			func(c *alarm.Counters, k alarm.Kind) uint64 { return c.Raised[k] }),
		byKind(PnagentAlarmsClearedTotal, "Alarms that were cleared, by kind.",
			func(c *alarm.Counters, k alarm.Kind) uint64 { return c.Cleared[k] }),
		single(PnagentAlarmsDroppedTotal, "Alarms that could not be raised because too many were active.",
			func(c *alarm.Counters) uint64 { return c.Dropped }),
		single(PnagentAlarmSaveFailuresTotal, "Times that the file with the alarms could not be written.",
			func(c *alarm.Counters) uint64 { return c.SaveFailures }),
		counter(PnagentAlarmFilesDamagedTotal, "Files of the alarms that were damaged when the sidecar started: the state, or the notes with acknowledgements, silences and cleared alarms. Each is kept with .damaged behind its name.",
			func(s *scrape, c *alarm.Counters) {
				s.put(float64(c.Damaged.State), pair("file", "state"))
				s.put(float64(c.Damaged.Notes), pair("file", "notes"))
			}, "file"),
		bySink(PnagentNotificationsSentTotal, "Notifications that a sink took.",
			func(s *scrape, c *alarm.SinkCounters) { s.put(float64(c.Sent), pair("sink", c.Name)) }, "sink"),
		bySink(PnagentNotificationsFailedTotal, "Notifications that did not reach a sink, by reason: it did not answer in the time (unanswered), refused them, was not ready in the time (not_ready), could not be reached (network), too many waited for it (queue_full), or the sidecar ended before (stopped).",
			func(s *scrape, c *alarm.SinkCounters) {
				for why, n := range c.Failed {
					s.put(float64(n), pair("sink", c.Name), pair("reason", alarm.Failure(why).String()))
				}
			}, "sink", "reason"),
		single(PnagentNotificationsSuppressedTotal, "Notifications that were held back because too many were due at once.",
			func(c *alarm.Counters) uint64 { return c.Suppressed }),
		gauge(PnagentNotificationsWaiting, "Notifications that an alarm is over that wait, because too many were due at once.",
			func(c *alarm.Counters) uint64 { return uint64(c.Waiting) }),
		gauge(PnagentAlarmsUnannounced, "Active alarms that this sidecar raised 30 seconds ago or earlier, and that the one on duty has not announced.",
			func(c *alarm.Counters) uint64 { return uint64(c.Unannounced) }),
		counter(PnagentNotificationsSkippedTotal, "Notifications that were due and not sent by this sidecar, by reason: another one was on duty (standby, or overflow for too many changes), or the alarm was silenced, or followed from a lost source (follows).",
			func(s *scrape, c *alarm.Counters) {
				s.put(float64(c.Skipped.Standby), pair("reason", "standby"))
				s.put(float64(c.Skipped.Overflow), pair("reason", "overflow"))
				s.put(float64(c.Skipped.Silenced), pair("reason", "silenced"))
				s.put(float64(c.Skipped.Follows), pair("reason", "follows"))
			}, "reason"),
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
				pair("source", source), pair("region", region), pair("alarm", a.Kind.String()), pair("severity", a.Severity.String())}
		}
		s.why = n.reasonLabels(a, s.labels[:len(s.labels)-1], why)
		next = append(next, s)
	}
	n.alarms = next
}
