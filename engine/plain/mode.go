// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"math"
	"math/rand/v2"

	"github.com/pnagent/pnagent/engine/internal/shard"
)

// Kind selects how a transition fires.
type Kind uint8

// The kinds. A source transition (one without inputs) is never immediate: if
// its kind is Immediate, it fires only from outside.
const (
	Immediate Kind = iota
	Delayed
	Manual // only from outside, by Fire
)

// Mode specifies how one transition fires.
type Mode struct {
	Kind  Kind
	Delay Delay // for Delayed
}

// Shape is a distribution of delays.
type Shape uint8

// The distributions, with the meaning of A and B of a Delay.
const (
	Fixed       Shape = iota // A
	Uniform                  // from A to B
	Exponential              // mean A
	Normal                   // mean A, standard deviation B; never less than 0
)

// Delay is a distribution of delays; A and B are microseconds.
type Delay struct {
	Shape Shape
	A, B  float64
}

// mean returns the mean delay in microseconds.
func (d Delay) mean() int64 {
	v := d.A
	if d.Shape == Uniform {
		v = (d.A + d.B) / 2
	}
	return int64(min(max(v, 0), maxDelay))
}

// Valid reports whether the delay is a distribution of times that are not negative.
func (d Delay) Valid() bool { return d.Shape <= Normal && valid(d.A) && valid(d.B) }

func valid(micros float64) bool { return micros >= 0 && micros <= maxDelay }

// Late returns how much later than due a transition with this delay may fire, in
// microseconds: 1 % of the mean, at most 5 ms.
func (d Delay) Late() int64 { return shard.Late(d.mean()) }

// maxDelay, about 3,000 years, keeps due times from overflow.
const maxDelay = 1e17

// Draw returns a delay in microseconds.
func (d Delay) Draw(r *rand.Rand) int64 {
	v := d.A
	switch d.Shape {
	case Uniform:
		v = d.A + (d.B-d.A)*r.Float64()
	case Exponential:
		v = d.A * r.ExpFloat64()
	case Normal:
		v = d.A + d.B*r.NormFloat64()
	}
	return int64(math.Round(min(max(v, 0), maxDelay)))
}
