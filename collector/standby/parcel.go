// SPDX-License-Identifier: Apache-2.0

package standby

import (
	"fmt"

	"github.com/pnagent/pnagent/collector/standby/roster"
)

const (
	// parcelsSuffix ends the subject of parcels.
	parcelsSuffix = "-sources"
	// parcelSize is the largest number of bytes of sources in one parcel.
	parcelSize = 64 << 10
	// MaxSources is the largest number of bytes of sources taken from another member.
	MaxSources = 256 << 20
)

// parcels splits data into parcels.
func parcels(from, to string, data []byte) (out []Page) {
	for part := 0; part == 0 || len(data) > 0; part++ {
		n := min(len(data), parcelSize)
		out = append(out, Page{Version: roster.Version, ID: from, To: to, Part: part, Last: n == len(data), Content: data[:n]})
		data = data[n:]
	}
	return out
}

// assembly joins the parcels of one member.
type assembly struct {
	from string
	next int // part
	data []byte
}

// add takes a parcel, and reports whether it was the last one. An error, or another
// first part, drops the earlier parts.
func (a *assembly) add(p *Page) (whole bool, err error) {
	if p.Part == 0 {
		*a = assembly{from: p.ID}
	}
	if p.ID != a.from || p.Part != a.next || len(a.data)+len(p.Content) > MaxSources {
		err := fmt.Errorf("sources of a sidecar: %w: part %d with %d bytes; expected part %d, and at most %d bytes in all",
			roster.BadPage, p.Part, len(p.Content), a.next, MaxSources)
		*a = assembly{}
		return false, err
	}
	a.next++
	a.data = append(a.data, p.Content...)
	return p.Last, nil
}
