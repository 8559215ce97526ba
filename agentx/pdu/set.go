// SPDX-License-Identifier: Apache-2.0

package pdu

import "github.com/pnagent/pnagent/mib/smi"

// TestSet requests whether the variables could be set (RFC 2741 section 6.2.8).
type TestSet struct {
	Variables []smi.Variable
}

// Type returns TypeTestSet.
func (*TestSet) Type() Type { return TypeTestSet }

func (t *TestSet) code(c coder) { c.variables(&t.Variables) }

// CommitSet requests the set of the transaction's TestSet (RFC 2741 section 6.2.9).
type CommitSet struct{}

// Type returns TypeCommitSet.
func (*CommitSet) Type() Type { return TypeCommitSet }
func (*CommitSet) code(coder) {}

// UndoSet requests to undo a CommitSet.
type UndoSet struct{}

// Type returns TypeUndoSet.
func (*UndoSet) Type() Type { return TypeUndoSet }
func (*UndoSet) code(coder) {}

// CleanupSet ends a set. It is the only request without a Response.
type CleanupSet struct{}

// Type returns TypeCleanupSet.
func (*CleanupSet) Type() Type { return TypeCleanupSet }
func (*CleanupSet) code(coder) {}
