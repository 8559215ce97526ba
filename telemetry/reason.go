// SPDX-License-Identifier: Apache-2.0

package telemetry

import "errors"

// Reason is the reason why a message was rejected. It is an error, for
// errors.Is. Its text is short and fixed, for use as a metric's label.
type Reason string

// The reasons.
const (
	NotProtobuf Reason = "not_protobuf" // the bytes are not a Snapshot of the wire
	NotJSON     Reason = "not_json"     // the same for the JSON lane
	TooLarge    Reason = "too_large"    // more bytes than MaxMessage
	TooMany     Reason = "too_many"     // more rows, tokens, waits or buckets than allowed
	BadName     Reason = "bad_name"     // a name that CheckName rejects, a text that no Clip made, or an invalid digest
	BadSubject  Reason = "bad_subject"  // the subject is not that of the source and net inside
	BadColumns  Reason = "bad_columns"  // columns that differ in length, or a group of columns of which one is missing
	BadIndex    Reason = "bad_index"    // an index that does not rise, or has no row
	BadValue    Reason = "bad_value"    // a number or a time outside of its range
)

// Reasons returns every reason, in a fixed order.
func Reasons() []Reason {
	return []Reason{NotProtobuf, NotJSON, TooLarge, TooMany, BadName, BadSubject, BadColumns, BadIndex, BadValue}
}

// Error returns the reason's label.
func (r Reason) Error() string { return string(r) }

// ReasonOf returns the reason in an error's chain, or "".
func ReasonOf(err error) Reason {
	var r Reason
	errors.As(err, &r)
	return r
}
