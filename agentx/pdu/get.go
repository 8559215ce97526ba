// SPDX-License-Identifier: Apache-2.0

package pdu

// Get requests the variables named by the starts of its ranges (RFC 2741 section 6.2.5).
type Get struct {
	Ranges []SearchRange
}

// Type returns TypeGet.
func (*Get) Type() Type { return TypeGet }

func (g *Get) encode(e *encoder) { e.ranges(g.Ranges) }
func (g *Get) decode(d *decoder) { g.Ranges = d.ranges() }

// GetNext requests the first variable in each range (RFC 2741 section 6.2.6).
type GetNext struct {
	Ranges []SearchRange
}

// Type returns TypeGetNext.
func (*GetNext) Type() Type { return TypeGetNext }

func (g *GetNext) encode(e *encoder) { e.ranges(g.Ranges) }
func (g *GetNext) decode(d *decoder) { g.Ranges = d.ranges() }

// GetBulk requests the first variable in each of the first NonRepeaters ranges, and up to
// MaxRepetitions in each of the others (RFC 2741 section 6.2.7).
type GetBulk struct {
	NonRepeaters   uint16
	MaxRepetitions uint16
	Ranges         []SearchRange
}

// Type returns TypeGetBulk.
func (*GetBulk) Type() Type { return TypeGetBulk }

func (g *GetBulk) encode(e *encoder) {
	e.uint16(g.NonRepeaters)
	e.uint16(g.MaxRepetitions)
	e.ranges(g.Ranges)
}

func (g *GetBulk) decode(d *decoder) {
	g.NonRepeaters = d.uint16()
	g.MaxRepetitions = d.uint16()
	g.Ranges = d.ranges()
}
