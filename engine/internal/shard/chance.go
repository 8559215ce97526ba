// SPDX-License-Identifier: Apache-2.0

package shard

// Stream is SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
// Generators, 2014).
type Stream struct{ state uint64 }

// NewStream returns the stream that follows from a seed and what is drawn for: an
// instance, or one decision of it.
func NewStream(seed uint64, of ...uint64) Stream {
	s := Stream{seed}
	for _, v := range of {
		s.state = s.Uint64() ^ v*0x9e3779b97f4a7c15
	}
	return s
}

// Uint64 returns the next 64 bits.
func (s *Stream) Uint64() uint64 {
	s.state += 0x9e3779b97f4a7c15
	z := s.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Below returns a number from 0 to n-1.
func (s *Stream) Below(n int) int {
	return int(uint64(uint32(s.Uint64()>>32)) * uint64(n) >> 32)
}
