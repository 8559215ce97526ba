// SPDX-License-Identifier: Apache-2.0

package pdu

import "fmt"

// Reason is why a session is closed.
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

// String returns the name of the reason in the RFC.
func (r Reason) String() string {
	names := [...]string{ReasonOther: "reasonOther", ReasonParseError: "reasonParseError", ReasonProtocolError: "reasonProtocolError",
		ReasonTimeouts: "reasonTimeouts", ReasonShutdown: "reasonShutdown", ReasonByManager: "reasonByManager"}
	if r >= ReasonOther && int(r) < len(names) {
		return names[r]
	}
	return fmt.Sprintf("reason %d", uint8(r))
}

// Close ends a session, from either side.
type Close struct {
	Reason Reason
}

// Type returns TypeClose.
func (*Close) Type() Type { return TypeClose }

func (c *Close) code(to coder) { to.small((*uint8)(&c.Reason)) }
