// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"fmt"

	"github.com/pnagent/pnagent/telemetry"
)

// The reasons for rejecting a message, besides those of telemetry. The strings are
// label values of pnagent_messages_rejected_total and never change.
const (
	WrongSize          telemetry.Reason = "wrong_size"           // not the rows of its digest, or an index outside them
	CounterFell        telemetry.Reason = "counter_fell"         // a counter went down within one epoch
	OldEpoch           telemetry.Reason = "old_epoch"            // of a process that a newer one follows
	EpochAhead         telemetry.Reason = "epoch_ahead"          // started in the future, while another process of the source lives
	Duplicate          telemetry.Reason = "duplicate"            // its seq or a later one was already taken
	OldFence           telemetry.Reason = "old_fence"            // the region belongs to another source
	UnknownDigest      telemetry.Reason = "unknown_digest"       // sparse, while the definition is being requested
	TooManySources     telemetry.Reason = "too_many_sources"     // Limits.Sources
	TooManyNets        telemetry.Reason = "too_many_nets"        // Limits.Nets
	TooManyRows        telemetry.Reason = "too_many_rows"        // Limits.Rows
	TooManyDefinitions telemetry.Reason = "too_many_definitions" // Limits.Definitions
	TooManyWaiting     telemetry.Reason = "too_many_waiting"     // Limits.WaitingBytes; the snapshot is requested again
	TooManyRegions     telemetry.Reason = "too_many_regions"     // of one net, more than Limits.Sources
	BadDefinition      telemetry.Reason = "bad_definition"       // invalid PNML, or PNML without the net
	DefinitionHeld     telemetry.Reason = "definition_held"      // its definition adds more rows than Rules.Growth, and most sources use another one
	NetNotAllowed      telemetry.Reason = "net_not_allowed"      // Config.Allow excludes the net
	Overrun            telemetry.Reason = "overrun"              // dropped unread, because messages arrived faster than they were processed
	OverrunUnknown     telemetry.Reason = "overrun_unknown"      // the same, of a source whose rows are not shown
)

// Reasons returns every reason, including those of telemetry, in a fixed order.
func Reasons() []telemetry.Reason {
	return append(telemetry.Reasons(), WrongSize, CounterFell, OldEpoch, EpochAhead, Duplicate, OldFence, UnknownDigest,
		TooManySources, TooManyNets, TooManyRows, TooManyDefinitions, TooManyWaiting, TooManyRegions, BadDefinition, DefinitionHeld, NetNotAllowed,
		telemetry.WrongDigest, Overrun, OverrunUnknown)
}

// Rejection returns an error that wraps a reason.
func Rejection(r telemetry.Reason, format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{r}, args...)...)
}
