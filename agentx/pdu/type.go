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

// types says what is to know of each type. A PDU of some begins with a context name if its
// header has FlagNonDefaultContext; the others ignore the flag (RFC 2741 section 6.1.1).
var types = [...]struct {
	name    string
	context bool
	empty   func() Body // an empty body
}{
	TypeOpen:            {"Open", false, func() Body { return &Open{} }},
	TypeClose:           {"Close", false, func() Body { return &Close{} }},
	TypeRegister:        {"Register", true, func() Body { return &Register{} }},
	TypeUnregister:      {"Unregister", true, func() Body { return &Unregister{} }},
	TypeGet:             {"Get", true, func() Body { return &Get{} }},
	TypeGetNext:         {"GetNext", true, func() Body { return &GetNext{} }},
	TypeGetBulk:         {"GetBulk", true, func() Body { return &GetBulk{} }},
	TypeTestSet:         {"TestSet", true, func() Body { return &TestSet{} }},
	TypeCommitSet:       {"CommitSet", false, func() Body { return &CommitSet{} }},
	TypeUndoSet:         {"UndoSet", false, func() Body { return &UndoSet{} }},
	TypeCleanupSet:      {"CleanupSet", false, func() Body { return &CleanupSet{} }},
	TypeNotify:          {"Notify", true, func() Body { return &Notify{} }},
	TypePing:            {"Ping", true, func() Body { return &Ping{} }},
	TypeIndexAllocate:   {"IndexAllocate", true, func() Body { return &IndexAllocate{} }},
	TypeIndexDeallocate: {"IndexDeallocate", true, func() Body { return &IndexDeallocate{} }},
	TypeAddAgentCaps:    {"AddAgentCaps", true, func() Body { return &AddAgentCaps{} }},
	TypeRemoveAgentCaps: {"RemoveAgentCaps", true, func() Body { return &RemoveAgentCaps{} }},
	TypeResponse:        {"Response", false, func() Body { return &Response{} }},
}

// String returns the name of the type without "agentx-" and "-PDU".
func (t Type) String() string {
	if t.Known() {
		return types[t].name
	}
	return fmt.Sprintf("type %d", uint8(t))
}

// Known reports whether t is one of the types above.
func (t Type) Known() bool { return t >= TypeOpen && t <= TypeResponse }

// HasContext reports whether a PDU of type t may begin with a context name.
func (t Type) HasContext() bool { return t.Known() && types[t].context }
