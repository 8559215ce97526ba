// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"fmt"
	"slices"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/petri"
)

// ruleOff is the reason of a clear after a change of the rules.
const ruleOff = "its rule is off"

// wording is the content of an alarm's text.
type wording uint8

const (
	ofRow   wording = iota // the condition, with the numbers of the row
	unknown                // it is unknown whether the condition still holds
	over                   // the condition does not hold, after it was unknown
)

// refresh updates an alarm whose condition holds. It writes the text again if a number
// has changed, so that a reader sees the numbers of one moment.
func (m *Machine) refresh(h *held, f *finding, text func(since int64, wrong bool) string) {
	since := f.since
	if since == 0 {
		since = h.Since
	}
	followed := m.follow(h, m.cause(f, h.Raised, h.Follows != ""))
	stale := followed || h.rewrite || h.restored || h.says != ofRow || h.Affected != f.affected || h.Since != since || h.also != f.also || h.Why != f.why
	h.over = 0
	h.restored = false
	h.rewrite = false
	h.says = ofRow
	h.Unknown = ""
	if stale {
		m.moved()
		h.Affected, h.Since, h.also, h.Why = f.affected, since, f.also, f.why
		h.Text = text(since, true) + h.following()
	}
}

// noteOver updates the text of an alarm that waits to be cleared, so that it shows no reason
// of an earlier moment.
func (m *Machine) noteOver(h *held) {
	followed := m.follow(h, "")
	if h.says == unknown || followed {
		m.moved()
		h.says, h.Unknown = over, ""
		h.Text = fmt.Sprintf("alarm %s does not hold any more for %s", h.Kind, m.subject(&h.Alarm))
	}
}

// subject returns the subject of an alarm for a text.
func (m *Machine) subject(a *Alarm) string {
	id, transition, source, region := a.About()
	def := &petri.Net{ID: a.Net} // that of a net which is gone
	if w := m.nets[a.Net]; w != nil {
		def = w.def
	}
	switch {
	case a.Kind == NATSDisconnected:
		return "the connection to NATS"
	case a.Kind == AgentXDisconnected:
		return "the session with the AgentX master"
	case id != "":
		place := petri.Place{ID: id}
		if i := slices.IndexFunc(def.Places, func(p petri.Place) bool { return p.ID == id }); i >= 0 {
			place = def.Places[i]
		}
		return fmt.Sprintf("%s of %s", place.Words(), def.Words()) + selectsText(a.Selects)
	case transition != "":
		of := petri.Transition{ID: transition}
		if i := slices.IndexFunc(def.Transitions, func(t petri.Transition) bool { return t.ID == transition }); i >= 0 {
			of = def.Transitions[i]
		}
		return fmt.Sprintf("%s of %s", of.Words(), def.Words())
	case source != "":
		return fmt.Sprintf("source %q", source)
	case region != "":
		return fmt.Sprintf("region %q of %s", region, def.Words())
	}
	return def.Words().String()
}

// lostText returns what is known of the origins of an alarm.
func (m *Machine) lostText(h *held) string {
	o := h.Lost.All()[0]
	if o == (Origin{}) && len(h.Lost.All()) > 1 {
		o = h.Lost.All()[1]
	}
	text := o.text()
	below := m.lostBelow(h.Net, o)
	switch s := m.sources[o.Source]; {
	case o == (Origin{}):
		text += " fell silent, or do not report it any more"
	case below != nil && below.SilentSince == 0:
		text += " does not report it any more"
	case below != nil:
		text += fmt.Sprintf(" is silent since %s and was forgotten", date(below.SilentSince))
	case s == nil:
		text += " fell silent and is not known any more"
	case s.up || s.forgotten == 0:
		text += " does not report it any more"
	default:
		text += fmt.Sprintf(" is silent since %s and was forgotten", date(s.forgottenSince))
	}
	if len(h.Lost.All()) > 1 {
		text += fmt.Sprintf("; sources: %d", len(h.Lost.All()))
	}
	return text
}

// text returns the name of the origin, with the sidecars below that lead to it.
func (o Origin) text() string {
	if o == (Origin{}) {
		return "further sources"
	}
	text := ""
	if o.Region != "" {
		text = fmt.Sprintf("region %q of ", o.Region)
	}
	return text + sourceText(o.Source)
}

// sourceText returns the name of a source, with the sidecars below that lead to it.
func sourceText(source string) string {
	path := merge.PathOf(source)
	text := fmt.Sprintf("source %q", path[len(path)-1])
	for i := len(path) - 2; i >= 0; i-- {
		text += fmt.Sprintf(" of sidecar %q", path[i])
	}
	return text
}

// lostBelow returns what a sidecar below publishes of an origin; nil for nothing.
func (m *Machine) lostBelow(net string, o Origin) *merge.Remnant {
	if w := m.nets[net]; w != nil {
		return w.traces.below[o]
	}
	return nil
}
