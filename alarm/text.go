// SPDX-License-Identifier: Apache-2.0

package alarm

import "fmt"

// wording is what the text of an alarm says.
type wording uint8

const (
	ofRow   wording = iota // what is wrong, with the numbers of the row
	unknown                // that it is not known whether it still holds
	over                   // that it does not hold, where it was unknown before
)

// refresh gives the alarm what a look at it shows, and makes the text again
// where a number of it has changed: a reader sees the numbers of one moment.
func (h *held) refresh(f finding, text func(since int64, wrong bool) string) {
	since := f.since
	if since == 0 {
		since = h.Since
	}
	stale := h.restored || h.says != ofRow || h.Affected != f.affected || h.Since != since || h.also != f.also
	h.over, h.restored, h.says = 0, false, ofRow
	if stale {
		h.Affected, h.Since, h.also = f.affected, since, f.also
		h.Text = text(since, true)
	}
}

// doubt is for an alarm that waits to be cleared. While it is unknown whether the
// condition holds, the text says that in place of numbers of an earlier moment.
func (h *held) doubt(isUnknown bool) {
	switch {
	case isUnknown && h.says != unknown:
		h.says, h.Text = unknown, fmt.Sprintf("unknown whether alarm %s still holds for %s: no source reports it any more", h.Kind, h.subject())
	case !isUnknown && h.says == unknown:
		h.says, h.Text = over, fmt.Sprintf("alarm %s does not hold any more for %s", h.Kind, h.subject())
	}
}

// vanish is doubt for an alarm whose subject is not in the View.
func (h *held) vanish() {
	if h.says != unknown {
		h.says, h.Text = unknown, fmt.Sprintf("unknown whether alarm %s still holds for %s: it is not defined or published any more", h.Kind, h.subject())
	}
}

// subject names what the alarm is about.
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
