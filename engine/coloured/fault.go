// SPDX-License-Identifier: Apache-2.0

package coloured

// Fault is why a transition that is enabled does not fire by itself.
type Fault struct {
	Instance   int // its index in the shard
	Transition int32
	What       string // in words, for a log: that of which Err is the reason
	Err        error
}

// maxFaults bounds those that the shard keeps.
const maxFaults = 64

// Faults returns the first faults since the last call, in order: times that could not be
// determined (see Binding.Until), events without a name or a key (see Binding.Event), guards that panicked, and data of arcs that could not be
// determined or are too many. The next call that plays reuses the slice.
func (s *Shard) Faults() []Fault {
	out := s.faults
	s.faults = s.faults[:0]
	return out
}

func (s *Shard) fault(i, t int, what string, err error) {
	if len(s.faults) < maxFaults {
		s.faults = append(s.faults, Fault{i, int32(t), what, err})
	}
}
