// SPDX-License-Identifier: Apache-2.0

package pdu

import (
	"fmt"

	"github.com/pnagent/pnagent/mib/smi"
)

// The payloads. Each states its layout once, in its method code.

func (*Open) kind() Type            { return TypeOpen }
func (*Close) kind() Type           { return TypeClose }
func (*Register) kind() Type        { return TypeRegister }
func (*Unregister) kind() Type      { return TypeUnregister }
func (*Get) kind() Type             { return TypeGet }
func (*GetNext) kind() Type         { return TypeGetNext }
func (*GetBulk) kind() Type         { return TypeGetBulk }
func (*TestSet) kind() Type         { return TypeTestSet }
func (*CommitSet) kind() Type       { return TypeCommitSet }
func (*UndoSet) kind() Type         { return TypeUndoSet }
func (*CleanupSet) kind() Type      { return TypeCleanupSet }
func (*Notify) kind() Type          { return TypeNotify }
func (*Ping) kind() Type            { return TypePing }
func (*IndexAllocate) kind() Type   { return TypeIndexAllocate }
func (*IndexDeallocate) kind() Type { return TypeIndexDeallocate }
func (*AddAgentCaps) kind() Type    { return TypeAddAgentCaps }
func (*RemoveAgentCaps) kind() Type { return TypeRemoveAgentCaps }
func (*Response) kind() Type        { return TypeResponse }

// Open requests a session (RFC 2741 section 6.2.1).
type Open struct {
	Timeout     uint8 // seconds the master waits for an answer; 0 is its default
	ID          smi.OID
	Description string
}

func (o *Open) code(c coder) {
	c.small(&o.Timeout)
	c.name(&o.ID)
	c.text(&o.Description)
}

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

func (c *Close) code(to coder) { to.small((*uint8)(&c.Reason)) }

// Register registers a subtree (RFC 2741 section 6.2.3).
type Register struct {
	Timeout  uint8 // seconds, for this subtree; 0 is the session's
	Priority uint8 // 1 to 255; the lower number answers
	// RangeSubID, if not 0, is the position in Subtree, from 1, of a number that runs up
	// to UpperBound: many subtrees in one PDU.
	RangeSubID uint8
	Subtree    smi.OID
	UpperBound uint32
}

func (r *Register) code(c coder) {
	c.small(&r.Timeout, &r.Priority, &r.RangeSubID)
	codeSubtree(c, r.RangeSubID, &r.Subtree, &r.UpperBound)
}

// Unregister withdraws a Register (RFC 2741 section 6.2.4).
type Unregister struct {
	Priority   uint8
	RangeSubID uint8
	Subtree    smi.OID
	UpperBound uint32
}

func (u *Unregister) code(c coder) {
	c.small(new(uint8), &u.Priority, &u.RangeSubID)
	codeSubtree(c, u.RangeSubID, &u.Subtree, &u.UpperBound)
}

// codeSubtree codes a name and, for a range, the upper bound.
func codeSubtree(c coder, rangeSubID uint8, name *smi.OID, upperBound *uint32) {
	c.name(name)
	if rangeSubID != 0 {
		c.long(upperBound)
	}
}

// Get requests the variables named by the starts of its ranges (RFC 2741 section 6.2.5).
type Get struct {
	Ranges []SearchRange
}

func (g *Get) code(c coder) { c.ranges(&g.Ranges) }

// GetNext requests the first variable in each range (RFC 2741 section 6.2.6).
type GetNext struct {
	Ranges []SearchRange
}

func (g *GetNext) code(c coder) { c.ranges(&g.Ranges) }

// GetBulk requests the first variable in each of the first NonRepeaters ranges, and up to
// MaxRepetitions in each of the others (RFC 2741 section 6.2.7).
type GetBulk struct {
	NonRepeaters   uint16
	MaxRepetitions uint16
	Ranges         []SearchRange
}

func (g *GetBulk) code(c coder) {
	c.short(&g.NonRepeaters)
	c.short(&g.MaxRepetitions)
	c.ranges(&g.Ranges)
}

// TestSet requests whether the variables could be set (RFC 2741 section 6.2.8).
type TestSet struct {
	Variables []smi.Variable
}

func (t *TestSet) code(c coder) { c.variables(&t.Variables) }

// CommitSet requests the set of the transaction's TestSet (RFC 2741 section 6.2.9).
type CommitSet struct{}

func (*CommitSet) code(coder) {}

// UndoSet requests to undo a CommitSet.
type UndoSet struct{}

func (*UndoSet) code(coder) {}

// CleanupSet ends a set. It is the only request without a Response.
type CleanupSet struct{}

func (*CleanupSet) code(coder) {}

// Notify requests the master to send a notification (RFC 2741 section 6.2.10).
// The first variable is snmpTrapOID.0, or sysUpTime.0 and then snmpTrapOID.0.
type Notify struct {
	Variables []smi.Variable
}

func (n *Notify) code(c coder) { c.variables(&n.Variables) }

// Ping checks whether the master answers (RFC 2741 section 6.2.11).
type Ping struct{}

func (*Ping) code(coder) {}

// IndexAllocate reserves values of an index that subagents share (RFC 2741
// section 6.2.12).
type IndexAllocate struct {
	Variables []smi.Variable
}

func (i *IndexAllocate) code(c coder) { c.variables(&i.Variables) }

// IndexDeallocate releases reserved values (RFC 2741 section 6.2.13).
type IndexDeallocate struct {
	Variables []smi.Variable
}

func (i *IndexDeallocate) code(c coder) { c.variables(&i.Variables) }

// AddAgentCaps adds a row to the master's sysORTable (RFC 2741 section 6.2.14).
type AddAgentCaps struct {
	ID          smi.OID
	Description string
}

func (a *AddAgentCaps) code(c coder) {
	c.name(&a.ID)
	c.text(&a.Description)
}

// RemoveAgentCaps removes the row (RFC 2741 section 6.2.15).
type RemoveAgentCaps struct {
	ID smi.OID
}

func (r *RemoveAgentCaps) code(c coder) { c.name(&r.ID) }

// Response answers every other PDU but CleanupSet (RFC 2741 section 6.2.16).
type Response struct {
	UpTime    uint32 // sysUpTime in hundredths of a second; only a master sets it
	Error     Error
	Index     uint16 // of the variable at fault, from 1; 0 if Error is about none
	Variables []smi.Variable
}

func (r *Response) code(c coder) {
	c.long(&r.UpTime)
	c.short((*uint16)(&r.Error))
	c.short(&r.Index)
	c.variables(&r.Variables)
}
