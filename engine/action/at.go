// SPDX-License-Identifier: Apache-2.0

package action

import (
	"fmt"
	"strings"
	"time"

	"github.com/pnagent/pnagent/internal/zones"
)

// At returns a function for coloured.Binding.Due: the next time after now at
// which a transition for a time of day is due, both in microseconds since the
// Unix epoch. The text is "17:30" or "17:30:15" in the machine's time zone, or
// "17:30 Europe/Berlin". If clocks are put back and the time comes twice in a
// day, the first one counts. If clocks are put forward and the time does not
// come, the moment of the change counts.
func At(text string) (func(now int64) int64, error) {
	clock, zone, zoned := strings.Cut(text, " ")
	var of time.Time
	err := fmt.Errorf("no time")
	for _, form := range []string{"15:04", "15:04:05"} {
		if of, err = time.Parse(form, clock); err == nil && len(clock) == len(form) {
			break
		}
		err = fmt.Errorf("no time")
	}
	if err != nil {
		return nil, fmt.Errorf(`found %q; expected a time of day such as "17:30" or "17:30 Europe/Berlin"`, clip(text))
	}
	in := time.Local
	if zoned {
		name := strings.TrimSpace(zone)
		in, err = time.LoadLocation(name)
		if err != nil { // images may have no zones
			in, err = zones.Load(name)
		}
		if err != nil || name == "" {
			return nil, fmt.Errorf("found the time zone %q, which this machine does not know; expected one such as Europe/Berlin", clip(zone))
		}
	}
	t := timeOfDay{of.Hour(), of.Minute(), of.Second(), in}
	return func(now int64) int64 { return t.next(time.UnixMicro(now)).UnixMicro() }, nil
}

type timeOfDay struct {
	hour, minute, second int
	in                   *time.Location
}

// next returns the first such time after now.
func (t timeOfDay) next(now time.Time) time.Time {
	year, month, day := now.In(t.in).Date()
	for d := day - 1; ; d++ { // where a zone skips a day, its time may come a day late
		if at := t.on(year, month, d); at.After(now) {
			return at
		}
	}
}

// on returns the moment of this time of day on a day.
func (t timeOfDay) on(year int, month time.Month, day int) time.Time {
	wall := time.Date(year, month, day, t.hour, t.minute, t.second, 0, time.UTC)
	before, after := wall.Add(-26*time.Hour).In(t.in), wall.Add(26*time.Hour).In(t.in)
	_, east := before.Zone()
	_, west := after.Zone()
	east, west = max(east, west), min(east, west) // the clock that is ahead shows the time first
	for _, offset := range []int{east, west} {
		at := wall.Add(-time.Duration(offset) * time.Second).In(t.in)
		if _, is := at.Zone(); is == offset {
			return at
		}
	}
	_, change := before.ZoneBounds()
	return change
}
