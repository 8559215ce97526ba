// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/internal/plaintext"
)

// What an Event reports.
const (
	raised     = "raised"
	cleared    = "cleared"
	reminder   = "reminder"   // the alarm is active and not acknowledged
	escalated  = "escalated"  // the same, for a sink that gets it now
	suppressed = "suppressed" // too many alarms changed at once: read the list of alarms
)

// Event is a notification as all sinks have it. It is the data of a CloudEvent; names and meaning
// of its fields are those of an alarm in the API.
type Event struct {
	ID         string    `json:"id"`
	What       string    `json:"what"`
	At         time.Time `json:"at"`
	Suppressed uint64    `json:"suppressed,omitempty"` // notifications since the start of the sidecar
	*Alarm
}

// Alarm is what an Event is about.
type Alarm struct {
	Index      uint32    `json:"index"`
	Kind       string    `json:"alarm"`
	Severity   string    `json:"severity"` // also of a cleared alarm
	Net        string    `json:"net,omitempty"`
	Place      string    `json:"place,omitempty"`
	Transition string    `json:"transition,omitempty"`
	Source     string    `json:"source,omitempty"`
	Region     string    `json:"region,omitempty"`
	ForReason  string    `json:"for_reason,omitempty"`
	Raised     time.Time `json:"raised"`
	Since      time.Time `json:"since"`
	Age        float64   `json:"age_seconds"` // of the condition, at the time of the event
	Affected   uint64    `json:"affected"`
	Text       string    `json:"text"`
	Reason     string    `json:"reason,omitempty"` // why the oldest token waits
	Instance   string    `json:"instance,omitempty"`
	Why        string    `json:"why,omitempty"`
	Runbook    string    `json:"runbook_url,omitempty"`
	Page       string    `json:"page_url,omitempty"`
}

// Site is what events and messages say of the sidecar.
type Site struct {
	Source     string // that sends the events, as a URI
	Enterprise uint32 // the private enterprise number of syslog's structured data
	Page       string // the address of the live page; "" for none
	Runbooks   string // the address of the folder with runbooks; "" for none
}

// EventOf returns the event of a notification for one sink.
func EventOf(n *alarm.Notification, sink string, site *Site) Event {
	e := Event{At: at(n.At), Suppressed: n.Suppressed}
	if n.Suppressed != 0 {
		e.ID, e.What = fmt.Sprintf("suppressed.%d", n.At), suppressed
		return e
	}
	index := n.Alarm.Index
	switch {
	case n.Reminder.Escalated:
		e.ID, e.What = fmt.Sprintf("%d.escalated.%s", index, sink), escalated
	case n.Reminder.Due != 0:
		e.ID, e.What = fmt.Sprintf("%d.reminder.%s.%d", index, sink, n.Reminder.Due/60e6), reminder
	case n.Raise:
		e.ID, e.What = fmt.Sprintf("%d.raised", index), raised
	default:
		e.ID, e.What = fmt.Sprintf("%d.cleared", index), cleared
	}
	e.Alarm = alarmOf(&n.Alarm, n.At, site)
	return e
}

func alarmOf(a *alarm.Alarm, now int64, site *Site) *Alarm {
	d := &Alarm{Index: a.Index, Kind: a.Kind.String(), Severity: a.Severity.String(), Net: a.Net, Raised: at(a.Raised), Since: at(a.Since),
		Age: float64(max(0, now-a.Since)) / 1e6, Affected: a.Affected, Text: a.Text, Instance: a.Why.Instance, Why: a.Why.Words}
	d.Place, d.Transition, d.Source, d.Region = a.About()
	if r := a.Reason(); r != 0 {
		d.Reason = r.String()
	}
	if a.Selects != 0 {
		d.ForReason = a.Selects.String()
	}
	if site.Runbooks != "" {
		d.Runbook = strings.TrimSuffix(site.Runbooks, "/") + "/" + a.Kind.Runbook()
	}
	if site.Page != "" {
		d.Page = strings.TrimSuffix(site.Page, "/") + "/" + d.fragment()
	}
	return d
}

// fragment returns the part of the page's address that shows what the alarm is about.
func (a *Alarm) fragment() string {
	switch {
	case a.Net == "":
		return ""
	case a.Place != "":
		return "#net=" + url.QueryEscape(a.Net) + "&place=" + url.QueryEscape(a.Place)
	case a.Transition != "":
		return "#net=" + url.QueryEscape(a.Net) + "&transition=" + url.QueryEscape(a.Transition)
	}
	return "#net=" + url.QueryEscape(a.Net)
}

func at(micros int64) time.Time { return time.UnixMicro(micros).UTC() }

// active reports whether the event is about an alarm that is not over.
func (e *Event) active() bool { return e.Alarm != nil && e.What != cleared }

// subject returns what the event is about: "orders/paid".
func (e *Event) subject() string {
	if e.Alarm == nil {
		return "notifications"
	}
	parts := []string{e.Net, e.Place, e.Transition, e.Source, e.Region}
	text := ""
	for _, p := range parts {
		if p != "" && text != "" {
			text += "/"
		}
		text += p
	}
	if text == "" {
		return "pnagent"
	}
	return text
}

// Title returns the event in one line.
func (e *Event) Title() string {
	if e.Alarm == nil {
		return "pnagent held back notifications: too many alarms changed at once"
	}
	mark := strings.ToUpper(e.Severity)
	after := ""
	switch e.What {
	case cleared:
		mark = "CLEARED"
	case reminder:
		after = ", active for " + e.length() + " and not acknowledged"
	case escalated:
		after = ", escalated: not acknowledged for " + e.length()
	}
	return fmt.Sprintf("[%s] %s: %s%s", mark, e.Kind, plaintext.Escape(e.subject()), after)
}

// length returns how long ago the alarm was raised.
func (e *Event) length() string {
	d := e.At.Sub(e.Raised).Round(time.Second)
	if d >= time.Hour {
		d = d.Round(time.Minute)
	}
	text := d.String() // such as 4h0m0s
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// Body returns the event in lines.
func (e *Event) Body() string {
	if e.Alarm == nil {
		return fmt.Sprintf("%d notifications were held back since the start of the sidecar.\nThe list of alarms is complete: see the live page, or pnagent alarms.\n", e.Suppressed)
	}
	var out strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&out, "%-12s%s\n", name, plaintext.Escape(value))
		}
	}
	fmt.Fprintf(&out, "%s\n\n", plaintext.Escape(e.Text))
	line("alarm", fmt.Sprintf("%s, index %d", e.Kind, e.Index))
	line("severity", e.Severity)
	line("net", e.Net)
	line("place", e.Place)
	line("transition", e.Transition)
	line("source", e.Source)
	line("region", e.Region)
	line("since", e.Since.Format(time.RFC3339)+", for "+(time.Duration(e.Age)*time.Second).String())
	line("raised", e.Raised.Format(time.RFC3339))
	if e.What == cleared {
		line("cleared", e.At.Format(time.RFC3339))
	}
	line("affected", fmt.Sprint(e.Affected))
	line("reason", e.Reason)
	line("instance", e.Instance)
	line("why", e.Why)
	line("page", e.Page)
	line("runbook", e.Runbook)
	return out.String()
}
