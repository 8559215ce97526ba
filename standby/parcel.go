// SPDX-License-Identifier: Apache-2.0

package standby

import (
	"encoding/json"
	"fmt"
)

const (
	// parcelSize is how many bytes of sources one Parcel has.
	parcelSize = 64 << 10
	// MaxSources is how many bytes of sources are taken from another sidecar.
	MaxSources = 256 << 20
)

// Parcel is a part of what one sidecar sends another one of silent sources, or the
// request for that. On the wire it is a line of JSON, and the part in a form that this
// package does not look into.
type Parcel struct {
	Version int    `json:"version"`
	ID      string `json:"id"`             // of the sender, see Message
	To      string `json:"to"`             // the ID of the sidecar that it is for
	Ask     bool   `json:"ask,omitempty"`  // the request
	Part    int    `json:"part,omitempty"` // 0, 1, 2 …
	Last    bool   `json:"last,omitempty"` // there is no other part
	Data    []byte `json:"-"`
}

// DecodeParcel reads a parcel. Every error wraps a Reason.
func DecodeParcel(data []byte) (Parcel, error) {
	var p Parcel
	err := decodeHead(data, &p, &p.Data)
	if err == nil {
		err = checkSender(p.Version, p.ID)
	}
	return p, err
}

// Encode writes the parcel as DecodeParcel reads it.
func (p *Parcel) Encode() []byte {
	head, _ := json.Marshal(p) // a struct of such fields can be written
	return append(append(head, '\n'), p.Data...)
}

// parcels divides data among parcels.
func parcels(from, to string, data []byte) (out []Parcel) {
	for part := 0; part == 0 || len(data) > 0; part++ {
		n := min(len(data), parcelSize)
		out = append(out, Parcel{Version: Version, ID: from, To: to, Part: part, Last: n == len(data), Data: data[:n]})
		data = data[n:]
	}
	return out
}

// assembly puts parcels of one sidecar together.
type assembly struct {
	from string
	next int // part
	data []byte
}

// add takes a parcel, and reports whether that was the last one. What came before is
// dropped with an error, and where a new beginning comes.
func (a *assembly) add(p *Parcel) (whole bool, err error) {
	if p.Part == 0 {
		*a = assembly{from: p.ID}
	}
	if p.ID != a.from || p.Part != a.next || len(a.data)+len(p.Data) > MaxSources {
		err := fmt.Errorf("sources of a sidecar: %w: part %d with %d bytes; expected part %d, and at most %d bytes in all",
			BadPage, p.Part, len(p.Data), a.next, MaxSources)
		*a = assembly{}
		return false, err
	}
	a.next++
	a.data = append(a.data, p.Data...)
	return p.Last, nil
}
