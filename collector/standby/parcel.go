// SPDX-License-Identifier: Apache-2.0

package standby

import (
	"fmt"

	"github.com/pnagent/pnagent/collector/standby/roster"
)

const (
	// parcelsSuffix ends the subject of parcels.
	parcelsSuffix = "-sources"
	// parcelSize is the largest number of bytes of sources in one Parcel.
	parcelSize = 64 << 10
	// MaxSources is the largest number of bytes of sources taken from another member.
	MaxSources = 256 << 20
)

// Parcel carries a part of one member's silent sources to another, or the request for
// them. On the wire it is a line of JSON with these fields, and then the part, which
// this package does not decode.
type Parcel struct {
	Version int    `json:"version"`
	ID      string `json:"id"`             // of the sender, see Message
	To      string `json:"to"`             // the ID of the addressee
	Ask     bool   `json:"ask,omitempty"`  // the request
	Part    int    `json:"part,omitempty"` // 0, 1, 2 …
	Last    bool   `json:"last,omitempty"` // this is the last part
	Data    []byte `json:"-"`
}

// DecodeParcel reads a parcel. Every error wraps a Reason.
func DecodeParcel(data []byte) (Parcel, error) {
	var p Parcel
	rest, err := decodeHead(data, &p)
	p.Data = rest
	if err == nil {
		err = (&roster.Message{Version: p.Version, ID: p.ID}).Check()
	}
	return p, err
}

// Encode returns the parcel in the form that DecodeParcel reads.
func (p *Parcel) Encode() []byte { return encodeHead(p, p.Data) }

// parcels splits data into parcels.
func parcels(from, to string, data []byte) (out []Parcel) {
	for part := 0; part == 0 || len(data) > 0; part++ {
		n := min(len(data), parcelSize)
		out = append(out, Parcel{Version: roster.Version, ID: from, To: to, Part: part, Last: n == len(data), Data: data[:n]})
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
func (a *assembly) add(p *Parcel) (whole bool, err error) {
	if p.Part == 0 {
		*a = assembly{from: p.ID}
	}
	if p.ID != a.from || p.Part != a.next || len(a.data)+len(p.Data) > MaxSources {
		err := fmt.Errorf("sources of a sidecar: %w: part %d with %d bytes; expected part %d, and at most %d bytes in all",
			roster.BadPage, p.Part, len(p.Data), a.next, MaxSources)
		*a = assembly{}
		return false, err
	}
	a.next++
	a.data = append(a.data, p.Data...)
	return p.Last, nil
}
