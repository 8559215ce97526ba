// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"cmp"
	"slices"
)

// MaxStuck is how many of a place's oldest tokens a row names.
const MaxStuck = 10

// Token is one of the oldest tokens of a place.
type Token struct {
	Instance string // the instance that holds it
	Injected int64
	Waits    []Wait // one for each reason of each output transition of the place
}

// Reason is why a token waits.
type Reason uint8

// The reasons, by their numbers on the wire.
const (
	ReasonUnknown   Reason = iota
	ReasonEnabled          // the transition is enabled and waits for its turn
	ReasonRunning          // the transition is running
	ReasonDelayed          // the transition is enabled and delayed until Until
	ReasonGuarded          // its guard is false
	ReasonMissing          // Place is short of Count tokens
	ReasonInhibited        // Place holds Count tokens too many
	ReasonManual           // enabled, fired only from outside
	ReasonDead             // nothing in the instance can ever enable it
	ReasonIncident         // it failed permanently, or none of its branches can be taken: an operator must act
	ReasonNoWorker         // no worker, consumer or scheduler that is alive will take it, or the one that took it is gone

	reasons // how many there are
)

// LastReason is the highest reason.
const LastReason = reasons - 1

// String returns the reason's name, as the faces show it.
func (r Reason) String() string {
	names := [...]string{"unknown", "enabled", "running", "delayed", "guarded", "missing", "inhibited", "manual", "dead", "incident", "noWorker"}
	if int(r) < len(names) {
		return names[r]
	}
	return names[ReasonUnknown]
}

// IfKnown returns the reason's name, or "" for ReasonUnknown.
func (r Reason) IfKnown() string {
	if r == ReasonUnknown {
		return ""
	}
	return r.String()
}

// NoPlace is the Place of a Wait or Block that no single place causes.
const NoPlace int32 = -1

// Wait is what one output transition of a token's place waits for.
type Wait struct {
	Transition int32 // index in the net's definition
	Reason     Reason
	Place      int32  // index, or NoPlace
	Count      uint32 // tokens short of, or too many; 0 where it does not apply
	Until      int64  // when the delay ends or ended, or the lock of what took the token; 0 if there is none
	What       string // what the source reports beyond the reason, for people; see Clip and MaxWhat
}

// MaxWhat is the largest What of a Wait, in bytes.
const MaxWhat = 200

// Block counts the instances in which one condition blocks a transition.
type Block struct {
	Transition int32
	Place      int32 // NoPlace if no single place causes it
	Reason     Reason
	Instances  uint64
}

// Compare orders tokens by age, oldest first, then by instance: a total order
// over the tokens of one place, so that the K oldest of a sum do not depend on
// the order of summing.
func (t *Token) Compare(o *Token) int {
	if t.Injected != o.Injected { // the common case; the rest costs more
		return cmp.Compare(t.Injected, o.Injected)
	}
	return cmp.Or(cmp.Compare(t.Instance, o.Instance), slices.CompareFunc(t.Waits, o.Waits, Wait.Compare))
}

// Compare orders waits by their fields.
func (w Wait) Compare(o Wait) int {
	return cmp.Or(cmp.Compare(w.Transition, o.Transition), cmp.Compare(w.Reason, o.Reason),
		cmp.Compare(w.Place, o.Place), cmp.Compare(w.Count, o.Count), cmp.Compare(w.Until, o.Until), cmp.Compare(w.What, o.What))
}

// MergeStuck returns the MaxStuck oldest of two lists that are each sorted
// oldest first. It may reuse a's memory, never b's.
func MergeStuck(a, b []Token) []Token {
	if len(b) == 0 || len(a) == MaxStuck && a[MaxStuck-1].Compare(&b[0]) <= 0 {
		return a
	}
	out := make([]Token, 0, min(len(a)+len(b), MaxStuck))
	for len(out) < MaxStuck && len(a)+len(b) > 0 {
		if len(b) == 0 || (len(a) > 0 && a[0].Compare(&b[0]) <= 0) {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return out
}

// Compare orders blocks by what they count.
func (b Block) Compare(o Block) int {
	return cmp.Or(cmp.Compare(b.Transition, o.Transition), cmp.Compare(b.Place, o.Place), cmp.Compare(b.Reason, o.Reason))
}

// MergeBlocks adds two lists that are each sorted by Compare. It may reuse
// a's memory, never b's.
func MergeBlocks(a, b []Block) []Block {
	if len(b) == 0 {
		return a
	}
	return mergeSorted(make([]Block, 0, len(a)+len(b)), a, b,
		func(a, b *Block) int { return a.Compare(*b) },
		func(sum, b *Block) { sum.Instances = Sum(sum.Instances, b.Instances) })
}
