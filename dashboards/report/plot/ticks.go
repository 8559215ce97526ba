// SPDX-License-Identifier: Apache-2.0

package plot

import (
	"math"
	"time"
)

// maxTicks bounds what an axis names, whatever it is given.
const maxTicks = 24

// span is an interval of values.
type span struct{ low, high float64 }

// valueTicks returns the values that an axis names, about as many as wanted, and
// the interval that the axis covers: from the first to the last of them. Zero is
// in the interval that is given.
func valueTicks(unit string, s span, wanted int) ([]float64, span) {
	if s.high-s.low < 1/most { // nothing but zero
		s = span{0, 1}
	}
	size := tickSize(unit, (s.high-s.low)/float64(max(wanted, 1)))
	first, last := math.Floor(s.low/size), math.Ceil(s.high/size)
	if !(last-first <= maxTicks) {
		return []float64{s.low, s.high}, s
	}
	var ticks []float64
	for i := first; i <= last; i++ {
		ticks = append(ticks, i*size)
	}
	return ticks, span{first * size, last * size}
}

// tickSize is the next larger one that people count in.
func tickSize(unit string, least float64) float64 {
	if unit == "s" && least > 1 {
		for _, size := range []float64{2, 5, 10, 15, 30, minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute,
			hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour, day, 2 * day, 7 * day, 14 * day, 28 * day, 56 * day, 112 * day} {
			if size >= least {
				return size
			}
		}
	}
	base := 10.0
	if unit == "bytes" && least > 1 {
		base = 2
	}
	power := math.Pow(base, math.Floor(math.Log(least)/math.Log(base)))
	for _, times := range []float64{1, 2, 5, 10} {
		if power*times >= least*(1-1e-9) {
			return power * times
		}
	}
	return power * base
}

// timeTick is a time that an axis names.
type timeTick struct {
	at    time.Time
	label string
	date  string // below it, where the day begins or the axis does
}

// timeTicks returns the times that an axis names, in the zone of from. Steps of
// up to an hour are of equal length; longer ones are of the clock on the wall,
// so they are at the same hours on both sides of a change of the clocks.
func timeTicks(from, to time.Time, wanted int) []timeTick {
	if !to.After(from) {
		return []timeTick{named(from, time.Minute, true)}
	}
	step := timeStep(to.Sub(from) / time.Duration(max(wanted, 1)))
	midnight := time.Date(from.Year(), from.Month(), from.Day(), 0, 0, 0, 0, from.Location())
	at := func(i int) time.Time { return midnight.Add(time.Duration(i) * step) }
	first := int(from.Sub(midnight) / step)
	switch {
	case step >= 24*time.Hour:
		days := int(step / (24 * time.Hour))
		at, first = func(i int) time.Time { return midnight.AddDate(0, 0, i*days) }, 0
	case step > time.Hour:
		hours := int(step / time.Hour)
		at, first = func(i int) time.Time {
			return time.Date(from.Year(), from.Month(), from.Day(), i*hours, 0, 0, 0, from.Location())
		}, 0
	}
	var ticks []timeTick
	for i := first; len(ticks) < maxTicks; i++ {
		t := at(i)
		if t.After(to) {
			break
		}
		if t.Before(from) || len(ticks) > 0 && !t.After(ticks[len(ticks)-1].at) {
			continue
		}
		newDay := len(ticks) == 0 || ticks[len(ticks)-1].at.YearDay() != t.YearDay()
		ticks = append(ticks, named(t, step, newDay))
	}
	return ticks
}

func named(t time.Time, step time.Duration, newDay bool) timeTick {
	tick := timeTick{at: t, label: t.Format("15:04")}
	if step < time.Minute {
		tick.label = t.Format("15:04:05")
	}
	if newDay {
		tick.date = t.Format("Mon 2 Jan")
	}
	return tick
}

// timeStep is the next longer one that clocks and calendars have.
func timeStep(least time.Duration) time.Duration {
	const h = time.Hour
	for _, step := range []time.Duration{time.Second, 5 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute,
		5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute, h, 2 * h, 3 * h, 6 * h, 12 * h, 24 * h, 48 * h, 7 * 24 * h, 14 * 24 * h} {
		if step >= least {
			return step
		}
	}
	const month = 28 * 24 * h
	return (least + month - 1).Truncate(month)
}
