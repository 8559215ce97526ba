// SPDX-License-Identifier: Apache-2.0

package top

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/pnagent/pnagent/web/api"
)

// The texts for a missing figure.
const (
	unknown = "–" // it is not known
	nothing = "·" // nothing exists that could have one
)

// formatAge writes an age in seconds in at most six cells.
func formatAge(s float64) string {
	switch {
	case s < 10:
		return strconv.FormatFloat(math.Floor(max(s, 0)*10)/10, 'f', 1, 64) + "s"
	case s < 60:
		return fmt.Sprintf("%ds", int(s))
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", int(s)/60, int(s)%60)
	case s < 86400:
		return fmt.Sprintf("%dh%02dm", int(s)/3600, int(s)/60%60)
	case s < 100*86400:
		return fmt.Sprintf("%dd%02dh", int(s)/86400, int(s)/3600%24)
	case s < 99999*86400:
		return fmt.Sprintf("%dd", int(s/86400))
	}
	return "∞"
}

// formatDuration writes seconds that may be small, in at most six cells.
func formatDuration(s float64) string {
	switch {
	case s < 0:
		return "-" + formatDuration(-s)
	case s == 0:
		return "0s"
	case s < 1e-3:
		return fmt.Sprintf("%.0fµs", math.Ceil(s*1e6))
	case s < 1:
		return fmt.Sprintf("%.0fms", math.Floor(s*1e3))
	}
	return formatAge(s)
}

// formatCount writes a number in at most seven cells.
func formatCount(n float64) string {
	if n < 1e7 {
		return strconv.FormatFloat(n, 'f', 0, 64)
	}
	return formatLarge(n)
}

func formatLarge(n float64) string {
	for _, unit := range []string{"k", "M", "G", "T", "P", "E"} {
		if n /= 1000; n < 1000 {
			return strings.TrimSuffix(strconv.FormatFloat(n, 'f', 2, 64)[:4], ".") + unit
		}
	}
	return strconv.FormatFloat(n, 'e', 0, 64)
}

// formatRate writes events a second in at most seven cells.
func formatRate(r float64) string {
	switch {
	case r == 0:
		return "0"
	case r < 0.01:
		return "<0.01"
	case r < 9.995:
		return strconv.FormatFloat(r, 'f', 2, 64)
	case r < 999.95:
		return strconv.FormatFloat(r, 'f', 1, 64)
	case r < 1e5:
		return strconv.FormatFloat(r, 'f', 0, 64)
	}
	return formatLarge(r)
}

// formatWaits returns what a token waits for, at a time by the sidecar's clock:
// one text for each output transition, with its reasons.
func formatWaits(waits []api.Wait, now time.Time) []string {
	var texts []string
	for i, w := range waits {
		if i > 0 && w.Transition == waits[i-1].Transition {
			texts[len(texts)-1] += ", " + formatWait(w, now)
			continue
		}
		text := formatWait(w, now)
		if w.Transition != "" {
			text = clean(w.Transition) + ": " + text
		}
		texts = append(texts, text)
	}
	return texts
}

// formatWait returns what a transition waits for, what the source reports first.
func formatWait(w api.Wait, now time.Time) string {
	what, reason := clean(w.What), formatReason(w, now)
	switch {
	case what == "":
		return reason
	case w.Reason == "unknown":
		return what
	}
	return what + " (" + reason + ")"
}

func formatReason(w api.Wait, now time.Time) string {
	place := clean(w.Place)
	switch w.Reason {
	case "missing":
		if place != "" {
			return amount(uint64(w.Count), "missing", "too few") + " in " + place
		}
	case "inhibited":
		if place != "" {
			return amount(uint64(w.Count), "too many", "too many") + " in " + place
		}
	case "delayed":
		switch left := w.Until.Time().Sub(now); {
		case w.Until == 0:
		case left > 0:
			return "delayed, " + formatAge(left.Seconds()) + " to go"
		default:
			return "delayed, due"
		}
	case "unknown":
		return "not known"
	}
	if place != "" {
		return clean(w.Reason) + ", " + place
	}
	return clean(w.Reason)
}

// amount returns a number of things, or some if the number is not known.
func amount(n uint64, what, some string) string {
	if n == 0 {
		return some
	}
	return strconv.FormatUint(n, 10) + " " + what
}

// formatTime writes a time to the second, as in logs.
func formatTime(t time.Time) string {
	if t.Year() < 0 || t.Year() > 9999 {
		return unknown
	}
	return t.UTC().Format("2006-01-02T15:04:05Z")
}
