// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"strconv"
	"time"
)

// The documents of OTLP/HTTP that a log record is in, as JSON. They are few, and OpenTelemetry's own
// exporter of logs would bring gRPC into each program and a second queue beside that of the sink.
type (
	logsData struct {
		ResourceLogs []resourceLogs `json:"resourceLogs"`
	}
	resourceLogs struct {
		Resource  attributes  `json:"resource"`
		ScopeLogs []scopeLogs `json:"scopeLogs"`
	}
	attributes struct {
		Attributes []keyValue `json:"attributes"`
	}
	scopeLogs struct {
		Scope      scopeName   `json:"scope"`
		LogRecords []logRecord `json:"logRecords"`
	}
	scopeName struct {
		Name string `json:"name"`
	}
	logRecord struct {
		Time     string      `json:"timeUnixNano"`
		Observed string      `json:"observedTimeUnixNano"`
		Severity int         `json:"severityNumber"`
		Text     string      `json:"severityText"`
		Event    string      `json:"eventName"`
		Body     stringValue `json:"body"`
		attributes
	}
	keyValue struct {
		Key   string `json:"key"`
		Value any    `json:"value"`
	}
	stringValue struct {
		Value string `json:"stringValue"`
	}
	intValue struct {
		Value string `json:"intValue"` // a number of 64 bits is a text in this JSON
	}
)

// logSeverities are OpenTelemetry's numbers, by the severity of an alarm: WARN, ERROR, ERROR2 and ERROR3, to
// which it maps those severities of syslog that RFC 5674 gives to alarms.
var logSeverities = map[string]int{"warning": 13, "minor": 17, "major": 18, "critical": 19}

const logNotice = 10 // INFO2: of an event that is not about an active alarm

// asLogRecord returns an event as a log record of OpenTelemetry, whose event is pnagent.alarm.raised
// or the like.
func asLogRecord(_ *webhook, site *Site, e *Event) (kind string, document any) {
	nanos := strconv.FormatInt(e.At.UnixNano(), 10)
	r := logRecord{Time: nanos, Observed: nanos, Severity: logNotice, Text: "notice", Event: "pnagent.alarm." + e.What, Body: stringValue{e.Title()}}
	r.add("pnagent.event.id", e.ID)
	if e.Alarm != nil {
		r.describe(e)
	}
	resource := attributes{}
	resource.add("service.name", "pnagent")
	resource.add("service.instance.id", site.Source)
	return "application/json", logsData{[]resourceLogs{{Resource: resource, ScopeLogs: []scopeLogs{{Scope: scopeName{"github.com/pnagent/pnagent"}, LogRecords: []logRecord{r}}}}}}
}

// describe adds what an event says of its alarm.
func (r *logRecord) describe(e *Event) {
	if e.active() {
		r.Severity, r.Text = logSeverities[e.Severity], e.Severity
	}
	for _, a := range []struct{ key, value string }{
		{"pnagent.alarm", e.Kind}, {"pnagent.alarm.severity", e.Severity}, {"pnagent.alarm.text", e.Text}, {"petrinet.net", e.Net}, {"petrinet.place", e.Place},
		{"petrinet.transition", e.Transition}, {"petrinet.source", e.Source}, {"petrinet.region", e.Region}, {"petrinet.instance", e.Instance},
		{"pnagent.alarm.reason", e.Reason}, {"pnagent.alarm.why", e.Why}, {"pnagent.alarm.runbook_url", e.Runbook}, {"pnagent.alarm.page_url", e.Page},
		{"pnagent.alarm.raised", e.Raised.Format(time.RFC3339Nano)}, {"pnagent.alarm.since", e.Since.Format(time.RFC3339Nano)},
	} {
		r.add(a.key, a.value)
	}
	r.Attributes = append(r.Attributes, keyValue{"pnagent.alarm.index", intValue{strconv.FormatUint(uint64(e.Index), 10)}},
		keyValue{"pnagent.alarm.affected", intValue{strconv.FormatUint(e.Affected, 10)}})
}

// add adds an attribute with a text, unless the text is empty.
func (a *attributes) add(key, text string) {
	if text != "" {
		a.Attributes = append(a.Attributes, keyValue{key, stringValue{text}})
	}
}
