// SPDX-License-Identifier: Apache-2.0

package feel

import (
	"time"

	"github.com/pnagent/pnagent/internal/zones"
)

// inZone is a Time or a DateTime that was written with the name of a zone. offset is set if
// the offset was written, too.
type inZone struct {
	value  any
	name   string
	offset bool
}

// zoneSteps is what it costs to look for a zone.
const zoneSteps = 1000

// zone returns a time zone by its name, or nil if there is none.
func (r *run) zone(name string) *time.Location {
	in, ok := r.zones[name]
	if ok {
		return in
	}
	r.spend(zoneSteps)
	in, err := zones.Load(name)
	if err != nil {
		in = nil
	}
	if r.zones == nil {
		r.zones = map[string]*time.Location{}
	}
	r.zones[name] = in
	return in
}

// zoned returns a value in its zone; nil if no such zone exists. The offset of a time of day is that of now.
func (r *run) zoned(v any) any {
	z, ok := v.(inZone)
	if !ok {
		return v
	}
	in := r.zone(z.name)
	if in == nil {
		return nil
	}
	switch t := z.value.(type) {
	case Time:
		t.Zoned, t.Offset, t.zone = true, offsetAt(in, r.now.seconds()), in
		return t
	case DateTime:
		if z.offset {
			return instant(t.seconds(), t.Nano, in)
		}
		return t.at(in)
	}
	return nil
}

// toZone returns the same instant in a zone, which is a name or an offset. A time without a zone is one in
// UTC, as now() is.
func (r *run) toZone(t DateTime, zone string) any {
	if offset, ok := parseOffset(zone); ok {
		local := timeOn(time.Unix(t.seconds()+int64(offset), int64(t.Nano)).UTC())
		local.Offset = offset
		return local
	}
	in := r.zone(zone)
	if in == nil {
		return nil
	}
	return instant(t.seconds(), t.Nano, in)
}

// offsetAt returns the offset of a zone at a time in seconds since 1970.
func offsetAt(in *time.Location, seconds int64) int {
	_, offset := time.Unix(seconds, 0).In(in).Zone()
	return offset
}

// instant returns a time since 1970 in a zone.
func instant(seconds int64, nanos int, in *time.Location) DateTime {
	at := time.Unix(seconds, int64(nanos))
	offset := offsetAt(in, at.Unix())
	t := timeOn(time.Unix(at.Unix()+int64(offset), int64(at.Nanosecond())).UTC())
	t.Zoned, t.Offset, t.zone = true, offset, in
	return t
}

// at returns a local time as one of a zone. Where clocks are set back it is the earlier one, and a time that
// clocks skip is later by what they skip, as in Java.
func (t DateTime) at(in *time.Location) DateTime {
	t.Zoned, t.Offset, t.zone = true, 0, in
	local := t.seconds()
	before := offsetAt(in, local-daySeconds)
	for _, offset := range []int{before, offsetAt(in, local+daySeconds)} {
		if offsetAt(in, local-int64(offset)) == offset {
			t.Offset = offset
			return t
		}
	}
	return instant(local-int64(before), t.Nano, in)
}
