// SPDX-License-Identifier: Apache-2.0

package pdu

import "github.com/pnagent/pnagent/smi"

// TestSet asks whether the variables could be set (RFC 2741 section 6.2.8).
type TestSet struct {
	Variables []smi.Variable
}

// Type is TypeTestSet.
func (*TestSet) Type() Type { return TypeTestSet }

func (t *TestSet) encode(e *encoder) { e.variables(t.Variables) }
func (t *TestSet) decode(d *decoder) { t.Variables = d.variables() }

// CommitSet asks to do what the TestSet of its transaction said (RFC 2741
// section 6.2.9).
type CommitSet struct{}

// Type is TypeCommitSet.
func (*CommitSet) Type() Type      { return TypeCommitSet }
func (*CommitSet) encode(*encoder) {}
func (*CommitSet) decode(*decoder) {}

// UndoSet asks to take back a CommitSet.
type UndoSet struct{}

// Type is TypeUndoSet.
func (*UndoSet) Type() Type      { return TypeUndoSet }
func (*UndoSet) encode(*encoder) {}
func (*UndoSet) decode(*decoder) {}

// CleanupSet ends a set. It is the one request without a Response.
type CleanupSet struct{}

// Type is TypeCleanupSet.
func (*CleanupSet) Type() Type      { return TypeCleanupSet }
func (*CleanupSet) encode(*encoder) {}
func (*CleanupSet) decode(*decoder) {}
