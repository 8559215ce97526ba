// SPDX-License-Identifier: Apache-2.0

package telemetry

// Conflict is the Reason of a Notice about a second process of a source.
const Conflict = "conflict"

// Notice says that a collector refuses messages of a source. It is published as
// JSON on the source's Notice subject while that lasts, every ten seconds at most.
type Notice struct {
	Source string `json:"source"`
	Net    string `json:"net"`
	Epoch  int64  `json:"epoch,omitempty"` // of the process that is refused; 0 if that is not known
	Reason string `json:"reason"`          // Conflict, or a label of pnagent_messages_rejected_total
	Text   string `json:"text"`            // for people
}
