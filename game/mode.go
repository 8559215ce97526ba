// SPDX-License-Identifier: Apache-2.0

package game

import (
	"math"
	"math/rand/v2"
)

// Kind is how a transition comes to fire.
type Kind uint8

// The kinds. A source transition (one without inputs) is never immediate: left
// so, it is fired only from outside.
const (
	Immediate Kind = iota
	Delayed
	Manual // only from outside, by Fire
)

// Mode is how one transition fires.
type Mode struct {
	Kind  Kind
	Delay Delay // of Delayed
}

// Shape is a distribution of delays.
type Shape uint8

// The distributions, with what A and B of a Delay mean.
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

// maxDelay keeps due times far from overflow: about 3,000 years.
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

// stream is the random source of one instance.
type stream struct{ state uint64 }

// newStream derives an instance's source from the seed and its number.
func newStream(seed, instance uint64) stream {
	s := stream{state: seed}
	s.state = s.Uint64() ^ instance*0x9e3779b97f4a7c15
	return s
}

// Uint64 is SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
// Generators, 2014).
func (s *stream) Uint64() uint64 {
	s.state += 0x9e3779b97f4a7c15
	z := s.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number from 0 to n-1.
func (s *stream) below(n int) int {
	return int(uint64(uint32(s.Uint64()>>32)) * uint64(n) >> 32)
}
