// SPDX-License-Identifier: Apache-2.0

package alarm

import "fmt"

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
	stale := followed || h.rewrite || h.restored || h.says != ofRow || h.Affected != f.affected || h.Since != since || h.also != f.also
	h.over, h.restored, h.rewrite, h.says, h.Unknown = 0, false, false, ofRow, ""
	if stale {
		h.Affected, h.Since, h.also = f.affected, since, f.also
		h.Text = text(since, true) + h.following()
	}
}

// noteOver updates the text of an alarm that waits to be cleared, so that it shows no reason
// of an earlier moment.
func (m *Machine) noteOver(h *held) {
	followed := m.follow(h, "")
	if h.says == unknown || followed {
		h.says, h.Unknown = over, ""
		h.Text = fmt.Sprintf("alarm %s does not hold any more for %s", h.Kind, h.subject())
	}
}

// subject returns the subject of the alarm for a text.
func (a *Alarm) subject() string {
	place, transition, source, region := a.About()
	net := fmt.Sprintf("net %q", a.Net)
	switch {
	case a.Kind == NATSDisconnected:
		return "the connection to NATS"
	case place != "":
		return fmt.Sprintf("place %q of %s", place, net)
	case transition != "":
		return fmt.Sprintf("transition %q of %s", transition, net)
	case source != "":
		return fmt.Sprintf("source %q", source)
	case region != "":
		return fmt.Sprintf("region %q of %s", region, net)
	}
	return net
}
