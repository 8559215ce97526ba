// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"math"
	"math/rand/v2"
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
