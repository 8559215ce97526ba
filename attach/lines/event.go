// SPDX-License-Identifier: Apache-2.0

package lines

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

// words are the metric label of each reason, and what is wrong with such lines.
var words = [reasons]struct{ label, sentence string }{
	Taken: {"taken", "is an event"}, NotJSON: {"not_json", "is not one JSON object"}, NoMatch: {"no_match", "does not match the pattern"},
	NotXES: {"not_xes", "is not of a well-formed XES log"}, NoInstance: {"no_instance", "has no instance"},
	BadInstance:  {"bad_instance", "has an instance's name that is too long or not plain text"},
	NoTransition: {"no_transition", "has neither a transition nor a place"}, BadTime: {"bad_time", "has a malformed time"},
	BadTokens: {"bad_tokens", "has a malformed number of tokens"}, UnknownNet: {"unknown_net", "is of a net that is not replayed"},
	UnknownTransition: {"unknown_transition", "has a transition that the net does not have"},
	UnknownPlace:      {"unknown_place", "has a place that the net does not have"}, Ignored: {"ignored", "is ignored by the table or not complete"},
	TooLong: {"too_long", "is too long"}, Cut: {"cut", "has no end"}, Gone: {"gone", "was in a file that no longer exists"},
}

// String returns the reason as a metric label.
func (r Reason) String() string { return words[r].label }

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

// The fields of a line, by number.
const (
	timeField = iota
	netField
	instanceField
	transitionField
	placeField
	tokensField
	droppedField
	endField
	fieldCount
	noField = -1
)

// of returns a field other than end by its number.
func (f *fields) of(field int) *[]byte {
	return [...]*[]byte{&f.time, &f.net, &f.instance, &f.transition, &f.place, &f.tokens, &f.dropped}[field]
}

// format parses lines. The fields are valid until the next call.
type format interface {
	read(line []byte, into *fields) Reason
}
