// SPDX-License-Identifier: Apache-2.0

package pdu

import "fmt"

// Reason says why a session is closed.
type Reason uint8

// The reasons (RFC 2741 section 6.2.2).
const (
	ReasonOther         Reason = 1
	ReasonParseError    Reason = 2
	ReasonProtocolError Reason = 3
	ReasonTimeouts      Reason = 4
	ReasonShutdown      Reason = 5
	ReasonByManager     Reason = 6
)

// String is the name the RFC gives the reason.
func (r Reason) String() string {
	switch r {
	case ReasonOther:
		return "reasonOther"
	case ReasonParseError:
		return "reasonParseError"
	case ReasonProtocolError:
		return "reasonProtocolError"
	case ReasonTimeouts:
		return "reasonTimeouts"
	case ReasonShutdown:
		return "reasonShutdown"
	case ReasonByManager:
		return "reasonByManager"
	}
	return fmt.Sprintf("reason %d", uint8(r))
}

// Close ends a session, from either side.
type Close struct {
	Reason Reason
}

// Type is TypeClose.
func (*Close) Type() Type { return TypeClose }

func (c *Close) encode(e *encoder) { e.uint8s(uint8(c.Reason), 0, 0, 0) }
func (c *Close) decode(d *decoder) { c.Reason = Reason(d.four()[0]) }
