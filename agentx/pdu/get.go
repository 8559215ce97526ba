// SPDX-License-Identifier: Apache-2.0

package pdu

// Get requests the variables named by the starts of its ranges (RFC 2741 section 6.2.5).
type Get struct {
	Ranges []SearchRange
}

// Type returns TypeGet.
func (*Get) Type() Type { return TypeGet }

func (g *Get) code(c coder) { c.ranges(&g.Ranges) }

// GetNext requests the first variable in each range (RFC 2741 section 6.2.6).
type GetNext struct {
	Ranges []SearchRange
}

// Type returns TypeGetNext.
func (*GetNext) Type() Type { return TypeGetNext }

func (g *GetNext) code(c coder) { c.ranges(&g.Ranges) }

// GetBulk requests the first variable in each of the first NonRepeaters ranges, and up to
// MaxRepetitions in each of the others (RFC 2741 section 6.2.7).
type GetBulk struct {
	NonRepeaters   uint16
	MaxRepetitions uint16
	Ranges         []SearchRange
}

// Type returns TypeGetBulk.
func (*GetBulk) Type() Type { return TypeGetBulk }

func (g *GetBulk) code(c coder) {
	c.short(&g.NonRepeaters)
	c.short(&g.MaxRepetitions)
	c.ranges(&g.Ranges)
}
