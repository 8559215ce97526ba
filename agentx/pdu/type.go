// SPDX-License-Identifier: Apache-2.0

package pdu

import "fmt"

// Type is the type of a PDU (RFC 2741 section 6.1).
type Type uint8

// The types.
const (
	TypeOpen            Type = 1
	TypeClose           Type = 2
	TypeRegister        Type = 3
	TypeUnregister      Type = 4
	TypeGet             Type = 5
	TypeGetNext         Type = 6
	TypeGetBulk         Type = 7
	TypeTestSet         Type = 8
	TypeCommitSet       Type = 9
	TypeUndoSet         Type = 10
	TypeCleanupSet      Type = 11
	TypeNotify          Type = 12
	TypePing            Type = 13
	TypeIndexAllocate   Type = 14
	TypeIndexDeallocate Type = 15
	TypeAddAgentCaps    Type = 16
	TypeRemoveAgentCaps Type = 17
	TypeResponse        Type = 18
)

// String returns the name of the type without "agentx-" and "-PDU".
func (t Type) String() string {
	names := [...]string{TypeOpen: "Open", TypeClose: "Close", TypeRegister: "Register", TypeUnregister: "Unregister",
		TypeGet: "Get", TypeGetNext: "GetNext", TypeGetBulk: "GetBulk", TypeTestSet: "TestSet", TypeCommitSet: "CommitSet",
		TypeUndoSet: "UndoSet", TypeCleanupSet: "CleanupSet", TypeNotify: "Notify", TypePing: "Ping",
		TypeIndexAllocate: "IndexAllocate", TypeIndexDeallocate: "IndexDeallocate", TypeAddAgentCaps: "AddAgentCaps",
		TypeRemoveAgentCaps: "RemoveAgentCaps", TypeResponse: "Response"}
	if t.Known() {
		return names[t]
	}
	return fmt.Sprintf("type %d", uint8(t))
}

// Known reports whether t is one of the types above.
func (t Type) Known() bool { return t >= TypeOpen && t <= TypeResponse }

// HasContext reports whether a PDU of type t begins with a context name if its
// header has FlagNonDefaultContext. The others ignore the flag (RFC 2741
// section 6.1.1).
func (t Type) HasContext() bool {
	switch t {
	case TypeOpen, TypeClose, TypeCommitSet, TypeUndoSet, TypeCleanupSet, TypeResponse:
		return false
	}
	return t.Known()
}
