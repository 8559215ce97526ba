// SPDX-License-Identifier: Apache-2.0

package lines

import "fmt"

// Reason is the reason why a line, or a part of one, is not an event.
type Reason uint8

// The reasons.
const (
	Taken             Reason = iota // no reason: it is an event
	NotJSON                         // not one JSON object
	NoMatch                         // the pattern does not match
	NotXES                          // an XES log that is malformed or exceeds a bound
	NoInstance                      // it has no instance
	BadInstance                     // its instance's name is invalid on the wire: too long, or not plain text
	NoTransition                    // it has neither a transition nor a place, nor is it an end
	BadTime                         // its time is malformed or out of range
	BadTokens                       // its number of tokens is malformed
	UnknownNet                      // no such net, or none given and several replayed
	UnknownTransition               // no such transition in that net, by id, name or table
	UnknownPlace                    // no such place in that net
	Ignored                         // the table lists it under ignore
	TooLong                         // longer than a line may be
	Cut                             // the beginning of a line whose end did not come
	Gone                            // a rotated file that no longer exists; counted once per file
	reasons                         // the number of reasons
)

// String returns the reason as a metric label.
func (r Reason) String() string {
	names := [...]string{"taken", "not_json", "no_match", "not_xes", "no_instance", "bad_instance", "no_transition", "bad_time", "bad_tokens", "unknown_net",
		"unknown_transition", "unknown_place", "ignored", "too_long", "cut", "gone"}
	if r < reasons {
		return names[r]
	}
	return fmt.Sprintf("reason %d", uint8(r))
}

// sentence returns what is wrong with such lines, for an error message.
func (r Reason) sentence() string {
	texts := [...]string{"is an event", "is not one JSON object", "does not match the pattern", "is not of a well-formed XES log", "has no instance",
		"has an instance's name that is too long or not plain text", "has neither a transition nor a place", "has a malformed time",
		"has a malformed number of tokens", "is of a net that is not replayed", "has a transition that the net does not have", "has a place that the net does not have",
		"is ignored by the table or not complete", "is too long", "has no end", "was in a file that no longer exists"}
	return texts[min(r, reasons-1)]
}

// Reasons returns all reasons but Taken.
func Reasons() []Reason {
	var all []Reason
	for r := Taken + 1; r < reasons; r++ {
		all = append(all, r)
	}
	return all
}

// kind is the effect of an event.
type kind uint8

const (
	fires kind = iota
	puts       // or takes, if tokens is negative
	ends
)

// event is one event of a net, by index.
type event struct {
	net      int32
	index    int32 // of the transition or the place
	kind     kind
	tokens   int64
	time     int64 // microseconds since the Unix epoch; 0 if it has none
	instance []byte
	next     []int32 // of a firing: the events that follow in the instance, if known, see replay.FireLabel
}

// fields is a parsed line with names that are not looked up yet. nil is absent.
type fields struct {
	time, net, instance, transition, place, tokens, dropped []byte
	textual                                                 bool // time is text, not a number
	end                                                     bool
}

// format parses lines. The fields are valid until the next call.
type format interface {
	read(line []byte, into *fields) Reason
}
