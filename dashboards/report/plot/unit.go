// SPDX-License-Identifier: Apache-2.0

package plot

import (
	"math"
	"strconv"
)

// Format writes a value with its unit, which is one of Grafana's ids: s, ops,
// reqps, percentunit, bytes, Bps, short. Others are taken for short, a plain
// number. A value that is not finite is a dash.
func Format(unit string, v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	switch unit {
	case "s":
		return seconds(v)
	case "ops", "reqps":
		return scaled(v, 1000, "", "k", "M", "G", "T") + "/s"
	case "percentunit":
		return digits(v*100) + " %"
	case "bytes":
		return scaled(v, 1024, " B", " KiB", " MiB", " GiB", " TiB")
	case "Bps":
		return scaled(v, 1000, " B/s", " kB/s", " MB/s", " GB/s", " TB/s")
	}
	return scaled(v, 1000, "", "k", "M", "G", "T")
}

// Brief writes a duration in seconds in few digits of one unit, for where there
// is little room.
func Brief(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v) || math.IsInf(v, 0) || a < minute:
		return Format("s", v)
	case a < hour:
		return brief(v/minute) + " min"
	case a < day:
		return brief(v/hour) + " h"
	}
	return brief(v/day) + " d"
}

func brief(v float64) string {
	if math.Abs(v) >= 10 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(significant(math.Round(v*10)/10), 'f', -1, 64)
}

// scaled divides by the base until the number is short.
func scaled(v, base float64, prefixes ...string) string {
	i := 0
	v = significant(v)
	for math.Abs(v) >= base && i < len(prefixes)-1 {
		v /= base
		i++
	}
	return digits(v) + prefixes[i]
}

// significant rounds to three significant digits, or to a whole number.
func significant(v float64) float64 {
	if math.Abs(v) >= 100 {
		return math.Round(v)
	}
	short, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64) // what was just written
	return short
}

// digits writes three significant digits, and whole numbers whole.
func digits(v float64) string {
	if a := math.Abs(v); a >= 1e6 || a > 0 && a < 1e-3 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return strconv.FormatFloat(significant(v), 'f', -1, 64)
}

const (
	minute = 60
	hour   = 60 * minute
	day    = 24 * hour
)

// seconds writes a duration in the two largest units that it has.
func seconds(v float64) string {
	v = significant(v)
	a := math.Abs(v)
	switch {
	case a == 0:
		return "0 s"
	case a < 1e-3:
		return digits(v*1e6) + " µs"
	case a < 1:
		return digits(v*1e3) + " ms"
	case a < minute:
		return digits(v) + " s"
	case a < hour:
		return pair(v, minute, " min", 1, " s")
	case a < day:
		return pair(v, hour, " h", minute, " min")
	case a < 1000*day:
		return pair(v, day, " d", hour, " h")
	}
	return digits(v/day) + " d"
}

func pair(v, large float64, largeName string, small float64, smallName string) string {
	sign := ""
	if v < 0 {
		sign, v = "-", -v
	}
	parts := math.Round(v / small)
	per := math.Round(large / small)
	text := sign + strconv.FormatFloat(math.Floor(parts/per), 'f', 0, 64) + largeName
	if rest := math.Mod(parts, per); rest > 0 {
		text += " " + strconv.FormatFloat(rest, 'f', 0, 64) + smallName
	}
	return text
}
